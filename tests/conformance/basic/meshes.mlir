// run: propagate --strategy sdy-basic
// Values on different meshes have nothing to say to each other.
sdy.mesh @one = <["a"=2, "b"=2]>
sdy.mesh @two = <["c"=4]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@one, [{"a"}, {}]>}, %y: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@two, [{"c"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.add %x, %y : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// expect: %x <@one, [{"a"}, {}]>
// expect: %y <@two, [{"c"}, {}]>

// -----

// Two names of the same mesh are one.
sdy.mesh @one = <["a"=2, "b"=2]>
sdy.mesh @two = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@one, [{"a"}, {}]>}, %y: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@two, [{?}, {"b"}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.add %x, %y : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// expect: %x <@one, [{"a"}, {}]>
// expect: %y <@one, [{"a", ?}, {"b"}]>
// expect: -> 0 <@one, [{"a", ?}, {?}]>
// expect: %0 <@one, [{"a", ?}, {?}]>

// -----

// Other axes, or another order of devices, are another mesh.
sdy.mesh @one = <["a"=2, "b"=2]>
sdy.mesh @two = <["a"=2, "b"=2], device_ids=[0, 2, 1, 3]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@one, [{"a"}, {}]>}, %y: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@two, [{?}, {"b"}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.add %x, %y : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// expect: %x <@one, [{"a"}, {}]>
// expect: %y <@two, [{?}, {"b"}]>

// -----

// Two meshes in a program, each for values of its own.
sdy.mesh @one = <["a"=2, "b"=2]>
sdy.mesh @two = <["c"=4]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@one, [{"a"}, {}]>}, %y: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@two, [{"c"}, {}]>}) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = stablehlo.negate %x : tensor<8x4xf32>
  %1 = stablehlo.negate %y : tensor<8x4xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<8x4xf32>
}
// expect: %x <@one, [{"a"}, {}]>
// expect: %y <@two, [{"c"}, {}]>
// expect: -> 0 <@one, [{"a", ?}, {?}]>
// expect: -> 1 <@two, [{"c", ?}, {?}]>
// expect: %0 <@one, [{"a", ?}, {?}]>
// expect: %1 <@two, [{"c", ?}, {?}]>

// -----

// A mesh without axes is replaced where something comes in.
sdy.mesh @none = <[]>
sdy.mesh @one = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@one, [{"a"}, {}]>}, %y: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@none, [{?}, {?}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.add %x, %y : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// expect: %x <@one, [{"a"}, {}]>
// expect: %y <@one, [{"a", ?}, {?}]>
// expect: -> 0 <@one, [{"a", ?}, {?}]>
// expect: %0 <@one, [{"a", ?}, {?}]>

// -----

// Its closed dimensions stay closed.
sdy.mesh @none = <[]>
sdy.mesh @one = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@one, [{"a"}, {"b"}]>}, %y: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@none, [{}, {?}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.add %x, %y : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// expect: %x <@one, [{"a"}, {"b"}]>
// expect: %y <@one, [{}, {"b", ?}]>
// expect: -> 0 <@one, [{?}, {"b", ?}]>
// expect: %0 <@one, [{?}, {"b", ?}]>

// -----

// Nothing comes: it stays.
sdy.mesh @none = <[]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@none, [{?}, {?}]>}, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.add %x, %y : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// expect: %x <@none, [{?}, {?}]>

// -----

// One device holds a value: nothing comes or goes.
sdy.mesh @first = <[], device_ids=[0]>
sdy.mesh @one = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@one, [{"a"}, {}]>}, %y: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@first, []>}) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = stablehlo.add %x, %y : tensor<8x4xf32>
  %1 = stablehlo.negate %x : tensor<8x4xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<8x4xf32>
}
// expect: %x <@one, [{"a"}, {}]>
// expect: %y <@first, []>
// expect: -> 1 <@one, [{"a", ?}, {?}]>
// expect: %1 <@one, [{"a", ?}, {?}]>

// -----

// A token bears a sharding and hands none on.
sdy.mesh @first = <[], device_ids=[0]>
sdy.mesh @one = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@one, [{"a"}, {}]>}, %t: !stablehlo.token) -> !stablehlo.token {
  %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> {sdy.sharding = #sdy.sharding_per_value<[<@first, []>]>} : (tensor<8x4xf32>, !stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}
// expect: %x <@one, [{"a"}, {}]>
// expect: %0 <@first, []>

// -----

// What comes from one device has no sharding of the mesh.
sdy.mesh @first = <[], device_ids=[1]>
sdy.mesh @one = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@one, [{"a"}, {}]>}, %t: !stablehlo.token) -> tensor<8x4xf32> {
  %0:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 3>, is_host_transfer = true}> {sdy.sharding = #sdy.sharding_per_value<[<@first, []>, <@first, []>]>} : (!stablehlo.token) -> (tensor<8x4xf32>, !stablehlo.token)
  %1 = stablehlo.add %x, %0#0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
// expect: %x <@one, [{"a"}, {}]>
// expect: %0 <@first, []> <@first, []>
