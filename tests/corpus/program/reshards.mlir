// Every way from one sharding to another that Shardy has an op for, in a loop, too.
module @reshards {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>) {
    %0 = stablehlo.dot %a, %w {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"y"}>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {}]> : tensor<8x8xf32>
    %2 = sdy.sharding_constraint %0 <@mesh, [{"y"}, {}]> : tensor<8x8xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{}, {"y"}]> : tensor<8x8xf32>
    %4 = sdy.sharding_constraint %3 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
    %5 = sdy.sharding_constraint %4 <@mesh, [{}, {}]> : tensor<8x8xf32>
    %6 = sdy.sharding_constraint %1 <@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
    %7 = sdy.sharding_constraint %1 <@mesh, [{}, {}], unreduced={"x"}> : tensor<8x8xf32>
    %8 = stablehlo.negate %7 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : tensor<8x8xf32>
    %9 = stablehlo.add %5, %8 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x8xf32>
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %c3 = stablehlo.constant dense<3> : tensor<i32>
    %10:2 = stablehlo.while(%i = %c0, %z = %6) : tensor<i32>, tensor<8x8xf32>
     cond {
      %20 = stablehlo.compare  LT, %i, %c3,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %20 : tensor<i1>
    } do {
      %20 = stablehlo.tanh %z : tensor<8x8xf32>
      %21 = stablehlo.transpose %20, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %22 = stablehlo.add %i, %c1 : tensor<i32>
      stablehlo.return %22, %21 : tensor<i32>, tensor<8x8xf32>
    }
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %11 = stablehlo.reduce(%6 init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
    %12 = sdy.sharding_constraint %11 <@mesh, [{"x"}]> : tensor<8xf32>
    return %9, %10#1, %12 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>
  }
}
