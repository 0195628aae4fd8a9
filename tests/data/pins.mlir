module {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func @main(%a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, %b: tensor<64x64xf32>, %c: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {}]>}) -> (tensor<64x64xf32>, tensor<64x64xf32> {mhlo.sharding = "{devices=[1,2,4]<=[8] last_tile_dim_replicate}"}, tensor<64x64xf32>) {
    sdy.sharding_group %a group_id=7 : tensor<64x64xf32>
    sdy.sharding_group %b group_id=7 : tensor<64x64xf32>
    %0 = stablehlo.negate %a : tensor<64x64xf32>
    %1 = stablehlo.abs %b : tensor<64x64xf32>
    %2 = stablehlo.sine %c : tensor<64x64xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{}, {"y":(2)2}]> : tensor<64x64xf32>
    %4 = sdy.sharding_constraint %3 <@mesh, [{?}, {"y":(1)2, ?}]> : tensor<64x64xf32>
    return %0, %1, %4 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  }
}
