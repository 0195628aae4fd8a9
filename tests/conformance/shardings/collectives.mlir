// run: propagate --strategy sdy
// Gathering takes axes off the end of a dimension.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {"z"}]>}) -> tensor<16x8xf32> {
  %0 = sdy.all_gather [{"y"}, {"z":(2)2}] %a out_sharding=<@cube, [{"x"}, {"z":(1)2}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// accepted

// -----

// The result says another sharding than what is left.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {}]>}) -> tensor<16x8xf32> {
// error: 3: the result's sharding differs in dimension 0; expected {"x"}
  %0 = sdy.all_gather [{"y"}, {}] %a out_sharding=<@cube, [{"y"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// An axis that does not stand last.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {}]>}) -> tensor<16x8xf32> {
// error: 23: gathering axis "x" is not among the last axes of dimension 0 of the operand
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@cube, [{"y"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// An axis that does not cut the dimension.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {"y"}]>}) -> tensor<16x8xf32> {
// error: 23: gathering axis "z" is not among the last axes of dimension 1 of the operand
  %0 = sdy.all_gather [{}, {"z"}] %a out_sharding=<@cube, [{"x"}, {"y"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// The major part of an axis that is cut whole.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"z"}, {}]>}) -> tensor<16x8xf32> {
// error: 23: gathering axis "z":(1)2 is not among the last axes of dimension 0 of the operand
  %0 = sdy.all_gather [{"z":(1)2}, {}] %a out_sharding=<@cube, [{"z":(2)2}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// An operand without a sharding.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {
// error: 3: 'sdy.all_gather' of a value without a sharding; expected one that has it
  %0 = sdy.all_gather [{"y"}, {}] %a out_sharding=<@cube, [{}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// As many lists as dimensions.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) -> tensor<16x8xf32> {
// error: 23: there are lists of axes for 1 dimensions; expected 2, as the result's sharding has
  %0 = sdy.all_gather [{"x"}] %a out_sharding=<@cube, [{}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// Gathered axes that are one larger part.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"z"}, {}]>}) -> tensor<16x8xf32> {
// error: 35: "z":(2)2 follows part (1)2 of the axis; expected both as one
  %0 = sdy.all_gather [{"z":(1)2, "z":(2)2}, {}] %a out_sharding=<@cube, [{}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// One axis gathered in two dimensions.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {"y"}]>}) -> tensor<16x8xf32> {
// error: 23: axis "x" is used twice; expected it once
  %0 = sdy.all_gather [{"x"}, {"x"}] %a out_sharding=<@cube, [{}, {"y"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// Operand and result on different meshes.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
sdy.mesh @line = <["x"=16]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) -> tensor<16x8xf32> {
// error: 3: the result's sharding is over another mesh than the operand's; expected one mesh
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@line, [{}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// Slicing appends axes.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {"z":(1)2}]>}) -> tensor<16x8xf32> {
  %0 = sdy.all_slice [{"y"}, {"z":(2)2}] %a out_sharding=<@cube, [{"x", "y"}, {"z"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// accepted

// -----

// Appended in front, it is wrong.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) -> tensor<16x8xf32> {
// error: 3: the result's sharding differs in dimension 0; expected {"x", "y"}
  %0 = sdy.all_slice [{"y"}, {}] %a out_sharding=<@cube, [{"y", "x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// An axis that cuts already.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) -> tensor<16x8xf32> {
// error: 50: axis "x" is used twice; expected it once
  %0 = sdy.all_slice [{}, {"x"}] %a out_sharding=<@cube, [{"x"}, {"x"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// Moved from one dimension to another.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {"z"}]>}) -> tensor<16x8xf32> {
  %0 = sdy.all_to_all [{"y"}: 0->1] %a out_sharding=<@cube, [{"x"}, {"z", "y"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// accepted

// -----

// Two moves at once.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8x8x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}, {"y"}, {}]>}) -> tensor<16x8x8x8xf32> {
  %0 = sdy.all_to_all [{"x"}: 0->1, {"y"}: 2->3] %a out_sharding=<@cube, [{}, {"x"}, {}, {"y"}]> : tensor<16x8x8x8xf32>
  return %0 : tensor<16x8x8x8xf32>
}
// accepted

// -----

// Moves by the number of the dimension that they come from.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8x8x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}, {"y"}, {}]>}) -> tensor<16x8x8x8xf32> {
// error: 37: source dimension 0 stands behind 2; expected ascending order
  %0 = sdy.all_to_all [{"y"}: 2->3, {"x"}: 0->1] %a out_sharding=<@cube, [{}, {"x"}, {}, {"y"}]> : tensor<16x8x8x8xf32>
  return %0 : tensor<16x8x8x8xf32>
}

// -----

// A dimension that takes part twice.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {"y"}, {}]>}) -> tensor<16x8x8xf32> {
// error: 37: dimension 1 is source or target twice (overlapping); expected it once
  %0 = sdy.all_to_all [{"x"}: 0->1, {"y"}: 1->2] %a out_sharding=<@cube, [{}, {"x"}, {"y"}]> : tensor<16x8x8xf32>
  return %0 : tensor<16x8x8xf32>
}

// -----

// A dimension that is not there.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) -> tensor<16x8xf32> {
// error: 24: target dimension 2; expected 0 to 1
  %0 = sdy.all_to_all [{"x"}: 0->2] %a out_sharding=<@cube, [{}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// Nothing is moved.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) -> tensor<16x8xf32> {
// error: 23: the list of axes and dimensions is empty; expected [{"x"}: 0->1]
  %0 = sdy.all_to_all [] %a out_sharding=<@cube, [{"x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// Axes in another order: each dimension has as many parts.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.collective_permute %a out_sharding=<@cube, [{"z"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// accepted

// -----

// More parts than before.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {"y"}]>}) -> tensor<16x8xf32> {
// error: 3: dimension 0 of the result is cut in 4; expected 2, as the operand's
  %0 = sdy.collective_permute %a out_sharding=<@cube, [{"z"}, {"y"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// Summed along an axis that is unreduced.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}], unreduced={"y"}>}) -> tensor<16x8xf32> {
  %0 = sdy.all_reduce {"y"} %a out_sharding=<@cube, [{"x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// accepted

// -----

// Summed along an axis that cuts.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) -> tensor<16x8xf32> {
// error: 23: reduction axis "x" overlaps with the operand's dimensions or replicated axes
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@cube, [{"x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// Along one that is still unreduced in the result.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{}, {}], unreduced={"x", "y"}>}) -> tensor<16x8xf32> {
// error: 23: reduction axis "x" overlaps with the result's unreduced axes
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@cube, [{}, {}], unreduced={"x", "y"}> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// Axes in the order of the mesh.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{}, {}], unreduced={"x", "y"}>}) -> tensor<16x8xf32> {
// error: 23: reduction axes are not ordered; expected the order of the mesh
  %0 = sdy.all_reduce {"y", "x"} %a out_sharding=<@cube, [{}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// The result is cut otherwise.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}], unreduced={"y"}>}) -> tensor<16x8xf32> {
// error: 3: the result's sharding differs in dimension 0; expected {"x"}
  %0 = sdy.all_reduce {"y"} %a out_sharding=<@cube, [{}, {"x"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// Summed and cut at once.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}], unreduced={"y", "z"}>}) -> tensor<16x8xf32> {
  %0 = sdy.reduce_scatter [{"y"}, {"z"}] %a out_sharding=<@cube, [{"x", "y"}, {"z"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// accepted

// -----

// Cut elsewhere than said.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}], unreduced={"y"}>}) -> tensor<16x8xf32> {
// error: 3: the result's sharding differs in dimension 0; expected {"x", "y"}
  %0 = sdy.reduce_scatter [{"y"}, {}] %a out_sharding=<@cube, [{"x"}, {"y"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// Replicated values become parts of a sum.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.replicated_to_unreduced {"y"} %a out_sharding=<@cube, [{"x"}, {}], unreduced={"y"}> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// accepted

// -----

// Not along an axis that cuts,
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) -> tensor<16x8xf32> {
// error: 36: replicated-to-unreduced axis "x" overlaps with the operand's dimensions
  %0 = sdy.replicated_to_unreduced {"x"} %a out_sharding=<@cube, [{"x"}, {}], unreduced={"y"}> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// nor along one that is unreduced.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}], unreduced={"y"}>}) -> tensor<16x8xf32> {
// error: 36: replicated-to-unreduced axis "y" overlaps with the operand's unreduced axes
  %0 = sdy.replicated_to_unreduced {"y"} %a out_sharding=<@cube, [{"x"}, {}], unreduced={"y"}> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// A part of the axes is not said in the result.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) -> tensor<16x8xf32> {
// error: 3: the result's unreduced axes differ; expected those of the operand and of the op, {"y", "z"}
  %0 = sdy.replicated_to_unreduced {"y", "z"} %a out_sharding=<@cube, [{"x"}, {}], unreduced={"y"}> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// Cut values become parts of a sum.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.sharded_to_unreduced [{"y"}, {}] %a out_sharding=<@cube, [{"x"}, {}], unreduced={"y"}> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// accepted

// -----

// Only axes that cut.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) -> tensor<16x8xf32> {
// error: 33: sharded-to-unreduced axis "y" is not among the last axes of dimension 0 of the operand
  %0 = sdy.sharded_to_unreduced [{"y"}, {}] %a out_sharding=<@cube, [{"x"}, {}], unreduced={"y"}> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
