// run: propagate --strategy sdy-basic
// Forward through an elementwise op and a product.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>}, %w: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"col"}]>}) -> tensor<16x32xf32> {
  %0 = stablehlo.tanh %x : tensor<16x8xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
  return %1 : tensor<16x32xf32>
}
// expect: %x <@grid, [{"row"}, {}]>
// expect: %w <@grid, [{}, {"col"}]>
// expect: -> 0 <@grid, [{"row", ?}, {"col", ?}]>
// expect: %0 <@grid, [{"row", ?}, {?}]>
// expect: %1 <@grid, [{"row", ?}, {"col", ?}]>

// -----

// Backward from the result.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32>, %w: tensor<8x32xf32>) -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {"col"}]>}) {
  %0 = stablehlo.tanh %x : tensor<16x8xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
  return %1 : tensor<16x32xf32>
}
// expect: %x <@grid, [{"row", ?}, {?}]>
// expect: %w <@grid, [{?}, {"col", ?}]>
// expect: -> 0 <@grid, [{"row"}, {"col"}]>
// expect: %0 <@grid, [{"row", ?}, {?}]>
// expect: %1 <@grid, [{"row", ?}, {"col", ?}]>

// -----

// From one operand to the other along what is summed.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"col"}]>}, %w: tensor<8x32xf32>) -> tensor<16x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
// expect: %x <@grid, [{}, {"col"}]>
// expect: %w <@grid, [{"col", ?}, {?}]>

// -----

// Closed dimensions take no more axes, open ones do.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row", "col"}, {}]>}, %y: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>}, %z: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row", ?}, {?}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.add %x, %y : tensor<16x8xf32>
  %1 = stablehlo.add %0, %z : tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}
// expect: %x <@grid, [{"row", "col"}, {}]>
// expect: %y <@grid, [{"row"}, {}]>
// expect: %z <@grid, [{"row", ?}, {?}]>
// expect: -> 0 <@grid, [{"row", ?}, {?}]>
// expect: %0 <@grid, [{"row", ?}, {?}]>
// expect: %1 <@grid, [{"row", ?}, {?}]>

// -----

// Two operands ask for different axes of a dimension: neither goes on.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>}, %y: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"col"}, {}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.multiply %x, %y : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// expect: %x <@grid, [{"row"}, {}]>
// expect: %y <@grid, [{"col"}, {}]>

// -----

// What they have in common in front goes on.
sdy.mesh @cube = <["a"=2, "b"=2, "c"=2]>
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"a", "b"}, {}]>}, %y: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"a", "c"}, {}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.multiply %x, %y : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// expect: %x <@cube, [{"a", "b"}, {}]>
// expect: %y <@cube, [{"a", "c"}, {}]>
// expect: -> 0 <@cube, [{"a", ?}, {?}]>
// expect: %0 <@cube, [{"a", ?}, {?}]>

// -----

// One operand is cut further than the other: no conflict.
sdy.mesh @cube = <["a"=2, "b"=2, "c"=2]>
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"a", "b"}, {}]>}, %y: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"a"}, {"c"}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.multiply %x, %y : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// expect: %x <@cube, [{"a", "b"}, {}]>
// expect: %y <@cube, [{"a"}, {"c"}]>
// expect: -> 0 <@cube, [{"a", ?}, {?}]>
// expect: %0 <@cube, [{"a", ?}, {?}]>

// -----

// One axis for two dimensions of the result: it goes to neither.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>}, %w: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"row"}]>}) -> tensor<16x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
// expect: %x <@grid, [{"row"}, {}]>
// expect: %w <@grid, [{}, {"row"}]>

// -----

// The second of two axes meets another factor.
sdy.mesh @cube = <["a"=2, "b"=2, "c"=2]>
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"a", "b"}, {}]>}, %w: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@cube, [{}, {"b", "c"}]>}) -> tensor<16x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
// expect: %x <@cube, [{"a", "b"}, {}]>
// expect: %w <@cube, [{}, {"b", "c"}]>
// expect: -> 0 <@cube, [{"a", ?}, {?}]>
// expect: %0 <@cube, [{"a", ?}, {?}]>

// -----

