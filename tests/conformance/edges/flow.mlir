// run: propagate --strategy sdy-basic
// A loop: from the initial value through the edge to what is inside and to the result.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %n: tensor<i32>, %one: tensor<i32>) -> tensor<8x4xf32> {
  %0:2 = stablehlo.while(%v = %x, %i = %n) : tensor<8x4xf32>, tensor<i32>
   cond {
    %3 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  } do {
    %3 = stablehlo.tanh %v : tensor<8x4xf32>
    %4 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %3, %4 : tensor<8x4xf32>, tensor<i32>
  }
  %1 = sdy.data_flow_edge %0#0 : tensor<8x4xf32>
  %2 = sdy.data_flow_edge %0#1 : tensor<i32>
  return %1 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: %3 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>

// -----

// From the result backward into the body and to the initial value.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32>, %n: tensor<i32>, %one: tensor<i32>) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{?}, {"b", ?}]>}) {
  %0:2 = stablehlo.while(%v = %x, %i = %n) : tensor<8x4xf32>, tensor<i32>
   cond {
    %3 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  } do {
    %3 = stablehlo.tanh %v : tensor<8x4xf32>
    %4 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %3, %4 : tensor<8x4xf32>, tensor<i32>
  }
  %1 = sdy.data_flow_edge %0#0 : tensor<8x4xf32>
  %2 = sdy.data_flow_edge %0#1 : tensor<i32>
  return %1 : tensor<8x4xf32>
}
// expect: %x <@square, [{?}, {"b", ?}]>
// expect: -> 0 <@square, [{?}, {"b", ?}]>
// expect: %3 <@square, [{?}, {"b", ?}]>
// expect: %1 <@square, [{?}, {"b", ?}]>

// -----

// From a constraint in the body.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32>, %n: tensor<i32>, %one: tensor<i32>) -> tensor<8x4xf32> {
  %0:2 = stablehlo.while(%v = %x, %i = %n) : tensor<8x4xf32>, tensor<i32>
   cond {
    %3 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  } do {
    %3 = stablehlo.tanh %v : tensor<8x4xf32>
    %4 = sdy.sharding_constraint %3 <@square, [{"b", ?}, {?}]> : tensor<8x4xf32>
    %5 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %4, %5 : tensor<8x4xf32>, tensor<i32>
  }
  %1 = sdy.data_flow_edge %0#0 : tensor<8x4xf32>
  %2 = sdy.data_flow_edge %0#1 : tensor<i32>
  return %1 : tensor<8x4xf32>
}
// expect: %x <@square, [{"b", ?}, {?}]>
// expect: -> 0 <@square, [{"b", ?}, {?}]>
// expect: %3 <@square, [{"b", ?}, {?}]>
// expect: %4 <@square, [{"b", ?}, {?}]>
// expect: %1 <@square, [{"b", ?}, {?}]>

// -----

// The edge says a sharding: closed, it lets nothing in.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {"b"}]>}, %n: tensor<i32>, %one: tensor<i32>) -> tensor<8x4xf32> {
  %0:2 = stablehlo.while(%v = %x, %i = %n) : tensor<8x4xf32>, tensor<i32>
   cond {
    %3 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  } do {
    %3 = stablehlo.tanh %v : tensor<8x4xf32>
    %4 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %3, %4 : tensor<8x4xf32>, tensor<i32>
  }
  %1 = sdy.data_flow_edge %0#0 sharding=<@square, [{"a"}, {}]> : tensor<8x4xf32>
  %2 = sdy.data_flow_edge %0#1 : tensor<i32>
  return %1 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a"}, {"b"}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: %3 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a"}, {}]>

// -----

// A value from outside is used in the body.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"b"}]>}, %n: tensor<i32>, %one: tensor<i32>) -> tensor<8x4xf32> {
  %0:2 = stablehlo.while(%v = %x, %i = %n) : tensor<8x4xf32>, tensor<i32>
   cond {
    %3 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  } do {
    %3 = stablehlo.dot_general %v, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %4 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %3, %4 : tensor<8x4xf32>, tensor<i32>
  }
  %1 = sdy.data_flow_edge %0#0 : tensor<8x4xf32>
  %2 = sdy.data_flow_edge %0#1 : tensor<i32>
  return %1 : tensor<8x4xf32>
}
// expect: %x <@square, [{?}, {"b", ?}]>
// expect: %w <@square, [{}, {"b"}]>
// expect: -> 0 <@square, [{?}, {"b", ?}]>
// expect: %3 <@square, [{?}, {"b", ?}]>
// expect: %1 <@square, [{?}, {"b", ?}]>

// -----

