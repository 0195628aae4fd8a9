func.func @main(%q: tensor<8x16x64x32xf32>, %k: tensor<8x16x64x32xf32>) -> (tensor<8x16x64x32xf32>, tensor<16x32xf32>) {
  %0 = stablehlo.custom_call @my.attention(%q, %k) : (tensor<8x16x64x32xf32>, tensor<8x16x64x32xf32>) -> tensor<8x16x64x32xf32>
  %1 = "my.fold"(%0) {sdy.sharding_rule = #sdy.op_sharding_rule<([b, h, s, d])->([h, d]) {b=8, d=32, h=16, s=64} reduction={b, s}>} : (tensor<8x16x64x32xf32>) -> tensor<16x32xf32>
  return %0, %1 : tensor<8x16x64x32xf32>, tensor<16x32xf32>
}
