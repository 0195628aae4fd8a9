// Shardy's collectives, parts of axes and devices in another order among them.
sdy.mesh @m = <["a"=2, "b"=4], device_ids=[0, 4, 1, 5, 2, 6, 3, 7]>
func.func @main(%x: tensor<16x16x16xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {"b"}, {}]>})
    -> (tensor<16x16x16xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {"b"}, {}]>}) {
  %0 = sdy.all_to_all [{"a"}: 0->2] %x out_sharding=<@m, [{}, {"b"}, {"a"}]> : tensor<16x16x16xf32>
  %1 = sdy.collective_permute %0 out_sharding=<@m, [{}, {"a", "b":(2)2}, {"b":(1)2}]> : tensor<16x16x16xf32>
  %2 = sdy.all_slice [{}, {}, {}] %1 out_sharding=<@m, [{}, {"a", "b":(2)2}, {"b":(1)2}]> : tensor<16x16x16xf32>
  %3 = stablehlo.tanh %2 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {"a", "b":(2)2}, {"b":(1)2}]>]>} : tensor<16x16x16xf32>
  %4 = sdy.all_gather [{}, {"a", "b":(2)2}, {"b":(1)2}] %3 out_sharding=<@m, [{}, {}, {}]> : tensor<16x16x16xf32>
  %5 = sdy.all_slice [{"b":(1)2}, {"b":(2)2}, {"a"}] %4 out_sharding=<@m, [{"b":(1)2}, {"b":(2)2}, {"a"}]> : tensor<16x16x16xf32>
  %6 = sdy.all_gather [{"b":(1)2}, {}, {"a"}] %5 out_sharding=<@m, [{}, {"b":(2)2}, {}]> : tensor<16x16x16xf32>
  %7 = sdy.replicated_to_unreduced {"a"} %6 out_sharding=<@m, [{}, {"b":(2)2}, {}], unreduced={"a"}> : tensor<16x16x16xf32>
  %8 = sdy.sharded_to_unreduced [{}, {"b":(2)2}, {}] %7 out_sharding=<@m, [{}, {}, {}], unreduced={"a", "b":(2)2}> : tensor<16x16x16xf32>
  %9 = sdy.replicated_to_unreduced {"b":(1)2} %8 out_sharding=<@m, [{}, {}, {}], unreduced={"a", "b"}> : tensor<16x16x16xf32>
  %10 = sdy.reduce_scatter [{"a"}, {"b"}, {}] %9 out_sharding=<@m, [{"a"}, {"b"}, {}]> : tensor<16x16x16xf32>
  return %10 : tensor<16x16x16xf32>
}
