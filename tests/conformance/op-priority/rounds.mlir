// run: propagate --strategy sdy-op-priority
// An elementwise op gets its axes before a product hands on its own.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %w: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{?}, {"a", ?}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  %2 = stablehlo.negate %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %w <@square, [{?}, {"a", ?}]>
// expect: -> 0 <@square, [{?}, {"a", ?}]>
// expect: %0 <@square, [{?}, {"a", ?}]>
// expect: %1 <@square, [{?}, {"a", ?}]>
// expect: %2 <@square, [{?}, {"a", ?}]>

// -----

// Transposes and reshapes go with elementwise ops.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %w: tensor<8x8xf32>) -> (tensor<8x2x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a", ?}, {?}, {?}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.reshape %1 : (tensor<8x8xf32>) -> tensor<8x2x4xf32>
  return %2 : tensor<8x2x4xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %w <@square, [{?}, {"a", ?}]>
// expect: -> 0 <@square, [{"a", ?}, {?}, {?}]>
// expect: %0 <@square, [{?}, {"a", ?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>
// expect: %2 <@square, [{"a", ?}, {?}, {?}]>

// -----

// A value with two uses is not followed forward at first.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}, tensor<8x8xf32>) {
  %0 = stablehlo.tanh %x : tensor<8x8xf32>
  %1 = stablehlo.negate %0 : tensor<8x8xf32>
  %2 = stablehlo.exponential %0 : tensor<8x8xf32>
  %3 = stablehlo.cosine %1 : tensor<8x8xf32>
  return %3, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: -> 0 <@square, [{}, {"a"}]>
// expect: -> 1 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{?}, {"a", ?}]>
// expect: %2 <@square, [{"a", ?}, {?}]>
// expect: %3 <@square, [{?}, {"a", ?}]>

// -----

// Nor backward into one.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}) {
  %0 = stablehlo.tanh %x : tensor<8x8xf32>
  %1 = stablehlo.negate %x : tensor<8x8xf32>
  %2 = stablehlo.cosine %1 : tensor<8x8xf32>
  return %0, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}
// expect: %x <@square, [{?}, {"a", ?}]>
// expect: -> 0 <@square, [{}, {"a"}]>
// expect: -> 1 <@square, [{"a"}, {}]>
// expect: %0 <@square, [{?}, {"a", ?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>
// expect: %2 <@square, [{"a", ?}, {?}]>

// -----

// One op that uses a value twice.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32>, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}) {
  %0 = stablehlo.multiply %x, %x : tensor<8x8xf32>
  %1 = stablehlo.dot_general %y, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
// expect: %x <@square, [{?}, {"a", ?}]>
// expect: %y <@square, [{"a"}, {}]>
// expect: -> 0 <@square, [{}, {"a"}]>
// expect: %0 <@square, [{?}, {"a", ?}]>
// expect: %1 <@square, [{?}, {"a", ?}]>
// expect: %2 <@square, [{?}, {"a", ?}]>

// -----

// A slice at a place that is data, of a value with other uses.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x6xf32>, %i: tensor<i32>) -> (tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@square, [{"b"}, {}]>}, tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"b"}]>}) {
  %0 = stablehlo.dynamic_slice %x, %i, %i, sizes = [8, 2] : (tensor<8x6xf32>, tensor<i32>, tensor<i32>) -> tensor<8x2xf32>
  %1 = stablehlo.multiply %x, %x : tensor<8x6xf32>
  return %0, %1 : tensor<8x2xf32>, tensor<8x6xf32>
}
// expect: %x <@square, [{?}, {"b", ?}]>
// expect: -> 0 <@square, [{"b"}, {}]>
// expect: -> 1 <@square, [{}, {"b"}]>
// expect: %0 <@square, [{"b", ?}, {?}]>
// expect: %1 <@square, [{?}, {"b", ?}]>

// -----

// The same, the slice behind.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x6xf32>, %i: tensor<i32>) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"b"}]>}, tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@square, [{"b"}, {}]>}) {
  %0 = stablehlo.multiply %x, %x : tensor<8x6xf32>
  %1 = stablehlo.dynamic_slice %x, %i, %i, sizes = [8, 2] : (tensor<8x6xf32>, tensor<i32>, tensor<i32>) -> tensor<8x2xf32>
  return %0, %1 : tensor<8x6xf32>, tensor<8x2xf32>
}
// expect: %x <@square, [{?}, {"b", ?}]>
// expect: -> 0 <@square, [{}, {"b"}]>
// expect: -> 1 <@square, [{"b"}, {}]>
// expect: %0 <@square, [{?}, {"b", ?}]>
// expect: %1 <@square, [{"b", ?}, {?}]>

// -----

