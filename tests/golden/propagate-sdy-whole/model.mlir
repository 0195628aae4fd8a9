sdy.mesh @grid = <["u"=2, "v"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"u"}, {?}]>},
                %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{?}, {"v"}]>}, %s: tensor<f32>)
    -> (tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<16x8xf32>
  %many = stablehlo.negate %one : tensor<16x8xf32>
  %all = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
  %0 = stablehlo.add %a, %one : tensor<16x8xf32>
  %1 = stablehlo.multiply %b, %one : tensor<16x8xf32>
  %2 = stablehlo.maximum %0, %many : tensor<16x8xf32>
  %3 = stablehlo.maximum %1, %many : tensor<16x8xf32>
  %4 = stablehlo.subtract %2, %all : tensor<16x8xf32>
  %5 = stablehlo.subtract %3, %all : tensor<16x8xf32>
  %6 = call @half(%4) : (tensor<16x8xf32>) -> tensor<16x8xf32>
  %7 = stablehlo.abs %5 : tensor<16x8xf32>
  %8 = sdy.sharding_constraint %7 <@grid, [{}, {"v"}]> : tensor<16x8xf32>
  return %6, %8, %7 : tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>
}
func.func private @half(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %y = stablehlo.sqrt %x : tensor<16x8xf32>
  return %y : tensor<16x8xf32>
}
