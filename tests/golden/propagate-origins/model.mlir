sdy.mesh @mesh = <["p"=2, "q"=2, "r"=4]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"p", ?}, {?}]>}, %b: tensor<8x8xf32>)
    -> (tensor<16x8xf32>, tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"r":(1)2, ?}]>}) {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"q", ?}, {?}]>] out_shardings=[<@mesh, [{"q", ?}, {?}]>] manual_axes={"q"} (%l: tensor<8x8xf32>) {
    %i = stablehlo.negate %l : tensor<8x8xf32>
    sdy.return %i : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  %1 = sdy.named_computation<"block">(%0) out_shardings=[<@mesh, [{?}, {"r", ?}]>] (%n: tensor<16x8xf32>) {
    %j = stablehlo.abs %n : tensor<16x8xf32>
    sdy.return %j : tensor<16x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  %2 = stablehlo.dot %1, %b {note = 1 : i32} : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %3 = sdy.sharding_constraint %2 <@mesh, [{?}, {?}]> : tensor<16x8xf32>
  %4 = stablehlo.exponential %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"p", ?}, {?}]>]>} : tensor<16x8xf32>
  return %1, %4 : tensor<16x8xf32>, tensor<16x8xf32>
}
