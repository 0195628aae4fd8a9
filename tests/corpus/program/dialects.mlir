mesh.mesh @g(shape = 2x?)
func.func @main(%a: tensor<4x8xf32, #mesh.shard<[[0]]>>, %h: i64) -> tensor<4x8xf32, #mesh.shard<@g, [[], [0]], partial = sum[1]>> attributes {mesh_cluster = @g} {
  %c = arith.constant 2 : i64
  %s = shard.sharding @g split_axes = [[0], [1]] halo_sizes = [%c, 1, 0, 0] : !shard.sharding
  %o = mesh.sharding @g split_axes = [[], [0]] sharded_dims_offsets = [0, %c, 8] : !mesh.sharding
  %p = mesh.sharding @g split_axes = [[0], []] partial = max [1] : !mesh.sharding
  %0 = stablehlo.abs %a : tensor<4x8xf32>
  %1 = shard.shard %0 to %s : tensor<4x8xf32>
  %2 = shard.shard %1 to %o annotate_for_users : tensor<4x8xf32>
  %3 = stablehlo.tanh %2 : tensor<4x8xf32>
  %4 = shard.get_sharding %1 : tensor<4x8xf32> -> !shard.sharding
  %5 = "shard.shard"(%3, %4) <{annotate_for_users}> : (tensor<4x8xf32>, !shard.sharding) -> tensor<4x8xf32>
  %q = stablehlo.negate %5 : tensor<4x8xf32>
  %6 = mesh.shard %q to <@g, [[0], []], partial = sum[1]> annotate_for_users : tensor<4x8xf32>
  %7 = mesh.annotate %6 {sharding = [[0], [], [1]], required = true, as_result = false} : tensor<4x8xf32> -> tensor<4x8xf32>
  %8 = stablehlo.add %7, %3 {sharding = [[0], []]} : tensor<4x8xf32>
  %9 = mesh.all_gather %8 {mesh_axis = [[0]]} : tensor<4x8xf32, #mesh.shard<[[0]]>> -> tensor<4x8xf32>
  return %9 : tensor<4x8xf32>
}
