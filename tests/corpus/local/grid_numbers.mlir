module {
  shard.grid @unused(shape = 3)
  shard.grid @g(shape = 2x2)
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %a, %b = shard.process_multi_index on @g : index, index
    %d, %u = shard.neighbors_linear_indices on @g[%a, %b] split_axes = [0] : index, index
    %s = shard.sharding @g split_axes = [[0], [1]] sharded_dims_offsets = [0, 7, 8, 0, 2, 9] : !shard.sharding
    %p, %q = shard.shard_shape dims = [8, 9] sharding = %s device = [%a, 1] : index, index
    %h = arith.constant 1 : index
    %r = shard.update_halo %x on @g split_axes = [[0]] halo_sizes = [%h, 0] : tensor<2xf32>
    return %r : tensor<2xf32>
  }
}