// A choice: from one branch to the other and to the result.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%k: tensor<i32>, %x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = "stablehlo.case"(%k) ({
    %3 = stablehlo.negate %x : tensor<8x4xf32>
    stablehlo.return %3 : tensor<8x4xf32>
  }, {
    %4 = stablehlo.tanh %y : tensor<8x4xf32>
    stablehlo.return %4 : tensor<8x4xf32>
  }) : (tensor<i32>) -> tensor<8x4xf32>
  %1 = sdy.data_flow_edge %0 : tensor<8x4xf32>
  %2 = stablehlo.cosine %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %y <@square, [{"a", ?}, {?}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: %3 <@square, [{"a", ?}, {?}]>
// expect: %4 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>
// expect: %2 <@square, [{"a", ?}, {?}]>

// -----

// Branches disagree.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%k: tensor<i32>, %x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %y: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"b"}, {}]>}) -> tensor<8x4xf32> {
  %0 = "stablehlo.case"(%k) ({
    stablehlo.return %x : tensor<8x4xf32>
  }, {
    stablehlo.return %y : tensor<8x4xf32>
  }) : (tensor<i32>) -> tensor<8x4xf32>
  %1 = sdy.data_flow_edge %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %y <@square, [{"b"}, {}]>

// -----

// Two results of a choice.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%k: tensor<i32>, %x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %y: tensor<6xf32>) -> (tensor<8x4xf32>, tensor<6xf32> {sdy.sharding = #sdy.sharding<@square, [{"b"}]>}) {
  %0:2 = "stablehlo.case"(%k) ({
    stablehlo.return %x, %y : tensor<8x4xf32>, tensor<6xf32>
  }, {
    %5 = stablehlo.negate %x : tensor<8x4xf32>
    %6 = stablehlo.negate %y : tensor<6xf32>
    stablehlo.return %5, %6 : tensor<8x4xf32>, tensor<6xf32>
  }) : (tensor<i32>) -> (tensor<8x4xf32>, tensor<6xf32>)
  %1 = sdy.data_flow_edge %0#0 : tensor<8x4xf32>
  %2 = sdy.data_flow_edge %0#1 : tensor<6xf32>
  return %1, %2 : tensor<8x4xf32>, tensor<6xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %y <@square, [{"b", ?}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: -> 1 <@square, [{"b"}]>
// expect: %5 <@square, [{"a", ?}, {?}]>
// expect: %6 <@square, [{"b", ?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>
// expect: %2 <@square, [{"b", ?}]>

// -----

// Without an edge nothing goes through a choice.
// differs: ours is asked of programs as they come, and what a pass of Shardy adds before is implied
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%k: tensor<i32>, %x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = "stablehlo.case"(%k) ({
    stablehlo.return %x : tensor<8x4xf32>
  }, {
    stablehlo.return %y : tensor<8x4xf32>
  }) : (tensor<i32>) -> tensor<8x4xf32>
  %1 = stablehlo.negate %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a"}, {}]>

// -----

// A barrier of the compiler, two values, each by itself.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %y: tensor<6xf32>) -> (tensor<8x4xf32>, tensor<6xf32> {sdy.sharding = #sdy.sharding<@square, [{"b"}]>}) {
  %0:2 = stablehlo.optimization_barrier %x, %y : tensor<8x4xf32>, tensor<6xf32>
  %1 = sdy.data_flow_edge %0#0 : tensor<8x4xf32>
  %2 = sdy.data_flow_edge %0#1 : tensor<6xf32>
  return %1, %2 : tensor<8x4xf32>, tensor<6xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %y <@square, [{"b", ?}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: -> 1 <@square, [{"b"}]>
// expect: %1 <@square, [{"a", ?}, {?}]>
// expect: %2 <@square, [{"b", ?}]>

// -----

// A choice in a loop.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32>, %y: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{?}, {"a", ?}]>}, %n: tensor<i32>) -> tensor<8x4xf32> {
  %0:2 = stablehlo.while(%v = %x, %i = %n) : tensor<8x4xf32>, tensor<i32>
   cond {
    %3 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  } do {
    %3 = "stablehlo.case"(%i) ({
      %5 = stablehlo.add %v, %y : tensor<8x4xf32>
      stablehlo.return %5 : tensor<8x4xf32>
    }, {
      stablehlo.return %v : tensor<8x4xf32>
    }) : (tensor<i32>) -> tensor<8x4xf32>
    %4 = sdy.data_flow_edge %3 : tensor<8x4xf32>
    stablehlo.return %4, %i : tensor<8x4xf32>, tensor<i32>
  }
  %1 = sdy.data_flow_edge %0#0 : tensor<8x4xf32>
  %2 = sdy.data_flow_edge %0#1 : tensor<i32>
  return %1 : tensor<8x4xf32>
}
// expect: %x <@square, [{?}, {"a", ?}]>
// expect: %y <@square, [{?}, {"a", ?}]>
// expect: -> 0 <@square, [{?}, {"a", ?}]>
// expect: %5 <@square, [{?}, {"a", ?}]>
// expect: %4 <@square, [{?}, {"a", ?}]>
// expect: %1 <@square, [{?}, {"a", ?}]>

// -----

// A loop in a loop.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %n: tensor<i32>) -> tensor<8x4xf32> {
  %0:2 = stablehlo.while(%v = %x, %i = %n) : tensor<8x4xf32>, tensor<i32>
   cond {
    %3 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  } do {
    %3:2 = stablehlo.while(%u = %v, %j = %i) : tensor<8x4xf32>, tensor<i32>
     cond {
      %6 = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    } do {
      %6 = stablehlo.negate %u : tensor<8x4xf32>
      stablehlo.return %6, %j : tensor<8x4xf32>, tensor<i32>
    }
    %4 = sdy.data_flow_edge %3#0 : tensor<8x4xf32>
    %5 = sdy.data_flow_edge %3#1 : tensor<i32>
    stablehlo.return %4, %5 : tensor<8x4xf32>, tensor<i32>
  }
  %1 = sdy.data_flow_edge %0#0 : tensor<8x4xf32>
  %2 = sdy.data_flow_edge %0#1 : tensor<i32>
  return %1 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: %6 <@square, [{"a", ?}, {?}]>
// expect: %4 <@square, [{"a", ?}, {?}]>
// expect: %1 <@square, [{"a", ?}, {?}]>

// -----

// run: propagate --strategy sdy-aggressive
// The initial value and what is returned disagree: the edge settles it.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %y: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@square, [{"b"}, {}]>}, %n: tensor<i32>) -> tensor<8x4xf32> {
  %0:2 = stablehlo.while(%v = %x, %i = %n) : tensor<8x4xf32>, tensor<i32>
   cond {
    %3 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  } do {
    %3 = stablehlo.add %v, %y : tensor<8x4xf32>
    stablehlo.return %3, %i : tensor<8x4xf32>, tensor<i32>
  }
  %1 = sdy.data_flow_edge %0#0 : tensor<8x4xf32>
  %2 = sdy.data_flow_edge %0#1 : tensor<i32>
  return %1 : tensor<8x4xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %y <@square, [{"b"}, {}]>
// expect: -> 0 <@square, [{"b", ?}, {?}]>
// expect: %3 <@square, [{"b", ?}, {?}]>
// expect: %1 <@square, [{"b", ?}, {?}]>

// -----

// run: propagate --strategy sdy-op-priority
// Edges take part at any time.
sdy.mesh @square = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{"a"}, {}]>}, %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@square, [{}, {"a"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %w, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1:2 = stablehlo.optimization_barrier %x, %0 : tensor<8x8xf32>, tensor<8x8xf32>
  %2 = sdy.data_flow_edge %1#0 : tensor<8x8xf32>
  %3 = sdy.data_flow_edge %1#1 : tensor<8x8xf32>
  %4 = stablehlo.add %2, %3 : tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}
// expect: %x <@square, [{"a"}, {}]>
// expect: %w <@square, [{}, {"a"}]>
// expect: -> 0 <@square, [{"a", ?}, {?}]>
// expect: %0 <@square, [{"a", ?}, {?}]>
// expect: %2 <@square, [{"a", ?}, {?}]>
// expect: %3 <@square, [{"a", ?}, {?}]>
// expect: %4 <@square, [{"a", ?}, {?}]>

// -----

// A result's own sharding stays beside that of the reshard before it: what is closed there is not opened, nor lost.
sdy.mesh @cube = <["a"=2, "b"=2, "c"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"a"}, {"b", "c"}]>}, %w: tensor<8x16xf32>) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@cube, [{?}, {"b", "c"}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@cube, [{?}, {?}], unreduced={"b", "c"}>]>} : (tensor<8x8xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = stablehlo.add %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@cube, [{?}, {?}], unreduced={"b", "c"}>]>} : tensor<8x16xf32>
  %2 = sdy.reshard %1 <@cube, [{"a"}, {}]> : tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}
// expect: %x <@cube, [{"a"}, {"b", "c"}]>
// expect: %w <@cube, [{"b", "c", ?}, {?}]>
// expect: -> 0 <@cube, [{"a", ?}, {"b", "c"}]>
// expect: %0 <@cube, [{"a", ?}, {?}], unreduced={"b", "c"}>
// expect: %1 <@cube, [{"a", ?}, {?}], unreduced={"b", "c"}>
// expect: %2 <@cube, [{"a"}, {}]>
