// RUN: foo %s
module @a { func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> { return %x : tensor<8x8xf32> } }
// -----
module @b { func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> { %0 = stablehlo.negate %x : tensor<8x8xf32>
 return %0 : tensor<8x8xf32> } }
