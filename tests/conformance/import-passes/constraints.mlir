// run: opt --pass apply-sharding-constraints
// The constraint of a value that has no sharding is put on it.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@grid, [{"a"}, {?}]> : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@grid, [{"a"}, {?}]> : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// -----

// On an argument.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.sharding_constraint %arg0 <@grid, [{"a"}, {"b"}]> : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a"}, {"b"}]>}) -> tensor<8x4xf32> {
  %0 = sdy.sharding_constraint %arg0 <@grid, [{"a"}, {"b"}]> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4}>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// Not where there is a sharding.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"b"}, {}]>}) -> tensor<8x4xf32> {
  %0 = sdy.sharding_constraint %arg0 <@grid, [{"a"}, {}]> : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"b"}, {}]>}) -> tensor<8x4xf32> {
  %0 = sdy.sharding_constraint %arg0 <@grid, [{"a"}, {}]> : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// Two constraints of a value: none is taken.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = stablehlo.negate %arg0 : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@grid, [{"a"}, {}]> : tensor<8x4xf32>
  %2 = sdy.sharding_constraint %0 <@grid, [{"b"}, {}]> : tensor<8x4xf32>
  return %1, %2 : tensor<8x4xf32>, tensor<8x4xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = stablehlo.negate %arg0 : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@grid, [{"a"}, {}]> : tensor<8x4xf32>
  %2 = sdy.sharding_constraint %0 <@grid, [{"b"}, {}]> : tensor<8x4xf32>
  return %1, %2 : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// Other uses of the value.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = stablehlo.negate %arg0 : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@grid, [{"a"}, {}]> : tensor<8x4xf32>
  %2 = stablehlo.tanh %0 : tensor<8x4xf32>
  return %1, %2 : tensor<8x4xf32>, tensor<8x4xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"a"}, {}]>]>} : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@grid, [{"a"}, {}]> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4}>} : tensor<8x4xf32>
  %2 = stablehlo.tanh %0 : tensor<8x4xf32>
  return %1, %2 : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// A constraint that nobody uses.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@grid, [{"a"}, {}]> : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"a"}, {}]>]>} : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@grid, [{"a"}, {}]> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4}>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// A chain of constraints.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@grid, [{"a"}, {?}]> : tensor<8x4xf32>
  %2 = sdy.sharding_constraint %1 <@grid, [{"b"}, {}]> : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@grid, [{"a"}, {?}]> : tensor<8x4xf32>
  %2 = sdy.sharding_constraint %1 <@grid, [{"b"}, {}]> : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// -----

// In_shardings of a manual computation constrain its operands.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8x4xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@grid, [{"a"}, {}]>] out_shardings=[<@grid, [{"a"}, {}]>] manual_axes={"a"} (%arg1: tensor<4x4xf32>) {
    sdy.return %arg1 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"a"}, {}]>]>} : tensor<8x4xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@grid, [{"a"}, {}]>] out_shardings=[<@grid, [{"a"}, {}]>] manual_axes={"a"} (%arg1: tensor<4x4xf32>) {
    sdy.return %arg1 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
