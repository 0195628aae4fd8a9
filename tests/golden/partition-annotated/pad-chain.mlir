sdy.mesh @grid = <["r"=2, "c"=2]>
func.func @main(%x: tensor<5x9xf32> {sdy.sharding = #sdy.sharding<@grid, [{"r"}, {"c"}]>}, %w: tensor<9x7xf32> {sdy.sharding = #sdy.sharding<@grid, [{"c"}, {}]>}) -> (tensor<5x7xf32> {sdy.sharding = #sdy.sharding<@grid, [{"r"}, {}]>}) {
  %0 = sdy.reshard %x <@grid, [{"r"}, {"c"}]> : tensor<5x9xf32>
  %1 = sdy.reshard %w <@grid, [{"c"}, {}]> : tensor<9x7xf32>
  %2 = stablehlo.exponential %0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"r"}, {"c"}]>]>} : tensor<5x9xf32>
  %3 = stablehlo.dot %2, %1 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"r"}, {"c"}]>]>} : (tensor<5x9xf32>, tensor<9x7xf32>) -> tensor<5x7xf32>
  %4 = stablehlo.tanh %3 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}, {"c"}]>]>} : tensor<5x7xf32>
  return %4 : tensor<5x7xf32>
}
