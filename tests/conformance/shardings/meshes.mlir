// run: propagate --strategy sdy
// An axis of no size.
// error: 26: axis "row" has size '0'; expected 1 to 1048576
sdy.mesh @grid = <["row"=0, "col"=4]>

// -----

// Two axes of one name.
// error: 18: axis 'row' stands in the mesh twice; expected distinct names
sdy.mesh @grid = <["row"=2, "row"=4]>

// -----

// As many ids as devices, not fewer,
// error: 50: there are 3 device ids; expected 4, one for each device
sdy.mesh @grid = <["row"=2, "col"=2], device_ids=[1, 0, 2]>

// -----

// and each of them once.
// error: 50: device id 2 stands twice; expected a permutation of 0 to 3
sdy.mesh @grid = <["row"=2, "col"=2], device_ids=[1, 0, 2, 2]>

// -----

// Not beyond the last.
// error: 50: device id 4 is out of range; expected 0 to 3
sdy.mesh @grid = <["row"=2, "col"=2], device_ids=[1, 0, 2, 4]>

// -----

// Not below 0.
// error: 50: device id -3; expected 0 or more, and less than 1048576
sdy.mesh @grid = <["row"=2, "col"=2], device_ids=[1, 0, 2, -3]>

// -----

// The usual order is not written.
// unasked: the reader of JAX's wheel drops it
// error: 50: device ids are 0, 1, 2, ..., as without a list; expected no list
sdy.mesh @grid = <["row"=2, "col"=2], device_ids=[0, 1, 2, 3]>

// -----

// Any other is.
sdy.mesh @grid = <["row"=2, "col"=2], device_ids=[0, 2, 1, 3]>
// accepted

// -----

// One device, by its number.
sdy.mesh @fifth = <[], device_ids=[4]>
// accepted

// -----

// Numbers are not negative.
// error: 34: device id -4; expected 0 or more, and less than 1048576
sdy.mesh @none = <[], device_ids=[-4]>

// -----

// Without axes it is one device.
// error: 34: there are 2 device ids; expected 1, one for each device
sdy.mesh @pair = <[], device_ids=[0, 1]>

// -----

// A mesh without axes or devices.
sdy.mesh @empty = <[]>
// accepted

// -----

// Several meshes over different devices, function by function.
sdy.mesh @grid = <["row"=2, "col"=2]>
sdy.mesh @line = <["x"=8]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}
func.func @other(%y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  return %y : tensor<8x8xf32>
}
// accepted

// -----

// In one function they are over as many.
sdy.mesh @grid = <["row"=2, "col"=2]>
sdy.mesh @line = <["x"=8]>
// error: 127: a sharding over a mesh of 8 devices; expected 4, as in line 6
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}
// unasked: Shardy takes it; no plan is over two numbers of devices

// -----

// Several meshes over the same devices.
sdy.mesh @grid = <["row"=2, "col"=4]>
sdy.mesh @line = <["x"=8]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}
// accepted

// -----

// A mesh in place has the same rules.
// error: 71: axis 'row' stands in the mesh twice; expected distinct names
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<mesh<["row"=2, "row"=4]>, [{"row"}, {}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// A mesh in place.
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<mesh<["row"=2, "col"=4]>, [{"row"}, {"col"}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}
// accepted
