// pass inline-meshes
sdy.mesh @grid = <["row"=2, "col"=4]>
sdy.mesh @turned = <["row"=2, "col"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
func.func @main(%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {?}]>}) -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@turned, [{}, {"col", ?}p2], replicated={"row"}>}) {
  %0 = stablehlo.abs %x {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"col":(2)2}, {}]>]>} : tensor<16x32xf32>
  %1 = sdy.sharding_constraint %0 <mesh<["z"=8]>, [{"z"}, {}]> : tensor<16x32xf32>
  return %1 : tensor<16x32xf32>
}
// gives


func.func @main(%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<mesh<["row"=2, "col"=4]>, [{"row"}, {?}]>}) -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<mesh<["row"=2, "col"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>, [{}, {"col", ?}p2], replicated={"row"}>}) {
  %0 = stablehlo.abs %x {sdy.sharding = #sdy.sharding_per_value<[<mesh<["row"=2, "col"=4]>, [{"col":(2)2}, {}]>]>} : tensor<16x32xf32>
  %1 = sdy.sharding_constraint %0 <mesh<["z"=8]>, [{"z"}, {}]> : tensor<16x32xf32>
  return %1 : tensor<16x32xf32>
}
// pass lift-inlined-meshes
sdy.mesh @mesh_0 = <["row"=2, "col"=4]>
sdy.mesh @again = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<mesh<["row"=2, "col"=4]>, [{"row"}, {?}]>}, %y: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@again, [{}, {"col"}]>}) -> tensor<16x32xf32> {
  %0 = stablehlo.abs %x {sdy.sharding = #sdy.sharding_per_value<[<mesh<["z"=8]>, [{"z"}, {}]>]>} : tensor<16x32xf32>
  %1 = stablehlo.abs %y {sdy.sharding = #sdy.sharding_per_value<[<mesh<["z"=2, "w"=4], device_ids=[0, 2, 1, 3, 4, 5, 6, 7]>, [{"z"}, {}]>]>} : tensor<16x32xf32>
  %2 = stablehlo.abs %0 {sdy.sharding = #sdy.sharding_per_value<[<mesh<[], device_ids=[6]>, []>]>} : tensor<16x32xf32>
  %3 = stablehlo.add %1, %2 {sdy.sharding = #sdy.sharding_per_value<[<mesh<[]>, [{}, {}]>]>} : tensor<16x32xf32>
  return %3 : tensor<16x32xf32>
}
// gives
sdy.mesh @mesh_0 = <["row"=2, "col"=4]> {stablehlo.mesh = {axes = [{name = "row", size = 2 : i64}, {name = "col", size = 4 : i64}]}}
sdy.mesh @mesh = <["z"=8]> {stablehlo.mesh = {axes = [{name = "z", size = 8 : i64}]}}
sdy.mesh @mesh_1 = <["z"=2, "w"=4], device_ids=[0, 2, 1, 3, 4, 5, 6, 7]> {stablehlo.mesh = {axes = [{name = "z", size = 2 : i64}, {name = "w", size = 4 : i64}], device_ids = dense<[0, 2, 1, 3, 4, 5, 6, 7]> : tensor<8xi64>}}
sdy.mesh @maximal_mesh_6 = <[], device_ids=[6]> {stablehlo.mesh = {axes = [], device_ids = dense<[6]> : tensor<1xi64>}}
sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}

func.func @main(%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh_0, [{"row"}, {?}]>}, %y: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh_0, [{}, {"col"}]>}) -> tensor<16x32xf32> {
  %0 = stablehlo.abs %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z"}, {}]>]>} : tensor<16x32xf32>
  %1 = stablehlo.abs %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh_1, [{"z"}, {}]>]>} : tensor<16x32xf32>
  %2 = stablehlo.abs %0 {sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_6, []>]>} : tensor<16x32xf32>
  %3 = stablehlo.add %1, %2 {sdy.sharding = #sdy.sharding_per_value<[<@empty_mesh, [{}, {}]>]>} : tensor<16x32xf32>
  return %3 : tensor<16x32xf32>
}
// pass lift-inlined-meshes
func.func @f(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = sdy.sharding_constraint %x <mesh<["a"=4]>, [{"a"}, {}]> : tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
func.func private @mesh(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<mesh<["b"=4]>, [{"b"}]>}) -> tensor<16xf32> {
  return %x : tensor<16xf32>
}
// gives
sdy.mesh @mesh_0 = <["a"=4]> {stablehlo.mesh = {axes = [{name = "a", size = 4 : i64}]}}
sdy.mesh @mesh_1 = <["b"=4]> {stablehlo.mesh = {axes = [{name = "b", size = 4 : i64}]}}
func.func @f(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = sdy.sharding_constraint %x <@mesh_0, [{"a"}, {}]> : tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
func.func private @mesh(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh_1, [{"b"}]>}) -> tensor<16xf32> {
  return %x : tensor<16xf32>
}
// pass inline-meshes,lift-inlined-meshes
sdy.mesh @first = <["a"=4]>
sdy.mesh @one = <[], device_ids=[2]>
func.func @main(%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@one, []>}) -> tensor<16x32xf32> {
  %0:2 = sdy.named_computation<"part">(%x, %x) in_shardings=[<@first, [{"a"}, {}]>, <@first, [{?}, {?}]>] out_shardings=[<@first, [{"a"}, {}]>, <@first, [{?}, {?}]>] (%p: tensor<16x32xf32>, %q: tensor<16x32xf32>) {
    sdy.return %q, %p : tensor<16x32xf32>, tensor<16x32xf32>
  } : (tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>)
  return %0#1 : tensor<16x32xf32>
}
// gives


