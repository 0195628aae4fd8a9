sdy.mesh @m = <["p"=2, "q"=4]>
// a broadcast takes from what uses its result before it hands on its operand's sharding
func.func @reduced(%x: tensor<12xf32> {sdy.sharding = #sdy.sharding<@m, [{"p", ?}]>}, %y: tensor<12xf32> {sdy.sharding = #sdy.sharding<@m, [{"q", ?}]>}) -> tensor<3xf32> {
  %wide = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<12xf32>) -> tensor<3x12xf32>
  %r = stablehlo.dot_general %wide, %x, contracting_dims = [1] x [0] : (tensor<3x12xf32>, tensor<12xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}
func.func @passed(%x: tensor<3x12xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {"p", ?}]>}, %y: tensor<12xf32> {sdy.sharding = #sdy.sharding<@m, [{"q", ?}]>}) -> tensor<6x12xf32> {
  %wide = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<12xf32>) -> tensor<3x12xf32>
  %r = stablehlo.concatenate %x, %wide, dim = 0 : (tensor<3x12xf32>, tensor<3x12xf32>) -> tensor<6x12xf32>
  return %r : tensor<6x12xf32>
}
// what comes into a computation is there before what flows out of it
func.func @manual(%x: tensor<8x12xf32>) -> tensor<8x12xf32> {
  %r = sdy.manual_computation(%x) in_shardings=[<@m, [{"p", ?}, {"q", ?}]>] out_shardings=[<@m, [{"p", "q", ?}, {?}]>] manual_axes={"p"} (%l: tensor<4x12xf32>) {
    %n = stablehlo.sine %l : tensor<4x12xf32>
    sdy.return %n : tensor<4x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return %r : tensor<8x12xf32>
}
// an edge goes with the elementwise ops, in the order of the text
func.func @edge(%x: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@m, [{"q", ?}, {}]>}) -> tensor<8x12xf32> {
  %n = stablehlo.cosine %x : tensor<8x12xf32>
  %b = stablehlo.optimization_barrier %n : tensor<8x12xf32>
  %e = sdy.data_flow_edge %b sharding=<@m, [{?}, {"q", ?}]> : tensor<8x12xf32>
  return %e : tensor<8x12xf32>
}
// nothing to be carried on leaves no sharding behind
func.func @nothing(%x: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {"q", ?}]>}) -> tensor<8x3xf32> {
  %r = stablehlo.reshape %x : (tensor<6x4xf32>) -> tensor<8x3xf32>
  return %r : tensor<8x3xf32>
}
