func.func @main(%q: tensor<8x16x64x32xf32>, %k: tensor<8x16x64x32xf32>) -> (tensor<8x16x64x32xf32>, tensor<16x32xf32>) {
  %0 = stablehlo.custom_call @my.attention(%q, %k) : (tensor<8x16x64x32xf32>, tensor<8x16x64x32xf32>) -> tensor<8x16x64x32xf32>
  %1 = "my.fold"(%0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k, l])->([j, l]) {i=8, j=16, k=64, l=32} reduction={i, k}>} : (tensor<8x16x64x32xf32>) -> tensor<16x32xf32>
  return %0, %1 : tensor<8x16x64x32xf32>, tensor<16x32xf32>
}
