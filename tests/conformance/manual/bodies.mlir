// run: propagate --strategy sdy-basic
// Free axes go in and out; the manual one stays outside.
sdy.mesh @cube = <["a"=2, "b"=2, "c"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"a", "b"}, {?}]>}) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@cube, [{"a", ?}, {?}]>] out_shardings=[<@cube, [{"a", ?}, {?}]>] manual_axes={"a"} (%y: tensor<4x4xf32>) {
    %1 = sdy.data_flow_edge %y sharding=<@cube, [{?}, {?}]> : tensor<4x4xf32>
    %2 = stablehlo.tanh %1 : tensor<4x4xf32>
    sdy.return %2 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %3 = sdy.data_flow_edge %0 sharding=<@cube, [{"a", ?}, {?}]> : tensor<8x4xf32>
  %4 = stablehlo.negate %3 : tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}
// expect: %x <@cube, [{"a", "b"}, {?}]>
// expect: -> 0 <@cube, [{"a", "b", ?}, {?}]>
// expect: %0 <@cube, [{"a", ?}, {?}]> <@cube, [{"a", ?}, {?}]>
// expect: %1 <@cube, [{"b", ?}, {?}]>
// expect: %2 <@cube, [{"b", ?}, {?}]>
// expect: %3 <@cube, [{"a", "b", ?}, {?}]>
// expect: %4 <@cube, [{"a", "b", ?}, {?}]>

// -----

// Backward.
sdy.mesh @cube = <["a"=2, "b"=2, "c"=2]>
func.func @main(%x: tensor<8x4xf32>) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"a", "c"}, {"b"}]>}) {
  %0 = sdy.manual_computation(%x) in_shardings=[<@cube, [{"a", ?}, {?}]>] out_shardings=[<@cube, [{"a", ?}, {?}]>] manual_axes={"a"} (%y: tensor<4x4xf32>) {
    %1 = sdy.data_flow_edge %y sharding=<@cube, [{?}, {?}]> : tensor<4x4xf32>
    %2 = stablehlo.tanh %1 : tensor<4x4xf32>
    sdy.return %2 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %3 = sdy.data_flow_edge %0 sharding=<@cube, [{"a", ?}, {?}]> : tensor<8x4xf32>
  %4 = stablehlo.negate %3 : tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}
// expect: %x <@cube, [{"a", "c", ?}, {"b", ?}]>
// expect: -> 0 <@cube, [{"a", "c"}, {"b"}]>
// expect: %0 <@cube, [{"a", ?}, {?}]> <@cube, [{"a", ?}, {?}]>
// expect: %1 <@cube, [{"c", ?}, {"b", ?}]>
// expect: %2 <@cube, [{"c", ?}, {"b", ?}]>
// expect: %3 <@cube, [{"a", "c", ?}, {"b", ?}]>
// expect: %4 <@cube, [{"a", "c", ?}, {"b", ?}]>

// -----

// Closed dimensions let nothing in.
sdy.mesh @cube = <["a"=2, "b"=2, "c"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"a", "b"}, {"c"}]>}) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@cube, [{"a"}, {?}]>] out_shardings=[<@cube, [{"a"}, {}]>] manual_axes={"a"} (%y: tensor<4x4xf32>) {
    %1 = sdy.data_flow_edge %y sharding=<@cube, [{}, {?}]> : tensor<4x4xf32>
    %2 = stablehlo.tanh %1 : tensor<4x4xf32>
    sdy.return %2 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %3 = sdy.data_flow_edge %0 sharding=<@cube, [{"a"}, {}]> : tensor<8x4xf32>
  %4 = stablehlo.negate %3 : tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}
// expect: %x <@cube, [{"a", "b"}, {"c"}]>
// expect: -> 0 <@cube, [{"a", ?}, {?}]>
// expect: %0 <@cube, [{"a"}, {?}]> <@cube, [{"a"}, {}]>
// expect: %1 <@cube, [{}, {"c", ?}]>
// expect: %2 <@cube, [{?}, {"c", ?}]>
// expect: %3 <@cube, [{"a"}, {}]>
// expect: %4 <@cube, [{"a", ?}, {?}]>

// -----

// A constraint inside, on a free axis.
sdy.mesh @cube = <["a"=2, "b"=2, "c"=2]>
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@cube, [{"a", ?}, {?}]>] out_shardings=[<@cube, [{"a", ?}, {?}]>] manual_axes={"a"} (%y: tensor<4x4xf32>) {
    %1 = sdy.data_flow_edge %y sharding=<@cube, [{?}, {?}]> : tensor<4x4xf32>
    %2 = stablehlo.tanh %1 : tensor<4x4xf32>
    %3 = sdy.sharding_constraint %2 <@cube, [{"b", ?}, {"c", ?}]> : tensor<4x4xf32>
    sdy.return %3 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %4 = sdy.data_flow_edge %0 sharding=<@cube, [{"a", ?}, {?}]> : tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}
