// Shardings over two meshes, and a computation by hand on a third one that other meshes lack.
module @two_meshes {
  sdy.mesh @by_name = <["x"=2, "y"=2]>
  sdy.mesh @by_hand = <["m"=4]>
  func.func @main(%w: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@by_hand, [{"m"}, {}]>}, %x: tensor<4x16xf32>, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2, "y"=2]>, [{"x"}]>}) -> tensor<4x8xf32> {
    %0 = sdy.manual_computation(%x, %w) in_shardings=[<@by_hand, [{}, {"m"}]>, <@by_hand, [{"m"}, {}]>] out_shardings=[<@by_hand, [{}, {}]>] manual_axes={"m"} (%xl: tensor<4x4xf32>, %wl: tensor<4x8xf32>) {
      %p = stablehlo.dot_general %xl, %wl, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
      %s = "stablehlo.all_reduce"(%p) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
      ^bb0(%u: tensor<f32>, %v: tensor<f32>):
        %t = stablehlo.add %u, %v : tensor<f32>
        stablehlo.return %t : tensor<f32>
      }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
      sdy.return %s : tensor<4x8xf32>
    } : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
    %1 = stablehlo.broadcast_in_dim %b, dims = [1] {sdy.sharding = #sdy.sharding_per_value<[<@by_name, [{"y"}, {"x"}]>]>} : (tensor<8xf32>) -> tensor<4x8xf32>
    %2 = stablehlo.add %0, %1 : tensor<4x8xf32>
    return %2 : tensor<4x8xf32>
  }
}
