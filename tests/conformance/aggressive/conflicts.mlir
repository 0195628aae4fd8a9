// run: propagate --strategy sdy-aggressive
// Two operands ask for different axes: the larger part wins where both are of one size.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>}, %y: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"col"}, {}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.multiply %x, %y : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// expect: %x <@grid, [{"row"}, {}]>
// expect: %y <@grid, [{"col"}, {}]>

// -----

// Alike large: the first operand.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %y: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"b"}, {}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.multiply %x, %y : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %y <@square, [{"b"}, {}]>

// -----

// One axis for two dimensions of an elementwise op.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %y: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.multiply %x, %y : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %y <@square, [{}, {"a"}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>

// -----

// The second has more axes along its dimension.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %y: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a", "b"}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.multiply %x, %y : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %y <@square, [{}, {"a", "b"}]>
// expect: -> 0 <@square, [{?}, {"a", "b", ?}]>
// expect: %0 <@square, [{?}, {"a", "b", ?}]>

// -----

// A product: the axis of the larger operand goes on.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %w: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}) -> tensor<16x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x64xf32>) -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %w <@square, [{}, {"a"}]>
// expect: -> 0 <@square, [{?}, {"a", ?}]>
// expect: %0 <@square, [{?}, {"a", ?}]>

// -----

// Both of one size.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %w <@square, [{}, {"a"}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>

// -----

// The axis is summed along by one operand, and kept by the other.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}, %w: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}) -> tensor<8x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}
// expect: %x <@square, [{}, {"a"}]>
// expect: %w <@square, [{}, {"a"}]>
// expect: -> 0 <@square, [{?}, {"a", ?}]>
// expect: %0 <@square, [{?}, {"a", ?}]>

// -----

// The result says another axis than the operand.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}) {
  %0 = stablehlo.negate %x : tensor<8x16xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x16xf32>) -> tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: -> 0 <@square, [{"a"}, {}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>

// -----

// Axes that conflict from the second on.
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

// Of an axis only a part is free.
sdy.mesh @line = <["x"=8]>
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x"}, {}]>}, %w: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@line, [{}, {"x":(2)4}]>}) -> tensor<16x16xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
// expect: %x <@line, [{"x"}, {}]>
// expect: %w <@line, [{}, {"x":(2)4}]>
// expect: -> 0 <@line, [{"x", ?}, {?}]>
// expect: %0 <@line, [{"x", ?}, {?}]>

// -----

// An operand of more elements wins over two smaller ones.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%t: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}, %i: tensor<4x1xi32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}) -> tensor<4x8xf32> {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<64x8xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// expect: %t <@square, [{}, {"a"}]>
// expect: %i <@square, [{"a"}, {}]>
// expect: -> 0 <@square, [{?}, {"a", ?}]>
// expect: %0 <@square, [{?}, {"a", ?}]>

// -----

// A batch dimension that the operands cut differently.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<4x8x16xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}, {}]>}, %w: tensor<4x16x32xf32> {sdy.sharding = #sdy.sharding<@square, [{"b"}, {}, {"a"}]>}) -> tensor<4x8x32xf32> {
  %0 = stablehlo.dot_general %x, %w, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x8x16xf32>, tensor<4x16x32xf32>) -> tensor<4x8x32xf32>
  return %0 : tensor<4x8x32xf32>
}
// expect: %x <@square, [{"a"}, {}, {}]>
// expect: %w <@square, [{"b"}, {}, {"a"}]>
// expect: -> 0 <@square, [{?}, {?}, {"a", ?}]>
// expect: %0 <@square, [{?}, {?}, {"a", ?}]>

// -----

// Three operands, two of them agree.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%p: tensor<8x8xi1> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"b"}, {}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"b"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.select %p, %x, %y : tensor<8x8xi1>, tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// expect: %p <@square, [{"a"}, {}]>
// expect: %x <@square, [{"b"}, {}]>
// expect: %y <@square, [{"b"}, {}]>

// -----

// In a chain the first conflict that is settled decides.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}, %z: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.add %x, %z : tensor<8x8xf32>
  %1 = stablehlo.add %y, %z : tensor<8x8xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %y <@square, [{}, {"a"}]>
// expect: %z <@square, [{"a", ?}, {?}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{?}, {"a", ?}]>
// expect: %2 <@square, [{"a", ?}, {?}]>

// -----

// A replicated axis in the result keeps it from being cut.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {"b"}]>}, %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"b"}, {"a"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@square, [{?}, {?}], replicated={"a"}>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a"}, {"b"}]>
// expect: %w <@square, [{"b"}, {"a"}]>
// expect: %0 <@square, [{?}, {?}], replicated={"a"}>

// -----

// Factors of a reshape.
sdy.mesh @cube = <["a"=2, "b"=2, "c"=2]>
func.func @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"a"}, {"b"}]>}, %y: tensor<16xf32> {sdy.sharding = #sdy.sharding<@cube, [{"c"}]>}) -> tensor<16xf32> {
  %0 = stablehlo.reshape %x : (tensor<4x4xf32>) -> tensor<16xf32>
  %1 = stablehlo.add %0, %y : tensor<16xf32>
  return %1 : tensor<16xf32>
}
// expect: %x <@cube, [{"a"}, {"b"}]>
// expect: %y <@cube, [{"c"}]>
// expect: %0 <@cube, [{"a", ?}]>

// -----

