shard.grid @g(shape = 2x2)
func.func @main(%x: tensor<2xf32>) -> tensor<4xf32> {
  %i, %j = shard.process_multi_index on @g : index, index
  %l = shard.process_linear_index on @g : index
  %a, %b = shard.grid_shape @g : index, index
  %0 = shard.update_halo %x on @g split_axes = [[0]] halo_sizes = [1, 0] : tensor<2xf32>
  %1 = "shard.broadcast"(%0, %i) <{grid = @g, grid_axes = array<i16: 0, 1>, root = array<i64: -9223372036854775808, 1>}> : (tensor<2xf32>, index) -> tensor<2xf32>
  %2 = shard.shift %1 on @g grid_axes = [1] shift_axis = 1 offset = 1 rotate : tensor<2xf32> -> tensor<2xf32>
  %3 = shard.send %2 on @g grid_axes = [0] destination = [%j] : (tensor<2xf32>, index) -> tensor<2xf32>
  %4 = shard.recv %3 on @g grid_axes = [0] : (tensor<2xf32>) -> tensor<2xf32>
  %5 = shard.gather %4 on @g grid_axes = [1] gather_axis = 0 root = [1] : (tensor<2xf32>) -> tensor<4xf32>
  return %5 : tensor<4xf32>
}
