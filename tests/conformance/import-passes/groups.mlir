// run: opt --pass sharding-group-import
// Groups that share a member are one.
func.func @main(%arg0: tensor<8x4xf32>, %arg1: tensor<8x4xf32>, %arg2: tensor<8x4xf32>) {
  sdy.sharding_group %arg0 group_id=5 : tensor<8x4xf32>
  sdy.sharding_group %arg1 group_id=5 : tensor<8x4xf32>
  sdy.sharding_group %arg1 group_id=9 : tensor<8x4xf32>
  sdy.sharding_group %arg2 group_id=9 : tensor<8x4xf32>
  return
}
// gives:
func.func @main(%arg0: tensor<8x4xf32>, %arg1: tensor<8x4xf32>, %arg2: tensor<8x4xf32>) {
  sdy.sharding_group %arg0 group_id=0 : tensor<8x4xf32>
  sdy.sharding_group %arg1 group_id=0 : tensor<8x4xf32>
  sdy.sharding_group %arg2 group_id=0 : tensor<8x4xf32>
  return
}

// -----

// Numbers begin at 0, and a value is in a group once.
func.func @main(%arg0: tensor<8x4xf32>, %arg1: tensor<8x4xf32>, %arg2: tensor<6xf32>) {
  sdy.sharding_group %arg0 group_id=7 : tensor<8x4xf32>
  sdy.sharding_group %arg0 group_id=7 : tensor<8x4xf32>
  sdy.sharding_group %arg2 group_id=3 : tensor<6xf32>
  return
}
// gives:
func.func @main(%arg0: tensor<8x4xf32>, %arg1: tensor<8x4xf32>, %arg2: tensor<6xf32>) {
  sdy.sharding_group %arg0 group_id=0 : tensor<8x4xf32>
  sdy.sharding_group %arg2 group_id=1 : tensor<6xf32>
  return
}

// -----

// Members have one sharding.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a"}, {}]>}, %arg1: tensor<8x4xf32>) {
  sdy.sharding_group %arg0 group_id=0 : tensor<8x4xf32>
  sdy.sharding_group %arg1 group_id=0 : tensor<8x4xf32>
  return
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a"}, {}]>}, %arg1: tensor<8x4xf32>) {
  sdy.sharding_group %arg0 group_id=0 : tensor<8x4xf32>
  sdy.sharding_group %arg1 group_id=0 : tensor<8x4xf32>
  return
}

// -----

// run: opt --pass manual-axes-cleanup
// Manual axes that no sharding names are replicated there.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@grid, [{"a"}, {}]>] out_shardings=[<@grid, [{"a"}, {}]>] manual_axes={"b", "a"} (%arg1: tensor<4x4xf32>) {
    sdy.return %arg1 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@grid, [{"a"}, {}], replicated={"b"}>] out_shardings=[<@grid, [{"a"}, {}], replicated={"b"}>] manual_axes={"a", "b"} (%arg1: tensor<4x4xf32>) {
    sdy.return %arg1 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// run: opt --pass constant-or-scalar-splitter
// A constant for each use.
func.func @main(%arg0: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %cst = stablehlo.constant dense<1.000000e+00> : tensor<8x4xf32>
  %0 = stablehlo.add %arg0, %cst : tensor<8x4xf32>
  %1 = stablehlo.multiply %arg0, %cst : tensor<8x4xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<8x4xf32>
}
// gives:
func.func @main(%arg0: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = sdy.constant dense<1.000000e+00> : tensor<8x4xf32>
  %1 = sdy.constant dense<1.000000e+00> : tensor<8x4xf32>
  %2 = stablehlo.add %arg0, %0 : tensor<8x4xf32>
  %3 = stablehlo.multiply %arg0, %1 : tensor<8x4xf32>
  return %2, %3 : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// run: opt --pass constant-or-scalar-splitter
// What is made of constants alone is split with them.
func.func @main(%arg0: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %1 = stablehlo.add %arg0, %0 : tensor<8x4xf32>
  %2 = stablehlo.multiply %arg0, %0 : tensor<8x4xf32>
  return %1, %2 : tensor<8x4xf32>, tensor<8x4xf32>
}
// gives:
func.func @main(%arg0: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = sdy.constant dense<1.000000e+00> : tensor<f32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %3 = stablehlo.add %arg0, %1 : tensor<8x4xf32>
  %4 = stablehlo.multiply %arg0, %2 : tensor<8x4xf32>
  return %3, %4 : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// run: opt --pass add-func-data-flow-edges
// Edges on what functions take and calls give.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = call @layer(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"a"}, {}]>]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
func.func private @layer(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"b"}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = call @layer(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"a"}, {}]>]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = sdy.func_data_flow_edge %0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"a"}, {}]>]>} : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
func.func private @layer(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"b"}]>}) -> tensor<8x4xf32> {
  %0 = sdy.func_data_flow_edge %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}, {"b"}]>]>} : tensor<8x4xf32>
  %1 = stablehlo.tanh %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// -----

// run: opt --pass flatten-call-graph
// A function for each call.
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = call @layer(%arg0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = call @layer(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
func.func private @layer(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// gives:
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = call @layer(%arg0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = call @layer_0(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
func.func private @layer(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
func.func private @layer_0(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {sdy.original_func_name = "layer"} {
  %0 = stablehlo.tanh %arg0 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
