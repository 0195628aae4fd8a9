// run: propagate --strategy sdy
// As it should be: manual axes first, local shapes.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@grid, [{"row", "col"}, {}]>] out_shardings=[<@grid, [{"row"}, {}]>] manual_axes={"row"} (%y: tensor<8x8xf32>) {
    %1 = stablehlo.negate %y : tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// accepted

// -----

// A free axis in front of a manual one.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
// error: 49: dimension 0 has manual axis "row" behind free axis "col"; expected manual axes first
  %0 = sdy.manual_computation(%x) in_shardings=[<@grid, [{"col", "row"}, {}]>] out_shardings=[<@grid, [{"row"}, {}]>] manual_axes={"row"} (%y: tensor<8x8xf32>) {
    %1 = stablehlo.negate %y : tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// The shape inside is not that of one device.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
// error: 49: operand 0 is tensor<16x8xf32> in the body; expected tensor<8x8xf32>
  %0 = sdy.manual_computation(%x) in_shardings=[<@grid, [{"row"}, {}]>] out_shardings=[<@grid, [{"row"}, {}]>] manual_axes={"row"} (%y: tensor<16x8xf32>) {
    %1 = stablehlo.slice %y [0:8, 0:8] : (tensor<16x8xf32>) -> tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// Nor is that of the result.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
// error: 88: result 0 is tensor<8x8xf32> in the body; expected tensor<16x8xf32>
  %0 = sdy.manual_computation(%x) in_shardings=[<@grid, [{"row"}, {}]>] out_shardings=[<@grid, [{}, {}]>] manual_axes={"row"} (%y: tensor<8x8xf32>) {
    %1 = stablehlo.negate %y : tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// Manual axes divide the dimension.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
// error: 49: dimension 0 of the operand has size 6; expected a multiple of 4, the size of its manual axes
  %0 = sdy.manual_computation(%x) in_shardings=[<@grid, [{"col"}, {}]>] out_shardings=[<@grid, [{"col"}, {}]>] manual_axes={"col"} (%y: tensor<2x8xf32>) {
    %1 = stablehlo.negate %y : tensor<2x8xf32>
    sdy.return %1 : tensor<2x8xf32>
  } : (tensor<6x8xf32>) -> tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}

// -----

// A manual axis that the mesh has not.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
// error: 115: manual axis "depth" is not in the mesh of the shardings; expected one of its axes
  %0 = sdy.manual_computation(%x) in_shardings=[<@grid, [{}, {}]>] out_shardings=[<@grid, [{}, {}]>] manual_axes={"depth"} (%y: tensor<16x8xf32>) {
    %1 = stablehlo.negate %y : tensor<16x8xf32>
    sdy.return %1 : tensor<16x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// As many shardings as operands.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
// error: 48: there are 2 shardings of 1 operands; expected one for each
  %0 = sdy.manual_computation(%x) in_shardings=[<@grid, [{}, {}]>, <@grid, [{}, {}]>] out_shardings=[<@grid, [{}, {}]>] manual_axes={} (%y: tensor<16x8xf32>) {
    %1 = stablehlo.negate %y : tensor<16x8xf32>
    sdy.return %1 : tensor<16x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// As many arguments inside as operands.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
// error: 3: 'sdy.manual_computation' has 1 operands, and its body 2 arguments; expected as many
  %0 = sdy.manual_computation(%x) in_shardings=[<@grid, [{}, {}]>] out_shardings=[<@grid, [{}, {}]>] manual_axes={} (%y: tensor<16x8xf32>, %z: tensor<16x8xf32>) {
    %1 = stablehlo.add %y, %z : tensor<16x8xf32>
    sdy.return %1 : tensor<16x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// As many values returned as results.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
// error: 3: 'sdy.manual_computation' has 1 results, and its body returns 2 values; expected as many
  %0 = sdy.manual_computation(%x) in_shardings=[<@grid, [{}, {}]>] out_shardings=[<@grid, [{}, {}]>] manual_axes={} (%y: tensor<16x8xf32>) {
    sdy.return %y, %y : tensor<16x8xf32>, tensor<16x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// One mesh for all of its shardings.
sdy.mesh @grid = <["row"=2, "col"=4]>
sdy.mesh @line = <["row"=8]>
func.func @main(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@grid, [{}, {}]>] out_shardings=[<@line, [{}, {}]>] manual_axes={} (%y: tensor<16x8xf32>) {
    sdy.return %y : tensor<16x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// expect: %0 <@grid, [{}, {}]> <@line, [{}, {}]>

// -----

// A mesh without axes is of any.
sdy.mesh @grid = <["row"=2, "col"=4]>
sdy.mesh @none = <[]>
func.func @main(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@none, [{}, {}]>] out_shardings=[<@grid, [{}, {}]>] manual_axes={} (%y: tensor<16x8xf32>) {
    sdy.return %y : tensor<16x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// accepted

// -----

// An axis that is manual outside is bound inside.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@grid, [{"row"}, {}]>] out_shardings=[<@grid, [{"row"}, {}]>] manual_axes={"row"} (%y: tensor<8x8xf32>) {
// error: 71: axis "row" is bound by a manual computation around (line 5); expected another
    %1 = stablehlo.negate %y {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}, {"row"}]>]>} : tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// Also for a computation within.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@grid, [{"row"}, {}]>] out_shardings=[<@grid, [{"row"}, {}]>] manual_axes={"row"} (%y: tensor<8x8xf32>) {
// error: 51: axis "row" is bound by a manual computation around (line 5); expected another
    %1 = sdy.manual_computation(%y) in_shardings=[<@grid, [{}, {"row"}]>] out_shardings=[<@grid, [{}, {"row"}]>] manual_axes={"row"} (%z: tensor<8x4xf32>) {
      sdy.return %z : tensor<8x4xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// The others are free.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@grid, [{"row"}, {}]>] out_shardings=[<@grid, [{"row"}, {}]>] manual_axes={"row"} (%y: tensor<8x8xf32>) {
    %1 = sdy.manual_computation(%y) in_shardings=[<@grid, [{}, {"col"}]>] out_shardings=[<@grid, [{}, {"col"}]>] manual_axes={"col"} (%z: tensor<8x2xf32>) {
      sdy.return %z : tensor<8x2xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// accepted

// -----

// A value from outside is handed in, not reached for.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@grid, [{}, {}]>] out_shardings=[<@grid, [{}, {}]>] manual_axes={} (%y: tensor<16x8xf32>) {
// error: 28: '%x' is defined outside of 'sdy.manual_computation'; expected a value of its body
    %1 = stablehlo.add %y, %x : tensor<16x8xf32>
    sdy.return %1 : tensor<16x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// An unknown axis among in_shardings.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
// error: 59: axis "depth" is not in the mesh; expected one of its axes, "row", "col"
  %0 = sdy.manual_computation(%x) in_shardings=[<@grid, [{"depth"}, {}]>] out_shardings=[<@grid, [{}, {}]>] manual_axes={} (%y: tensor<16x8xf32>) {
    sdy.return %y : tensor<16x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// A sharding of another rank among out_shardings.
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
// error: 83: the sharding has 1 dimensions; expected 2, the rank of tensor<16x8xf32>
  %0 = sdy.manual_computation(%x) in_shardings=[<@grid, [{}, {}]>] out_shardings=[<@grid, [{}]>] manual_axes={} (%y: tensor<16x8xf32>) {
    sdy.return %y : tensor<16x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// A part of an axis is not manual.
sdy.mesh @line = <["x"=8]>
func.func @main(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
// error: 121: manual axis "x":(1)2 is not in the mesh of the shardings; expected one of its axes
  %0 = sdy.manual_computation(%x) in_shardings=[<@line, [{"x"}, {}]>] out_shardings=[<@line, [{"x"}, {}]>] manual_axes={"x":(1)2} (%y: tensor<8x8xf32>) {
    sdy.return %y : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