// An axis that is replicated on purpose cuts nothing there.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {"col"}]>}, %y: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{?}, {?}], replicated={"col"}>}) -> tensor<16x8xf32> {
  %0 = stablehlo.add %x, %y : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// expect: %x <@grid, [{"row"}, {"col"}]>
// expect: %y <@grid, [{"row", ?}, {?}], replicated={"col"}>
// expect: -> 0 <@grid, [{"row", ?}, {?}]>
// expect: %0 <@grid, [{"row", ?}, {?}]>

// -----

// A part of an axis that is replicated.
sdy.mesh @line = <["x"=8]>
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x"}, {}]>}, %y: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@line, [{?}, {?}], replicated={"x":(2)2}>}) -> tensor<16x8xf32> {
  %0 = stablehlo.add %x, %y : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// expect: %x <@line, [{"x"}, {}]>
// expect: %y <@line, [{"x":(1)2, ?}, {?}], replicated={"x":(2)2}>
// expect: -> 0 <@line, [{"x":(1)2, ?}, {?}]>
// expect: %0 <@line, [{"x":(1)2, ?}, {?}]>

// -----

// Unreduced axes stay where they are and cut nothing.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}], unreduced={"col"}>}, %y: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = stablehlo.add %x, %y : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// expect: %x <@grid, [{"row"}, {}], unreduced={"col"}>
// expect: %y <@grid, [{"row", ?}, {?}]>
// expect: -> 0 <@grid, [{"row", ?}, {?}]>
// expect: %0 <@grid, [{"row", ?}, {?}]>

// -----

// A result that is unreduced takes no more along the axis.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {"col"}]>}, %w: tensor<8x32xf32>) -> tensor<16x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{?}, {?}], unreduced={"col"}>]>} : (tensor<16x8xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
  %1 = stablehlo.negate %0 : tensor<16x32xf32>
  return %1 : tensor<16x32xf32>
}
// expect: %x <@grid, [{"row"}, {"col"}]>
// expect: %w <@grid, [{"col", ?}, {?}]>
// expect: -> 0 <@grid, [{"row", ?}, {?}]>
// expect: %0 <@grid, [{"row", ?}, {?}], unreduced={"col"}>
// expect: %1 <@grid, [{"row", ?}, {?}]>

// -----

// Through a chain, forward and backward, to a value that has nothing.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32>, %y: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{?}, {"row", ?}]>}) -> (tensor<16x8xf32>, tensor<8x16xf32>) {
  %0 = stablehlo.add %x, %y : tensor<16x8xf32>
  %1 = stablehlo.negate %x : tensor<16x8xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<16x8xf32>) -> tensor<8x16xf32>
  return %0, %2 : tensor<16x8xf32>, tensor<8x16xf32>
}
// expect: %x <@grid, [{?}, {"row", ?}]>
// expect: %y <@grid, [{?}, {"row", ?}]>
// expect: -> 0 <@grid, [{?}, {"row", ?}]>
// expect: -> 1 <@grid, [{"row", ?}, {?}]>
// expect: %0 <@grid, [{?}, {"row", ?}]>
// expect: %1 <@grid, [{?}, {"row", ?}]>
// expect: %2 <@grid, [{"row", ?}, {?}]>

// -----

// A dimension that its axes do not divide.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<7x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {"col"}]>}) -> tensor<7x6xf32> {
  %0 = stablehlo.negate %x : tensor<7x6xf32>
  return %0 : tensor<7x6xf32>
}
// expect: %x <@grid, [{"row"}, {"col"}]>
// expect: -> 0 <@grid, [{"row", ?}, {"col", ?}]>
// expect: %0 <@grid, [{"row", ?}, {"col", ?}]>

// -----

// More devices than elements.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<3x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row", "col"}, {}]>}) -> tensor<3x6xf32> {
  %0 = stablehlo.negate %x : tensor<3x6xf32>
  return %0 : tensor<3x6xf32>
}
// expect: %x <@grid, [{"row", "col"}, {}]>
// expect: -> 0 <@grid, [{"row", "col", ?}, {?}]>
// expect: %0 <@grid, [{"row", "col", ?}, {?}]>

// -----

