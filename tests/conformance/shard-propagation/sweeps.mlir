// run: propagate --strategy forward --emit shard=- -o /dev/null
// Of an argument, through two ops.
shard.grid @grid(shape = 2x4)
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %s0 = shard.sharding @grid split_axes = [[0], [1]] : !shard.sharding
  %y = shard.shard %x to %s0 : tensor<8x16xf32>
  %0 = stablehlo.tanh %y : tensor<8x16xf32>
  %1 = stablehlo.exponential %0 : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
// expect: %x [[0], [1]]
// expect: %0 [[0], [1]]
// expect: %1 [[0], [1]]

// -----

// run: propagate --strategy forward --emit shard=- -o /dev/null
// Of a result.
shard.grid @grid(shape = 2x4)
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.tanh %x : tensor<8x16xf32>
  %1 = stablehlo.exponential %0 : tensor<8x16xf32>
  %s0 = shard.sharding @grid split_axes = [[0, 1]] : !shard.sharding
  %y = shard.shard %1 to %s0 : tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}
// expect: %1 [[0, 1]]

// -----

// run: propagate --strategy forward --emit shard=- -o /dev/null
// In the middle.
shard.grid @grid(shape = 2x4)
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.tanh %x : tensor<8x16xf32>
  %s0 = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %y = shard.shard %0 to %s0 : tensor<8x16xf32>
  %1 = stablehlo.exponential %y : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
// expect: %x [[], [0]]
// expect: %0 [[], [0]]
// expect: %1 [[], [0]]

// -----

// run: propagate --strategy forward --emit shard=- -o /dev/null
// From one operand to the other.
shard.grid @grid(shape = 2x4)
func.func @main(%x: tensor<8x16xf32>, %z: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %s0 = shard.sharding @grid split_axes = [[1]] : !shard.sharding
  %y = shard.shard %x to %s0 : tensor<8x16xf32>
  %0 = stablehlo.add %y, %z : tensor<8x16xf32>
  %1 = stablehlo.exponential %0 : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
// expect: %x [[1]]
// expect: %z [[1]]
// expect: %0 [[1]]
// expect: %1 [[1]]

// -----

// run: propagate --strategy backward --emit shard=- -o /dev/null
// Of an argument, through two ops.
shard.grid @grid(shape = 2x4)
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %s0 = shard.sharding @grid split_axes = [[0], [1]] : !shard.sharding
  %y = shard.shard %x to %s0 : tensor<8x16xf32>
  %0 = stablehlo.tanh %y : tensor<8x16xf32>
  %1 = stablehlo.exponential %0 : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
// expect: %x [[0], [1]]
// expect: %0 [[0], [1]]

// -----

// run: propagate --strategy backward --emit shard=- -o /dev/null
// Of a result.
shard.grid @grid(shape = 2x4)
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.tanh %x : tensor<8x16xf32>
  %1 = stablehlo.exponential %0 : tensor<8x16xf32>
  %s0 = shard.sharding @grid split_axes = [[0, 1]] : !shard.sharding
  %y = shard.shard %1 to %s0 : tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}
// expect: %x [[0, 1]]
// expect: %0 [[0, 1]]
// expect: %1 [[0, 1]]

// -----

// run: propagate --strategy backward --emit shard=- -o /dev/null
// In the middle.
shard.grid @grid(shape = 2x4)
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.tanh %x : tensor<8x16xf32>
  %s0 = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %y = shard.shard %0 to %s0 : tensor<8x16xf32>
  %1 = stablehlo.exponential %y : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
// expect: %x [[], [0]]
// expect: %0 [[], [0]]
// expect: %1 [[], [0]]

// -----

