// run: opt --pass convert-global-to-local
// Types of one device.
sdy.mesh @grid = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}) -> (tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.exponential %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"x"}, {"y"}]>]>} : tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}
// gives:
sdy.mesh @grid = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}) -> (tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.exponential %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"x"}, {"y"}]>]>} : tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// A gather along one axis.
sdy.mesh @grid = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}) -> (tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {}]>}) {
  %0 = sdy.all_gather [{}, {"y"}] %arg0 out_sharding=<@grid, [{"x"}, {}]> : tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}
// gives:
sdy.mesh @grid = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}) -> (tensor<4x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {}]>}) {
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> : (tensor<4x3xf32>) -> tensor<4x12xf32>
  return %0 : tensor<4x12xf32>
}

// -----

// A product whose parts are summed.
sdy.mesh @grid = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}, %arg1: tensor<12x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"y"}, {}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"x"}, {}], unreduced={"y"}>]>} : (tensor<8x12xf32>, tensor<12x6xf32>) -> tensor<8x6xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@grid, [{"x"}, {}]> : tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}
// gives:
sdy.mesh @grid = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}, %arg1: tensor<3x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"y"}, {}]>}) -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"x"}, {}], unreduced={"y"}>]>} : (tensor<4x3xf32>, tensor<3x6xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.all_reduce"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// -----

// From one dimension to the other.
sdy.mesh @grid = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"y"}, {}]>}) -> (tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"y"}]>}) {
  %0 = sdy.all_to_all [{"y"}: 0->1] %arg0 out_sharding=<@grid, [{}, {"y"}]> : tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}
// gives:
sdy.mesh @grid = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<2x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"y"}, {}]>}) -> (tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"y"}]>}) {
  %0 = "stablehlo.all_to_all"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, split_count = 4 : i64, split_dimension = 1 : i64}> : (tensor<2x12xf32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

// -----

// Devices exchange what they have.
sdy.mesh @grid = <["x"=2, "y"=2]>
func.func @main(%arg0: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}) -> (tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"y"}, {"x"}]>}) {
  %0 = sdy.collective_permute %arg0 out_sharding=<@grid, [{"y"}, {"x"}]> : tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}
// gives:
sdy.mesh @grid = <["x"=2, "y"=2]>
func.func @main(%arg0: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}) -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"y"}, {"x"}]>}) {
  %0 = "stablehlo.collective_permute"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 0], [1, 2], [2, 1], [3, 3]]> : tensor<4x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

// Summed, and a part of the sum kept.
sdy.mesh @grid = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {}], unreduced={"y"}>}) -> (tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}) {
  %0 = sdy.reduce_scatter [{}, {"y"}] %arg0 out_sharding=<@grid, [{"x"}, {"y"}]> : tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}
// gives:
sdy.mesh @grid = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<4x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {}], unreduced={"y"}>}) -> (tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}) {
  %0 = "stablehlo.reduce_scatter"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %1 = stablehlo.add %arg1, %arg2 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x12xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// A transpose and a broadcast.
sdy.mesh @grid = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}) -> (tensor<3x12x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"y"}, {"x"}]>}) {
  %0 = stablehlo.transpose %arg0, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"y"}, {"x"}]>]>} : (tensor<8x12xf32>) -> tensor<12x8xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1, 2] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}, {"y"}, {"x"}]>]>} : (tensor<12x8xf32>) -> tensor<3x12x8xf32>
  return %1 : tensor<3x12x8xf32>
}
// gives:
sdy.mesh @grid = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}) -> (tensor<3x3x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"y"}, {"x"}]>}) {
  %0 = stablehlo.transpose %arg0, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"y"}, {"x"}]>]>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1, 2] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}, {"y"}, {"x"}]>]>} : (tensor<3x4xf32>) -> tensor<3x3x4xf32>
  return %1 : tensor<3x3x4xf32>
}
