// pass flatten-call-graph
func.func @main(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = call @outer(%x) {note = "first"} : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %1 = func.call @inner(%0) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %2 = call @outer(%1) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %2 : tensor<16x32xf32>
}
func.func private @inner(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = stablehlo.abs %x : tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
func.func private @outer(%x: tensor<16x32xf32>) -> (tensor<16x32xf32> {jax.result_info = "r"}) attributes {keep = 1 : i32} {
  %0 = call @inner(%x) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
// gives
func.func @main(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = call @outer(%x) {note = "first"} : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %1 = func.call @inner_0(%0) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %2 = call @outer_2(%1) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %2 : tensor<16x32xf32>
}
func.func private @inner(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = stablehlo.abs %x : tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
func.func private @outer(%x: tensor<16x32xf32>) -> (tensor<16x32xf32> {jax.result_info = "r"}) attributes {keep = 1 : i32} {
  %0 = call @inner(%x) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
func.func private @inner_0(%x: tensor<16x32xf32>) -> tensor<16x32xf32> attributes {sdy.original_func_name = "inner"} {
  %0 = stablehlo.abs %x : tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
func.func private @inner_1(%x: tensor<16x32xf32>) -> tensor<16x32xf32> attributes {sdy.original_func_name = "inner"} {
  %0 = stablehlo.abs %x : tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
func.func private @outer_2(%x: tensor<16x32xf32>) -> (tensor<16x32xf32> {jax.result_info = "r"}) attributes {sdy.original_func_name = "outer", keep = 1 : i32} {
  %0 = call @inner_1(%x) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
// pass flatten-call-graph
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// refused a function calls itself; expected calls without recursion
// pass unflatten-call-graph,symbol-dce
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = call @f(%x) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %1 = call @f_0(%0) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %2 = call @f_1(%1) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %2 : tensor<16x32xf32>
}
func.func private @f(%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>}) -> tensor<16x32xf32> {
  return %x : tensor<16x32xf32>
}
func.func private @f_0(%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"col"}, {}]>}) -> tensor<16x32xf32> attributes {sdy.original_func_name = "f"} {
  return %x : tensor<16x32xf32>
}
func.func private @f_1(%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>}) -> tensor<16x32xf32> attributes {sdy.original_func_name = "f"} {
  return %x : tensor<16x32xf32>
}
// gives
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = call @f(%x) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %1 = call @f_0(%0) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %2 = call @f(%1) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %2 : tensor<16x32xf32>
}
func.func private @f(%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>}) -> tensor<16x32xf32> {
  return %x : tensor<16x32xf32>
}
func.func private @f_0(%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"col"}, {}]>}) -> tensor<16x32xf32> attributes {} {
  return %x : tensor<16x32xf32>
}

// pass unflatten-call-graph{dedup-functions-fully=true},symbol-dce
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = call @f(%x) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %1 = call @f_0(%0) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %2 = call @g(%1) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %3 = call @f_0(%2) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %3 : tensor<16x32xf32>
}
func.func private @f(%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>}) -> tensor<16x32xf32> {
  return %x : tensor<16x32xf32>
}
func.func private @f_0(%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"col"}, {}]>}) -> tensor<16x32xf32> attributes {sdy.original_func_name = "f"} {
  return %x : tensor<16x32xf32>
}
func.func private @g(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  return %x : tensor<16x32xf32>
}
// gives
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = call @f_0(%x) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %1 = call @f_0(%0) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %2 = call @g(%1) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %3 = call @f_0(%2) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %3 : tensor<16x32xf32>
}