// expect: %x <@cube, [{"a", "b", ?}, {"c", ?}]>
// expect: -> 0 <@cube, [{"a", "b", ?}, {"c", ?}]>
// expect: %0 <@cube, [{"a", ?}, {?}]> <@cube, [{"a", ?}, {?}]>
// expect: %1 <@cube, [{"b", ?}, {"c", ?}]>
// expect: %2 <@cube, [{"b", ?}, {"c", ?}]>
// expect: %3 <@cube, [{"b", ?}, {"c", ?}]>
// expect: %4 <@cube, [{"a", "b", ?}, {"c", ?}]>

// -----

// No manual axes: a body like any other.
sdy.mesh @cube = <["a"=2, "b"=2, "c"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"a"}, {}]>}) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@cube, [{?}, {?}]>] out_shardings=[<@cube, [{?}, {?}]>] manual_axes={} (%y: tensor<8x4xf32>) {
    %1 = sdy.data_flow_edge %y sharding=<@cube, [{?}, {?}]> : tensor<8x4xf32>
    %2 = stablehlo.tanh %1 : tensor<8x4xf32>
    sdy.return %2 : tensor<8x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %3 = sdy.data_flow_edge %0 sharding=<@cube, [{?}, {?}]> : tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}
// expect: %x <@cube, [{"a"}, {}]>
// expect: -> 0 <@cube, [{"a", ?}, {?}]>
// expect: %0 <@cube, [{?}, {?}]> <@cube, [{?}, {?}]>
// expect: %1 <@cube, [{"a", ?}, {?}]>
// expect: %2 <@cube, [{"a", ?}, {?}]>
// expect: %3 <@cube, [{"a", ?}, {?}]>

// -----

// All axes are manual: nothing is free.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {"b"}]>}) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@square, [{"a"}, {"b"}]>] out_shardings=[<@square, [{"a"}, {"b"}]>] manual_axes={"a", "b"} (%y: tensor<4x2xf32>) {
    %1 = sdy.data_flow_edge %y sharding=<@square, [{}, {}]> : tensor<4x2xf32>
    %2 = stablehlo.tanh %1 : tensor<4x2xf32>
    sdy.return %2 : tensor<4x2xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %3 = sdy.data_flow_edge %0 sharding=<@square, [{"a"}, {"b"}]> : tensor<8x4xf32>
  %4 = stablehlo.negate %3 : tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a"}, {"b"}]>
// expect: -> 0 <@square, [{"a", ?}, {"b", ?}]>
// expect: %0 <@square, [{"a"}, {"b"}]> <@square, [{"a"}, {"b"}]>
// expect: %1 <@square, [{}, {}]>
// expect: %3 <@square, [{"a"}, {"b"}]>
// expect: %4 <@square, [{"a", ?}, {"b", ?}]>

// -----

// Two operands, one without axes.
sdy.mesh @cube = <["a"=2, "b"=2, "c"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"a"}, {"b"}]>}, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %0 = sdy.manual_computation(%x, %w) in_shardings=[<@cube, [{"a", ?}, {?}]>, <@cube, [{?}, {?}]>] out_shardings=[<@cube, [{"a", ?}, {?}]>] manual_axes={"a"} (%y: tensor<4x4xf32>, %v: tensor<4x6xf32>) {
    %1 = sdy.data_flow_edge %y sharding=<@cube, [{?}, {?}]> : tensor<4x4xf32>
    %2 = sdy.data_flow_edge %v sharding=<@cube, [{?}, {?}]> : tensor<4x6xf32>
    %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    sdy.return %3 : tensor<4x6xf32>
  } : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %4 = sdy.data_flow_edge %0 sharding=<@cube, [{"a", ?}, {?}]> : tensor<8x6xf32>
  return %4 : tensor<8x6xf32>
}
// expect: %x <@cube, [{"a"}, {"b"}]>
// expect: %w <@cube, [{"b", ?}, {?}]>
// expect: -> 0 <@cube, [{"a", ?}, {?}]>
// expect: %0 <@cube, [{"a", ?}, {?}]> <@cube, [{?}, {?}]> <@cube, [{"a", ?}, {?}]>
// expect: %1 <@cube, [{?}, {"b", ?}]>
// expect: %2 <@cube, [{"b", ?}, {?}]>
// expect: %4 <@cube, [{"a", ?}, {?}]>

// -----

