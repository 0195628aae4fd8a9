// A loop whose body makes what it carries in another sharding, a function that is called in two ways, a partial value that
// is cut where its use is not, a value behind a barrier that a callee reads in another sharding, as does the caller, and
// one that both branches of a choice read in another.
module @carried {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %arg2: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = call @twice(%arg0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %1 = call @twice(%arg1) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %2:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %0) : tensor<i32>, tensor<8x16xf32>
    cond {
      %c_1 = stablehlo.constant dense<3> : tensor<i32>
      %5 = stablehlo.compare LT, %iterArg, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    } do {
      %c_1 = stablehlo.constant dense<1> : tensor<i32>
      %5 = stablehlo.add %iterArg, %c_1 : tensor<i32>
      %6 = stablehlo.cosine %iterArg_0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x16xf32>
      %7 = stablehlo.sine %6 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x16xf32>
      stablehlo.return %5, %7 : tensor<i32>, tensor<8x16xf32>
    }
    %3 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}], unreduced={"y"}>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
    %4 = stablehlo.cosine %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x8xf32>
    %5:2 = stablehlo.optimization_barrier %arg0, %arg2 : tensor<8x16xf32>, tensor<16x8xf32>
    %6 = call @columns(%5#0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %7 = stablehlo.multiply %6, %5#0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x16xf32>
    %8 = "stablehlo.case"(%2#0) ({
      %9 = stablehlo.cosine %7 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x16xf32>
      stablehlo.return %9 : tensor<8x16xf32>
    }, {
      %9 = stablehlo.sine %7 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x16xf32>
      %10 = stablehlo.add %9, %7 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x16xf32>
      stablehlo.return %10 : tensor<8x16xf32>
    }) : (tensor<i32>) -> tensor<8x16xf32>
    return %2#1, %1, %4, %7, %8 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x8xf32>, tensor<8x16xf32>, tensor<8x16xf32>
  }
  func.func private @twice(%arg0: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
  func.func private @columns(%arg0: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %0 = stablehlo.cosine %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x16xf32>
    %1 = stablehlo.add %0, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x16xf32>
    return %1 : tensor<8x16xf32>
  }
}
