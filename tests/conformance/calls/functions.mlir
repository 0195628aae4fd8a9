// run: propagate --strategy sdy-basic
// Without edges nothing goes through a call; shardings of the function are its own.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %x : tensor<8x4xf32>
  %1 = call @layer(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.cosine %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
func.func private @layer(%y: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"b"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.tanh %y : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %y <@square, [{"b"}, {}]>
// expect: %0 <@square, [{"b", ?}, {?}]>

// -----

// A result that the function says is kept to the program's own functions.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = call @layer(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
func.func private @layer(%y: tensor<8x4xf32>) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"b"}, {}]>}) {
  %0 = stablehlo.tanh %y : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// expect: -> 0 <@square, [{"b"}, {}]>

// -----

// A call without edges bears a sharding.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = call @layer(%x) {sdy.sharding = #sdy.sharding_per_value<[<@square, [{"a", ?}, {?}]>]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.cosine %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
func.func private @layer(%y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.tanh %y : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>

// -----

// run: propagate --strategy sdy-basic
// From the caller into the function and back.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %x : tensor<8x4xf32>
  %1 = call @layer(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = sdy.func_data_flow_edge %1 : tensor<8x4xf32>
  %3 = stablehlo.cosine %2 : tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}
func.func private @layer(%y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.func_data_flow_edge %y : tensor<8x4xf32>
  %1 = stablehlo.tanh %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %2 <@square, [{"a", ?}, {?}]>
// expect: %3 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>

// -----

// From the result of the program backward through the call.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32>) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{?}, {"b", ?}]>}) {
  %0 = stablehlo.negate %x : tensor<8x4xf32>
  %1 = call @layer(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = sdy.func_data_flow_edge %1 : tensor<8x4xf32>
  %3 = stablehlo.cosine %2 : tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}
func.func private @layer(%y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.func_data_flow_edge %y : tensor<8x4xf32>
  %1 = stablehlo.tanh %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
// expect: %x <@square, [{?}, {"b", ?}]>
// expect: -> 0 <@square, [{?}, {"b", ?}]>
// expect: %0 <@square, [{?}, {"b", ?}]>
// expect: %2 <@square, [{?}, {"b", ?}]>
// expect: %3 <@square, [{?}, {"b", ?}]>
// expect: %0 <@square, [{?}, {"b", ?}]>
// expect: %1 <@square, [{?}, {"b", ?}]>

// -----

// From a constraint in the function to the caller.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %x : tensor<8x4xf32>
  %1 = call @layer(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = sdy.func_data_flow_edge %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
func.func private @layer(%y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.func_data_flow_edge %y : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@square, [{"b", ?}, {?}]> : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
// expect: %x <@square, [{"b", ?}, {?}]>
// expect: -> 0 <@square, [{"b", ?}, {?}]>
// expect: %0 <@square, [{"b", ?}, {?}]>
// expect: %2 <@square, [{"b", ?}, {?}]>
// expect: %0 <@square, [{"b", ?}, {?}]>
// expect: %1 <@square, [{"b", ?}, {?}]>

// -----

// Two arguments and two results.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %z: tensor<6xf32>) -> (tensor<8x4xf32>, tensor<6xf32> {sdy.sharding = #sdy.sharding<@square, [{"b"}]>}) {
  %0:2 = call @both(%x, %z) : (tensor<8x4xf32>, tensor<6xf32>) -> (tensor<8x4xf32>, tensor<6xf32>)
  %1 = sdy.func_data_flow_edge %0#0 : tensor<8x4xf32>
  %2 = sdy.func_data_flow_edge %0#1 : tensor<6xf32>
  return %1, %2 : tensor<8x4xf32>, tensor<6xf32>
}
func.func private @both(%y: tensor<8x4xf32>, %u: tensor<6xf32>) -> (tensor<8x4xf32>, tensor<6xf32>) {
  %0 = sdy.func_data_flow_edge %y : tensor<8x4xf32>
  %1 = sdy.func_data_flow_edge %u : tensor<6xf32>
  %2 = stablehlo.tanh %0 : tensor<8x4xf32>
  %3 = stablehlo.negate %1 : tensor<6xf32>
  return %2, %3 : tensor<8x4xf32>, tensor<6xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %z <@square, [{"b", ?}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: -> 1 <@square, [{"b"}]>
// expect: %1 <@square, [{"a", ?}, {?}]>
// expect: %2 <@square, [{"b", ?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"b", ?}]>
// expect: %2 <@square, [{"a", ?}, {?}]>
// expect: %3 <@square, [{"b", ?}]>

// -----

// A function that calls another.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}) -> tensor<8x4xf32> {
  %0 = call @outer(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = sdy.func_data_flow_edge %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
func.func private @outer(%y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.func_data_flow_edge %y : tensor<8x4xf32>
  %1 = stablehlo.negate %0 : tensor<8x4xf32>
  %2 = call @inner(%1) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %3 = sdy.func_data_flow_edge %2 : tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}
func.func private @inner(%y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.func_data_flow_edge %y : tensor<8x4xf32>
  %1 = stablehlo.tanh %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>
// expect: %3 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>

// -----

// An edge with a sharding of its own.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = call @layer(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = sdy.func_data_flow_edge %0 {sdy.sharding = #sdy.sharding_per_value<[<@square, [{"b", ?}, {?}]>]>} : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
func.func private @layer(%y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.func_data_flow_edge %y {sdy.sharding = #sdy.sharding_per_value<[<@square, [{"b"}, {}]>]>} : tensor<8x4xf32>
  %1 = stablehlo.tanh %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
// expect: %x <@square, [{"b", ?}, {?}]>
// expect: -> 0 <@square, [{"b", ?}, {?}]>
// expect: %1 <@square, [{"b", ?}, {?}]>
// expect: %0 <@square, [{"b"}, {}]>
// expect: %1 <@square, [{"b", ?}, {?}]>

// -----

// Two functions that nobody calls, each by itself.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %x : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
func.func @other(%x: tensor<8x4xf32>) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"b"}]>}) {
  %0 = stablehlo.negate %x : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: -> 0 <@square, [{}, {"b"}]>

// -----

// A computation with a name: shardings of its operands and results, and no edges.
// differs: ours is asked of programs as they come, and what a pass of Shardy adds before is implied
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}) -> tensor<8x4xf32> {
  %0 = sdy.named_computation<"block">(%x) in_shardings=[<@square, [{?}, {"b", ?}]>] out_shardings=[<@square, [{?}, {?}]>] (%y: tensor<8x4xf32>) {
    %1 = stablehlo.tanh %y : tensor<8x4xf32>
    sdy.return %1 : tensor<8x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.negate %0 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %0 <@square, [{?}, {"b", ?}]> <@square, [{?}, {?}]>
// expect: %1 <@square, [{?}, {"b", ?}]>

// -----

// With edges in it and behind it.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}) -> tensor<8x4xf32> {
  %0 = sdy.named_computation<"block">(%x) (%y: tensor<8x4xf32>) {
    %1 = sdy.data_flow_edge %y : tensor<8x4xf32>
    %2 = stablehlo.tanh %1 : tensor<8x4xf32>
    sdy.return %2 : tensor<8x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %3 = sdy.data_flow_edge %0 : tensor<8x4xf32>
  %4 = stablehlo.negate %3 : tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>
// expect: %2 <@square, [{"a", ?}, {?}]>
// expect: %3 <@square, [{"a", ?}, {?}]>
// expect: %4 <@square, [{"a", ?}, {?}]>