func.func private @f_0(%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"col"}, {}]>}) -> tensor<16x32xf32> attributes {} {
  return %x : tensor<16x32xf32>
}
func.func private @g(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  return %x : tensor<16x32xf32>
}
// pass pre-order-funcs
func.func private @leaf(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @middle(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @leaf(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @leaf(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @middle(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
// gives
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @leaf(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @middle(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @middle(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @leaf(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @leaf(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// pass import-func-calls
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>, %n: tensor<i32>) -> (tensor<16x32xf32>, tensor<16x32xf32>) {
  %0 = call @leaf(%x) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %1:2 = call @loop(%n, %0) {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"row"}, {}]>, <@grid, [{?}, {?}]>]>, note = "here"} : (tensor<i32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>)
  return %1#1, %1#0 : tensor<16x32xf32>, tensor<16x32xf32>
}
func.func private @loop(%n: tensor<i32>, %x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"col", ?}]>}) -> (tensor<16x32xf32>, tensor<16x32xf32>) {
  %0:2 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<16x32xf32>
   cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %w = func.call @leaf(%v) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    stablehlo.return %i, %w : tensor<i32>, tensor<16x32xf32>
  }
  return %0#1, %x : tensor<16x32xf32>, tensor<16x32xf32>
}
func.func private @leaf(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = stablehlo.abs %x : tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
// gives
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>, %n: tensor<i32>) -> (tensor<16x32xf32>, tensor<16x32xf32>) {
  %0 = sdy.named_computation<"leaf">(%x) (%2: tensor<16x32xf32>) {
    %13 = sdy.data_flow_edge %2 : tensor<16x32xf32>
    %3 = stablehlo.abs %13 : tensor<16x32xf32>
  sdy.return %3 : tensor<16x32xf32>
} : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %14 = sdy.data_flow_edge %0 : tensor<16x32xf32>
  %1:2 = sdy.named_computation<"loop">(%n, %14) in_shardings=[<@grid, []>, <@grid, [{}, {"col", ?}]>] out_shardings=[<@grid, [{"row"}, {}]>, <@grid, [{?}, {?}]>] (%4: tensor<i32>, %5: tensor<16x32xf32>) {
    %15 = sdy.data_flow_edge %4 sharding=<@grid, []> : tensor<i32>
    %16 = sdy.data_flow_edge %5 sharding=<@grid, [{}, {"col", ?}]> : tensor<16x32xf32>
    %6:2 = stablehlo.while(%7 = %15, %8 = %16) : tensor<i32>, tensor<16x32xf32>
   cond {
    %9 = stablehlo.compare LT, %7, %15 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %9 : tensor<i1>
  } do {
    %10 = sdy.named_computation<"leaf">(%8) (%11: tensor<16x32xf32>) {
    %19 = sdy.data_flow_edge %11 : tensor<16x32xf32>
    %12 = stablehlo.abs %19 : tensor<16x32xf32>
  sdy.return %12 : tensor<16x32xf32>
} : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %20 = sdy.data_flow_edge %10 : tensor<16x32xf32>
    stablehlo.return %7, %20 : tensor<i32>, tensor<16x32xf32>
  }
  sdy.return %6#1, %16 : tensor<16x32xf32>, tensor<16x32xf32>
} {note = "here"} : (tensor<i32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>)
  %17 = sdy.data_flow_edge %1#0 sharding=<@grid, [{"row"}, {}]> : tensor<16x32xf32>
  %18 = sdy.data_flow_edge %1#1 sharding=<@grid, [{?}, {?}]> : tensor<16x32xf32>
  return %18, %17 : tensor<16x32xf32>, tensor<16x32xf32>
}


// pass export-named-computations
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0:2 = sdy.named_computation<"outer">(%x, %x) in_shardings=[<@grid, [{"row", ?}, {}]>, <@grid, [{?}, {}]>] out_shardings=[<@grid, [{"col"}, {}]>, <@grid, [{?}, {?}]>] (%p: tensor<16x32xf32>, %q: tensor<16x32xf32>) {
    %1 = sdy.named_computation<"outer">(%p) (%r: tensor<16x32xf32>) {
      sdy.return %r : tensor<16x32xf32>
    } {note = 1 : i32} : (tensor<16x32xf32>) -> tensor<16x32xf32>
    sdy.return %q, %1 : tensor<16x32xf32>, tensor<16x32xf32>
  } : (tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>)
  return %0#1 : tensor<16x32xf32>
}
// gives
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0:2 = func.call @outer_0(%x, %x) {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"col"}, {}]>, <@grid, [{?}, {?}]>]>} : (tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>)
  return %0#1 : tensor<16x32xf32>
}
func.func private @outer(%r: tensor<16x32xf32>) -> (tensor<16x32xf32>) attributes {sdy.original_func_name = "outer"} {
    func.return %r : tensor<16x32xf32>
    }
func.func private @outer_0(%p: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row", ?}, {}]>}, %q: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{?}, {}]>}) -> (tensor<16x32xf32>, tensor<16x32xf32>) attributes {sdy.original_func_name = "outer"} {
    %1 = func.call @outer(%p) {note = 1 : i32} : (tensor<16x32xf32>) -> tensor<16x32xf32>
    func.return %q, %1 : tensor<16x32xf32>, tensor<16x32xf32>
  }
