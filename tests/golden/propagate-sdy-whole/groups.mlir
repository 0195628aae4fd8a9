sdy.mesh @grid = <["u"=2, "v"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"u"}, {?}]>},
                %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{?}, {"u"}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.negate %b : tensor<16x8xf32>
  sdy.sharding_group %a group_id=2000000000 : tensor<16x8xf32>
  sdy.sharding_group %b group_id=2000000000 : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
