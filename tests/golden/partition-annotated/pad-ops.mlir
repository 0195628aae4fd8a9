sdy.mesh @grid = <["r"=2, "c"=4]>
// Logarithms of the zeros that pad are infinite, and products with them are not numbers; their cosines are the largest.
func.func @main(%x: tensor<6x7xf32> {sdy.sharding = #sdy.sharding<@grid, [{"r"}, {}]>}, %w: tensor<7x5xf32>) -> (tensor<6x5xf32>, tensor<f32>, tensor<f32>, tensor<5x3xf32>, tensor<7xi32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<-7.5> : tensor<f32>
  %0 = sdy.reshard %x <@grid, [{"r"}, {"c"}]> : tensor<6x7xf32>
  %1 = sdy.reshard %w <@grid, [{"c"}, {}]> : tensor<7x5xf32>
  %2 = stablehlo.log %0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"r"}, {"c"}]>]>} : tensor<6x7xf32>
  %3 = stablehlo.dot_general %2, %1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"r"}, {}]>]>} : (tensor<6x7xf32>, tensor<7x5xf32>) -> tensor<6x5xf32>
  %4 = sdy.all_reduce {"c"} %3 out_sharding=<@grid, [{"r"}, {}]> : tensor<6x5xf32>
  %5 = sdy.reshard %4 <@grid, [{}, {}]> : tensor<6x5xf32>
  %6 = sdy.reshard %w <@grid, [{"c"}, {"r"}]> : tensor<7x5xf32>
  %7 = stablehlo.cosine %6 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"c"}, {"r"}]>]>} : tensor<7x5xf32>
  %8 = stablehlo.reduce(%7 init: %zero) applies stablehlo.add across dimensions = [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@grid, []>]>} : (tensor<7x5xf32>, tensor<f32>) -> tensor<f32>
  %9 = sdy.all_reduce {"r", "c"} %8 out_sharding=<@grid, []> : tensor<f32>
  %10 = stablehlo.reduce(%7 init: %low) applies stablehlo.maximum across dimensions = [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@grid, []>]>} : (tensor<7x5xf32>, tensor<f32>) -> tensor<f32>
  %11 = sdy.all_reduce max {"r", "c"} %10 out_sharding=<@grid, []> : tensor<f32>
  %12 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}, {"c"}]>]>} dense<[[1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0], [11.0, 12.0, 13.0, 14.0, 15.0]]> : tensor<3x5xf32>
  %13 = stablehlo.transpose %12, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"c"}, {}]>]>} : (tensor<3x5xf32>) -> tensor<5x3xf32>
  %14 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"c"}]>]>} : tensor<5xf32>
  %15 = stablehlo.broadcast_in_dim %14, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"c"}, {}]>]>} : (tensor<5xf32>) -> tensor<5x3xf32>
  %16 = stablehlo.multiply %13, %15 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"c"}, {}]>]>} : tensor<5x3xf32>
  %17 = sdy.reshard %16 <@grid, [{}, {"r"}]> : tensor<5x3xf32>
  %22 = sdy.reshard %17 <@grid, [{"r"}, {}]> : tensor<5x3xf32>
  %23 = sdy.reshard %22 <@grid, [{"r", "c"}, {}]> : tensor<5x3xf32>
  %24 = sdy.reshard %23 <@grid, [{"r"}, {"c"}]> : tensor<5x3xf32>
  %18 = sdy.reshard %24 <@grid, [{}, {}]> : tensor<5x3xf32>
  %c = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"c", "r"}]>]>} dense<3> : tensor<7xi32>
  %19 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"c", "r"}]>]>} : tensor<7xi32>
  %n = stablehlo.constant dense<0> : tensor<i32>
  %20:2 = stablehlo.while(%i = %n, %v = %19) : tensor<i32>, tensor<7xi32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@grid, []>, <@grid, [{"c", "r"}]>]>}
  cond {
    %end = stablehlo.constant dense<4> : tensor<i32>
    %less = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %more = stablehlo.multiply %v, %c {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"c", "r"}]>]>} : tensor<7xi32>
    stablehlo.return %next, %more : tensor<i32>, tensor<7xi32>
  }
  %21 = sdy.reshard %20#1 <@grid, [{}]> : tensor<7xi32>
  return %5, %9, %11, %18, %21 : tensor<6x5xf32>, tensor<f32>, tensor<f32>, tensor<5x3xf32>, tensor<7xi32>
}
