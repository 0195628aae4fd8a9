// run: opt --pass reshard-to-collectives
// From whole to cut: a slice.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %arg0 <@cube, [{"x", "y"}, {"z"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// gives:
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.all_slice [{"y"}, {"z"}] %arg0 out_sharding=<@cube, [{"x", "y"}, {"z"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// run: opt --pass reshard-to-collectives
// From cut to whole: a gather.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {"z"}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %arg0 <@cube, [{"x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// gives:
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {"z"}]>}) -> tensor<16x8xf32> {
  %0 = sdy.all_gather [{"y"}, {"z"}] %arg0 out_sharding=<@cube, [{"x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// run: opt --pass reshard-to-collectives
// From one dimension to another.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %arg0 <@cube, [{"x"}, {"y"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// gives:
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.all_to_all [{"y"}: 0->1] %arg0 out_sharding=<@cube, [{"x"}, {"y"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// run: opt --pass reshard-to-collectives
// Other axes of the same sizes.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {"y"}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %arg0 <@cube, [{"y"}, {"x"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// gives:
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {"y"}]>}) -> tensor<16x8xf32> {
  %0 = sdy.collective_permute %arg0 out_sharding=<@cube, [{"y"}, {"x"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// run: opt --pass reshard-to-collectives
// One axis for another.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %arg0 <@cube, [{"z"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// gives:
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.collective_permute %arg0 out_sharding=<@cube, [{"z"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// run: opt --pass reshard-to-collectives
// A part of an axis is gathered.
sdy.mesh @line = <["x"=8]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %arg0 <@line, [{"x":(1)2}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// gives:
sdy.mesh @line = <["x"=8]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@line, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.all_gather [{"x":(2)4}, {}] %arg0 out_sharding=<@line, [{"x":(1)2}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// run: opt --pass reshard-to-collectives
// Nothing changes.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %arg0 <@cube, [{"x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// gives:
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  return %arg0 : tensor<16x8xf32>
}

// -----

// run: opt --pass reshard-to-collectives
// Gathered in one dimension, cut in the other.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %arg0 <@cube, [{}, {"z"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// gives:
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.all_slice [{}, {"z"}] %arg0 out_sharding=<@cube, [{"x", "y"}, {"z"}]> : tensor<16x8xf32>
  %1 = sdy.all_gather [{"x", "y"}, {}] %0 out_sharding=<@cube, [{}, {"z"}]> : tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}

// -----

// run: opt --pass reshard-to-collectives
// The order of two axes.
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %arg0 <@cube, [{"y", "x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// gives:
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.collective_permute %arg0 out_sharding=<@cube, [{"y", "x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// run: opt --pass reshard-to-collectives
// What is unreduced is summed.
// differs: Shardy lets the sum be lost, as its passes before put it in
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}], unreduced={"y"}>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %arg0 <@cube, [{"x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// gives:
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}], unreduced={"y"}>}) -> tensor<16x8xf32> {
  return %arg0 : tensor<16x8xf32>
}

// -----

// run: opt --pass reshard-to-collectives
// Summed and cut.
// differs: Shardy lets the sum be lost, as its passes before put it in
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}], unreduced={"y"}>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %arg0 <@cube, [{"x"}, {"y"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// gives:
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}], unreduced={"y"}>}) -> tensor<16x8xf32> {
  %0 = sdy.all_slice [{}, {"y"}] %arg0 out_sharding=<@cube, [{"x"}, {"y"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
