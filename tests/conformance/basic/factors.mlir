// run: propagate --strategy sdy-basic
// A dimension that is cut in two: major axes go to the major part.
sdy.mesh @cube = <["a"=2, "b"=4, "c"=2]>
func.func @main(%x: tensor<24x5xf32> {sdy.sharding = #sdy.sharding<@cube, [{"a", "b"}, {}]>}) -> tensor<2x12x5xf32> {
  %0 = stablehlo.reshape %x : (tensor<24x5xf32>) -> tensor<2x12x5xf32>
  return %0 : tensor<2x12x5xf32>
}
// expect: %x <@cube, [{"a", "b"}, {}]>
// expect: -> 0 <@cube, [{"a", ?}, {"b", ?}, {?}]>
// expect: %0 <@cube, [{"a", ?}, {"b", ?}, {?}]>

// -----

// An axis is split where the major part ends.
sdy.mesh @line = <["x"=8]>
func.func @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@line, [{"x"}]>}) -> tensor<4x4xf32> {
  %0 = stablehlo.reshape %x : (tensor<16xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
// expect: %x <@line, [{"x"}]>
// expect: -> 0 <@line, [{"x":(1)4, ?}, {"x":(4)2, ?}]>
// expect: %0 <@line, [{"x":(1)4, ?}, {"x":(4)2, ?}]>

// -----

// And put together again.
sdy.mesh @line = <["x"=8]>
func.func @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(1)4}, {"x":(4)2}]>}) -> tensor<16xf32> {
  %0 = stablehlo.reshape %x : (tensor<4x4xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
// expect: %x <@line, [{"x":(1)4}, {"x":(4)2}]>
// expect: -> 0 <@line, [{"x", ?}]>
// expect: %0 <@line, [{"x", ?}]>

// -----

// Only the minor dimension is cut: the joined one cannot say it.
sdy.mesh @line = <["x"=4]>
func.func @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@line, [{}, {"x"}]>}) -> tensor<16xf32> {
  %0 = stablehlo.reshape %x : (tensor<4x4xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
// expect: %x <@line, [{}, {"x"}]>

// -----

// The major one is cut whole, the minor one follows.
sdy.mesh @grid = <["row"=4, "col"=2]>
func.func @main(%x: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {"col"}]>}) -> tensor<24xf32> {
  %0 = stablehlo.reshape %x : (tensor<4x6xf32>) -> tensor<24xf32>
  return %0 : tensor<24xf32>
}
// expect: %x <@grid, [{"row"}, {"col"}]>
// expect: -> 0 <@grid, [{"row", "col", ?}]>
// expect: %0 <@grid, [{"row", "col", ?}]>

// -----

// The major one is cut in part: the minor one does not follow.
sdy.mesh @grid = <["row"=2, "col"=2]>
func.func @main(%x: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {"col"}]>}) -> tensor<24xf32> {
  %0 = stablehlo.reshape %x : (tensor<4x6xf32>) -> tensor<24xf32>
  return %0 : tensor<24xf32>
}
// expect: %x <@grid, [{"row"}, {"col"}]>
// expect: -> 0 <@grid, [{"row", ?}]>
// expect: %0 <@grid, [{"row", ?}]>

// -----

