module attributes {shardwright.form = "shard", shardwright.model = "<stdin>"} {
  shard.grid @mesh(shape = 2x2) {shardwright.axes = ["x", "y"]}
  func.func @main(%a: tensor<8x4xf32> {shardwright.name = "a", shardwright.kind = "input"},
      %b: tensor<4x6xf32> {shardwright.name = "b", shardwright.kind = "parameter"})
      -> (tensor<8x6xf32> {shardwright.name = "result0"}) {
    %s$0 = shard.sharding @mesh split_axes = [[0], []] : !shard.sharding
    %s$1 = shard.sharding @mesh split_axes = [[], [1]] : !shard.sharding
    %s$2 = shard.sharding @mesh split_axes = [[0], [1]] : !shard.sharding
    %a$d = shard.shard %a to %s$0 : tensor<8x4xf32>
    %b$d = shard.shard %b to %s$1 : tensor<4x6xf32>
    %a$u0 = shard.shard %a$d to %s$0 annotate_for_users : tensor<8x4xf32>
    %b$u1 = shard.shard %b$d to %s$1 annotate_for_users : tensor<4x6xf32>
    %_0$2 = "stablehlo.dot_general"(%a$u0, %b$u1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    %_0$2$d = shard.shard %_0$2 to %s$2 : tensor<8x6xf32>
    %_0$2$u2 = shard.shard %_0$2$d to %s$2 annotate_for_users : tensor<8x6xf32>
    return %_0$2$u2 : tensor<8x6xf32>
  }
}
