
module {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  sdy.mesh @maximal = <[], device_ids=[0]>
  func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}, %arg1: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y", ?}p1], replicated={"x"}>}) -> (tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    sdy.sharding_group %arg0 group_id=0 : tensor<8x16xf32>
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
    %1 = sdy.propagation_barrier %0 allowed_direction=NONE : tensor<8x32xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"x", "y"}, {}]> : tensor<8x32xf32>
    %3 = sdy.reshard %2 <@mesh, [{"x"}, {"y":(1)2}]> : tensor<8x32xf32>
    %4 = sdy.named_computation<"foo">(%3) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] (%a: tensor<8x32xf32>) {
      %9 = stablehlo.negate %a : tensor<8x32xf32>
      sdy.return %9 : tensor<8x32xf32>
    } : (tensor<8x32xf32>) -> tensor<8x32xf32>
    %5 = sdy.data_flow_edge %4 sharding=<@mesh, [{?}, {?}]> : tensor<8x32xf32>
    return %5 : tensor<8x32xf32>
  }
}