// A dimension of one element is cut in name.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<1x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>}) -> tensor<1x6xf32> {
  %0 = stablehlo.negate %x : tensor<1x6xf32>
  return %0 : tensor<1x6xf32>
}
// expect: %x <@grid, [{"row"}, {}]>
// expect: -> 0 <@grid, [{"row", ?}, {?}]>
// expect: %0 <@grid, [{"row", ?}, {?}]>

// -----

// A dimension without elements.
// differs: "Dimensions of size 0 aren't sharded": we refuse it, Shardy's reader does not look
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<0x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {"col"}]>}) -> tensor<0x6xf32> {
  %0 = stablehlo.negate %x : tensor<0x6xf32>
  return %0 : tensor<0x6xf32>
}
// expect: %x <@grid, [{"row"}, {"col"}]>
// expect: -> 0 <@grid, [{"row", ?}, {"col", ?}]>
// expect: %0 <@grid, [{"row", ?}, {"col", ?}]>

// -----

// Scalars take part with nothing.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<f32> {sdy.sharding = #sdy.sharding<@grid, []>}, %y: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %x, %y : tensor<f32>
  return %0 : tensor<f32>
}
// expect: %x <@grid, []>

// -----

// Nothing is said anywhere.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = stablehlo.negate %x : tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
// expect: nothing

// -----

// An argument is returned as it came.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {?}]>}) -> (tensor<4x6xf32>, tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{?}, {"col", ?}]>}) {
  return %x, %x : tensor<4x6xf32>, tensor<4x6xf32>
}
// expect: %x <@grid, [{"row"}, {"col", ?}]>
// expect: -> 0 <@grid, [{"row", ?}, {"col", ?}]>
// expect: -> 1 <@grid, [{"row", ?}, {"col", ?}]>

// -----

// The result of the function is another than what it gets.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>}) -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"col"}, {}]>}) {
  %0 = stablehlo.negate %x : tensor<4x8xf32>
  %1 = stablehlo.negate %0 : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
// expect: %x <@grid, [{"row"}, {}]>
// expect: -> 0 <@grid, [{"col"}, {}]>
// expect: %0 <@grid, [{"row", ?}, {?}]>
// expect: %1 <@grid, [{"col", ?}, {?}]>

// -----

// The predicate of a select is a scalar.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%p: tensor<i1>, %x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>}, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.select %p, %x, %y : tensor<i1>, tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// expect: %x <@grid, [{"row"}, {}]>
// expect: %y <@grid, [{"row", ?}, {?}]>
// expect: -> 0 <@grid, [{"row", ?}, {?}]>
// expect: %0 <@grid, [{"row", ?}, {?}]>

// -----

// An op without a rule is an end.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>}) -> tensor<4x8xf32> {
  %0 = stablehlo.custom_call @nobody.knows(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.negate %0 : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
// expect: %x <@grid, [{"row"}, {}]>

// -----

// An unknown op with a sharding of its own hands it on.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.custom_call @nobody.knows(%x) {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"col", ?}, {?}]>]>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.negate %0 : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
// expect: -> 0 <@grid, [{"col", ?}, {?}]>
// expect: %0 <@grid, [{"col", ?}, {?}]>
// expect: %1 <@grid, [{"col", ?}, {?}]>

// -----

// A rule that the op says.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {"col"}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.custom_call @turn(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([j, i]) {i=4, j=8}, custom>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// expect: %x <@grid, [{"row"}, {"col"}]>
// expect: -> 0 <@grid, [{"col", ?}, {"row", ?}]>
// expect: %0 <@grid, [{"col", ?}, {"row", ?}]>

// -----

// A factor that is blocked is not cut for it.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {"col"}]>}) -> tensor<4x8xf32> {
  %0 = stablehlo.custom_call @whole(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} blocked_propagation={j}, custom>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// expect: %x <@grid, [{"row"}, {"col"}]>
// expect: -> 0 <@grid, [{"row", ?}, {?}]>
// expect: %0 <@grid, [{"row", ?}, {?}]>

// -----

// Factors that need replication carry axes all the same.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {"col"}]>}) -> tensor<4x8xf32> {
  %0 = stablehlo.custom_call @whole(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} need_replication={j}, custom>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// expect: %x <@grid, [{"row"}, {"col"}]>
// expect: -> 0 <@grid, [{"row", ?}, {"col", ?}]>
// expect: %0 <@grid, [{"row", ?}, {"col", ?}]>