// A slice at a place that is data hands its axes on before a product does.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %i: tensor<i32>, %w: tensor<2x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dynamic_slice %x, %i, %i, sizes = [8, 2] : (tensor<8x6xf32>, tensor<i32>, tensor<i32>) -> tensor<8x2xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<8x2xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %w <@square, [{}, {"a"}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>

// -----

// An update at a place that is data.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x6xf32>, %u: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %i: tensor<i32>, %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"b"}, {}]>}) -> (tensor<8x6xf32>, tensor<8x6xf32>) {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<8x6xf32>, tensor<8x2xf32>, tensor<i32>, tensor<i32>) -> tensor<8x6xf32>
  %1 = stablehlo.dot_general %w, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0, %1 : tensor<8x6xf32>, tensor<8x6xf32>
}
// expect: %x <@square, [{"a", ?}, {?}]>
// expect: %u <@square, [{"a"}, {}]>
// expect: %w <@square, [{"b"}, {}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: -> 1 <@square, [{"b", ?}, {?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"b", ?}, {?}]>

// -----

// Backward through a broadcast before forward through others.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%v: tensor<8xf32>, %x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.broadcast_in_dim %v, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.add %0, %x : tensor<8x8xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
// expect: %v <@square, [{"a", ?}]>
// expect: %x <@square, [{"a"}, {}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>
// expect: %2 <@square, [{"a", ?}, {?}]>

// -----

// Factors that pass through a product, before those that it sums along.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@square, [{?}, {"a", ?}]>}, %w: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@square, [{?}, {"a", ?}]>}) -> tensor<4x16xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}
// expect: %x <@square, [{?}, {"a", ?}]>
// expect: %w <@square, [{?}, {"a", ?}]>
// expect: -> 0 <@square, [{?}, {"a", ?}]>
// expect: %0 <@square, [{?}, {"a", ?}]>

// -----

