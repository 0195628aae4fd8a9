// pass reshard-to-collectives
sdy.mesh @grid = <["r"=2, "c"=4]>
sdy.mesh @turned = <["r"=2, "c"=4], device_ids=[4, 5, 6, 7, 0, 1, 2, 3]>
sdy.mesh @line = <["d"=8]>
sdy.mesh @third = <[], device_ids=[3]>

// Two dimensions, halves of an axis, another order of devices.
func.func @moves(%a: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@grid, [{"c", "r"}, {}]>}) -> (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) {
  %0 = sdy.reshard %a <@grid, [{"c"}, {"r"}]> : tensor<32x64xf32> loc("first")
  %1 = sdy.reshard %0 <@grid, [{"c":(1)2}, {?}]> : tensor<32x64xf32>
  %2 = "sdy.reshard"(%0) <{sharding = #sdy.sharding<@turned, [{}, {"r"}]>}> : (tensor<32x64xf32>) -> tensor<32x64xf32>
  return %0, %1, %2 : tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>
}

// What is unreduced is reduced where it is cut, or made.
func.func @reduces(%a: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@grid, [{"r"}, {}], unreduced=max{"c"}>}) -> (tensor<32x64xf32>, tensor<32x64xf32>) {
  %0 = sdy.reshard %a <@grid, [{"r"}, {"c"}]> : tensor<32x64xf32>
  %1 = sdy.reshard %0 <@grid, [{"r"}, {}], unreduced={"c"}> : tensor<32x64xf32>
  %2 = sdy.reshard %a <@grid, [{"r"}, {}]> : tensor<32x64xf32>
  return %1, %2 : tensor<32x64xf32>, tensor<32x64xf32>
}

// Nothing to do, through a barrier; chains; other axes, and one device.
func.func @stays(%a: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@grid, [{"r"}, {"c"}]>}) -> (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) {
  %0 = sdy.propagation_barrier %a allowed_direction=FORWARD : tensor<32x64xf32>
  %1 = sdy.reshard %0 <@grid, [{"r", ?}, {"c"}]> : tensor<32x64xf32>
  %2 = sdy.reshard %1 <@line, [{"d"}, {}]> : tensor<32x64xf32>
  %3 = sdy.reshard %1 <@line, [{}, {}]> : tensor<32x64xf32>
  %4 = sdy.reshard %3 <@third, []> : tensor<32x64xf32>
  return %2, %3, %4 : tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>
}
// gives
sdy.mesh @grid = <["r"=2, "c"=4]>
sdy.mesh @turned = <["r"=2, "c"=4], device_ids=[4, 5, 6, 7, 0, 1, 2, 3]>
sdy.mesh @line = <["d"=8]>
sdy.mesh @third = <[], device_ids=[3]>

// Two dimensions, halves of an axis, another order of devices.
func.func @moves(%a: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@grid, [{"c", "r"}, {}]>}) -> (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) {
  %0 = sdy.all_to_all [{"r"}: 0->1] %a out_sharding=<@grid, [{"c"}, {"r"}]> : tensor<32x64xf32> loc("first")
  %1 = sdy.all_gather [{"c":(2)2}, {"r"}] %0 out_sharding=<@grid, [{"c":(1)2}, {}]> : tensor<32x64xf32>
  %5 = sdy.collective_permute %0 out_sharding=<@turned, [{"c"}, {"r"}]> : tensor<32x64xf32>
  %2 = sdy.all_gather [{"c"}, {}] %5 out_sharding=<@turned, [{}, {"r"}]> : tensor<32x64xf32>
  return %0, %1, %2 : tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>
}

// What is unreduced is reduced where it is cut, or made.
func.func @reduces(%a: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@grid, [{"r"}, {}], unreduced=max{"c"}>}) -> (tensor<32x64xf32>, tensor<32x64xf32>) {
  %0 = sdy.reduce_scatter max [{}, {"c"}] %a out_sharding=<@grid, [{"r"}, {"c"}]> : tensor<32x64xf32>
  %1 = sdy.sharded_to_unreduced [{}, {"c"}] %0 out_sharding=<@grid, [{"r"}, {}], unreduced={"c"}> : tensor<32x64xf32>
  %2 = sdy.all_reduce max {"c"} %a out_sharding=<@grid, [{"r"}, {}]> : tensor<32x64xf32>
  return %1, %2 : tensor<32x64xf32>, tensor<32x64xf32>
}

// Nothing to do, through a barrier; chains; other axes, and one device.
func.func @stays(%a: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@grid, [{"r"}, {"c"}]>}) -> (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) {
  %0 = sdy.propagation_barrier %a allowed_direction=FORWARD : tensor<32x64xf32>
  %2 = sdy.reshard %a <@line, [{"d"}, {}]> : tensor<32x64xf32>
  %3 = sdy.all_gather [{"r"}, {"c"}] %a out_sharding=<@grid, [{}, {}]> : tensor<32x64xf32>
  %4 = sdy.reshard %3 <@third, []> : tensor<32x64xf32>
  return %2, %3, %4 : tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>
}
// pass sdy-reshard-to-collectives{keep-redundant-reshards=true}
sdy.mesh @grid = <["r"=2, "c"=4]>
sdy.mesh @turned = <["r"=2, "c"=4], device_ids=[4, 5, 6, 7, 0, 1, 2, 3]>
sdy.mesh @line = <["d"=8]>
sdy.mesh @third = <[], device_ids=[3]>

// Nothing to do, through a barrier; chains; other axes, and one device.
func.func @stays(%a: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@grid, [{"r"}, {"c"}]>}) -> (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) {
  %0 = sdy.propagation_barrier %a allowed_direction=FORWARD : tensor<32x64xf32>
  %1 = sdy.reshard %0 <@grid, [{"r", ?}, {"c"}]> : tensor<32x64xf32>
  %2 = sdy.reshard %1 <@line, [{"d"}, {}]> : tensor<32x64xf32>
  %3 = sdy.reshard %1 <@line, [{}, {}]> : tensor<32x64xf32>
  %4 = sdy.reshard %3 <@third, []> : tensor<32x64xf32>
  return %2, %3, %4 : tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>
}
// gives
sdy.mesh @grid = <["r"=2, "c"=4]>
sdy.mesh @turned = <["r"=2, "c"=4], device_ids=[4, 5, 6, 7, 0, 1, 2, 3]>
sdy.mesh @line = <["d"=8]>
sdy.mesh @third = <[], device_ids=[3]>

// Nothing to do, through a barrier; chains; other axes, and one device.
func.func @stays(%a: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@grid, [{"r"}, {"c"}]>}) -> (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) {
  %0 = sdy.propagation_barrier %a allowed_direction=FORWARD : tensor<32x64xf32>
  %1 = sdy.reshard %0 <@grid, [{"r", ?}, {"c"}]> : tensor<32x64xf32>
  %2 = sdy.reshard %1 <@line, [{"d"}, {}]> : tensor<32x64xf32>
  %3 = sdy.all_gather [{"r"}, {"c"}] %1 out_sharding=<@grid, [{}, {}]> : tensor<32x64xf32>
  %4 = sdy.reshard %3 <@third, []> : tensor<32x64xf32>
  return %2, %3, %4 : tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>
}
