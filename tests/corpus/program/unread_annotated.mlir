// Nobody reads %1, of which its type and the op itself say how it is cut.
mesh.cluster @mesh0(rank = 1, dim_sizes = [2])
func.func @main(%a: tensor<4x8xf32, #mesh.shard<[[0]]>>, %b: tensor<8x8xf32>) -> tensor<4x8xf32, #mesh.shard<[[0]]>> attributes { mesh_cluster = @mesh0 } {
  %0 = mhlo.maximum %a, %a : tensor<4x8xf32, #mesh.shard<[[0]]>>
  %1 = "mhlo.dot_general"(%0, %b) {dot_dimension_numbers = #mhlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#mhlo<precision DEFAULT>, #mhlo<precision DEFAULT>], sharding = [[0]]} : (tensor<4x8xf32, #mesh.shard<[[0]]>>, tensor<8x8xf32>) -> tensor<4x8xf32, #mesh.shard<[[0]]>>
  return %0 : tensor<4x8xf32, #mesh.shard<[[0]]>>
}