// pass propagate-sharding-from-func-to-call
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0:2 = call @f(%x) : (tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>)
  %1:2 = call @f(%0#1) {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}, {"col"}]>, <@grid, [{?}, {?}]>]>} : (tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>)
  return %1#0 : tensor<16x32xf32>
}
func.func private @f(%x: tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>}) {
  return %x, %x : tensor<16x32xf32>, tensor<16x32xf32>
}
// gives
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0:2 = call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{?}, {?}]>, <@grid, [{"row"}, {}]>]>} : (tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>)
  %1:2 = call @f(%0#1) {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}, {"col"}]>, <@grid, [{?}, {?}]>]>} : (tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>)
  return %1#0 : tensor<16x32xf32>
}
func.func private @f(%x: tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>}) {
  return %x, %x : tensor<16x32xf32>, tensor<16x32xf32>
}
// pass propagate-to-func-results,insert-func-call-reshards
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>) -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"col"}, {}]>}) {
  %0:2 = call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}, {"col"}]>, <@grid, [{"row"}, {?}]>]>} : (tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>)
  %1:2 = call @f(%0#1) : (tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>)
  %2 = stablehlo.add %0#0, %1#0 : tensor<16x32xf32>
  return %2 : tensor<16x32xf32>
}
func.func private @f(%x: tensor<16x32xf32>) -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"row"}]>}, tensor<16x32xf32>) {
  %0 = stablehlo.abs %x {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"row"}, {}]>]>} : tensor<16x32xf32>
  return %x, %0 : tensor<16x32xf32>, tensor<16x32xf32>
}
// gives
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>) -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"col"}, {}]>}) {
  %0:2 = call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{?}, {?}]>, <@grid, [{"row"}, {}]>]>} : (tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>)
  %3 = sdy.reshard %0#0 <@grid, [{}, {"col"}]> : tensor<16x32xf32>
  %1:2 = call @f(%0#1) {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{?}, {?}]>, <@grid, [{"row"}, {}]>]>} : (tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>)
  %4 = sdy.reshard %1#1 <@grid, [{}, {}]> : tensor<16x32xf32>
  %2 = stablehlo.add %3, %1#0 : tensor<16x32xf32>
  return %2 : tensor<16x32xf32>
}
func.func private @f(%x: tensor<16x32xf32>) -> (tensor<16x32xf32> {}, tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}]>}) {
  %0 = stablehlo.abs %x {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"row"}, {}]>]>} : tensor<16x32xf32>
  return %x, %0 : tensor<16x32xf32>, tensor<16x32xf32>
}
// pass add-func-data-flow-edges
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0:2 = call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"row"}, {}]>, <@grid, []>]>} : (tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<i32>)
  return %0#0 : tensor<16x32xf32>
}
func.func private @f(%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"col", ?}, {}]>}) -> (tensor<16x32xf32>, tensor<i32>) {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  return %x, %0 : tensor<16x32xf32>, tensor<i32>
}
// gives
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0:2 = call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"row"}, {}]>, <@grid, []>]>} : (tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<i32>)
  %1 = sdy.func_data_flow_edge %0#0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"row"}, {}]>]>} : tensor<16x32xf32>
  %2 = sdy.func_data_flow_edge %0#1 {sdy.sharding = #sdy.sharding_per_value<[<@grid, []>]>} : tensor<i32>
  return %1 : tensor<16x32xf32>
}
func.func private @f(%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"col", ?}, {}]>}) -> (tensor<16x32xf32>, tensor<i32>) {
  %3 = sdy.func_data_flow_edge %x {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"col", ?}, {}]>]>} : tensor<16x32xf32>
  %0 = stablehlo.constant dense<1> : tensor<i32>
  return %3, %0 : tensor<16x32xf32>, tensor<i32>
}
// pass sink-func-data-flow-edges
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = call @f(%x) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %1 = sdy.func_data_flow_edge %0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"row"}, {}]>]>} : tensor<16x32xf32>
  return %1 : tensor<16x32xf32>
}
func.func private @f(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = sdy.func_data_flow_edge %x {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"col"}, {?}]>]>} : tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
// gives
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"row"}, {}]>]>} : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
func.func private @f(%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"col"}, {?}]>}) -> tensor<16x32xf32> {
  return %x : tensor<16x32xf32>
}
