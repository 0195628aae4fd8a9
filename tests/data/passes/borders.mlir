// pass update-non-divisible-input-output-shardings
sdy.mesh @grid = <["a"=4, "b"=6, "u"=1]>
func.func @main(%x: tensor<6x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a", ?}p1, {"b"}p0]>}, %y: tensor<8x9xf32> {sdy.sharding = #sdy.sharding<@grid, [{"u", "b"}, {}], replicated={"a"}>}, %z: tensor<?x3xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"a"}]>}) -> (tensor<24x10xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a", "b"}, {}]>}, tensor<10x24xf32>) {
  %0:2 = call @part(%x, %y) {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"b", "a"}, {}]>, <@grid, [{"b"}, {"a"}]>]>} : (tensor<6x12xf32>, tensor<8x9xf32>) -> (tensor<24x10xf32>, tensor<10x24xf32>)
  %1 = sdy.manual_computation(%0#1) in_shardings=[<@grid, [{}, {"a", "b", ?}]>] out_shardings=[<@grid, [{"b":(1)2}, {"a"}]>] manual_axes={"a"} (%p: tensor<10x6xf32>) {
    sdy.return %p : tensor<10x6xf32>
  } : (tensor<10x24xf32>) -> tensor<10x24xf32>
  return %0#0, %1 : tensor<24x10xf32>, tensor<10x24xf32>
}
func.func private @part(%x: tensor<6x12xf32>, %y: tensor<8x9xf32>) -> (tensor<24x10xf32>, tensor<10x24xf32> {sdy.sharding = #sdy.sharding<@grid, [{"b":(2)3}, {}]>}) {
  %0 = stablehlo.constant dense<0.0> : tensor<24x10xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<24x10xf32>) -> tensor<10x24xf32>
  return %0, %1 : tensor<24x10xf32>, tensor<10x24xf32>
}
// gives
sdy.mesh @grid = <["a"=4, "b"=6, "u"=1]>
func.func @main(%x: tensor<6x12xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a":(1)2, ?}, {"b"}p0]>}, %y: tensor<8x9xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {}], replicated={"a"}>}, %z: tensor<?x3xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"a"}]>}) -> (tensor<24x10xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a", "b"}, {}]>}, tensor<10x24xf32>) {
  %0:2 = call @part(%x, %y) {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"b", "a"}, {}]>, <@grid, [{"b":(1)2}, {"a"}]>]>} : (tensor<6x12xf32>, tensor<8x9xf32>) -> (tensor<24x10xf32>, tensor<10x24xf32>)
  %1 = sdy.manual_computation(%0#1) in_shardings=[<@grid, [{}, {"a", "b", ?}]>] out_shardings=[<@grid, [{"b":(1)2}, {"a"}]>] manual_axes={"a"} (%p: tensor<10x6xf32>) {
    sdy.return %p : tensor<10x6xf32>
  } : (tensor<10x24xf32>) -> tensor<10x24xf32>
  return %0#0, %1 : tensor<24x10xf32>, tensor<10x24xf32>
}
func.func private @part(%x: tensor<6x12xf32>, %y: tensor<8x9xf32>) -> (tensor<24x10xf32>, tensor<10x24xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {}]>}) {
  %0 = stablehlo.constant dense<0.0> : tensor<24x10xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<24x10xf32>) -> tensor<10x24xf32>
  return %0, %1 : tensor<24x10xf32>, tensor<10x24xf32>
}
// pass remove-sub-axes-in-input-output-shardings
sdy.mesh @grid = <["a"=4, "b"=6]>
func.func @main(%x: tensor<24x48xf32> {sdy.sharding = #sdy.sharding<@grid, [{"b", "a":(1)2, ?}p2, {"a":(2)2}]>}) -> (tensor<24x48xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a":(1)2, "b", ?}, {?}]>}) {
  %0 = call @part(%x) : (tensor<24x48xf32>) -> tensor<24x48xf32>
  return %0 : tensor<24x48xf32>
}
func.func private @part(%x: tensor<24x48xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a":(1)2, ?}, {}]>}) -> tensor<24x48xf32> {
  return %x : tensor<24x48xf32>
}
// gives
sdy.mesh @grid = <["a"=4, "b"=6]>
func.func @main(%x: tensor<24x48xf32> {sdy.sharding = #sdy.sharding<@grid, [{"b", ?}p2, {"a":(2)2}]>}) -> (tensor<24x48xf32> {sdy.sharding = #sdy.sharding<@grid, [{?}, {?}]>}) {
  %0 = call @part(%x) : (tensor<24x48xf32>) -> tensor<24x48xf32>
  return %0 : tensor<24x48xf32>
}
func.func private @part(%x: tensor<24x48xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a":(1)2, ?}, {}]>}) -> tensor<24x48xf32> {
  return %x : tensor<24x48xf32>
}
