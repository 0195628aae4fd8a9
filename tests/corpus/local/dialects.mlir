mesh.cluster @g(rank = 2, dim_sizes = [2, 2])
func.func @main(%x: tensor<2xf32>, %h: i64) -> tensor<4xf32> attributes {mesh_cluster = @g} {
  %a, %b = mesh.process_multi_index on @g : index, index
  %i = mesh.idx {axis = 1 : index} : index
  %n = mesh.size {axis = 0 : index} : index
  %c, %d = mesh.mesh_shape @g : index, index
  %u, %v = shard.neighbors_linear_indices on @g[%a, %b] split_axes = [1, 0] : index, index
  %s = shard.sharding @g split_axes = [[1, 0]] halo_sizes = [%h, ?] : !shard.sharding
  %t = shard.sharding @g split_axes = [[0]] sharded_dims_offsets = [0, %h, 8] : !shard.sharding
  %p = shard.shard_shape dims = [8] sharding = %t device = [%a, %i] : index
  %m = shard.update_halo %x on @g split_axes = [[0]] halo_sizes = [1, 0] : memref<2xf32>
  %r = mesh.all_gather %m on @g mesh_axes = [1] gather_axis = 0 : tensor<2xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}
