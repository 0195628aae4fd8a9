// pass insert-explicit-reshards
sdy.mesh @grid = <["r"=2, "c"=4]>

// What stays unreduced is passed on; the rest is reduced where it is used.
func.func @delayed(%a: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"c", "r"}]>}, %zero: tensor<f32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@grid, [{}]>}) {
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}], unreduced={"c"}>]>} : (tensor<8x64xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}], unreduced={"c"}>]>} : tensor<8xf32>
  %2 = stablehlo.exponential %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// The result of a dot would be an all_gather of an operand; a concatenate; a reshard to what is unreduced.
func.func @others(%a: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@grid, [{"c"}, {"r"}]>}, %b: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"r"}, {}]>}, %m: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"r"}, {}], unreduced=min{"c"}>}) -> (tensor<16x72xf32>, tensor<16x8xf32>, tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {}], unreduced={"r"}>}) {
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"r"}, {}]>]>} : (tensor<16x64xf32>, tensor<64x8xf32>) -> tensor<16x8xf32>
  %1 = stablehlo.concatenate %a, %0, dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"c"}, {}]>]>} : (tensor<16x64xf32>, tensor<16x8xf32>) -> tensor<16x72xf32>
  %2 = sdy.reshard %m <@grid, [{}, {}]> : tensor<16x8xf32>
  return %1, %2, %0 : tensor<16x72xf32>, tensor<16x8xf32>, tensor<16x8xf32>
}
// gives
sdy.mesh @grid = <["r"=2, "c"=4]>

// What stays unreduced is passed on; the rest is reduced where it is used.
func.func @delayed(%a: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"c", "r"}]>}, %zero: tensor<f32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@grid, [{}]>}) {
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}], unreduced={"c"}>]>} : (tensor<8x64xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = sdy.all_reduce {"r"} %0 out_sharding=<@grid, [{}], unreduced={"c"}> : tensor<8xf32>
  %1 = stablehlo.negate %3 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}], unreduced={"c"}>]>} : tensor<8xf32>
  %4 = sdy.all_reduce {"c"} %1 out_sharding=<@grid, [{}]> : tensor<8xf32>
  %2 = stablehlo.exponential %4 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// The result of a dot would be an all_gather of an operand; a concatenate; a reshard to what is unreduced.
func.func @others(%a: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@grid, [{"c"}, {"r"}]>}, %b: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"r"}, {}]>}, %m: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"r"}, {}], unreduced=min{"c"}>}) -> (tensor<16x72xf32>, tensor<16x8xf32>, tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {}], unreduced={"r"}>}) {
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"c"}, {}]>]>} : (tensor<16x64xf32>, tensor<64x8xf32>) -> tensor<16x8xf32>
  %5 = sdy.reshard %0 <@grid, [{"r"}, {}]> : tensor<16x8xf32>
  %6 = sdy.reshard %a <@grid, [{"c"}, {}]> : tensor<16x64xf32>
  %7 = sdy.reshard %5 <@grid, [{"c"}, {}]> : tensor<16x8xf32>
  %1 = stablehlo.concatenate %6, %7, dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"c"}, {}]>]>} : (tensor<16x64xf32>, tensor<16x8xf32>) -> tensor<16x72xf32>
  %8 = sdy.all_reduce min {"c"} %m out_sharding=<@grid, [{"r"}, {}]> : tensor<16x8xf32>
  %9 = sdy.reshard %8 <@grid, [{}, {}]> : tensor<16x8xf32>
  %10 = sdy.sharded_to_unreduced [{"r"}, {}] %5 out_sharding=<@grid, [{}, {}], unreduced={"r"}> : tensor<16x8xf32>
  return %1, %9, %10 : tensor<16x72xf32>, tensor<16x8xf32>, tensor<16x8xf32>
}
// pass insert-explicit-reshards{enable-full-version=true}
sdy.mesh @grid = <["r"=2, "c"=4]>

