// run: propagate --strategy sdy-basic
// What one member has, the others get.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a", ?}, {?}]>}, %y: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = stablehlo.negate %x : tensor<8x4xf32>
  %1 = stablehlo.tanh %y : tensor<8x4xf32>
  sdy.sharding_group %0 group_id=0 : tensor<8x4xf32>
  sdy.sharding_group %1 group_id=0 : tensor<8x4xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<8x4xf32>
}
// expect: %x <@square, [{"a", ?}, {?}]>
// expect: %y <@square, [{"a", ?}, {?}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: -> 1 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>

// -----

// Two groups, apart.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a", ?}, {?}]>}, %y: tensor<8x4xf32>, %z: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{?}, {"b", ?}]>}) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = stablehlo.negate %x : tensor<8x4xf32>
  %1 = stablehlo.tanh %y : tensor<8x4xf32>
  %2 = stablehlo.cosine %z : tensor<8x4xf32>
  %3 = stablehlo.sine %y : tensor<8x4xf32>
  sdy.sharding_group %0 group_id=0 : tensor<8x4xf32>
  sdy.sharding_group %1 group_id=0 : tensor<8x4xf32>
  sdy.sharding_group %2 group_id=1 : tensor<8x4xf32>
  sdy.sharding_group %3 group_id=1 : tensor<8x4xf32>
  return %1, %3 : tensor<8x4xf32>, tensor<8x4xf32>
}
// expect: %x <@square, [{"a", ?}, {"b", ?}]>
// expect: %y <@square, [{"a", ?}, {"b", ?}]>
// expect: %z <@square, [{"a", ?}, {"b", ?}]>
// expect: -> 0 <@square, [{"a", ?}, {"b", ?}]>
// expect: -> 1 <@square, [{"a", ?}, {"b", ?}]>
// expect: %0 <@square, [{"a", ?}, {"b", ?}]>
// expect: %1 <@square, [{"a", ?}, {"b", ?}]>
// expect: %2 <@square, [{"a", ?}, {"b", ?}]>
// expect: %3 <@square, [{"a", ?}, {"b", ?}]>

// -----

// A group of one.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a", ?}, {?}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %x : tensor<8x4xf32>
  sdy.sharding_group %0 group_id=3 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a", ?}, {?}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>

// -----

// Members on both sides of a barrier.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a", ?}, {?}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %x : tensor<8x4xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=NONE : tensor<8x4xf32>
  %2 = stablehlo.tanh %1 : tensor<8x4xf32>
  sdy.sharding_group %0 group_id=0 : tensor<8x4xf32>
  sdy.sharding_group %2 group_id=0 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a", ?}, {?}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>
// expect: %2 <@square, [{"a", ?}, {?}]>

// -----

// A member gets axes from two sides.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a", ?}, {?}]>}, %y: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{?}, {"b", ?}]>}) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = stablehlo.negate %x : tensor<8x4xf32>
  %1 = stablehlo.tanh %y : tensor<8x4xf32>
  sdy.sharding_group %0 group_id=0 : tensor<8x4xf32>
  sdy.sharding_group %1 group_id=0 : tensor<8x4xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<8x4xf32>
}
// expect: %x <@square, [{"a", ?}, {"b", ?}]>
// expect: %y <@square, [{"a", ?}, {"b", ?}]>
// expect: -> 0 <@square, [{"a", ?}, {"b", ?}]>
// expect: -> 1 <@square, [{"a", ?}, {"b", ?}]>
// expect: %0 <@square, [{"a", ?}, {"b", ?}]>
// expect: %1 <@square, [{"a", ?}, {"b", ?}]>

// -----

// run: propagate --strategy sdy-user-priority
// In the whole hierarchy, with priorities.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a", ?}p1, {?}]>}, %y: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{?}, {"a", ?}]>}) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = stablehlo.negate %x : tensor<8x4xf32>
  %1 = stablehlo.tanh %y : tensor<8x4xf32>
  sdy.sharding_group %0 group_id=0 : tensor<8x4xf32>
  sdy.sharding_group %1 group_id=0 : tensor<8x4xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<8x4xf32>
}
// expect: %x <@square, [{"a", ?}, {?}]>
// expect: %y <@square, [{?}, {"a", ?}]>
// expect: -> 0 <@square, [{?}, {"a", ?}]>
// expect: -> 1 <@square, [{?}, {"a", ?}]>
// expect: %0 <@square, [{?}, {"a", ?}]>
// expect: %1 <@square, [{?}, {"a", ?}]>

// -----

// A member in a loop.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32>, %y: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{?}, {"a", ?}]>}, %n: tensor<i32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0:2 = stablehlo.while(%v = %x, %i = %n) : tensor<8x4xf32>, tensor<i32>
   cond {
    %4 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  } do {
    %4 = stablehlo.tanh %v : tensor<8x4xf32>
    sdy.sharding_group %4 group_id=0 : tensor<8x4xf32>
    stablehlo.return %4, %i : tensor<8x4xf32>, tensor<i32>
  }
  %1 = sdy.data_flow_edge %0#0 : tensor<8x4xf32>
  %2 = sdy.data_flow_edge %0#1 : tensor<i32>
  %3 = stablehlo.negate %y : tensor<8x4xf32>
  sdy.sharding_group %3 group_id=0 : tensor<8x4xf32>
  return %1, %3 : tensor<8x4xf32>, tensor<8x4xf32>
}
// expect: %x <@square, [{?}, {"a", ?}]>
// expect: %y <@square, [{?}, {"a", ?}]>
// expect: -> 0 <@square, [{?}, {"a", ?}]>
// expect: -> 1 <@square, [{?}, {"a", ?}]>
// expect: %4 <@square, [{?}, {"a", ?}]>
// expect: %1 <@square, [{?}, {"a", ?}]>
// expect: %3 <@square, [{?}, {"a", ?}]>
