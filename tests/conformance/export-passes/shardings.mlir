// run: opt --pass close-shardings
// Open dimensions are closed, replicated axes go.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a", ?}, {?}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{?}, {}], replicated={"b"}>}) {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"a", ?}, {?}], replicated={"b"}>]>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {}]>}) {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"a"}, {}]>]>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// Unreduced axes stay.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a", ?}, {?}], unreduced={"b"}>}) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a"}, {}], unreduced={"b"}>}) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// run: opt --pass sharding-constraint-to-reshard
// A constraint is a reshard.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.sharding_constraint %arg0 <@grid, [{"a"}, {}]> : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.reshard %arg0 <@grid, [{"a"}, {}]> : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// run: opt --pass update-non-divisible-input-output-shardings
// The largest part that divides.
sdy.mesh @wide = <["a"=8, "b"=3]>
func.func @main(%arg0: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@wide, [{"a"}, {"b"}]>}) -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@wide, [{"b"}, {"a"}]>}) {
  return %arg0 : tensor<4x6xf32>
}
// gives:
sdy.mesh @wide = <["a"=8, "b"=3]>
func.func @main(%arg0: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@wide, [{"a":(1)4}, {"b"}]>}) -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@wide, [{}, {"a":(1)2}]>}) {
  return %arg0 : tensor<4x6xf32>
}

// -----

// run: opt --pass update-non-divisible-input-output-shardings
// Of several axes those in front.
sdy.mesh @cube = <["a"=2, "b"=4, "c"=3]>
func.func @main(%arg0: tensor<12x6xf32> {sdy.sharding = #sdy.sharding<@cube, [{"a", "c", "b"}, {}]>}, %arg1: tensor<4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"a", "b"}]>}) -> tensor<12x6xf32> {
  return %arg0 : tensor<12x6xf32>
}
// gives:
sdy.mesh @cube = <["a"=2, "b"=4, "c"=3]>
func.func @main(%arg0: tensor<12x6xf32> {sdy.sharding = #sdy.sharding<@cube, [{"a", "c", "b":(1)2}, {}]>}, %arg1: tensor<4xf32> {sdy.sharding = #sdy.sharding<@cube, [{"a", "b":(1)2}]>}) -> tensor<12x6xf32> {
  return %arg0 : tensor<12x6xf32>
}

// -----

// run: opt --pass update-non-divisible-input-output-shardings
// Open dimensions stay open, priorities stay.
sdy.mesh @wide = <["a"=8]>
func.func @main(%arg0: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@wide, [{?}, {"a", ?}p1]>}) -> tensor<4x6xf32> {
  return %arg0 : tensor<4x6xf32>
}
// gives:
sdy.mesh @wide = <["a"=8]>
func.func @main(%arg0: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@wide, [{?}, {"a":(1)2, ?}]>}) -> tensor<4x6xf32> {
  return %arg0 : tensor<4x6xf32>
}

// -----

// run: opt --pass remove-sub-axes-in-input-output-shardings
// Parts of axes go from the ends of arguments and results.
sdy.mesh @line = <["x"=8, "y"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"y", "x":(1)2, ?}, {?}]>}) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(1)4, ?}, {"y", ?}]>}) {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@line, [{"x":(1)2, ?}, {?}]>]>} : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// gives:
sdy.mesh @line = <["x"=8, "y"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"y", ?}, {?}]>}) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@line, [{?}, {"y", ?}]>}) {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@line, [{"x":(1)2, ?}, {?}]>]>} : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// run: opt --pass remove-sub-axes-in-input-output-shardings
// Closed dimensions keep them.
sdy.mesh @line = <["x"=8, "y"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"y", "x":(1)2}, {}]>}) -> tensor<16x8xf32> {
  return %arg0 : tensor<16x8xf32>
}
// gives:
sdy.mesh @line = <["x"=8, "y"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"y", "x":(1)2}, {}]>}) -> tensor<16x8xf32> {
  return %arg0 : tensor<16x8xf32>
}
