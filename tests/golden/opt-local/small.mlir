module attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @grid = <["a"=2, "b"=2]>
  func.func @main(%x: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a"}, {"b"}]>},
                  %w: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"b"}, {}]>})
      -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a"}, {}]>}) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"a"}, {}]>]>}
        : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    %1 = sdy.reduce_scatter [{}, {"b"}] %0 out_sharding=<@grid, [{"a"}, {"b"}]> : tensor<4x8xf32>
    %2 = stablehlo.iota dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"a"}, {"b"}]>]>} : tensor<4x8xf32>
    %3 = stablehlo.add %1, %2 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"a"}, {"b"}]>]>} : tensor<4x8xf32>
    %4 = sdy.all_gather [{}, {"b"}] %3 out_sharding=<@grid, [{"a"}, {}]> : tensor<4x8xf32>
    return %4 : tensor<4x8xf32>
  }
}
