// What moves elements along a dimension that is cut, and along one that is not.
sdy.mesh @m = <["p"=2, "q"=2]>
func.func @main(%x: tensor<4x12xf32> {sdy.sharding = #sdy.sharding<@m, [{"p"}, {"q"}]>}, %z: tensor<f32>,
                %k: tensor<3x6x2xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}]>})
    -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@m, [{"p"}, {"q"}]>},
        tensor<2x12x2xf32> {sdy.sharding = #sdy.sharding<@m, [{"p"}, {"q"}, {}]>}) {
  %0 = stablehlo.reverse %x, dims = [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"p"}, {"q"}]>]>} : tensor<4x12xf32>
  %1 = stablehlo.pad %0, %z, low = [0, 3], high = [0, -1], interior = [0, 0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"p"}, {"q"}]>]>} : (tensor<4x12xf32>, tensor<f32>) -> tensor<4x14xf32>
  %2 = stablehlo.slice %1 [0:4, 1:13:2] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"p"}, {"q"}]>]>} : (tensor<4x14xf32>) -> tensor<4x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = "stablehlo.reduce_window"(%2, %zero) <{window_dimensions = array<i64: 1, 3>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"p"}, {"q"}]>]>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %4 = stablehlo.iota dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"p"}, {"q"}, {}]>]>} : tensor<2x12x6xf32>
  %5 = stablehlo.convolution(%4, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@m, [{"p"}, {"q"}, {}]>]>} : (tensor<2x12x6xf32>, tensor<3x6x2xf32>) -> tensor<2x12x2xf32>
  return %3, %5 : tensor<4x6xf32>, tensor<2x12x2xf32>
}
