// pass add-data-flow-edges
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>, %n: tensor<i32>, %t: !stablehlo.token, %wide: tensor<?x4xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>) {
  %0:3 = stablehlo.while(%i = %n, %v = %x, %u = %t) : tensor<i32>, tensor<16x32xf32>, !stablehlo.token attributes {sdy.sharding = #sdy.sharding_per_value<[<@grid, []>, <@grid, [{"row"}, {?}]>, <@grid, []>]>}
   cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %w:2 = stablehlo.optimization_barrier %i, %v : tensor<i32>, tensor<16x32xf32> // both
    stablehlo.return %w#0, %w#1, %u : tensor<i32>, tensor<16x32xf32>, !stablehlo.token
  }
  %1 = "stablehlo.case"(%0#0) ({
    stablehlo.return %0#1 : tensor<16x32xf32>
  }, {
    stablehlo.return %x : tensor<16x32xf32>
  }) : (tensor<i32>) -> tensor<16x32xf32>
  %2:2 = stablehlo.optimization_barrier %wide, %1 : tensor<?x4xf32>, tensor<16x32xf32>
  %3 = sdy.manual_computation(%2#1) in_shardings=[<@grid, [{"row", "col":(1)2, ?}, {"col":(2)2}p1]>] out_shardings=[<@grid, [{}, {"row"}], replicated={"col"}>] manual_axes={"row"} (%p: tensor<8x32xf32>) {
    %q = stablehlo.slice %p [0:8, 0:16] : (tensor<8x32xf32>) -> tensor<8x16xf32>
    %r = stablehlo.concatenate %q, %q, dim = 0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
    sdy.return %r : tensor<16x16xf32>
  } : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %4:2 = sdy.named_computation<"twice">(%3, %x) out_shardings=[<@grid, [{"col"}, {}]>, <@grid, [{?}, {?}]>] (%p: tensor<16x32xf32>, %q: tensor<16x32xf32>) {
    sdy.return %q, %p : tensor<16x32xf32>, tensor<16x32xf32>
  } : (tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>)
  return %4#0, %4#1 : tensor<16x32xf32>, tensor<16x32xf32>
}
// gives
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>, %n: tensor<i32>, %t: !stablehlo.token, %wide: tensor<?x4xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>) {
  %0:3 = stablehlo.while(%i = %n, %v = %x, %u = %t) : tensor<i32>, tensor<16x32xf32>, !stablehlo.token attributes {sdy.sharding = #sdy.sharding_per_value<[<@grid, []>, <@grid, [{"row"}, {?}]>, <@grid, []>]>}
   cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %w:2 = stablehlo.optimization_barrier %i, %v : tensor<i32>, tensor<16x32xf32> // both
    %7 = sdy.data_flow_edge %w#0 : tensor<i32>
    %8 = sdy.data_flow_edge %w#1 : tensor<16x32xf32>
    stablehlo.return %7, %8, %u : tensor<i32>, tensor<16x32xf32>, !stablehlo.token
  }
  %5 = sdy.data_flow_edge %0#0 sharding=<@grid, []> : tensor<i32>
  %6 = sdy.data_flow_edge %0#1 sharding=<@grid, [{"row"}, {?}]> : tensor<16x32xf32>
  %1 = "stablehlo.case"(%5) ({
    stablehlo.return %6 : tensor<16x32xf32>
  }, {
    stablehlo.return %x : tensor<16x32xf32>
  }) : (tensor<i32>) -> tensor<16x32xf32>
  %9 = sdy.data_flow_edge %1 : tensor<16x32xf32>
  %2:2 = stablehlo.optimization_barrier %wide, %9 : tensor<?x4xf32>, tensor<16x32xf32>
  %10 = sdy.data_flow_edge %2#1 : tensor<16x32xf32>
  %3 = sdy.manual_computation(%10) in_shardings=[<@grid, [{"row", "col":(1)2, ?}, {"col":(2)2}p1]>] out_shardings=[<@grid, [{}, {"row"}], replicated={"col"}>] manual_axes={"row"} (%p: tensor<8x32xf32>) {
    %11 = sdy.data_flow_edge %p sharding=<@grid, [{"col":(1)2, ?}, {"col":(2)2}p1]> : tensor<8x32xf32>
    %q = stablehlo.slice %11 [0:8, 0:16] : (tensor<8x32xf32>) -> tensor<8x16xf32>
    %r = stablehlo.concatenate %q, %q, dim = 0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
    sdy.return %r : tensor<16x16xf32>
  } : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %12 = sdy.data_flow_edge %3 sharding=<@grid, [{}, {"row"}], replicated={"col"}> : tensor<16x32xf32>
  %4:2 = sdy.named_computation<"twice">(%12, %x) out_shardings=[<@grid, [{"col"}, {}]>, <@grid, [{?}, {?}]>] (%p: tensor<16x32xf32>, %q: tensor<16x32xf32>) {
    %13 = sdy.data_flow_edge %p : tensor<16x32xf32>
    %14 = sdy.data_flow_edge %q : tensor<16x32xf32>
    sdy.return %14, %13 : tensor<16x32xf32>, tensor<16x32xf32>
  } : (tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>)
  %15 = sdy.data_flow_edge %4#0 sharding=<@grid, [{"col"}, {}]> : tensor<16x32xf32>
  %16 = sdy.data_flow_edge %4#1 sharding=<@grid, [{?}, {?}]> : tensor<16x32xf32>
  return %15, %16 : tensor<16x32xf32>, tensor<16x32xf32>
}
// pass sink-data-flow-edges
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>, %y: tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>) {
  %0:2 = stablehlo.optimization_barrier %x, %y : tensor<16x32xf32>, tensor<16x32xf32>
  %1 = sdy.data_flow_edge %0#0 : tensor<16x32xf32>
  %2 = sdy.data_flow_edge %0#1 sharding=<@grid, [{"row"}, {?}]> : tensor<16x32xf32>
  %3 = sdy.manual_computation(%2) in_shardings=[<@grid, [{"row", ?}, {?}]>] out_shardings=[<@grid, [{"row"}, {}]>] manual_axes={"row"} (%p: tensor<8x32xf32>) {
    %5 = sdy.data_flow_edge %p sharding=<@grid, [{"col":(1)2, ?}, {?}]> : tensor<8x32xf32>
    sdy.return %5 : tensor<8x32xf32>
  } : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %4 = sdy.data_flow_edge %3 sharding=<@grid, [{"row", "col"}, {}]> : tensor<16x32xf32>
  return %1, %4 : tensor<16x32xf32>, tensor<16x32xf32>
}
// gives
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>, %y: tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>) {
  %0:2 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{?}, {?}]>, <@grid, [{"row"}, {?}]>]>} %x, %y : tensor<16x32xf32>, tensor<16x32xf32>
  %3 = sdy.manual_computation(%0#1) in_shardings=[<@grid, [{"row", "col":(1)2, ?}, {?}]>] out_shardings=[<@grid, [{"row", "col"}, {}]>] manual_axes={"row"} (%p: tensor<8x32xf32>) {
    sdy.return %p : tensor<8x32xf32>
  } : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %0#0, %3 : tensor<16x32xf32>, tensor<16x32xf32>
}
// pass add-data-flow-edges,sink-data-flow-edges
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%n: tensor<i32>, %x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0:2 = "stablehlo.while"(%n, %x) ({
  ^bb0(%i: tensor<i32>, %v: tensor<16x32xf32>):
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>, %v: tensor<16x32xf32>):
    %1 = "sdy.named_computation"(%v) <{name = "inner", in_shardings = #sdy.sharding_per_value<[<@grid, [{"row"}, {}]>]>, out_shardings = #sdy.sharding_per_value<[<@grid, [{?}, {?}]>]>}> ({
    ^bb0(%p: tensor<16x32xf32>):
      "sdy.return"(%p) : (tensor<16x32xf32>) -> ()
    }) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    stablehlo.return %i, %1 : tensor<i32>, tensor<16x32xf32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@grid, []>, <@grid, [{"row", ?}, {?}]>]>} : (tensor<i32>, tensor<16x32xf32>) -> (tensor<i32>, tensor<16x32xf32>)
  return %0#1 : tensor<16x32xf32>
}
// gives
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%n: tensor<i32>, %x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0:2 = "stablehlo.while"(%n, %x) ({
  ^bb0(%i: tensor<i32>, %v: tensor<16x32xf32>):
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>, %v: tensor<16x32xf32>):
    %1 = "sdy.named_computation"(%v) <{name = "inner", in_shardings = #sdy.sharding_per_value<[<@grid, [{"row"}, {}]>]>, out_shardings = #sdy.sharding_per_value<[<@grid, [{?}, {?}]>]>}> ({
    ^bb0(%p: tensor<16x32xf32>):
      "sdy.return"(%p) : (tensor<16x32xf32>) -> ()
    }) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    stablehlo.return %i, %1 : tensor<i32>, tensor<16x32xf32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@grid, []>, <@grid, [{"row", ?}, {?}]>]>} : (tensor<i32>, tensor<16x32xf32>) -> (tensor<i32>, tensor<16x32xf32>)
  return %0#1 : tensor<16x32xf32>
}