// The greatest part of an axis that divides.
sdy.mesh @line = <["x"=12]>
func.func @main(%x: tensor<8x9xf32> {sdy.sharding = #sdy.sharding<@line, [{"x"}, {}]>}) -> tensor<2x4x9xf32> {
  %0 = stablehlo.reshape %x : (tensor<8x9xf32>) -> tensor<2x4x9xf32>
  return %0 : tensor<2x4x9xf32>
}
// expect: %x <@line, [{"x"}, {}]>
// expect: -> 0 <@line, [{"x":(1)2, ?}, {"x":(2)6, ?}, {?}]>
// expect: %0 <@line, [{"x":(1)2, ?}, {"x":(2)6, ?}, {?}]>

// -----

// An axis of odd size does not fit the major part.
sdy.mesh @grid = <["x"=3, "y"=2]>
func.func @main(%x: tensor<12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x", "y"}]>}) -> tensor<2x6xf32> {
  %0 = stablehlo.reshape %x : (tensor<12xf32>) -> tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}
// expect: %x <@grid, [{"x", "y"}]>

// -----

// Through two reshapes, and back to the shape.
sdy.mesh @grid = <["row"=2, "col"=2]>
func.func @main(%x: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row", "col"}, {}]>}) -> tensor<4x6xf32> {
  %0 = stablehlo.reshape %x : (tensor<4x6xf32>) -> tensor<2x12xf32>
  %1 = stablehlo.reshape %0 : (tensor<2x12xf32>) -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}
// expect: %x <@grid, [{"row", "col"}, {}]>
// expect: -> 0 <@grid, [{"row", "col", ?}, {?}]>
// expect: %0 <@grid, [{"row", ?}, {"col", ?}]>
// expect: %1 <@grid, [{"row", "col", ?}, {?}]>

// -----

// Axes of size 1 go with the others.
sdy.mesh @thin = <["a"=1, "b"=2, "c"=1]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@thin, [{"b", "a", "c"}]>}) -> tensor<2x4xf32> {
  %0 = stablehlo.reshape %x : (tensor<8xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
// expect: %x <@thin, [{"b", "a", "c"}]>
// expect: -> 0 <@thin, [{"b", "a", "c", ?}, {?}]>
// expect: %0 <@thin, [{"b", "a", "c", ?}, {?}]>

// -----

// An axis of size 1 in front of another dimension of it.
sdy.mesh @thin = <["a"=1, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@thin, [{"a"}, {"b"}]>}, %w: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@thin, [{}, {"a"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// expect: %x <@thin, [{"a"}, {"b"}]>
// expect: %w <@thin, [{}, {"a"}]>

// -----

// Parts of an axis: the shorter one goes on, to a longer one.
sdy.mesh @line = <["x"=8]>
func.func @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(1)2}]>}, %y: tensor<16xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(1)4}]>}) -> tensor<16xf32> {
  %0 = stablehlo.add %x, %y : tensor<16xf32>
  return %0 : tensor<16xf32>
}
// expect: %x <@line, [{"x":(1)2}]>
// expect: %y <@line, [{"x":(1)4}]>
// expect: -> 0 <@line, [{"x":(1)2, ?}]>
// expect: %0 <@line, [{"x":(1)2, ?}]>

// -----

// An open part grows to the whole axis.
sdy.mesh @line = <["x"=8]>
func.func @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(1)2, ?}]>}, %y: tensor<16xf32> {sdy.sharding = #sdy.sharding<@line, [{"x"}]>}) -> tensor<16xf32> {
  %0 = stablehlo.add %x, %y : tensor<16xf32>
  return %0 : tensor<16xf32>
}
// expect: %x <@line, [{"x", ?}]>
// expect: %y <@line, [{"x"}]>
// expect: -> 0 <@line, [{"x", ?}]>
// expect: %0 <@line, [{"x", ?}]>

// -----

// Two parts of one axis that overlap, in two dimensions of the result.
sdy.mesh @line = <["x"=8]>
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(1)4}, {}]>}, %w: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@line, [{}, {"x":(2)4}]>}) -> tensor<16x16xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
// expect: %x <@line, [{"x":(1)4}, {}]>
// expect: %w <@line, [{}, {"x":(2)4}]>
// expect: -> 0 <@line, [{"x":(1)2, ?}, {?}]>
// expect: %0 <@line, [{"x":(1)2, ?}, {?}]>

// -----

// Two parts that do not.
sdy.mesh @line = <["x"=8]>
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(1)2}, {}]>}, %w: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@line, [{}, {"x":(2)4}]>}) -> tensor<16x16xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
// expect: %x <@line, [{"x":(1)2}, {}]>
// expect: %w <@line, [{}, {"x":(2)4}]>
// expect: -> 0 <@line, [{"x":(1)2, ?}, {"x":(2)4, ?}]>
// expect: %0 <@line, [{"x":(1)2, ?}, {"x":(2)4, ?}]>

// -----

// A broadcast hands on what its operand has; new dimensions stay whole.
sdy.mesh @grid = <["row"=2, "col"=2]>
func.func @main(%x: tensor<6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}]>}) -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"col", ?}, {?}]>}) {
  %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<6xf32>) -> tensor<4x6xf32>
  %1 = stablehlo.negate %0 : tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}
// expect: %x <@grid, [{"row"}]>
// expect: -> 0 <@grid, [{"col", ?}, {"row", ?}]>
// expect: %0 <@grid, [{"col", ?}, {"row", ?}]>
// expect: %1 <@grid, [{"col", ?}, {"row", ?}]>

// -----

// A reduction: what is summed goes between operands only.
sdy.mesh @grid = <["row"=2, "col"=2]>
func.func @main(%x: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {"col"}]>}, %i: tensor<8x6xi32>, %z: tensor<f32>, %n: tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>) {
  %0:2 = stablehlo.reduce(%x init: %z), (%i init: %n) across dimensions = [1] : (tensor<8x6xf32>, tensor<8x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
   reducer(%p: tensor<f32>, %q: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>)  {
    %1 = stablehlo.maximum %p, %q : tensor<f32>
    %2 = stablehlo.maximum %j, %k : tensor<i32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xi32>
}
// expect: %x <@grid, [{"row"}, {"col"}]>
// expect: %i <@grid, [{"row", ?}, {"col", ?}]>
// expect: -> 0 <@grid, [{"row", ?}]>
// expect: -> 1 <@grid, [{"row", ?}]>
// expect: %0 <@grid, [{"row", ?}]> <@grid, [{"row", ?}]>

// -----

// Operands that are joined have the dimension alike.
sdy.mesh @grid = <["row"=2, "col"=2]>
func.func @main(%x: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {"col"}]>}, %y: tensor<8x6xf32>) -> tensor<8x12xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}
// expect: %x <@grid, [{"row"}, {"col"}]>
// expect: %y <@grid, [{"row", ?}, {"col", ?}]>
// expect: -> 0 <@grid, [{"row", ?}, {"col", ?}]>
// expect: %0 <@grid, [{"row", ?}, {"col", ?}]>

