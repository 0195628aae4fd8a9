// Three groups that share values: what the last argument is annotated with reaches the first through all of them.
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4x6xf32>, %b: tensor<4x6xf32>, %c: tensor<4x6xf32>,
                %d: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x6xf32> {
  sdy.sharding_group %a group_id=0 : tensor<4x6xf32>
  sdy.sharding_group %b group_id=0 : tensor<4x6xf32>
  sdy.sharding_group %b group_id=1 : tensor<4x6xf32>
  sdy.sharding_group %c group_id=1 : tensor<4x6xf32>
  sdy.sharding_group %c group_id=2 : tensor<4x6xf32>
  sdy.sharding_group %d group_id=2 : tensor<4x6xf32>
  %0 = stablehlo.tanh %a : tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