// Moves to the host and back.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}) {
  %0 = stablehlo.tanh %x : tensor<8x8xf32>
  %1 = stablehlo.custom_call @MoveToHost(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.custom_call @MoveToDevice(%1) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = stablehlo.negate %2 : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: -> 0 <@square, [{}, {"a"}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>
// expect: %2 <@square, [{"a", ?}, {?}]>
// expect: %3 <@square, [{?}, {"a", ?}]>

// -----

// A constraint is as an elementwise op.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a", ?}, {?}]>}, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.negate %0 : tensor<8x8xf32>
  %2 = sdy.sharding_constraint %1 <@square, [{?}, {"a", ?}]> : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a", ?}, {?}]>
// expect: %w <@square, [{?}, {"a", ?}]>
// expect: -> 0 <@square, [{?}, {"a", ?}]>
// expect: %0 <@square, [{?}, {"a", ?}]>
// expect: %1 <@square, [{?}, {"a", ?}]>
// expect: %2 <@square, [{?}, {"a", ?}]>

// -----

// A sort waits for elementwise ops.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}) {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.compare LT, %p, %q, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.negate %0 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: -> 0 <@square, [{}, {"a"}]>
// expect: %0 <@square, [{?}, {"a", ?}]>
// expect: %2 <@square, [{?}, {"a", ?}]>

// -----

// Scalars that an op uses twice do not count as uses.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %l: tensor<f32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}) {
  %0 = stablehlo.clamp %l, %x, %l : (tensor<f32>, tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %w <@square, [{?}, {"a", ?}]>
// expect: -> 0 <@square, [{}, {"a"}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{?}, {"a", ?}]>

// -----

// An elementwise op waits, also forward, when an operand has another use.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}, tensor<8x8xf32>) {
  %0 = stablehlo.negate %x : tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  %2 = stablehlo.cosine %x : tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: -> 0 <@square, [{}, {"a"}]>
// expect: -> 1 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{?}, {"a", ?}]>
// expect: %1 <@square, [{?}, {"a", ?}]>
// expect: %2 <@square, [{"a", ?}, {?}]>

// -----

// Be it that of the other operand,
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %y: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}, tensor<8x8xf32>) {
  %0 = stablehlo.add %x, %y : tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  %2 = stablehlo.cosine %y : tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %y <@square, [{?}, {"a", ?}]>
// expect: -> 0 <@square, [{}, {"a"}]>
// expect: -> 1 <@square, [{?}, {"a", ?}]>
// expect: %0 <@square, [{?}, {"a", ?}]>
// expect: %1 <@square, [{?}, {"a", ?}]>
// expect: %2 <@square, [{?}, {"a", ?}]>

// -----

// the same op's,
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}) {
  %0 = stablehlo.multiply %x, %x : tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: -> 0 <@square, [{}, {"a"}]>
// expect: %0 <@square, [{?}, {"a", ?}]>
// expect: %1 <@square, [{?}, {"a", ?}]>

// -----

// one by an op that has no rule,
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}, tensor<8x8xf32>) {
  %0 = stablehlo.negate %x : tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  %2 = stablehlo.custom_call @unknown(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: -> 0 <@square, [{}, {"a"}]>
// expect: %0 <@square, [{?}, {"a", ?}]>
// expect: %1 <@square, [{?}, {"a", ?}]>

// -----

// or a sharding group.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}) {
  sdy.sharding_group %x group_id=1 : tensor<8x8xf32>
  %0 = stablehlo.negate %x : tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: -> 0 <@square, [{}, {"a"}]>
// expect: %0 <@square, [{?}, {"a", ?}]>
// expect: %1 <@square, [{?}, {"a", ?}]>

// -----

// A slice at a place that is data waits alike.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %i: tensor<i32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}, tensor<8x8xf32>) {
  %0 = stablehlo.dynamic_slice %x, %i, %i, sizes = [8, 8] : (tensor<8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  %2 = stablehlo.cosine %x : tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: -> 0 <@square, [{}, {"a"}]>
// expect: -> 1 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{?}, {"a", ?}]>
// expect: %1 <@square, [{?}, {"a", ?}]>
// expect: %2 <@square, [{"a", ?}, {?}]>

// -----

// Uses of the result do not matter: it has its axes before the barrier, which is later, hands on others.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, tensor<8x8xf32>) {
  %0 = stablehlo.negate %x : tensor<8x8xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=BACKWARD : tensor<8x8xf32>
  return %1, %0 : tensor<8x8xf32>, tensor<8x8xf32>
}
// expect: %x <@square, [{}, {"a"}]>
// expect: -> 0 <@square, [{"a"}, {}]>
// expect: -> 1 <@square, [{?}, {"a", ?}]>
// expect: %0 <@square, [{?}, {"a", ?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>

// -----

// Barriers wait for nothing.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, tensor<8x8xf32>) {
  %0 = stablehlo.add %x, %x : tensor<8x8xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=BACKWARD : tensor<8x8xf32>
  return %1, %0 : tensor<8x8xf32>, tensor<8x8xf32>
}
// expect: %x <@square, [{}, {"a"}]>
// expect: -> 0 <@square, [{"a"}, {}]>
// expect: -> 1 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>

// -----

// An argument of a loop's body has the uses that it has there, not those of the result.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32>, %n: tensor<i32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %c = stablehlo.constant dense<1> : tensor<i32>
  %0:3 = stablehlo.while(%a = %x, %i = %n, %b = %y) : tensor<8x8xf32>, tensor<i32>, tensor<8x8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.add %i, %c : tensor<i32>
    %3 = stablehlo.negate %b : tensor<8x8xf32>
    %4 = stablehlo.tanh %3 : tensor<8x8xf32>
    %5 = sdy.sharding_constraint %4 <@square, [{}, {"a"}]> : tensor<8x8xf32>
    %6 = stablehlo.custom_call @unknown(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    stablehlo.return %5, %2, %6 : tensor<8x8xf32>, tensor<i32>, tensor<8x8xf32>
  }
  %7 = sdy.data_flow_edge %0#0 : tensor<8x8xf32>
  %8 = sdy.data_flow_edge %0#2 sharding=<@square, [{"a"}, {}]> : tensor<8x8xf32>
  return %7, %8, %8 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
// expect: %x <@square, [{?}, {"a", ?}]>
// expect: %y <@square, [{"a", ?}, {?}]>
// expect: -> 0 <@square, [{?}, {"a", ?}]>
// expect: -> 1 <@square, [{"a", ?}, {?}]>
// expect: -> 2 <@square, [{"a", ?}, {?}]>
// expect: %3 <@square, [{"a", ?}, {?}]>
// expect: %4 <@square, [{"a", ?}, {?}]>
// expect: %5 <@square, [{}, {"a"}]>
// expect: %6 <@square, [{"a", ?}, {?}]>
// expect: %7 <@square, [{?}, {"a", ?}]>
// expect: %8 <@square, [{"a"}, {}]>

// -----

// A move to the device is as an elementwise op.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}) {
  %0 = stablehlo.tanh %x : tensor<8x8xf32>
  %1 = stablehlo.custom_call @MoveToDevice(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: -> 0 <@square, [{}, {"a"}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{?}, {"a", ?}]>

// -----

// A broadcast goes backward with the factors that pass through, not before them.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %z: tensor<f32>) -> (tensor<2x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"b"}]>}) {
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<8xf32>) -> tensor<2x8xf32>
  return %1 : tensor<2x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: -> 0 <@square, [{}, {"b"}]>
// expect: %0 <@square, [{"a", ?}]>
// expect: %1 <@square, [{?}, {"b", ?}]>