// -----

// A slice and a padding keep the axes of the dimension.
sdy.mesh @grid = <["row"=2, "col"=2]>
func.func @main(%x: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {"col"}]>}, %z: tensor<f32>) -> tensor<8x9xf32> {
  %0 = stablehlo.slice %x [0:8, 1:5] : (tensor<8x6xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.pad %0, %z, low = [0, 2], high = [0, 3], interior = [0, 0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x9xf32>
  return %1 : tensor<8x9xf32>
}
// expect: %x <@grid, [{"row"}, {"col"}]>
// expect: -> 0 <@grid, [{"row", ?}, {"col", ?}]>
// expect: %0 <@grid, [{"row", ?}, {"col", ?}]>
// expect: %1 <@grid, [{"row", ?}, {"col", ?}]>

// -----

// A slice at a place that is data: the part that is cut out is not.
sdy.mesh @grid = <["row"=2, "col"=2]>
func.func @main(%x: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {"col"}]>}, %i: tensor<i32>) -> tensor<8x2xf32> {
  %0 = stablehlo.dynamic_slice %x, %i, %i, sizes = [8, 2] : (tensor<8x6xf32>, tensor<i32>, tensor<i32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}
// expect: %x <@grid, [{"row"}, {"col"}]>
// expect: -> 0 <@grid, [{"row", ?}, {?}]>
// expect: %0 <@grid, [{"row", ?}, {?}]>

// -----

// A row is found by its number: the table's rows stay cut.
sdy.mesh @grid = <["row"=2, "col"=2]>
func.func @main(%t: tensor<20x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {"col"}]>}, %i: tensor<8x1xi32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>}) -> tensor<8x6xf32> {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 6>}> : (tensor<20x6xf32>, tensor<8x1xi32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
// expect: %t <@grid, [{"row"}, {"col"}]>
// expect: %i <@grid, [{"row"}, {}]>
// expect: -> 0 <@grid, [{?}, {"col", ?}]>
// expect: %0 <@grid, [{?}, {"col", ?}]>

// -----

// Windows of a convolution.
sdy.mesh @grid = <["n"=2, "h"=2, "f"=2]>
func.func @main(%x: tensor<4x16x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"n"}, {"h"}, {}]>}, %k: tensor<3x6x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {}, {"f"}]>}) -> tensor<4x16x8xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x16x6xf32>, tensor<3x6x8xf32>) -> tensor<4x16x8xf32>
  return %0 : tensor<4x16x8xf32>
}
// expect: %x <@grid, [{"n"}, {"h"}, {}]>
// expect: %k <@grid, [{}, {}, {"f"}]>
// expect: -> 0 <@grid, [{"n", ?}, {"h", ?}, {"f", ?}]>
// expect: %0 <@grid, [{"n", ?}, {"h", ?}, {"f", ?}]>

// -----

// Columns are sorted: the sorted dimension is cut in the result, too, as it need not be whole to be named.
sdy.mesh @grid = <["row"=2, "col"=2]>
func.func @main(%x: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {"col"}]>}) -> tensor<8x6xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.compare LT, %p, %q, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
// expect: %x <@grid, [{"row"}, {"col"}]>
// expect: -> 0 <@grid, [{"row", ?}, {"col", ?}]>
// expect: %0 <@grid, [{"row", ?}, {"col", ?}]>

// -----

// A vector that is sorted alone: nothing goes on.
sdy.mesh @grid = <["row"=2, "col"=2]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}]>}) -> tensor<8xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.compare LT, %p, %q, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// expect: %x <@grid, [{"row"}]>

// -----

// Two tables that updates are added to.
sdy.mesh @grid = <["row"=2, "col"=2]>
func.func @main(%t: tensor<20x6xf32>, %s: tensor<20x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>}, %i: tensor<8x1xi32>, %u: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {"col"}]>}, %v: tensor<8x6xf32>) -> (tensor<20x6xf32>, tensor<20x6xf32>) {
  %0:2 = "stablehlo.scatter"(%t, %s, %i, %u, %v) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.add %x, %p : tensor<f32>
    %2 = stablehlo.add %y, %q : tensor<f32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<f32>
  }) : (tensor<20x6xf32>, tensor<20x6xf32>, tensor<8x1xi32>, tensor<8x6xf32>, tensor<8x6xf32>) -> (tensor<20x6xf32>, tensor<20x6xf32>)
  return %0#0, %0#1 : tensor<20x6xf32>, tensor<20x6xf32>
}
// expect: %s <@grid, [{"row"}, {}]>
// expect: %u <@grid, [{"row"}, {"col"}]>

