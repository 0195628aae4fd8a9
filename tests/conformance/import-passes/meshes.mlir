// run: opt --pass lift-inlined-meshes
// A mesh in place gets a name.
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2, "b"=2]>, [{"a"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// gives:
sdy.mesh @mesh = <["a"=2, "b"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}, {name = "b", size = 2 : i64}]}}
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// One that has a name already is called by it.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2, "b"=2]>, [{"a"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"a"}, {}]>]>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}, {name = "b", size = 2 : i64}]}}
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"a"}, {}]>]>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// Two names of one mesh become one.
sdy.mesh @grid = <["a"=2, "b"=2]>
sdy.mesh @again = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@again, [{"a"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"a"}, {}]>]>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}, {name = "b", size = 2 : i64}]}}
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"a"}, {}]>]>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// A device in place.
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<mesh<[], device_ids=[3]>, []>}) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// gives:
sdy.mesh @maximal_mesh_3 = <[], device_ids=[3]> {stablehlo.mesh = {axes = [], device_ids = dense<3> : tensor<1xi64>}}
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@maximal_mesh_3, []>}) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// run: opt --pass inline-meshes
// And back: every sharding has its mesh with it.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"a"}, {}]>]>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// gives:
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2, "b"=2]>, [{"a"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<mesh<["a"=2, "b"=2]>, [{"a"}, {}]>]>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// run: opt --pass remove-size-one-axes
// Axes of size 1 go, from meshes and shardings.
sdy.mesh @thin = <["a"=1, "b"=2, "c"=1]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@thin, [{"a", "b"}, {"c", ?}p1]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@thin, [{"b"}, {?}], replicated={"a"}>]>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// gives:
sdy.mesh @thin = <["a"=1, "b"=2, "c"=1]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@thin, [{"b"}, {?}p1]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@thin, [{"b"}, {?}]>]>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// run: opt --pass remove-size-one-axes
// Nothing is left.
sdy.mesh @one = <["a"=1, "b"=1]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@one, [{"a"}, {"b"}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// gives:
sdy.mesh @one = <["a"=1, "b"=1]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@one, [{}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// run: opt --pass remove-size-one-axes
// Of manual computations, too.
sdy.mesh @thin = <["a"=1, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@thin, [{"a", "b"}, {}]>] out_shardings=[<@thin, [{"b"}, {}]>] manual_axes={"a", "b"} (%arg1: tensor<4x4xf32>) {
    %1 = stablehlo.negate %arg1 : tensor<4x4xf32>
    sdy.return %1 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// gives:
sdy.mesh @thin = <["a"=1, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@thin, [{"b"}, {}]>] out_shardings=[<@thin, [{"b"}, {}]>] manual_axes={"a", "b"} (%arg1: tensor<4x4xf32>) {
    %1 = stablehlo.negate %arg1 : tensor<4x4xf32>
    sdy.return %1 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
