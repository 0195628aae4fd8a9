// What is unreduced is summed where another op wants it.
sdy.mesh @grid = <["x"=2, "y"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}, %arg1: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"y"}, {}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"x"}, {}], unreduced={"y"}>]>} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"x"}, {}]>]>} : tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}

// -----

// A product that was contracted along an axis, and does not say so.
sdy.mesh @grid = <["x"=2, "y"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}, %arg1: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"y"}, {}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"x"}, {}]>]>} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

// Operands of a product do not agree.
sdy.mesh @grid = <["x"=2, "y"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {}]>}, %arg1: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"x"}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"x"}, {}]>]>} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

// All is well.
sdy.mesh @grid = <["x"=2, "y"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {}]>}, %arg1: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"y"}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"x"}, {"y"}]>]>} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

// A reduction over a dimension that is cut.
sdy.mesh @grid = <["x"=2, "y"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}, %arg1: tensor<f32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}]>}) {
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"x"}]>]>} : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Operands of a sum are cut otherwise.
sdy.mesh @grid = <["x"=2, "y"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {}]>}, %arg1: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"y"}]>}) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {}]>}) {
  %0 = stablehlo.subtract %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"x"}, {}]>]>} : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// What is returned is wanted otherwise.
sdy.mesh @grid = <["x"=2, "y"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {}]>}) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"x"}]>}) {
  %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"x"}, {}]>]>} : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// A transpose to another order of axes.
sdy.mesh @grid = <["x"=2, "y"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.transpose %arg0, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"x"}, {"y"}]>]>} : (tensor<16x8xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----

// From whole to cut: a slice.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %arg0 <@cube, [{"x", "y"}, {"z"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// From cut to whole: a gather.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {"z"}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %arg0 <@cube, [{"x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// From one dimension to another.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %arg0 <@cube, [{"x"}, {"y"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// Other axes of the same sizes.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {"y"}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %arg0 <@cube, [{"y"}, {"x"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// One axis for another.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %arg0 <@cube, [{"z"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// A part of an axis is gathered.
sdy.mesh @line = <["x"=8]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %arg0 <@line, [{"x":(1)2}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// Nothing changes.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %arg0 <@cube, [{"x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// Gathered in one dimension, cut in the other.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %arg0 <@cube, [{}, {"z"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// The order of two axes.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %arg0 <@cube, [{"y", "x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// What is unreduced is summed.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}], unreduced={"y"}>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %arg0 <@cube, [{"x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// Summed and cut.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}], unreduced={"y"}>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %arg0 <@cube, [{"x"}, {"y"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// Types of one device.
sdy.mesh @grid = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}) -> (tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.exponential %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"x"}, {"y"}]>]>} : tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}

// -----

// A gather along one axis.
sdy.mesh @grid = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}) -> (tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {}]>}) {
  %0 = sdy.all_gather [{}, {"y"}] %arg0 out_sharding=<@grid, [{"x"}, {}]> : tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}

// -----

// A product whose parts are summed.
sdy.mesh @grid = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}, %arg1: tensor<12x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"y"}, {}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"x"}, {}], unreduced={"y"}>]>} : (tensor<8x12xf32>, tensor<12x6xf32>) -> tensor<8x6xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@grid, [{"x"}, {}]> : tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}

// -----

// From one dimension to the other.
sdy.mesh @grid = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"y"}, {}]>}) -> (tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"y"}]>}) {
  %0 = sdy.all_to_all [{"y"}: 0->1] %arg0 out_sharding=<@grid, [{}, {"y"}]> : tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}

// -----

// Devices exchange what they have.
sdy.mesh @grid = <["x"=2, "y"=2]>
func.func @main(%arg0: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}) -> (tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"y"}, {"x"}]>}) {
  %0 = sdy.collective_permute %arg0 out_sharding=<@grid, [{"y"}, {"x"}]> : tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}

// -----

// Summed, and a part of the sum kept.
sdy.mesh @grid = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {}], unreduced={"y"}>}) -> (tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}) {
  %0 = sdy.reduce_scatter [{}, {"y"}] %arg0 out_sharding=<@grid, [{"x"}, {"y"}]> : tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}

// -----

// A transpose and a broadcast.
sdy.mesh @grid = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}) -> (tensor<3x12x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"y"}, {"x"}]>}) {
  %0 = stablehlo.transpose %arg0, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"y"}, {"x"}]>]>} : (tensor<8x12xf32>) -> tensor<12x8xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1, 2] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}, {"y"}, {"x"}]>]>} : (tensor<12x8xf32>) -> tensor<3x12x8xf32>
  return %1 : tensor<3x12x8xf32>
}
