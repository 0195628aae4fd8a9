// One op of each kind that says sizes or positions, or that does not give each device its part by itself.
sdy.mesh @m = <["a"=2, "b"=3]>
func.func @main(
    %x: tensor<12x6xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {"b"}]>},
    %rows: tensor<5x2xi32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>},
    %i: tensor<i32>,
    %image: tensor<4x5x6xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}, {"b"}]>},
    %kernel: tensor<3x2x9xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {"b"}]>},
    %state: tensor<2xui64>)
    -> (tensor<12x6xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {"b"}]>},
        tensor<12x2xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}]>},
        tensor<5xf32>,
        tensor<12x6xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {"b"}]>},
        tensor<12x6xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {"b"}]>},
        tensor<6xf32> {sdy.sharding = #sdy.sharding<@m, [{"b"}]>},
        tensor<4x5x9xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}, {"b"}]>},
        tensor<6x4xui32> {sdy.sharding = #sdy.sharding<@m, [{"b"}, {"a"}]>},
        tensor<2x3xi32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {"b"}]>},
        tensor<12x3xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"a"}, {"b"}]>]>} dense<1.0> : tensor<12x6xf32>
  %table = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"a"}, {"b"}]>]>} dense<[[3, 1, 4], [1, 5, 9]]> : tensor<2x3xi32>
  %count = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"a"}, {"b"}]>]>} : tensor<12x6xf32>
  %0 = stablehlo.multiply %x, %count {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"a"}, {"b"}]>]>} : tensor<12x6xf32>
  %1 = stablehlo.add %0, %one {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"a"}, {"b"}]>]>} : tensor<12x6xf32>
  // what is sliced is not cut
  %2 = sdy.all_gather [{}, {"b"}] %1 out_sharding=<@m, [{"a"}, {}]> : tensor<12x6xf32>
  %3 = stablehlo.slice %2 [0:12, 1:5:2] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"a"}, {}]>]>} : (tensor<12x6xf32>) -> tensor<12x2xf32>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %4 = stablehlo.dynamic_slice %2, %c0, %i, sizes = [12, 3] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"a"}, {}]>]>} : (tensor<12x6xf32>, tensor<i32>, tensor<i32>) -> tensor<12x3xf32>
  // indices point into what is cut
  %5 = "stablehlo.gather"(%x, %rows) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<12x6xf32>, tensor<5x2xi32>) -> tensor<5xf32>
  %6 = sdy.all_reduce {"a", "b"} %5 out_sharding=<@m, [{}]> : tensor<5xf32>
  %7 = "stablehlo.scatter"(%x, %rows, %6) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"a"}, {"b"}]>]>} : (tensor<12x6xf32>, tensor<5x2xi32>, tensor<5xf32>) -> tensor<12x6xf32>
  %row = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {"b"}]>]>} dense<7.0> : tensor<1x6xf32>
  %8 = stablehlo.dynamic_update_slice %x, %row, %i, %c0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"a"}, {"b"}]>]>} : (tensor<12x6xf32>, tensor<1x6xf32>, tensor<i32>, tensor<i32>) -> tensor<12x6xf32>
  // parts of a maximum are combined by the maximum
  %9 = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"b"}]>]>} : (tensor<12x6xf32>, tensor<f32>) -> tensor<6xf32>
  %10 = sdy.all_reduce {"a"} %9 out_sharding=<@m, [{"b"}]> : tensor<6xf32>
  %11 = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 3 : i64, sdy.sharding = #sdy.sharding_per_value<[<@m, [{"a"}, {}, {"b"}]>]>} : (tensor<4x5x6xf32>, tensor<3x2x9xf32>) -> tensor<4x5x9xf32>
  %next, %bits = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}]>, <@m, [{"b"}, {"a"}]>]>} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<6x4xui32>)
  return %1, %3, %6, %7, %8, %10, %11, %bits, %table, %4 : tensor<12x6xf32>, tensor<12x2xf32>, tensor<5xf32>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<6xf32>, tensor<4x5x9xf32>, tensor<6x4xui32>, tensor<2x3xi32>, tensor<12x3xf32>
}
