// run: propagate --strategy sdy-basic --origins
// From an argument and from a result, with what each says itself.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a"}, {?}]>}, %arg1: tensor<8x4xf32>) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{?}, {"b", ?}]>}) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a"}, {"b", ?}]>, sdy.sharding_origins = {a = "self", b = "output: 0"}}, %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a", ?}, {"b", ?}]>, sdy.sharding_origins = {a = "input: 0", b = "output: 0"}}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a", ?}, {"b", ?}]>, sdy.sharding_origins = {a = "input: 0", b = "self"}}) {
  %0 = stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"a", ?}, {"b", ?}]>]>, sdy.sharding_origins = [{a = "input: 0", b = "output: 0"}]} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// Along a chain, and across a product.
sdy.mesh @grid = <["a"=2, "b"=4]>
func.func @main(%arg0: tensor<8x16xf32>, %arg1: tensor<16x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a", ?}, {"b", ?}]>}) -> tensor<12x8xf32> {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x12xf32>) -> tensor<8x12xf32>
  %1 = stablehlo.tanh %0 : tensor<8x12xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<8x12xf32>) -> tensor<12x8xf32>
  return %2 : tensor<12x8xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=4]>
func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@grid, [{?}, {"a", ?}]>, sdy.sharding_origins = {a = "input: 1"}}, %arg1: tensor<16x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a", ?}, {"b", ?}]>, sdy.sharding_origins = {a = "self", b = "self"}}) -> (tensor<12x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"b", ?}, {?}]>, sdy.sharding_origins = {b = "input: 1"}}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{?}, {"b", ?}]>]>, sdy.sharding_origins = [{b = "input: 1"}]} : (tensor<8x16xf32>, tensor<16x12xf32>) -> tensor<8x12xf32>
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{?}, {"b", ?}]>]>, sdy.sharding_origins = [{b = "input: 1"}]} : tensor<8x12xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"b", ?}, {?}]>]>, sdy.sharding_origins = [{b = "input: 1"}]} : (tensor<8x12xf32>) -> tensor<12x8xf32>
  return %2 : tensor<12x8xf32>
}

// -----

// Of a constraint, forward and backward.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@grid, [{"b", ?}, {?}]> : tensor<8x4xf32>
  %2 = stablehlo.sine %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"b", ?}, {?}]>, sdy.sharding_origins = {b = "constraint_0"}}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"b", ?}, {?}]>, sdy.sharding_origins = {b = "constraint_0"}}) {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"b", ?}, {?}]>]>, sdy.sharding_origins = [{b = "constraint_0"}]} : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@grid, [{"b", ?}, {?}]> {sdy.sharding_origin_name = "constraint_0", sdy.sharding_origins = {b = "self"}} : tensor<8x4xf32>
  %2 = stablehlo.sine %1 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"b", ?}, {?}]>]>, sdy.sharding_origins = [{b = "constraint_0"}]} : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// -----

// Of two constraints.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>, %arg1: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.sharding_constraint %arg0 <@grid, [{"a", ?}, {?}]> : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %arg1 <@grid, [{?}, {"b", ?}]> : tensor<8x4xf32>
  %2 = stablehlo.maximum %0, %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a", ?}, {"b", ?}]>, sdy.sharding_origins = {a = "constraint_0", b = "constraint_1"}}, %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a", ?}, {"b", ?}]>, sdy.sharding_origins = {a = "constraint_0", b = "constraint_1"}}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a", ?}, {"b", ?}]>, sdy.sharding_origins = {a = "constraint_0", b = "constraint_1"}}) {
  %0 = sdy.sharding_constraint %arg0 <@grid, [{"a", ?}, {"b", ?}]> {sdy.sharding_origin_name = "constraint_0", sdy.sharding_origins = {a = "self", b = "constraint_1"}} : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %arg1 <@grid, [{"a", ?}, {"b", ?}]> {sdy.sharding_origin_name = "constraint_1", sdy.sharding_origins = {a = "constraint_0", b = "self"}} : tensor<8x4xf32>
  %2 = stablehlo.maximum %0, %1 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"a", ?}, {"b", ?}]>]>, sdy.sharding_origins = [{a = "constraint_0", b = "constraint_1"}]} : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// -----

// Nothing said, nothing written.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// run: propagate --strategy sdy-aggressive --origins
// Of a conflict, what won.
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a", ?}, {?}]>}, %arg1: tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@grid, [{?}, {"a", ?}]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
// gives:
sdy.mesh @grid = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a", ?}, {?}]>, sdy.sharding_origins = {a = "self"}}, %arg1: tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@grid, [{?}, {"a", ?}]>, sdy.sharding_origins = {a = "self"}}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@grid, [{?}, {"a", ?}]>, sdy.sharding_origins = {a = "input: 1"}}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{?}, {"a", ?}]>]>, sdy.sharding_origins = [{a = "input: 1"}]} : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----

// run: propagate --strategy sdy --origins
// Several axes of one dimension come from several sides.
// differs: what is returned has an axis of the argument first; where the result says it too, at a later priority, Shardy names the result instead
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", ?}p1, {?}]>}, %arg1: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{?}, {"z", ?}p0]>}) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y", ?}p2, {?}]>}) {
  %0 = stablehlo.multiply %arg0, %arg1 : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// gives:
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y", ?}, {"z", ?}]>, sdy.sharding_origins = {x = "self", y = "output: 0", z = "input: 1"}}, %arg1: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y", ?}, {"z", ?}]>, sdy.sharding_origins = {x = "input: 0", y = "output: 0", z = "self"}}) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y", ?}, {"z", ?}]>, sdy.sharding_origins = {x = "self", y = "self", z = "input: 1"}}) {
  %0 = stablehlo.multiply %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@cube, [{"x", "y", ?}, {"z", ?}]>]>, sdy.sharding_origins = [{x = "output: 0", y = "output: 0", z = "input: 1"}]} : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// run: propagate --strategy sdy-op-priority --origins
// A part of an axis.
sdy.mesh @line = <["x"=8]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(1)2, ?}, {?}]>}) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@line, [{?}, {"x":(2)4, ?}]>}) {
  %0 = stablehlo.cosine %arg0 : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// gives:
sdy.mesh @line = <["x"=8]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(1)2, ?}, {"x":(2)4, ?}]>, sdy.sharding_origins = {"x:(1)2" = "self", "x:(2)4" = "output: 0"}}) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(1)2, ?}, {"x":(2)4, ?}]>, sdy.sharding_origins = {"x:(1)2" = "input: 0", "x:(2)4" = "self"}}) {
  %0 = stablehlo.cosine %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@line, [{"x":(1)2, ?}, {"x":(2)4, ?}]>]>, sdy.sharding_origins = [{"x:(1)2" = "input: 0", "x:(2)4" = "output: 0"}]} : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
