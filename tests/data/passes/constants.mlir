// pass constant-or-scalar-splitter
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>, %s: tensor<f32>) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<f32>) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %big = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"row"}, {}]>]>} dense<2.0> : tensor<16x32xf32>
  %spread = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
  %sum = stablehlo.add %big, %spread : tensor<16x32xf32>
  %scalar = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
  sdy.sharding_group %scalar group_id = 4 : tensor<16x32xf32>
  %iota = stablehlo.iota dim = 0 : tensor<32x16xf32>
  %turned = stablehlo.transpose %iota, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
  %0 = stablehlo.multiply %x, %sum : tensor<16x32xf32>
  %1 = stablehlo.multiply %0, %scalar : tensor<16x32xf32>
  %2 = stablehlo.multiply %sum, %1 : tensor<16x32xf32>
  %3 = stablehlo.subtract %scalar, %turned : tensor<16x32xf32>
  %4 = stablehlo.add %s, %one : tensor<f32>
  %dead = stablehlo.negate %big : tensor<16x32xf32>
  return %2, %3, %4 : tensor<16x32xf32>, tensor<16x32xf32>, tensor<f32>
}
// gives
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%x: tensor<16x32xf32>, %s: tensor<f32>) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<f32>) {
  %one = sdy.constant dense<1.0> : tensor<f32>
  %big = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"row"}, {}]>]>} dense<2.0> : tensor<16x32xf32>
  %5 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"row"}, {}]>]>} dense<2.0> : tensor<16x32xf32>
  %spread = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
  %6 = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
  %sum = stablehlo.add %big, %spread : tensor<16x32xf32>
  %7 = stablehlo.add %5, %6 : tensor<16x32xf32>
  %scalar = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
  sdy.sharding_group %scalar group_id = 4 : tensor<16x32xf32>
  %8 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
  sdy.sharding_group %8 group_id = 4 : tensor<16x32xf32>
  %iota = stablehlo.iota dim = 0 : tensor<32x16xf32>
  %turned = stablehlo.transpose %iota, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
  %0 = stablehlo.multiply %x, %sum : tensor<16x32xf32>
  %1 = stablehlo.multiply %0, %scalar : tensor<16x32xf32>
  %2 = stablehlo.multiply %7, %1 : tensor<16x32xf32>
  %3 = stablehlo.subtract %8, %turned : tensor<16x32xf32>
  %4 = stablehlo.add %s, %one : tensor<f32>
  return %2, %3, %4 : tensor<16x32xf32>, tensor<16x32xf32>, tensor<f32>
}
// pass constant-or-scalar-merger
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%s: tensor<f32>, %n: tensor<i32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"row"}]>]>} dense<2.0> : tensor<16xf32>
  %1 = sdy.constant dense<2.0> : tensor<16xf32>
  %2 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"row"}]>]>} dense<2.0> : tensor<16xf32>
  %3 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<16xf32>
  %4 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<16xf32>
  %5 = "stablehlo.case"(%n) ({
    %7 = sdy.constant dense<2.0> : tensor<16xf32>
    %8 = sdy.constant dense<2.0> : tensor<16xf32>
    %9 = stablehlo.add %7, %8 : tensor<16xf32>
    stablehlo.return %9 : tensor<16xf32>
  }, {
    stablehlo.return %4 : tensor<16xf32>
  }) : (tensor<i32>) -> tensor<16xf32>
  %6 = stablehlo.add %0, %2 : tensor<16xf32>
  %10 = stablehlo.add %3, %4 : tensor<16xf32>
  %11 = stablehlo.add %10, %1 : tensor<16xf32>
  return %5, %6, %11 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}
// gives
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @main(%s: tensor<f32>, %n: tensor<i32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"row"}]>]>} dense<2.0> : tensor<16xf32>
  %1 = sdy.constant dense<2.0> : tensor<16xf32>
  %3 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<16xf32>
  %5 = "stablehlo.case"(%n) ({
    %7 = sdy.constant dense<2.0> : tensor<16xf32>
    %9 = stablehlo.add %7, %7 : tensor<16xf32>
    stablehlo.return %9 : tensor<16xf32>
  }, {
    stablehlo.return %3 : tensor<16xf32>
  }) : (tensor<i32>) -> tensor<16xf32>
  %6 = stablehlo.add %0, %0 : tensor<16xf32>
  %10 = stablehlo.add %3, %3 : tensor<16xf32>
  %11 = stablehlo.add %10, %1 : tensor<16xf32>
  return %5, %6, %11 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}