// A constraint in the middle.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %x : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@square, [{?}, {"a", ?}]> : tensor<8x8xf32>
  %2 = stablehlo.negate %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: -> 0 <@square, [{?}, {"a", ?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{?}, {"a", ?}]>
// expect: %2 <@square, [{?}, {"a", ?}]>

// -----

// A reduction of a conflict.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {"b"}]>}, %z: tensor<f32>) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}]>}) {
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
// expect: %x <@square, [{"a"}, {"b"}]>
// expect: -> 0 <@square, [{"a"}]>
// expect: %0 <@square, [{"a", ?}]>

// -----

// Two axes that change places.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a", "b"}, {}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"b", "a"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %x, %y : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a", "b"}, {}]>
// expect: %y <@square, [{"b", "a"}, {}]>

// -----

// run: propagate --strategy sdy-aggressive --conservative
// Careful, no part of an axis is taken.
sdy.mesh @line = <["x"=8]>
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x"}, {}]>}, %w: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@line, [{}, {"x":(2)4}]>}) -> tensor<16x16xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
// expect: %x <@line, [{"x"}, {}]>
// expect: %w <@line, [{}, {"x":(2)4}]>
// expect: -> 0 <@line, [{"x", ?}, {?}]>
// expect: %0 <@line, [{"x", ?}, {?}]>

// -----

// Operands of an op that is not elementwise agree on what a closed result cannot have.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8x4xf32>, %y: tensor<8x4x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}, {}]>}) -> tensor<8x8x8xf32> {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@square, [{}, {}, {}]>]>} : (tensor<8x8x4xf32>, tensor<8x4x8xf32>) -> tensor<8x8x8xf32>
  return %0 : tensor<8x8x8xf32>
}
// expect: %x <@square, [{"a", ?}, {?}, {?}]>
// expect: %y <@square, [{"a"}, {}, {}]>
// expect: %0 <@square, [{}, {}, {}]>

// -----

// Tensors are as large as their factors: the operands of a concatenation as its result, so the operand comes first.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32>, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@square, [{"a", ?}, {?}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// expect: %x <@square, [{?}, {"a", ?}]>
// expect: %y <@square, [{}, {"a"}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>

// -----

// A value that an op has twice gets what it is the second time; the op is not asked again for what it did itself.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {"b"}]>}) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// expect: %x <@square, [{?}, {"b", ?}]>
// expect: -> 0 <@square, [{"a"}, {"b"}]>
// expect: %0 <@square, [{"a", ?}, {"b", ?}]>

// -----

// Of several ops that use a value the first is asked first when it has changed,
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.transpose %y, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.add %x, %0 : tensor<8x8xf32>
  %2 = stablehlo.add %x, %y : tensor<8x8xf32>
  %3 = sdy.sharding_constraint %x <@square, [{"a"}, {"b"}]> : tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}
// expect: %x <@square, [{"a", ?}, {"b", ?}]>
// expect: %y <@square, [{"b", ?}, {"a", ?}]>
// expect: -> 0 <@square, [{"a", ?}, {"b", ?}]>
// expect: %0 <@square, [{"a", ?}, {"b", ?}]>
// expect: %1 <@square, [{"a", ?}, {"b", ?}]>
// expect: %3 <@square, [{"a"}, {"b"}]>

// -----

// and the one that makes it after these.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.add %0, %x : tensor<8x8xf32>
  %2 = sdy.sharding_constraint %0 <@square, [{"a"}, {"b"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a", ?}, {"b", ?}]>
// expect: -> 0 <@square, [{"a", ?}, {"b", ?}]>
// expect: %0 <@square, [{"a", ?}, {"b", ?}]>
// expect: %1 <@square, [{"a", ?}, {"b", ?}]>
// expect: %2 <@square, [{"a"}, {"b"}]>

// -----

// Of several values that have changed the last comes first; one that an op has twice stands where it is first.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.transpose %z, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.add %x, %0 : tensor<8x8xf32>
  %2 = stablehlo.add %y, %z : tensor<8x8xf32>
  %3 = stablehlo.clamp %y, %x, %y {sdy.sharding = #sdy.sharding_per_value<[<@square, [{"a"}, {"b"}]>]>} : tensor<8x8xf32>
  return %1, %2, %3 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
// expect: %x <@square, [{"a", ?}, {"b", ?}]>
// expect: %y <@square, [{"a", ?}, {"b", ?}]>
// expect: %z <@square, [{"b", ?}, {"a", ?}]>
// expect: -> 0 <@square, [{"a", ?}, {"b", ?}]>
// expect: -> 2 <@square, [{"a", ?}, {"b", ?}]>
// expect: %0 <@square, [{"a", ?}, {"b", ?}]>
// expect: %1 <@square, [{"a", ?}, {"b", ?}]>
// expect: %3 <@square, [{"a"}, {"b"}]>

// -----

// run: propagate --strategy sdy-aggressive --conservative
// Where no axis may be split nothing goes on behind a part of one.
sdy.mesh @line = <["x"=8, "y"=2]>
func.func @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(1)4, "y"}]>}) -> tensor<16xf32> {
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@line, [{"x":(1)4, ?}]>]>} : tensor<16xf32>
  return %0 : tensor<16xf32>
}
// expect: %x <@line, [{"x":(1)4, "y"}]>
// expect: -> 0 <@line, [{"x":(1)4, ?}]>
// expect: %0 <@line, [{"x":(1)4, ?}]>
