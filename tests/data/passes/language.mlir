// pass sharding-group-import
func.func @main(%x: tensor<16x32xf32>, %y: tensor<16x32xf32>, %z: tensor<16x32xf32>) -> tensor<16x32xf32> {
  sdy.sharding_group %z group_id = 30 : tensor<16x32xf32>
  sdy.sharding_group %x group_id = 8 : tensor<16x32xf32>
  "sdy.sharding_group"(%y) <{group_id = 2 : i64}> : (tensor<16x32xf32>) -> ()
  sdy.sharding_group %y group_id = 8 : tensor<16x32xf32>
  return %x : tensor<16x32xf32>
}
// gives
func.func @main(%x: tensor<16x32xf32>, %y: tensor<16x32xf32>, %z: tensor<16x32xf32>) -> tensor<16x32xf32> {
  sdy.sharding_group %z group_id = 0 : tensor<16x32xf32>
  sdy.sharding_group %x group_id = 1 : tensor<16x32xf32>
  "sdy.sharding_group"(%y) <{group_id = 1 : i64}> : (tensor<16x32xf32>) -> ()
  return %x : tensor<16x32xf32>
}
// pass sharding-group-import
func.func @main(%x: tensor<16x32xf32>, %y: tensor<16x16xf32>) -> tensor<16x32xf32> {
  sdy.sharding_group %x group_id = 8 : tensor<16x32xf32>
  sdy.sharding_group %y group_id = 8 : tensor<16x16xf32>
  return %x : tensor<16x32xf32>
}
// refused the group has values of type tensor<16x32xf32>; expected the same
// pass manual-axes-cleanup
sdy.mesh @grid = <["row"=2, "col"=4, "deep"=2]>
func.func @main(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@grid, [{"col"}, {}]>] out_shardings=[<@grid, [{}, {"col", ?}], replicated={"row"}, unreduced={"deep"}>] manual_axes={"deep", "col", "row"} (%p: tensor<4x32xf32>) {
    %1 = stablehlo.reshape %p : (tensor<4x32xf32>) -> tensor<16x8xf32>
    sdy.return %1 : tensor<16x8xf32>
  } : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
// gives
sdy.mesh @grid = <["row"=2, "col"=4, "deep"=2]>
func.func @main(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@grid, [{"col"}, {}], replicated={"row", "deep"}>] out_shardings=[<@grid, [{}, {"col", ?}], replicated={"row"}, unreduced={"deep"}>] manual_axes={"row", "col", "deep"} (%p: tensor<4x32xf32>) {
    %1 = stablehlo.reshape %p : (tensor<4x32xf32>) -> tensor<16x8xf32>
    sdy.return %1 : tensor<16x8xf32>
  } : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
// pass populate-op-sharding-rules
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>, %y: tensor<32x8xf32>, %s: tensor<f32>) -> (tensor<16x8xf32>, tensor<f32>) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x8xf32>) -> tensor<16x8xf32>
  %1 = sdy.sharding_constraint %0 <@grid, [{"row"}, {}]> : tensor<16x8xf32>
  %2 = stablehlo.add %s, %s : tensor<f32>
  return %1, %2 : tensor<16x8xf32>, tensor<f32>
}
// gives
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>, %y: tensor<32x8xf32>, %s: tensor<f32>) -> (tensor<16x8xf32>, tensor<f32>) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] {sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=16, j=8, k=32} reduction={k}>} : (tensor<16x32xf32>, tensor<32x8xf32>) -> tensor<16x8xf32>
  %1 = sdy.sharding_constraint %0 <@grid, [{"row"}, {}]> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=16, j=8}>} : tensor<16x8xf32>
  %2 = stablehlo.add %s, %s {sdy.sharding_rule = #sdy.op_sharding_rule<([], [])->([])>} : tensor<f32>
  return %1, %2 : tensor<16x8xf32>, tensor<f32>
}
// pass populate-op-sharding-rules{conservative-propagation=true}
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>, %y: tensor<16x4xf32>, %i: tensor<2x9x9x3xf32>, %k: tensor<3x3x3x8xf32>) -> (tensor<16x36xf32>, tensor<8x32xf32>, tensor<2x4x4x8xf32>) {
  %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<16x32xf32>, tensor<16x4xf32>) -> tensor<16x36xf32>
  %1 = stablehlo.slice %x [8:16, 0:32] : (tensor<16x32xf32>) -> tensor<8x32xf32>
  %2 = stablehlo.convolution(%i, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x9x9x3xf32>, tensor<3x3x3x8xf32>) -> tensor<2x4x4x8xf32>
  return %0, %1, %2 : tensor<16x36xf32>, tensor<8x32xf32>, tensor<2x4x4x8xf32>
}
// gives
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>, %y: tensor<16x4xf32>, %i: tensor<2x9x9x3xf32>, %k: tensor<3x3x3x8xf32>) -> (tensor<16x36xf32>, tensor<8x32xf32>, tensor<2x4x4x8xf32>) {
  %0 = stablehlo.concatenate %x, %y, dim = 1 {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, k])->([i, l]) {i=16, j=1, k=1, l=1}>} : (tensor<16x32xf32>, tensor<16x4xf32>) -> tensor<16x36xf32>
  %1 = stablehlo.slice %x [8:16, 0:32] {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=16, j=32} permutation={i} blocked_propagation={i}>} : (tensor<16x32xf32>) -> tensor<8x32xf32>
  %2 = stablehlo.convolution(%i, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2]} {sdy.sharding_rule = #sdy.op_sharding_rule<([i, l, m, j], [n, o, j, k])->([i, p, q, k]) {i=2, j=3, k=8, l=1, m=1, n=1, o=1, p=1, q=1} reduction={j}>, batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x9x9x3xf32>, tensor<3x3x3x8xf32>) -> tensor<2x4x4x8xf32>
  return %0, %1, %2 : tensor<16x36xf32>, tensor<8x32xf32>, tensor<2x4x4x8xf32>
}
// pass drop-sharding-rules,remove-sharding-groups,close-shardings
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row", ?}p1], replicated={"col"}>}) -> tensor<16xf32> {
  sdy.sharding_group %x group_id = 1 : tensor<16xf32>
  %0 = stablehlo.abs %x {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=16}>} : tensor<16xf32>
  %1 = stablehlo.custom_call @f(%0) {keep.it = 1 : i32, sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=16}, custom>} : (tensor<16xf32>) -> tensor<16xf32>
  return %1 : tensor<16xf32>
}
// gives
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}p1]>}) -> tensor<16xf32> {
  %0 = stablehlo.abs %x {} : tensor<16xf32>
  %1 = stablehlo.custom_call @f(%0) {keep.it = 1 : i32, sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=16}, custom>} : (tensor<16xf32>) -> tensor<16xf32>
  return %1 : tensor<16xf32>
}
// pass drop-sharding-and-mesh
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16xf32> {keep.it = 1 : i32, sdy.sharding = #sdy.sharding<@grid, [{"row"}]>}) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@grid, [{"col"}]>}) {
  %0 = stablehlo.abs %x {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"row"}]>]>} : tensor<16xf32>
  return %0 : tensor<16xf32>
}
// gives

func.func @main(%x: tensor<16xf32> {keep.it = 1 : i32}) -> (tensor<16xf32> {}) {
  %0 = stablehlo.abs %x {} : tensor<16xf32>
  return %0 : tensor<16xf32>
}
// pass drop-sharding-and-mesh
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = sdy.reshard %x <@grid, [{"row"}]> : tensor<16xf32>
  return %0 : tensor<16xf32>
}
// refused 'sdy.reshard' would speak of a mesh that is gone; expected a program without it