// One in another.
sdy.mesh @cube = <["a"=2, "b"=2, "c"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"a", "b"}, {"c"}]>}) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@cube, [{"a", ?}, {?}]>] out_shardings=[<@cube, [{"a", ?}, {?}]>] manual_axes={"a"} (%y: tensor<4x4xf32>) {
    %1 = sdy.data_flow_edge %y sharding=<@cube, [{?}, {?}]> : tensor<4x4xf32>
    %2 = sdy.manual_computation(%1) in_shardings=[<@cube, [{"b", ?}, {?}]>] out_shardings=[<@cube, [{"b", ?}, {?}]>] manual_axes={"b"} (%z: tensor<2x4xf32>) {
      %3 = sdy.data_flow_edge %z sharding=<@cube, [{?}, {?}]> : tensor<2x4xf32>
      %4 = stablehlo.tanh %3 : tensor<2x4xf32>
      sdy.return %4 : tensor<2x4xf32>
    } : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %5 = sdy.data_flow_edge %2 sharding=<@cube, [{"b", ?}, {?}]> : tensor<4x4xf32>
    sdy.return %5 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %6 = sdy.data_flow_edge %0 sharding=<@cube, [{"a", ?}, {?}]> : tensor<8x4xf32>
  return %6 : tensor<8x4xf32>
}
// expect: %x <@cube, [{"a", "b"}, {"c"}]>
// expect: -> 0 <@cube, [{"a", "b", ?}, {"c", ?}]>
// expect: %0 <@cube, [{"a", ?}, {?}]> <@cube, [{"a", ?}, {?}]>
// expect: %1 <@cube, [{"b", ?}, {"c", ?}]>
// expect: %2 <@cube, [{"b", ?}, {?}]> <@cube, [{"b", ?}, {?}]>
// expect: %3 <@cube, [{?}, {"c", ?}]>
// expect: %4 <@cube, [{?}, {"c", ?}]>
// expect: %5 <@cube, [{"b", ?}, {"c", ?}]>
// expect: %6 <@cube, [{"a", "b", ?}, {"c", ?}]>

// -----

// Replicated manual axes.
sdy.mesh @cube = <["a"=2, "b"=2, "c"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"b"}, {?}]>}) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@cube, [{?}, {?}], replicated={"a"}>] out_shardings=[<@cube, [{?}, {?}], replicated={"a"}>] manual_axes={"a"} (%y: tensor<8x4xf32>) {
    %1 = sdy.data_flow_edge %y sharding=<@cube, [{?}, {?}]> : tensor<8x4xf32>
    %2 = stablehlo.tanh %1 : tensor<8x4xf32>
    sdy.return %2 : tensor<8x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %3 = sdy.data_flow_edge %0 sharding=<@cube, [{?}, {?}], replicated={"a"}> : tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}
// expect: %x <@cube, [{"b"}, {?}]>
// expect: -> 0 <@cube, [{"b", ?}, {?}]>
// expect: %0 <@cube, [{?}, {?}], replicated={"a"}> <@cube, [{?}, {?}], replicated={"a"}>
// expect: %1 <@cube, [{"b", ?}, {?}]>
// expect: %2 <@cube, [{"b", ?}, {?}]>
// expect: %3 <@cube, [{"b", ?}, {?}], replicated={"a"}>

// -----

// Without edges nothing goes in or out.
sdy.mesh @cube = <["a"=2, "b"=2, "c"=2]>
// differs: ours is asked of programs as they come, and what a pass of Shardy adds before is implied
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"a", "b"}, {?}]>}) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@cube, [{"a", ?}, {?}]>] out_shardings=[<@cube, [{"a", ?}, {?}]>] manual_axes={"a"} (%y: tensor<4x4xf32>) {
    %1 = stablehlo.tanh %y : tensor<4x4xf32>
    sdy.return %1 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// expect: %x <@cube, [{"a", "b"}, {?}]>
// expect: -> 0 <@cube, [{"a", ?}, {?}]>
// expect: %0 <@cube, [{"a", ?}, {?}]> <@cube, [{"a", ?}, {?}]>

// -----

// A token goes in and out: it is not cut, and what stands beside it is.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%t: !stablehlo.token {sdy.sharding = #sdy.sharding<@square, []>}, %x: tensor<4x4xi64> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {?}]>}) -> (!stablehlo.token, tensor<4x4xi64>) {
  %0:2 = sdy.manual_computation(%t, %x) in_shardings=[<@square, []>, <@square, [{?}, {"b"}]>] out_shardings=[<@square, []>, <@square, [{?}, {"b"}]>] manual_axes={"b"} (%arg2: !stablehlo.token, %arg3: tensor<4x2xi64>) {
    %1 = stablehlo.custom_call @keep(%arg2) : (!stablehlo.token) -> (!stablehlo.token)
    %2 = sdy.data_flow_edge %arg3 sharding=<@square, [{?}, {?}]> : tensor<4x2xi64>
    %3 = stablehlo.add %2, %2 : tensor<4x2xi64>
    sdy.return %1, %3 : !stablehlo.token, tensor<4x2xi64>
  } : (!stablehlo.token, tensor<4x4xi64>) -> (!stablehlo.token, tensor<4x4xi64>)
  %4 = sdy.data_flow_edge %0#1 sharding=<@square, [{?}, {"b"}]> : tensor<4x4xi64>
  return %0#0, %4 : !stablehlo.token, tensor<4x4xi64>
}
// expect: %t <@square, []>
// expect: %x <@square, [{"a"}, {"b", ?}]>
// expect: -> 1 <@square, [{"a", ?}, {"b", ?}]>
// expect: %0 <@square, []> <@square, [{?}, {"b"}]> <@square, []> <@square, [{?}, {"b"}]>
// expect: %2 <@square, [{"a", ?}, {?}]>
// expect: %3 <@square, [{"a", ?}, {?}]>
// expect: %4 <@square, [{"a", ?}, {"b"}]>