func.func @main(%a: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@grid, [{"c"}, {"r"}]>}, %b: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"c"}, {}]>}, %n: tensor<i32>, %low: tensor<f32>) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@grid, [{"r"}]>}, tensor<16x32xf32>) {
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}, {"c"}]>]>} : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
  %1 = stablehlo.reduce(%0 init: %low) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"c"}]>]>} : (tensor<16x32xf32>, tensor<f32>) -> tensor<16xf32>
  %2:2 = stablehlo.while(%i = %n, %v = %0) : tensor<i32>, tensor<16x32xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@grid, []>, <@grid, [{"r"}, {}]>]>}
   cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %w = stablehlo.reverse %v, dims = [1] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}, {"r"}]>]>} : tensor<16x32xf32>
    stablehlo.return %i, %w : tensor<i32>, tensor<16x32xf32>
  }
  %3 = sdy.manual_computation(%2#1) in_shardings=[<@grid, [{"c"}, {}]>] out_shardings=[<@grid, [{"c"}, {"r"}]>] manual_axes={"c"} (%p: tensor<4x32xf32>) {
    %q = stablehlo.abs %p : tensor<4x32xf32>
    sdy.return %q : tensor<4x32xf32>
  } : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %1, %3 : tensor<16xf32>, tensor<16x32xf32>
}
// gives
sdy.mesh @grid = <["r"=2, "c"=4]>

func.func @main(%a: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@grid, [{"c"}, {"r"}]>}, %b: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"c"}, {}]>}, %n: tensor<i32>, %low: tensor<f32>) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@grid, [{"r"}]>}, tensor<16x32xf32>) {
  %4 = sdy.reshard %a <@grid, [{}, {"r"}]> : tensor<16x64xf32>
  %5 = sdy.reshard %b <@grid, [{"r"}, {"c"}]> : tensor<64x32xf32>
  %0 = stablehlo.dot %4, %5 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}, {"c"}]>]>} : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
  %6 = sdy.all_reduce {"r"} %0 out_sharding=<@grid, [{}, {"c"}]> : tensor<16x32xf32>
  %1 = stablehlo.reduce(%6 init: %low) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}]>]>} : (tensor<16x32xf32>, tensor<f32>) -> tensor<16xf32>
  %7 = sdy.all_reduce max {"c"} %1 out_sharding=<@grid, [{}]> : tensor<16xf32>
  %8 = sdy.reshard %7 <@grid, [{"c"}]> : tensor<16xf32>
  %9 = sdy.reshard %6 <@grid, [{"r"}, {}]> : tensor<16x32xf32>
  %2:2 = stablehlo.while(%i = %n, %v = %9) : tensor<i32>, tensor<16x32xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@grid, []>, <@grid, [{"r"}, {}]>]>}
   cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %w = stablehlo.reverse %v, dims = [1] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"r"}, {}]>]>} : tensor<16x32xf32>
    %10 = sdy.reshard %w <@grid, [{}, {"r"}]> : tensor<16x32xf32>
    %11 = sdy.reshard %10 <@grid, [{"r"}, {}]> : tensor<16x32xf32>
    stablehlo.return %i, %11 : tensor<i32>, tensor<16x32xf32>
  }
  %12 = sdy.reshard %2#1 <@grid, [{"c"}, {}]> : tensor<16x32xf32>
  %3 = sdy.manual_computation(%12) in_shardings=[<@grid, [{"c"}, {}]>] out_shardings=[<@grid, [{"c"}, {"r"}]>] manual_axes={"c"} (%p: tensor<4x32xf32>) {
    %q = stablehlo.abs %p : tensor<4x32xf32>
    %13 = sdy.reshard %q <@grid, [{}, {"r"}]> : tensor<4x32xf32>
    sdy.return %13 : tensor<4x32xf32>
  } : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %14 = sdy.reshard %8 <@grid, [{"r"}]> : tensor<16xf32>
  %15 = sdy.reshard %3 <@grid, [{}, {}]> : tensor<16x32xf32>
  return %14, %15 : tensor<16xf32>, tensor<16x32xf32>
}
// pass export-pipeline
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row", ?}, {?}], unreduced={"col"}>}) -> (tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"col"}]>}) {
  %0 = stablehlo.abs %x {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"row", ?}, {?}]>]>} : tensor<8x32xf32>
  %1 = sdy.sharding_constraint %0 <@grid, [{}, {"col"}]> : tensor<8x32xf32>
  return %1 : tensor<8x32xf32>
}
// gives
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"row"}, {}], unreduced={"col"}>}) -> (tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"col"}]>}) {
  %2 = sdy.all_reduce {"col"} %x out_sharding=<@grid, [{"row"}, {}]> : tensor<8x32xf32>
  %0 = stablehlo.abs %2 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"row"}, {}]>]>} : tensor<8x32xf32>
  %1 = sdy.reshard %0 <@grid, [{}, {"col"}]> : tensor<8x32xf32>
  return %1 : tensor<8x32xf32>
}