// run: propagate --strategy backward --emit shard=- -o /dev/null
// From one operand to the other.
shard.grid @grid(shape = 2x4)
func.func @main(%x: tensor<8x16xf32>, %z: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %s0 = shard.sharding @grid split_axes = [[1]] : !shard.sharding
  %y = shard.shard %x to %s0 : tensor<8x16xf32>
  %0 = stablehlo.add %y, %z : tensor<8x16xf32>
  %1 = stablehlo.exponential %0 : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
// expect: %x [[1]]
// expect: %z [[1]]
// expect: %0 [[1]]

// -----

// run: propagate --strategy forward-backward --emit shard=- -o /dev/null
// Of an argument, through two ops.
shard.grid @grid(shape = 2x4)
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %s0 = shard.sharding @grid split_axes = [[0], [1]] : !shard.sharding
  %y = shard.shard %x to %s0 : tensor<8x16xf32>
  %0 = stablehlo.tanh %y : tensor<8x16xf32>
  %1 = stablehlo.exponential %0 : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
// expect: %x [[0], [1]]
// expect: %0 [[0], [1]]
// expect: %1 [[0], [1]]

// -----

// run: propagate --strategy forward-backward --emit shard=- -o /dev/null
// Of a result.
shard.grid @grid(shape = 2x4)
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.tanh %x : tensor<8x16xf32>
  %1 = stablehlo.exponential %0 : tensor<8x16xf32>
  %s0 = shard.sharding @grid split_axes = [[0, 1]] : !shard.sharding
  %y = shard.shard %1 to %s0 : tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}
// expect: %x [[0, 1]]
// expect: %0 [[0, 1]]
// expect: %1 [[0, 1]]

// -----

// run: propagate --strategy forward-backward --emit shard=- -o /dev/null
// In the middle.
shard.grid @grid(shape = 2x4)
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.tanh %x : tensor<8x16xf32>
  %s0 = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %y = shard.shard %0 to %s0 : tensor<8x16xf32>
  %1 = stablehlo.exponential %y : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
// expect: %x [[], [0]]
// expect: %0 [[], [0]]
// expect: %1 [[], [0]]

// -----

// run: propagate --strategy forward-backward --emit shard=- -o /dev/null
// From one operand to the other.
shard.grid @grid(shape = 2x4)
func.func @main(%x: tensor<8x16xf32>, %z: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %s0 = shard.sharding @grid split_axes = [[1]] : !shard.sharding
  %y = shard.shard %x to %s0 : tensor<8x16xf32>
  %0 = stablehlo.add %y, %z : tensor<8x16xf32>
  %1 = stablehlo.exponential %0 : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
// expect: %x [[1]]
// expect: %z [[1]]
// expect: %0 [[1]]
// expect: %1 [[1]]

// -----

// run: propagate --strategy backward-forward --emit shard=- -o /dev/null
// Of an argument, through two ops.
shard.grid @grid(shape = 2x4)
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %s0 = shard.sharding @grid split_axes = [[0], [1]] : !shard.sharding
  %y = shard.shard %x to %s0 : tensor<8x16xf32>
  %0 = stablehlo.tanh %y : tensor<8x16xf32>
  %1 = stablehlo.exponential %0 : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
// expect: %x [[0], [1]]
// expect: %0 [[0], [1]]
// expect: %1 [[0], [1]]

// -----

// run: propagate --strategy backward-forward --emit shard=- -o /dev/null
// Of a result.
shard.grid @grid(shape = 2x4)
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.tanh %x : tensor<8x16xf32>
  %1 = stablehlo.exponential %0 : tensor<8x16xf32>
  %s0 = shard.sharding @grid split_axes = [[0, 1]] : !shard.sharding
  %y = shard.shard %1 to %s0 : tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}
// expect: %x [[0, 1]]
// expect: %0 [[0, 1]]
// expect: %1 [[0, 1]]

// -----

// run: propagate --strategy backward-forward --emit shard=- -o /dev/null
// In the middle.
shard.grid @grid(shape = 2x4)
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.tanh %x : tensor<8x16xf32>
  %s0 = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %y = shard.shard %0 to %s0 : tensor<8x16xf32>
  %1 = stablehlo.exponential %y : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
// expect: %x [[], [0]]
// expect: %0 [[], [0]]
// expect: %1 [[], [0]]

// -----

// run: propagate --strategy backward-forward --emit shard=- -o /dev/null
// From one operand to the other.
shard.grid @grid(shape = 2x4)
func.func @main(%x: tensor<8x16xf32>, %z: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %s0 = shard.sharding @grid split_axes = [[1]] : !shard.sharding
  %y = shard.shard %x to %s0 : tensor<8x16xf32>
  %0 = stablehlo.add %y, %z : tensor<8x16xf32>
  %1 = stablehlo.exponential %0 : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
// expect: %x [[1]]
// expect: %z [[1]]
// expect: %0 [[1]]
// expect: %1 [[1]]
