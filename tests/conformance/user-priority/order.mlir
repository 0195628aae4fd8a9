// run: propagate --strategy sdy-user-priority
// The lower number goes first.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}p1, {}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"b"}p0, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %x, %y : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %y <@square, [{"b"}, {}]>
// expect: -> 0 <@square, [{"b", ?}, {?}]>
// expect: %0 <@square, [{"b", ?}, {?}]>

// -----

// Without a number it is 0.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}p1, {}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %x, %y : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %y <@square, [{}, {"a"}]>
// expect: -> 0 <@square, [{?}, {"a", ?}]>
// expect: %0 <@square, [{?}, {"a", ?}]>

// -----

// Numbers may be skipped.
sdy.mesh @cube = <["a"=2, "b"=2, "c"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"a"}p7, {"b"}p3]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"c", ?}p5, {?}p5]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %x, %y : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// expect: %x <@cube, [{"a"}, {"b"}]>
// expect: %y <@cube, [{"c", ?}, {"b", ?}]>
// expect: -> 0 <@cube, [{"c", ?}, {"b", ?}]>
// expect: %0 <@cube, [{"c", ?}, {"b", ?}]>

// -----

// Dimensions of one value by their own numbers.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a", ?}p1, {"b", ?}]>}, %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a", ?}, {"b", ?}p1]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a", ?}, {"b", ?}]>
// expect: %w <@square, [{"a", ?}, {"b", ?}]>
// expect: -> 0 <@square, [{"a", ?}, {"b", ?}]>
// expect: %0 <@square, [{"a", ?}, {"b", ?}]>

// -----

// An open dimension without axes waits for its turn.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{?}p2, {?}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{?}, {"a", ?}p1]>}) {
  %0 = stablehlo.add %x, %y : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %y <@square, [{"a", ?}, {?}]>
// expect: -> 0 <@square, [{?}, {"a", ?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>

// -----

// Numbers on op results and constraints.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %x {sdy.sharding = #sdy.sharding_per_value<[<@square, [{"a", ?}p2, {?}]>]>} : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@square, [{?}, {"a", ?}p1]> : tensor<8x8xf32>
  %2 = stablehlo.negate %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a", ?}, {?}]>
// expect: -> 0 <@square, [{?}, {"a", ?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{?}, {"a", ?}]>
// expect: %2 <@square, [{?}, {"a", ?}]>

// -----

// Batches first, then the model.
sdy.mesh @pod = <["data"=4, "model"=2]>
func.func @main(%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@pod, [{"data"}p0, {?}]>}, %w: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@pod, [{?}, {"model"}p1]>}, %v: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@pod, [{"data"}p2, {?}]>}) -> tensor<16x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x64xf32>) -> tensor<16x64xf32>
  %1 = stablehlo.tanh %0 : tensor<16x64xf32>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0] : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
  return %2 : tensor<16x32xf32>
}
// expect: %x <@pod, [{"data"}, {?}]>
// expect: %w <@pod, [{?}, {"model"}]>
// expect: %v <@pod, [{"data"}, {?}]>
// expect: -> 0 <@pod, [{"data", ?}, {?}]>
// expect: %0 <@pod, [{"data", ?}, {"model", ?}]>
// expect: %1 <@pod, [{"data", ?}, {"model", ?}]>
// expect: %2 <@pod, [{"data", ?}, {?}]>

// -----

// The same axis for batches and, later, for weights.
sdy.mesh @pod = <["data"=4]>
func.func @main(%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@pod, [{"data"}p0, {?}]>}, %w: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@pod, [{"data"}p1, {?}]>}) -> tensor<16x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x64xf32>) -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}
// expect: %x <@pod, [{"data"}, {?}]>
// expect: %w <@pod, [{"data"}, {?}]>
// expect: -> 0 <@pod, [{"data", ?}, {?}]>
// expect: %0 <@pod, [{"data", ?}, {?}]>

// -----

// Parts of an axis with numbers.
sdy.mesh @line = <["x"=8]>
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(1)4, ?}p1, {?}]>}, %y: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(1)2, ?}p0, {"x":(4)2, ?}p0]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.add %x, %y : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// expect: %x <@line, [{"x":(1)4, ?}, {"x":(4)2, ?}]>
// expect: %y <@line, [{"x":(1)4, ?}, {"x":(4)2, ?}]>
// expect: -> 0 <@line, [{"x":(1)4, ?}, {"x":(4)2, ?}]>
// expect: %0 <@line, [{"x":(1)4, ?}, {"x":(4)2, ?}]>

// -----

// Replicated and unreduced axes hold from the beginning.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {"b"}p1]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{?}p3, {?}], replicated={"b"}>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %x, %y : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a"}, {"b"}]>
// expect: %y <@square, [{"a", ?}, {?}], replicated={"b"}>
// expect: -> 0 <@square, [{"a", ?}, {"b", ?}]>
// expect: %0 <@square, [{"a", ?}, {"b", ?}]>

// -----

// A closed dimension with a number blocks from its turn on.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a", "b"}, {?}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}p1, {"b"}p1]>}) {
  %0 = stablehlo.negate %x : tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a", "b"}, {?}]>
// expect: -> 0 <@square, [{"a"}, {"b"}]>
// expect: %0 <@square, [{"a", "b", ?}, {?}]>
// expect: %1 <@square, [{"a", "b", ?}, {?}]>

// -----

// An edge with numbers.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"b"}p1, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.optimization_barrier %x : tensor<8x8xf32>
  %1 = sdy.data_flow_edge %0 sharding=<@square, [{?}, {"b", ?}p0]> : tensor<8x8xf32>
  %2 = stablehlo.negate %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
// expect: %x <@square, [{"b"}, {}]>
// expect: -> 0 <@square, [{?}, {"b", ?}]>
// expect: %1 <@square, [{?}, {"b", ?}]>
// expect: %2 <@square, [{?}, {"b", ?}]>

// -----

// run: propagate --strategy sdy
// The whole hierarchy by its short name.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}p1, {}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"b"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %x, %y : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %y <@square, [{"b"}, {}]>
// expect: -> 0 <@square, [{"b", ?}, {?}]>
// expect: %0 <@square, [{"b", ?}, {?}]>
