// pass apply-sharding-constraints
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>, %y: tensor<16x32xf32>, %z: tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<f32>) {
  %0 = sdy.sharding_constraint %x <@grid, [{"row"}, {"col"}p1]> : tensor<16x32xf32>
  %1 = sdy.sharding_constraint %y <@grid, [{"row", ?}, {}]> : tensor<16x32xf32>
  %2 = sdy.sharding_constraint %z <@grid, [{"row"}, {}]> : tensor<16x32xf32>
  %3 = sdy.sharding_constraint %z <@grid, [{"col"}, {}]> : tensor<16x32xf32>
  %4:2 = stablehlo.optimization_barrier %2, %3 : tensor<16x32xf32>, tensor<16x32xf32>
  %5 = sdy.sharding_constraint %4#1 <@grid, [{}, {"col"}]> : tensor<16x32xf32>
  %6 = sdy.sharding_constraint %4#0 <@grid, [{}, {"col"}]> : tensor<16x32xf32>
  %7 = stablehlo.constant dense<1.0> : tensor<f32>
  %8 = sdy.sharding_constraint %7 <@grid, []> : tensor<f32>
  %9 = stablehlo.add %5, %6 : tensor<16x32xf32>
  return %0, %9, %8 : tensor<16x32xf32>, tensor<16x32xf32>, tensor<f32>
}
// gives
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {"col"}p1]>}, %y: tensor<16x32xf32>, %z: tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<f32>) {
  %0 = sdy.sharding_constraint %x <@grid, [{"row"}, {"col"}p1]> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=16, j=32}>} : tensor<16x32xf32>
  %1 = sdy.sharding_constraint %y <@grid, [{"row", ?}, {}]> : tensor<16x32xf32>
  %2 = sdy.sharding_constraint %z <@grid, [{"row"}, {}]> : tensor<16x32xf32>
  %3 = sdy.sharding_constraint %z <@grid, [{"col"}, {}]> : tensor<16x32xf32>
  %4:2 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{?}, {?}]>, <@grid, [{}, {"col"}]>]>} %2, %3 : tensor<16x32xf32>, tensor<16x32xf32>
  %5 = sdy.sharding_constraint %4#1 <@grid, [{}, {"col"}]> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=16, j=32}>} : tensor<16x32xf32>
  %6 = sdy.sharding_constraint %4#0 <@grid, [{}, {"col"}]> : tensor<16x32xf32>
  %7 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@grid, []>]>} dense<1.0> : tensor<f32>
  %8 = sdy.sharding_constraint %7 <@grid, []> {sdy.sharding_rule = #sdy.op_sharding_rule<([])->([])>} : tensor<f32>
  %9 = stablehlo.add %5, %6 : tensor<16x32xf32>
  return %0, %9, %8 : tensor<16x32xf32>, tensor<16x32xf32>, tensor<f32>
}
// pass apply-sharding-constraints
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>) {
  %0 = stablehlo.abs %x : tensor<16x32xf32>
  %early = stablehlo.negate %0 : tensor<16x32xf32>
  %1 = sdy.sharding_constraint %0 <@grid, [{"row"}, {}]> : tensor<16x32xf32>
  %2 = sdy.sharding_constraint %1 <@grid, [{}, {}]> : tensor<16x32xf32>
  %3 = sdy.sharding_constraint %2 <@grid, [{}, {"col"}]> : tensor<16x32xf32>
  %late = stablehlo.add %0, %early : tensor<16x32xf32>
  return %0, %late : tensor<16x32xf32>, tensor<16x32xf32>
}
// gives
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>) {
  %0 = stablehlo.abs %x {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"row"}, {}]>]>} : tensor<16x32xf32>
  %early = stablehlo.negate %0 : tensor<16x32xf32>
  %1 = sdy.sharding_constraint %0 <@grid, [{"row"}, {}]> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=16, j=32}>} : tensor<16x32xf32>
  %2 = sdy.sharding_constraint %1 <@grid, [{}, {}]> : tensor<16x32xf32>
  %3 = sdy.sharding_constraint %2 <@grid, [{}, {"col"}]> : tensor<16x32xf32>
  %late = stablehlo.add %3, %early : tensor<16x32xf32>
  return %0, %late : tensor<16x32xf32>, tensor<16x32xf32>
}
// pass apply-sharding-constraints
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>, %y: tensor<16x32xf32>, %n: tensor<i32>) -> tensor<16x32xf32> {
  %0:3 = stablehlo.while(%i = %n, %v = %x, %u = %y) : tensor<i32>, tensor<16x32xf32>, tensor<16x32xf32>
   cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %a = stablehlo.abs %v : tensor<16x32xf32>
    %b = stablehlo.add %a, %u : tensor<16x32xf32>
    %s = sdy.sharding_constraint %v <@grid, [{"row"}, {}]> : tensor<16x32xf32>
    %t = sdy.sharding_constraint %u <@grid, [{}, {"col"}], unreduced={"row"}> : tensor<16x32xf32>
    %d = stablehlo.add %u, %v : tensor<16x32xf32>
    stablehlo.return %i, %b, %d : tensor<i32>, tensor<16x32xf32>, tensor<16x32xf32>
  }
  %e = sdy.data_flow_edge %0#1 : tensor<16x32xf32>
  %f = sdy.data_flow_edge %0#2 : tensor<16x32xf32>
  %1 = stablehlo.abs %f : tensor<16x32xf32>
  %2 = sdy.manual_computation(%e, %1) in_shardings=[<@grid, [{"row"}, {}]>, <@grid, [{"row"}, {"col"}]>] out_shardings=[<@grid, [{"row"}, {}]>] manual_axes={"row"} (%p: tensor<8x32xf32>, %q: tensor<8x32xf32>) {
    %5 = sdy.sharding_constraint %q <@grid, [{}, {"col"}]> : tensor<8x32xf32>
    sdy.return %p : tensor<8x32xf32>
  } : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %3 = stablehlo.add %2, %e : tensor<16x32xf32>
  return %3 : tensor<16x32xf32>
}
// gives
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>, %y: tensor<16x32xf32>, %n: tensor<i32>) -> tensor<16x32xf32> {
  %0:3 = stablehlo.while(%i = %n, %v = %x, %u = %y) : tensor<i32>, tensor<16x32xf32>, tensor<16x32xf32>
   cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %t = sdy.sharding_constraint %u <@grid, [{}, {"col"}], unreduced={"row"}> : tensor<16x32xf32>
    %s = sdy.sharding_constraint %v <@grid, [{"row"}, {}]> : tensor<16x32xf32>
    %a = stablehlo.abs %s : tensor<16x32xf32>
    %b = stablehlo.add %a, %t : tensor<16x32xf32>
    %d = stablehlo.add %t, %s : tensor<16x32xf32>
    stablehlo.return %i, %b, %d : tensor<i32>, tensor<16x32xf32>, tensor<16x32xf32>
  }
  %e = sdy.data_flow_edge %0#1 : tensor<16x32xf32>
  %6 = sdy.sharding_constraint %e <@grid, [{"row"}, {}]> : tensor<16x32xf32>
  %f = sdy.data_flow_edge %0#2 sharding=<@grid, [{?}, {?}], unreduced={"row"}> : tensor<16x32xf32>
  %1 = stablehlo.abs %f {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"row"}, {"col"}]>]>} : tensor<16x32xf32>
  %2 = sdy.manual_computation(%6, %1) in_shardings=[<@grid, [{"row"}, {}]>, <@grid, [{"row"}, {"col"}]>] out_shardings=[<@grid, [{"row"}, {}]>] manual_axes={"row"} (%p: tensor<8x32xf32>, %q: tensor<8x32xf32>) {
    %5 = sdy.sharding_constraint %q <@grid, [{}, {"col"}]> : tensor<8x32xf32>
    sdy.return %p : tensor<8x32xf32>
  } : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %3 = stablehlo.add %2, %6 : tensor<16x32xf32>
  return %3 : tensor<16x32xf32>
}
