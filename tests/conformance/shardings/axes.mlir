// run: propagate --strategy sdy
// One axis cuts two dimensions.
sdy.mesh @grid = <["row"=2, "col"=4]>
// error: 66: axis "row" is used twice; expected it once
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {"row"}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// One axis twice in a dimension.
sdy.mesh @grid = <["row"=2, "col"=4]>
// error: 66: axis "col" is used twice; expected it once
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"col", "row", "col"}, {}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// An axis that cuts and is replicated.
sdy.mesh @grid = <["row"=2, "col"=4]>
// error: 66: axis "row" is used twice; expected it once
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}], replicated={"row"}>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// An axis that is replicated and unreduced.
sdy.mesh @grid = <["row"=2, "col"=4]>
// error: 66: axis "col" is used twice; expected it once
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {}], replicated={"col"}, unreduced={"col"}>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// An axis that the mesh has not, in a dimension,
sdy.mesh @grid = <["row"=2, "col"=4]>
// error: 80: axis "depth" is not in the mesh; expected one of its axes, "row", "col"
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"depth"}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// among the replicated ones,
sdy.mesh @grid = <["row"=2, "col"=4]>
// error: 96: axis "depth" is not in the mesh; expected one of its axes, "row", "col"
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {}], replicated={"depth"}>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// among the unreduced ones,
sdy.mesh @grid = <["row"=2, "col"=4]>
// error: 95: axis "depth" is not in the mesh; expected one of its axes, "row", "col"
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {}], unreduced={"depth"}>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// and of the result of an op.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
// error: 83: axis "depth" is not in the mesh; expected one of its axes, "row", "col"
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}, {"depth"}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// Replicated axes against the order of the mesh.
sdy.mesh @grid = <["row"=2, "col"=4]>
// error: 95: replicated axes are not ordered; expected the order of the mesh
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {}], replicated={"col", "row"}>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// Unreduced axes against it.
sdy.mesh @grid = <["row"=2, "col"=4]>
// error: 94: unreduced axes are not ordered; expected the order of the mesh
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {}], unreduced={"col", "row"}>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// Parts of a replicated axis against their order.
sdy.mesh @line = <["x"=16]>
// error: 95: replicated axes are not ordered; expected the order of the mesh
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@line, [{}, {}], replicated={"x":(8)2, "x":(1)2}>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// Axes of a dimension may stand in any order.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"col", "row"}, {}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}
// accepted

// -----

// A part of an axis with the whole of it.
sdy.mesh @line = <["x"=16]>
// error: 66: axis "x" is used whole and in part; expected one of both
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x"}, {"x":(1)2}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// Parts that overlap.
sdy.mesh @line = <["x"=16]>
// error: 66: parts (1)4 and (2)4 of axis "x" overlap
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(1)4}, {"x":(2)4}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// One part within the other.
sdy.mesh @line = <["x"=16]>
// error: 66: parts (1)8 and (2)2 of axis "x" overlap
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(1)8}, {"x":(2)2}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// One part twice.
sdy.mesh @line = <["x"=16]>
// error: 66: axis "x":(2)2 is used twice; expected it once
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(2)2}, {"x":(2)2}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// Parts behind each other that are one larger part.
sdy.mesh @line = <["x"=16]>
// error: 86: "x":(2)4 follows part (1)2 of the axis; expected both as one
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(1)2, "x":(2)4}, {}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// The same among replicated axes,
sdy.mesh @line = <["x"=16]>
// error: 106: "x":(4)2 follows part (2)2 of the axis; expected both as one
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@line, [{}, {}], replicated={"x":(2)2, "x":(4)2}>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// and among unreduced ones.
sdy.mesh @line = <["x"=16]>
// error: 105: "x":(4)4 follows part (1)4 of the axis; expected both as one
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@line, [{}, {}], unreduced={"x":(1)4, "x":(4)4}>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// Minor before major: not one part.
sdy.mesh @line = <["x"=16]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(2)4, "x":(1)2}, {}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}
// accepted

// -----

// In two dimensions they are not one part, either.
sdy.mesh @line = <["x"=16]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(1)2}, {"x":(2)8}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}
// accepted

// -----

// A part of size 1.
sdy.mesh @line = <["x"=16]>
// error: 76: the size of "x":(4)1 is 1; expected more than 1
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(4)1}, {}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// A part that is the whole.
sdy.mesh @line = <["x"=16]>
// error: 76: "x":(1)16 is all of the axis, of 16; expected the axis itself
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(1)16}, {}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// A part that does not divide.
sdy.mesh @line = <["x"=16]>
// error: 76: pre-size times size of "x":(2)3 does not divide the axis, of 16
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(2)3}, {}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// A part that begins where none does.
sdy.mesh @line = <["x"=16]>
// error: 76: pre-size times size of "x":(3)2 does not divide the axis, of 16
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(3)2}, {}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// A part that goes past the end.
sdy.mesh @line = <["x"=16]>
// error: 76: pre-size times size of "x":(8)4 does not divide the axis, of 16
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(8)4}, {}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// A part that begins before the first.
sdy.mesh @line = <["x"=16]>
// error: 76: the pre-size of "x":(0)2 is 0; expected 1 or more
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(0)2}, {}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// Two parts that do not nest: one of 2 beside one of 3.
sdy.mesh @six = <["x"=6]>
// error: 66: parts (1)2 and (1)3 of axis "x" overlap
func.func @main(%x: tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@six, [{"x":(1)2}, {"x":(1)3}]>}) -> tensor<6x6xf32> {
  return %x : tensor<6x6xf32>
}

// -----

// A mesh with an axis of size 1 that cuts.
sdy.mesh @thin = <["one"=1, "two"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@thin, [{"one"}, {"two"}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}
// accepted
