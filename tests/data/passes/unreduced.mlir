// pass verify-unreduced-axes
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @kept(%x: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {}], unreduced={"row", "col"}>}, %n: tensor<i32>) -> tensor<8x32xf32> {
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}, {}], unreduced={"row", "col"}>]>} : tensor<8x32xf32>
  %1 = sdy.all_reduce {"col"} %0 out_sharding=<@grid, [{}, {}], unreduced={"row"}> : tensor<8x32xf32>
  %2:2 = stablehlo.optimization_barrier %1, %n {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}, {}], unreduced={"row"}>, <@grid, []>]>} : tensor<8x32xf32>, tensor<i32>
  %3 = sdy.reshard %2#0 <@grid, [{"row"}, {}]> : tensor<8x32xf32>
  %4 = stablehlo.abs %3 : tensor<8x32xf32>
  return %4 : tensor<8x32xf32>
}
// gives
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @kept(%x: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {}], unreduced={"row", "col"}>}, %n: tensor<i32>) -> tensor<8x32xf32> {
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}, {}], unreduced={"row", "col"}>]>} : tensor<8x32xf32>
  %1 = sdy.all_reduce {"col"} %0 out_sharding=<@grid, [{}, {}], unreduced={"row"}> : tensor<8x32xf32>
  %2:2 = stablehlo.optimization_barrier %1, %n {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}, {}], unreduced={"row"}>, <@grid, []>]>} : tensor<8x32xf32>, tensor<i32>
  %3 = sdy.reshard %2#0 <@grid, [{"row"}, {}]> : tensor<8x32xf32>
  %4 = stablehlo.abs %3 : tensor<8x32xf32>
  return %4 : tensor<8x32xf32>
}
// pass verify-unreduced-axes
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @part(%x: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {}], unreduced={"col"}>}, %y: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %0 = stablehlo.add %y, %x {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{}, {}], unreduced={"col":(1)2}>]>} : tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}
// refused operand 1 of 'stablehlo.add' is unreduced over {"col":(2)2}, and result 0 is not
// pass verify-unreduced-axes
sdy.mesh @grid = <["row"=2, "col"=4]>
func.func @unsaid(%x: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {}], unreduced={"col"}>}) -> tensor<8x32xf32> {
  %0 = stablehlo.negate %x : tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}
// refused operand 0 of 'stablehlo.negate' is unreduced over {"col"}, and result 0 is not