sdy.mesh @maximal_mesh_2 = <[], device_ids=[2]> {stablehlo.mesh = {axes = [], device_ids = dense<[2]> : tensor<1xi64>}}
sdy.mesh @mesh = <["a"=4]> {stablehlo.mesh = {axes = [{name = "a", size = 4 : i64}]}}
func.func @main(%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@maximal_mesh_2, []>}) -> tensor<16x32xf32> {
  %0:2 = sdy.named_computation<"part">(%x, %x) in_shardings=[<@mesh, [{"a"}, {}]>, <@mesh, [{?}, {?}]>] out_shardings=[<@mesh, [{"a"}, {}]>, <@mesh, [{?}, {?}]>] (%p: tensor<16x32xf32>, %q: tensor<16x32xf32>) {
    sdy.return %q, %p : tensor<16x32xf32>, tensor<16x32xf32>
  } : (tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>)
  return %0#1 : tensor<16x32xf32>
}
// pass remove-size-one-axes
sdy.mesh @grid = <["one"=1, "row"=2, "col"=4, "uno"=1]>
func.func @main(%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"one", "row"}, {"uno"}p3]>, keep.me = 1 : i32}, %y: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"uno", ?}p1, {"col"}p0], replicated={"one", "row"}>}) -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {}], unreduced={"one", "col"}>}) {
  %0 = sdy.manual_computation(%x) in_shardings=[<@grid, [{"one", "col"}, {}]>] out_shardings=[<@grid, [{"col", "uno"}, {}]>] manual_axes={"one", "col"} (%p: tensor<4x32xf32>) {
    sdy.return %p : tensor<4x32xf32>
  } : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %1 = stablehlo.add %0, %y {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"row"}, {"col"}]>]>} : tensor<16x32xf32>
  %2 = sdy.reshard %1 <@grid, [{}, {"uno"}]> : tensor<16x32xf32>
  return %2 : tensor<16x32xf32>
}
// gives
sdy.mesh @grid = <["one"=1, "row"=2, "col"=4, "uno"=1]>
func.func @main(%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>, keep.me = 1 : i32}, %y: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{?}p1, {"col"}p0], replicated={"row"}>}) -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {}], unreduced={"col"}>}) {
  %0 = sdy.manual_computation(%x) in_shardings=[<@grid, [{"col"}, {}]>] out_shardings=[<@grid, [{"col"}, {}]>] manual_axes={"one", "col"} (%p: tensor<4x32xf32>) {
    sdy.return %p : tensor<4x32xf32>
  } : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %1 = stablehlo.add %0, %y {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"row"}, {"col"}]>]>} : tensor<16x32xf32>
  %2 = sdy.reshard %1 <@grid, [{}, {}]> : tensor<16x32xf32>
  return %2 : tensor<16x32xf32>
}
