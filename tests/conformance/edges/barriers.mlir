// run: propagate --strategy sdy-basic
// Forward alone.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a", ?}, {?}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{?}, {"b", ?}]>}) {
  %0 = stablehlo.negate %x : tensor<8x4xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=FORWARD : tensor<8x4xf32>
  %2 = stablehlo.negate %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a", ?}, {?}]>
// expect: -> 0 <@square, [{"a", ?}, {"b", ?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a", ?}, {"b", ?}]>
// expect: %2 <@square, [{"a", ?}, {"b", ?}]>

// -----

// Backward alone.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a", ?}, {?}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{?}, {"b", ?}]>}) {
  %0 = stablehlo.negate %x : tensor<8x4xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=BACKWARD : tensor<8x4xf32>
  %2 = stablehlo.negate %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a", ?}, {"b", ?}]>
// expect: -> 0 <@square, [{?}, {"b", ?}]>
// expect: %0 <@square, [{"a", ?}, {"b", ?}]>
// expect: %1 <@square, [{?}, {"b", ?}]>
// expect: %2 <@square, [{?}, {"b", ?}]>

// -----

// Not at all.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a", ?}, {?}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{?}, {"b", ?}]>}) {
  %0 = stablehlo.negate %x : tensor<8x4xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=NONE : tensor<8x4xf32>
  %2 = stablehlo.negate %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a", ?}, {?}]>
// expect: -> 0 <@square, [{?}, {"b", ?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{?}, {"b", ?}]>
// expect: %2 <@square, [{?}, {"b", ?}]>

// -----

// A barrier with a sharding of its own.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a", ?}, {?}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %x : tensor<8x4xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=BACKWARD {sdy.sharding = #sdy.sharding_per_value<[<@square, [{?}, {"b", ?}]>]>} : tensor<8x4xf32>
  %2 = stablehlo.negate %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a", ?}, {"b", ?}]>
// expect: -> 0 <@square, [{?}, {"b", ?}]>
// expect: %0 <@square, [{"a", ?}, {"b", ?}]>
// expect: %1 <@square, [{?}, {"b", ?}]>
// expect: %2 <@square, [{?}, {"b", ?}]>

// -----

// Around it, over another op.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a", ?}, {?}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %x : tensor<8x4xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=NONE : tensor<8x4xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a", ?}, {?}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>
// expect: %2 <@square, [{"a", ?}, {?}]>

// -----

// run: propagate --strategy sdy-aggressive
// Conflicts at a barrier that lets one direction pass.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a", ?}, {?}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"b", ?}, {"a", ?}]>}) {
  %0 = stablehlo.negate %x : tensor<8x4xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=FORWARD : tensor<8x4xf32>
  %2 = stablehlo.negate %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a", ?}, {?}]>
// expect: -> 0 <@square, [{"b", ?}, {"a", ?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>
// expect: %2 <@square, [{"b", ?}, {"a", ?}]>

// -----

// run: propagate --strategy sdy
// A barrier in the whole hierarchy, with priorities on both sides.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a", ?}p1, {?}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{?}, {"a", ?}p0]>}) {
  %0 = stablehlo.negate %x : tensor<8x4xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=FORWARD : tensor<8x4xf32>
  %2 = stablehlo.negate %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a", ?}, {?}]>
// expect: -> 0 <@square, [{?}, {"a", ?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{?}, {"a", ?}]>
// expect: %2 <@square, [{?}, {"a", ?}]>

// -----

// run: propagate --strategy sdy-aggressive --conservative
// A part of an axis passes a barrier when no op may split axes.
sdy.mesh @line = <["x"=8]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x":(4)2}]>}) -> tensor<8xf32> {
  %0 = sdy.propagation_barrier %x allowed_direction=FORWARD : tensor<8xf32>
  %1 = stablehlo.negate %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
// expect: %x <@line, [{"x":(4)2}]>
// expect: %0 <@line, [{"x":(4)2, ?}]>
