// run: propagate --strategy sdy-basic
// A constraint hands its axes on, both ways.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.tanh %x : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@square, [{"a", ?}, {?}]> : tensor<8x4xf32>
  %2 = stablehlo.negate %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a", ?}, {?}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>
// expect: %2 <@square, [{"a", ?}, {?}]>

// -----

// A closed one lets nothing through.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {"b"}]>}) -> tensor<8x4xf32> {
  %0 = sdy.sharding_constraint %x <@square, [{"a"}, {}]> : tensor<8x4xf32>
  %1 = stablehlo.negate %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a"}, {"b"}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{"a"}, {}]>
// expect: %1 <@square, [{"a", ?}, {?}]>

// -----

// An open one grows.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {"b"}]>}) -> tensor<8x4xf32> {
  %0 = sdy.sharding_constraint %x <@square, [{?}, {?}]> : tensor<8x4xf32>
  %1 = stablehlo.negate %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a"}, {"b"}]>
// expect: -> 0 <@square, [{"a", ?}, {"b", ?}]>
// expect: %0 <@square, [{"a", ?}, {"b", ?}]>
// expect: %1 <@square, [{"a", ?}, {"b", ?}]>

// -----

// Two constraints of one value.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = stablehlo.tanh %x : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@square, [{"a", ?}, {?}]> : tensor<8x4xf32>
  %2 = sdy.sharding_constraint %0 <@square, [{?}, {"b", ?}]> : tensor<8x4xf32>
  return %1, %2 : tensor<8x4xf32>, tensor<8x4xf32>
}
// expect: %x <@square, [{"a", ?}, {"b", ?}]>
// expect: -> 0 <@square, [{"a", ?}, {"b", ?}]>
// expect: -> 1 <@square, [{"a", ?}, {"b", ?}]>
// expect: %0 <@square, [{"a", ?}, {"b", ?}]>
// expect: %1 <@square, [{"a", ?}, {"b", ?}]>
// expect: %2 <@square, [{"a", ?}, {"b", ?}]>

// -----

// Two that disagree.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = stablehlo.tanh %x : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@square, [{"a"}, {}]> : tensor<8x4xf32>
  %2 = sdy.sharding_constraint %0 <@square, [{"b"}, {}]> : tensor<8x4xf32>
  return %1, %2 : tensor<8x4xf32>, tensor<8x4xf32>
}
// expect: %x <@square, [{"a", ?}, {?}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: -> 1 <@square, [{"b", ?}, {?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a"}, {}]>
// expect: %2 <@square, [{"b"}, {}]>

// -----

// A chain of them.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}) -> tensor<8x4xf32> {
  %0 = sdy.sharding_constraint %x <@square, [{}, {}]> : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@square, [{?}, {"a", ?}]> : tensor<8x4xf32>
  %2 = stablehlo.negate %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: -> 0 <@square, [{?}, {"a", ?}]>
// expect: %0 <@square, [{}, {}]>
// expect: %1 <@square, [{?}, {"a", ?}]>
// expect: %2 <@square, [{?}, {"a", ?}]>

// -----

// Replicated along an axis.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {"b"}]>}) -> tensor<8x4xf32> {
  %0 = sdy.sharding_constraint %x <@square, [{?}, {?}], replicated={"b"}> : tensor<8x4xf32>
  %1 = stablehlo.negate %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a"}, {"b"}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{"a", ?}, {?}], replicated={"b"}>
// expect: %1 <@square, [{"a", ?}, {?}]>

// -----

// Parts of an axis.
sdy.mesh @line = <["x"=8]>
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.sharding_constraint %x <@line, [{"x":(1)4, ?}, {?}]> : tensor<16x8xf32>
  %1 = stablehlo.negate %0 : tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}
// expect: %x <@line, [{"x"}, {}]>
// expect: -> 0 <@line, [{"x", ?}, {?}]>
// expect: %0 <@line, [{"x", ?}, {?}]>
// expect: %1 <@line, [{"x", ?}, {?}]>

// -----

// run: propagate --strategy sdy-aggressive
// Of two that disagree the first is followed.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = stablehlo.tanh %x : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@square, [{"a"}, {}]> : tensor<8x4xf32>
  %2 = sdy.sharding_constraint %0 <@square, [{}, {"a"}]> : tensor<8x4xf32>
  return %1, %2 : tensor<8x4xf32>, tensor<8x4xf32>
}
// expect: %x <@square, [{"a", ?}, {?}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: -> 1 <@square, [{?}, {"a", ?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a"}, {}]>
// expect: %2 <@square, [{}, {"a"}]>

// -----

// run: propagate --strategy sdy-user-priority
// A priority decides.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = stablehlo.tanh %x : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@square, [{"a"}p1, {}]> : tensor<8x4xf32>
  %2 = sdy.sharding_constraint %0 <@square, [{}, {"a"}p0]> : tensor<8x4xf32>
  return %1, %2 : tensor<8x4xf32>, tensor<8x4xf32>
}
// expect: %x <@square, [{?}, {"a", ?}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: -> 1 <@square, [{?}, {"a", ?}]>
// expect: %0 <@square, [{?}, {"a", ?}]>
// expect: %1 <@square, [{"a"}, {}]>
// expect: %2 <@square, [{}, {"a"}]>

// -----

// A reshard is a step as well.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.tanh %x : tensor<8x4xf32>
  %1 = sdy.reshard %0 <@square, [{"a", ?}, {?}]> : tensor<8x4xf32>
  %2 = stablehlo.negate %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>
// expect: %2 <@square, [{"a", ?}, {?}]>
