// run: propagate --show-rules
// Gathered along the second dimension.
func.func @main(%a: tensor<6x4xf32>) -> tensor<6x8xf32> {
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<6x4xf32>) -> tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}
// expect: %0 ([i, j])->([i, k]) {i=6, j=4, k=8} need_replication={j, k}

// -----

// Summed over devices.
func.func @main(%a: tensor<6x4xf32>, %b: tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>) {
  %0:2 = "stablehlo.all_reduce"(%a, %b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %1 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<6x4xf32>, tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>)
  return %0#0, %0#1 : tensor<6x4xf32>, tensor<6x4xf32>
}
// expect: %1 ([], [])->([])
// expect: %0 ([i, j], [i, j])->([i, j], [i, j]) {i=6, j=4}

// -----

// Cut here and joined there.
func.func @main(%a: tensor<6x4xf32>) -> tensor<3x8xf32> {
  %0 = "stablehlo.all_to_all"(%a) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<6x4xf32>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}
// expect: %0 ([i, k])->([j, l]) {i=6, j=3, k=4, l=8} need_replication={i, j, k, l}

// -----

// Along one dimension.
func.func @main(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %0 = "stablehlo.all_to_all"(%a) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
// expect: %0 ([j, i])->([k, i]) {i=4, j=6, k=6} need_replication={j, k}

// -----

// Sent from device to device.
func.func @main(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
// expect: %0 ([i, j])->([i, j]) {i=6, j=4}

// -----

// From one device to all.
func.func @main(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %0 = "stablehlo.collective_broadcast"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
// expect: %0 ([i, j])->([i, j]) {i=6, j=4}

// -----

// Each device keeps a part of the sum.
func.func @main(%a: tensor<6x4xf32>) -> tensor<3x4xf32> {
  %0 = "stablehlo.reduce_scatter"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %1 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<6x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
// expect: %1 ([], [])->([])
// expect: %0 ([j, i])->([k, i]) {i=4, j=6, k=3} need_replication={j, k}

// -----

// A number per device has no operand.
func.func @main() -> tensor<ui32> {
  %0 = stablehlo.partition_id : tensor<ui32>
  return %0 : tensor<ui32>
}
// expect: nothing
