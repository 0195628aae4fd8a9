// run: propagate --strategy sdy
// Fewer dimensions than the tensor has.
sdy.mesh @grid = <["row"=2, "col"=4]>
// error: 53: the sharding has 1 dimensions; expected 2, the rank of tensor<8x8xf32>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// More.
sdy.mesh @grid = <["row"=2, "col"=4]>
// error: 70: the sharding has 2 dimensions; expected 1, the rank of tensor<8xf32>
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>}) {
  return %x : tensor<8xf32>
}

// -----

// Of an op's result.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
// error: 69: the sharding has 3 dimensions; expected 2, the rank of tensor<8x8xf32>
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}, {}, {"row"}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// More shardings than results.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
// error: 44: there are 2 shardings of 1 results; expected one for each
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}, {}]>, <@grid, [{}, {}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// Fewer.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<8xf32>, %y: tensor<6xf32>) -> tensor<8xf32> {
// error: 64: there are 1 shardings of 2 results; expected one for each
  %0:2 = stablehlo.optimization_barrier %x, %y {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"row"}]>]>} : tensor<8xf32>, tensor<6xf32>
  return %0#0 : tensor<8xf32>
}

// -----

// A mesh that is not there.
sdy.mesh @grid = <["row"=2, "col"=4]>
// error: 67: there is no mesh '@elsewhere'
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@elsewhere, [{"row"}, {}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// The sharding of a value where that of an op's results belongs.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
// error: 44: expected a list of shardings, #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding<@grid, [{}, {}]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// The other way round.
sdy.mesh @grid = <["row"=2, "col"=4]>
// error: 53: expected a sharding, #sdy.sharding<@mesh, [{"x"}, {}]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}, {}]>]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// A closed dimension without axes has a priority.
sdy.mesh @grid = <["row"=2, "col"=4]>
// error: 75: dimension 0 is empty and closed but has a priority
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{}p2, {}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// An open one may.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{?}p2, {"row"}p0]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}
// accepted

// -----

// A priority is a number.
sdy.mesh @grid = <["row"=2, "col"=4]>
// error: 82: found 'pfirst'; expected a priority, p0, p1, ...
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}pfirst, {}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// Without zeros in front.
sdy.mesh @grid = <["row"=2, "col"=4]>
// error: 82: found 'p007'; expected a priority, p0, p1, ...
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}p007, {}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// Not too large.
sdy.mesh @grid = <["row"=2, "col"=4]>
// error: 82: found 'p123456789012345678901234'; expected a priority, p0, p1, ...
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}p123456789012345678901234, {}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// The mark of an open dimension stands last.
sdy.mesh @grid = <["row"=2, "col"=4]>
// error: 76: found '?'; expected an axis in quotes
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{?, "row"}, {}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// An axis is a string.
sdy.mesh @grid = <["row"=2, "col"=4]>
// error: 76: found 'row'; expected an axis in quotes
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{row}, {}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// A list that is neither of the two.
sdy.mesh @grid = <["row"=2, "col"=4]>
// error: 84: found 'sharded={"row"}'; expected replicated={...} or unreduced={...}, each once
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {}], sharded={"row"}>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// Replicated axes stand before unreduced ones.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {}], replicated={"row"}, unreduced={"col"}>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}
// accepted

// -----

// A value on one device has no dimensions in its sharding,
sdy.mesh @third = <[], device_ids=[2]>
// error: 66: a maximal sharding, on one device, has dimensions or axes; expected none, <@mesh, []>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@third, [{}, {}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// and so it is right.
sdy.mesh @third = <[], device_ids=[2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@third, []>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}
// accepted

// -----

// A token is not cut.
sdy.mesh @grid = <["row"=2, "col"=4]>
// error: 54: !stablehlo.token has no shape; expected a sharding without dimensions and axes, <@mesh, []>
func.func @main(%t: !stablehlo.token {sdy.sharding = #sdy.sharding<@grid, [{"row"}]>}) -> !stablehlo.token {
  return %t : !stablehlo.token
}

// -----

// Nor replicated along axes by name,
sdy.mesh @grid = <["row"=2, "col"=4]>
// error: 54: !stablehlo.token has no shape; expected a sharding without dimensions and axes, <@mesh, []>
func.func @main(%t: !stablehlo.token {sdy.sharding = #sdy.sharding<@grid, [], replicated={"row"}>}) -> !stablehlo.token {
  return %t : !stablehlo.token
}

// -----

// nor unreduced.
sdy.mesh @grid = <["row"=2, "col"=4]>
// error: 54: !stablehlo.token has no shape; expected a sharding without dimensions and axes, <@mesh, []>
func.func @main(%t: !stablehlo.token {sdy.sharding = #sdy.sharding<@grid, [], unreduced={"row"}>}) -> !stablehlo.token {
  return %t : !stablehlo.token
}

// -----

// It may bear an empty sharding.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%t: !stablehlo.token {sdy.sharding = #sdy.sharding<@grid, []>}) -> !stablehlo.token {
  return %t : !stablehlo.token
}
// accepted

// -----

// A dimension whose size is not known may be cut.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<?x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>}) -> tensor<?x8xf32> {
  return %x : tensor<?x8xf32>
}
// accepted

// -----

// Sizes need not be multiples of their axes.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<7x3xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {"col"}]>}) -> tensor<7x3xf32> {
  return %x : tensor<7x3xf32>
}
// accepted

// -----

// A constraint of another rank.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
// error: 35: the sharding has 1 dimensions; expected 2, the rank of tensor<8x8xf32>
  %0 = sdy.sharding_constraint %x <@grid, [{"row"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// A reshard to an axis that is not there.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
// error: 42: axis "depth" is not in the mesh; expected one of its axes, "row", "col"
  %0 = sdy.reshard %x <@grid, [{"row"}, {"depth"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// A barrier that lets both directions pass is none.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
// error: 53: found allowed_direction 'BOTH'; expected NONE, FORWARD or BACKWARD, as one that lets both pass is no barrier
  %0 = sdy.propagation_barrier %x allowed_direction=BOTH : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
