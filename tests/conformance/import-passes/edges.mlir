// run: opt --pass add-data-flow-edges
// On the results of a choice.
func.func @main(%arg0: tensor<i32>, %arg1: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = "stablehlo.case"(%arg0) ({
    stablehlo.return %arg1 : tensor<8x4xf32>
  }, {
    %1 = stablehlo.negate %arg1 : tensor<8x4xf32>
    stablehlo.return %1 : tensor<8x4xf32>
  }) : (tensor<i32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// gives:
func.func @main(%arg0: tensor<i32>, %arg1: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = "stablehlo.case"(%arg0) ({
    stablehlo.return %arg1 : tensor<8x4xf32>
  }, {
    %2 = stablehlo.negate %arg1 : tensor<8x4xf32>
    stablehlo.return %2 : tensor<8x4xf32>
  }) : (tensor<i32>) -> tensor<8x4xf32>
  %1 = sdy.data_flow_edge %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// -----

// Of a barrier, with their shardings.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>, %arg1: tensor<6xf32>) -> (tensor<8x4xf32>, tensor<6xf32>) {
  %0:2 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"a"}, {?}]>, <@grid, [{?}]>]>} %arg0, %arg1 : tensor<8x4xf32>, tensor<6xf32>
  return %0#0, %0#1 : tensor<8x4xf32>, tensor<6xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>, %arg1: tensor<6xf32>) -> (tensor<8x4xf32>, tensor<6xf32>) {
  %0:2 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"a"}, {?}]>, <@grid, [{?}]>]>} %arg0, %arg1 : tensor<8x4xf32>, tensor<6xf32>
  %1 = sdy.data_flow_edge %0#0 sharding=<@grid, [{"a"}, {?}]> : tensor<8x4xf32>
  %2 = sdy.data_flow_edge %0#1 sharding=<@grid, [{?}]> : tensor<6xf32>
  return %1, %2 : tensor<8x4xf32>, tensor<6xf32>
}

// -----

// Of a manual computation: on what comes in and what goes out.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@grid, [{"a", "b", ?}, {?}]>] out_shardings=[<@grid, [{"a", ?}, {}]>] manual_axes={"a"} (%arg1: tensor<4x4xf32>) {
    %1 = stablehlo.negate %arg1 : tensor<4x4xf32>
    sdy.return %1 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@grid, [{"a", "b", ?}, {?}]>] out_shardings=[<@grid, [{"a", ?}, {}]>] manual_axes={"a"} (%arg1: tensor<4x4xf32>) {
    %2 = sdy.data_flow_edge %arg1 sharding=<@grid, [{"b", ?}, {?}]> : tensor<4x4xf32>
    %3 = stablehlo.negate %2 : tensor<4x4xf32>
    sdy.return %3 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = sdy.data_flow_edge %0 sharding=<@grid, [{"a", ?}, {}]> : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// -----

// run: opt --pass sink-data-flow-edges
// Taken out again: the sharding goes to the value.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.optimization_barrier %arg0 : tensor<8x4xf32>
  %1 = sdy.data_flow_edge %0 sharding=<@grid, [{"a"}, {?}]> : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"a"}, {?}]>]>} %arg0 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// run: opt --pass sink-data-flow-edges
// Of a manual computation.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@grid, [{"a", ?}, {?}]>] out_shardings=[<@grid, [{"a", ?}, {?}]>] manual_axes={"a"} (%arg1: tensor<4x4xf32>) {
    %2 = sdy.data_flow_edge %arg1 sharding=<@grid, [{"b", ?}, {?}]> : tensor<4x4xf32>
    %3 = stablehlo.negate %2 : tensor<4x4xf32>
    sdy.return %3 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = sdy.data_flow_edge %0 sharding=<@grid, [{"a", "b", ?}, {?}]> : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@grid, [{"a", "b", ?}, {?}]>] out_shardings=[<@grid, [{"a", "b", ?}, {?}]>] manual_axes={"a"} (%arg1: tensor<4x4xf32>) {
    %1 = stablehlo.negate %arg1 : tensor<4x4xf32>
    sdy.return %1 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