// -----

// Halves that random bits are made of are needed whole.
sdy.mesh @grid = <["row"=2, "col"=2]>
func.func @main(%a: tensor<4xui32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}]>}, %b: tensor<4xui32>) -> (tensor<8x6xui32> {sdy.sharding = #sdy.sharding<@grid, [{"col"}, {"row"}]>}) {
  %0 = stablehlo.custom_call @X64Combine(%a, %b) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui64>
  %1, %2 = stablehlo.rng_bit_generator %0, algorithm = PHILOX : (tensor<4xui64>) -> (tensor<4xui64>, tensor<8x6xui32>)
  return %2 : tensor<8x6xui32>
}
// expect: %a <@grid, [{"row"}]>
// expect: -> 0 <@grid, [{"col"}, {"row"}]>
// expect: %1 <@grid, [{?}]> <@grid, [{"col", ?}, {"row", ?}]>

// -----

// run: propagate --strategy sdy-basic --conservative
// Careful: no axis is split,
sdy.mesh @line = <["x"=8]>
func.func @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@line, [{"x"}]>}) -> tensor<4x4xf32> {
  %0 = stablehlo.reshape %x : (tensor<16xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
// expect: %x <@line, [{"x"}]>

// -----

// run: propagate --strategy sdy-basic --conservative
// and nothing is cut that does not divide.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {"col"}]>}) -> tensor<6x6xf32> {
  %0 = stablehlo.negate %x : tensor<6x6xf32>
  return %0 : tensor<6x6xf32>
}
// expect: %x <@grid, [{"row"}, {"col"}]>
// expect: -> 0 <@grid, [{"row", ?}, {"col", ?}]>
// expect: %0 <@grid, [{"row", ?}, {"col", ?}]>

// -----

// run: propagate --strategy sdy-basic --conservative
// Whole axes of a compound dimension go on.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row", "col"}]>}) -> tensor<2x8xf32> {
  %0 = stablehlo.reshape %x : (tensor<16xf32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}
// expect: %x <@grid, [{"row", "col"}]>
// expect: -> 0 <@grid, [{"row", ?}, {"col", ?}]>
// expect: %0 <@grid, [{"row", ?}, {"col", ?}]>

// -----

// run: propagate --strategy sdy-basic --conservative
// Parts of axes that are there already.
sdy.mesh @line = <["x"=8]>
func.func @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(1)2}]>}) -> tensor<16xf32> {
  %0 = stablehlo.negate %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}
// expect: %x <@line, [{"x":(1)2}]>

// -----

// run: propagate --strategy sdy-basic --conservative
// Windows.
sdy.mesh @grid = <["n"=2, "h"=2]>
func.func @main(%x: tensor<4x16x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"n"}, {"h"}, {}]>}, %k: tensor<3x6x8xf32>) -> tensor<4x16x8xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x16x6xf32>, tensor<3x6x8xf32>) -> tensor<4x16x8xf32>
  return %0 : tensor<4x16x8xf32>
}
// expect: %x <@grid, [{"n"}, {"h"}, {}]>
// expect: -> 0 <@grid, [{"n", ?}, {?}, {?}]>
// expect: %0 <@grid, [{"n", ?}, {?}, {?}]>

// -----

// run: propagate --strategy sdy-basic --conservative
// A slice, a padding and a concatenation.
sdy.mesh @grid = <["row"=2, "col"=2]>
func.func @main(%x: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {"col"}]>}, %y: tensor<8x4xf32>, %z: tensor<f32>) -> tensor<8x14xf32> {
  %0 = stablehlo.slice %x [0:8, 1:5] : (tensor<8x6xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.pad %0, %z, low = [0, 3], high = [0, 3], interior = [0, 0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x10xf32>
  %2 = stablehlo.concatenate %1, %y, dim = 1 : (tensor<8x10xf32>, tensor<8x4xf32>) -> tensor<8x14xf32>
  return %2 : tensor<8x14xf32>
}
// expect: %x <@grid, [{"row"}, {"col"}]>
// expect: %y <@grid, [{"row", ?}, {?}]>
// expect: -> 0 <@grid, [{"row", ?}, {?}]>
// expect: %0 <@grid, [{"row", ?}, {?}]>
// expect: %1 <@grid, [{"row", ?}, {?}]>
// expect: %2 <@grid, [{"row", ?}, {?}]>
