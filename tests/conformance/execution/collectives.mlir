// run: run
// What is gathered is whole on each device.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {"z"}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {"z"}]>}) {
  %0 = sdy.all_gather [{"y"}, {}] %a out_sharding=<@cube, [{"x"}, {"z"}]> : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// expect: 8 devices: matches one device
// expect: all_gather 8 calls

// -----

// Along two dimensions at once.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {"z"}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{}, {}]>}) {
  %0 = sdy.all_gather [{"x", "y"}, {"z"}] %a out_sharding=<@cube, [{}, {}]> : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// expect: 8 devices: matches one device

// -----

// A slice moves nothing.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "z"}, {"y"}]>}) {
  %0 = sdy.all_slice [{"z"}, {"y"}] %a out_sharding=<@cube, [{"x", "z"}, {"y"}]> : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// expect: 8 devices: matches one device

// -----

// Axes change their dimension.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {"y"}]>}) {
  %0 = sdy.all_to_all [{"y"}: 0->1] %a out_sharding=<@cube, [{"x"}, {"y"}]> : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// expect: 8 devices: matches one device

// -----

// Blocks change their devices.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"y", "z"}, {}]>}) {
  %0 = sdy.collective_permute %a out_sharding=<@cube, [{"y", "z"}, {}]> : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// expect: 8 devices: matches one device

// -----

// A product that is summed along what it was contracted.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {"y", "z"}]>}, %w: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@cube, [{"y", "z"}, {}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@cube, [{"x"}, {}], unreduced={"y", "z"}>]>} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = sdy.all_reduce {"y", "z"} %0 out_sharding=<@cube, [{"x"}, {}]> : tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}
// expect: 8 devices: matches one device
// expect: all_reduce 8 calls

// -----

// Summed along one axis first, then along the other.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {"y", "z"}]>}, %w: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@cube, [{"y", "z"}, {}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@cube, [{"x"}, {}], unreduced={"y", "z"}>]>} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = sdy.all_reduce {"z"} %0 out_sharding=<@cube, [{"x"}, {}], unreduced={"y"}> : tensor<8x6xf32>
  %2 = sdy.all_reduce {"y"} %1 out_sharding=<@cube, [{"x"}, {}]> : tensor<8x6xf32>
  return %2 : tensor<8x6xf32>
}
// expect: 8 devices: matches one device

// -----

// Each device keeps its part of the sum.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {"y"}]>}, %w: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@cube, [{"y"}, {}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@cube, [{"x"}, {}], unreduced={"y"}>]>} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = sdy.reduce_scatter [{}, {"y"}] %0 out_sharding=<@cube, [{"x"}, {"y"}]> : tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}
// expect: 8 devices: matches one device
// expect: reduce_scatter 8 calls

// -----

// Sums of parts stay parts.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {"y"}]>}, %w: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@cube, [{"y"}, {}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@cube, [{"x"}, {}], unreduced={"y"}>]>} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = stablehlo.add %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@cube, [{"x"}, {}], unreduced={"y"}>]>} : tensor<8x6xf32>
  %2 = sdy.all_reduce {"y"} %1 out_sharding=<@cube, [{"x"}, {}]> : tensor<8x6xf32>
  return %2 : tensor<8x6xf32>
}
// expect: 8 devices: matches one device

// -----

// A replicated value is made parts of a sum, and summed.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) {
  %0 = sdy.replicated_to_unreduced {"y"} %a out_sharding=<@cube, [{"x"}, {}], unreduced={"y"}> : tensor<8x4xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@cube, [{"x"}, {}]> : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
// expect: 8 devices: matches one device

// -----

// A cut one likewise.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) {
  %0 = sdy.sharded_to_unreduced [{"y"}, {}] %a out_sharding=<@cube, [{"x"}, {}], unreduced={"y"}> : tensor<8x4xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@cube, [{"x"}, {}]> : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
// expect: 8 devices: matches one device

// -----

// Parts of an axis.
sdy.mesh @cube = <["x"=8]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x":(1)2}, {"x":(2)4}]>}) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x":(1)2, "x":(4)2}, {"x":(2)2}]>}) {
  %0 = sdy.all_gather [{}, {"x":(4)2}] %a out_sharding=<@cube, [{"x":(1)2}, {"x":(2)2}]> : tensor<16x8xf32>
  %1 = sdy.all_slice [{"x":(4)2}, {}] %0 out_sharding=<@cube, [{"x":(1)2, "x":(4)2}, {"x":(2)2}]> : tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}
// expect: 8 devices: matches one device

// -----

// Devices in another order.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2], device_ids=[7, 2, 5, 0, 3, 6, 1, 4]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {"z"}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) {
  %0 = sdy.all_gather [{"y"}, {"z"}] %a out_sharding=<@cube, [{"x"}, {}]> : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// expect: 8 devices: matches one device

// -----

// A maximum over devices.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {"y"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}]>}) {
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@cube, [{"x"}], unreduced=max{"y"}>]>} : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = sdy.all_reduce max {"y"} %0 out_sharding=<@cube, [{"x"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}
// expect: 8 devices: matches one device

// -----

// A dimension that its axes do not divide.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%a: tensor<7x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {}]>}) -> (tensor<7x4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) {
  %0 = sdy.all_gather [{"y"}, {}] %a out_sharding=<@cube, [{"x"}, {}]> : tensor<7x4xf32>
  return %0 : tensor<7x4xf32>
}
// expect: 8 devices: matches one device
