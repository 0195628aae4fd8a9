// run: propagate --show-rules
// A permutation of dimensions.
func.func @main(%a: tensor<2x3x5x7xf32>) -> tensor<5x2x7x3xf32> {
  %0 = stablehlo.transpose %a, dims = [2, 0, 3, 1] : (tensor<2x3x5x7xf32>) -> tensor<5x2x7x3xf32>
  return %0 : tensor<5x2x7x3xf32>
}
// expect: %0 ([j, l, i, k])->([i, j, k, l]) {i=5, j=2, k=7, l=3}

// -----

// A new dimension in front.
func.func @main(%a: tensor<6xf32>) -> tensor<4x6xf32> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
// expect: %0 ([j])->([i, j]) {i=4, j=6}

// -----

// New dimensions between and behind.
func.func @main(%a: tensor<6x3xf32>) -> tensor<6x4x3x5xf32> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<6x3xf32>) -> tensor<6x4x3x5xf32>
  return %0 : tensor<6x4x3x5xf32>
}
// expect: %0 ([i, k])->([i, j, k, l]) {i=6, j=4, k=3, l=5}

// -----

// A dimension of one element becomes longer: both are apart.
func.func @main(%a: tensor<1x3xf32>) -> tensor<4x3xf32> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
// expect: %0 ([i, k])->([j, k]) {i=1, j=4, k=3}

// -----

// A dimension of one element stays one.
func.func @main(%a: tensor<1x3xf32>) -> tensor<2x1x3xf32> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [1, 2] : (tensor<1x3xf32>) -> tensor<2x1x3xf32>
  return %0 : tensor<2x1x3xf32>
}
// expect: %0 ([j, k])->([i, j, k]) {i=2, j=1, k=3}

// -----

// From a scalar.
func.func @main(%a: tensor<f32>) -> tensor<5x2xf32> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}
// expect: %0 ([])->([i, j]) {i=5, j=2}

// -----

// A dimension that is cut in two is two factors.
func.func @main(%a: tensor<24x5xf32>) -> tensor<6x4x5xf32> {
  %0 = stablehlo.reshape %a : (tensor<24x5xf32>) -> tensor<6x4x5xf32>
  return %0 : tensor<6x4x5xf32>
}
// expect: %0 ([ij, k])->([i, j, k]) {i=6, j=4, k=5}

// -----

// Two that are joined are two factors.
func.func @main(%a: tensor<3x10x7xf32>) -> tensor<30x7xf32> {
  %0 = stablehlo.reshape %a : (tensor<3x10x7xf32>) -> tensor<30x7xf32>
  return %0 : tensor<30x7xf32>
}
// expect: %0 ([i, j, k])->([ij, k]) {i=3, j=10, k=7}

// -----

// Joined here and cut there.
func.func @main(%a: tensor<4x6x30xf32>) -> tensor<24x5x6xf32> {
  %0 = stablehlo.reshape %a : (tensor<4x6x30xf32>) -> tensor<24x5x6xf32>
  return %0 : tensor<24x5x6xf32>
}
// expect: %0 ([i, j, kl])->([ij, k, l]) {i=4, j=6, k=5, l=6}

// -----

// Sizes with a common part: factors of the parts.
func.func @main(%a: tensor<4x6xf32>) -> tensor<8x3xf32> {
  %0 = stablehlo.reshape %a : (tensor<4x6xf32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}
// expect: %0 ([i, jk])->([ij, k]) {i=4, j=2, k=3}

// -----

// Sizes without a common divisor: nothing passes.
func.func @main(%a: tensor<5x4xf32>) -> tensor<4x5xf32> {
  %0 = stablehlo.reshape %a : (tensor<5x4xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
// expect: %0 ([i, l])->([j, k]) {i=5, j=4, k=5, l=4}

// -----

// A common part and a rest that goes nowhere.
func.func @main(%a: tensor<2x15x4xf32>) -> tensor<2x12x5xf32> {
  %0 = stablehlo.reshape %a : (tensor<2x15x4xf32>) -> tensor<2x12x5xf32>
  return %0 : tensor<2x12x5xf32>
}
// expect: %0 ([i, jk, n])->([i, jl, m]) {i=2, j=3, k=5, l=4, m=5, n=4}

// -----

// Dimensions of one element come
func.func @main(%a: tensor<8x6xf32>) -> tensor<1x8x1x6xf32> {
  %0 = stablehlo.reshape %a : (tensor<8x6xf32>) -> tensor<1x8x1x6xf32>
  return %0 : tensor<1x8x1x6xf32>
}
// expect: %0 ([j, l])->([i, j, k, l]) {i=1, j=8, k=1, l=6}

// -----

// and go.
func.func @main(%a: tensor<1x8x6x1xf32>) -> tensor<8x6xf32> {
  %0 = stablehlo.reshape %a : (tensor<1x8x6x1xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
// expect: %0 ([i, j, k, l])->([j, k]) {i=1, j=8, k=6, l=1}

// -----

// Several of them stay where they are.
func.func @main(%a: tensor<1x4x1xf32>) -> tensor<1x1x4xf32> {
  %0 = stablehlo.reshape %a : (tensor<1x4x1xf32>) -> tensor<1x1x4xf32>
  return %0 : tensor<1x1x4xf32>
}
// expect: %0 ([i, l, m])->([j, k, l]) {i=1, j=1, k=1, l=4, m=1}

// -----

// A dimension without elements.
func.func @main(%a: tensor<4x0x6xf32>) -> tensor<24x0xf32> {
  %0 = stablehlo.reshape %a : (tensor<4x0x6xf32>) -> tensor<24x0xf32>
  return %0 : tensor<24x0xf32>
}
// expect: nothing

// -----

// To a scalar.
func.func @main(%a: tensor<1x1xf32>) -> tensor<f32> {
  %0 = stablehlo.reshape %a : (tensor<1x1xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// expect: %0 ([i, j])->([]) {i=1, j=1}

// -----

// Three ways at once.
func.func @main(%a: tensor<60x2xf32>) -> tensor<3x4x10xf32> {
  %0 = stablehlo.reshape %a : (tensor<60x2xf32>) -> tensor<3x4x10xf32>
  return %0 : tensor<3x4x10xf32>
}
// expect: %0 ([ijk, l])->([i, j, kl]) {i=3, j=4, k=5, l=2}

// -----

// Operands joined along a dimension: it is permuted among devices.
func.func @main(%a: tensor<4x6xf32>, %b: tensor<4x10xf32>) -> tensor<4x16xf32> {
  %0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<4x6xf32>, tensor<4x10xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}
// expect: %0 ([i, j], [i, j])->([i, j]) {i=4, j=16} need_replication={j}

// -----

// Three operands of one size.
func.func @main(%a: tensor<6x5xf32>, %b: tensor<6x5xf32>, %c: tensor<6x5xf32>) -> tensor<18x5xf32> {
  %0 = stablehlo.concatenate %a, %b, %c, dim = 0 : (tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<18x5xf32>
  return %0 : tensor<18x5xf32>
}
// expect: %0 ([i, j], [i, j], [i, j])->([i, j]) {i=18, j=5} need_replication={i}

// -----

// One operand is joined with nothing.
func.func @main(%a: tensor<6x5xf32>) -> tensor<6x5xf32> {
  %0 = stablehlo.concatenate %a, dim = 0 : (tensor<6x5xf32>) -> tensor<6x5xf32>
  return %0 : tensor<6x5xf32>
}
// expect: %0 ([i, j])->([i, j]) {i=6, j=5} need_replication={i}

// -----

// A part of a dimension.
func.func @main(%a: tensor<12x10xf32>) -> tensor<12x4xf32> {
  %0 = stablehlo.slice %a [0:12, 3:7] : (tensor<12x10xf32>) -> tensor<12x4xf32>
  return %0 : tensor<12x4xf32>
}
// expect: %0 ([i, j])->([i, j]) {i=12, j=10} permutation={j}

// -----

// With a stride.
func.func @main(%a: tensor<12x10xf32>) -> tensor<4x10xf32> {
  %0 = stablehlo.slice %a [0:12:3, 0:10] : (tensor<12x10xf32>) -> tensor<4x10xf32>
  return %0 : tensor<4x10xf32>
}
// expect: %0 ([i, j])->([i, j]) {i=12, j=10} permutation={i}

// -----

// All of it.
func.func @main(%a: tensor<12x10xf32>) -> tensor<12x10xf32> {
  %0 = stablehlo.slice %a [0:12, 0:10] : (tensor<12x10xf32>) -> tensor<12x10xf32>
  return %0 : tensor<12x10xf32>
}
// expect: %0 ([i, j])->([i, j]) {i=12, j=10}

// -----

// Padding at the end of a dimension.
func.func @main(%a: tensor<6x8xf32>, %z: tensor<f32>) -> tensor<6x11xf32> {
  %0 = stablehlo.pad %a, %z, low = [0, 0], high = [0, 3], interior = [0, 0] : (tensor<6x8xf32>, tensor<f32>) -> tensor<6x11xf32>
  return %0 : tensor<6x11xf32>
}
// expect: %0 ([i, j], [])->([i, j]) {i=6, j=8} permutation={j}

// -----

// Padding everywhere, and between elements.
func.func @main(%a: tensor<6x8xf32>, %z: tensor<f32>) -> tensor<9x16xf32> {
  %0 = stablehlo.pad %a, %z, low = [1, 0], high = [2, 1], interior = [0, 1] : (tensor<6x8xf32>, tensor<f32>) -> tensor<9x16xf32>
  return %0 : tensor<9x16xf32>
}
// expect: %0 ([i, j], [])->([i, j]) {i=6, j=8} permutation={i, j}

// -----

// Negative padding cuts off.
func.func @main(%a: tensor<6x8xf32>, %z: tensor<f32>) -> tensor<6x6xf32> {
  %0 = stablehlo.pad %a, %z, low = [0, -1], high = [0, -1], interior = [0, 0] : (tensor<6x8xf32>, tensor<f32>) -> tensor<6x6xf32>
  return %0 : tensor<6x6xf32>
}
// expect: %0 ([i, j], [])->([i, j]) {i=6, j=8} permutation={j}

// -----

// Elements against their order.
func.func @main(%a: tensor<8x3x6xf32>) -> tensor<8x3x6xf32> {
  %0 = stablehlo.reverse %a, dims = [0, 2] : tensor<8x3x6xf32>
  return %0 : tensor<8x3x6xf32>
}
// expect: %0 ([i, j, k])->([i, j, k]) {i=8, j=3, k=6} permutation={i, k}

// -----

// A dimension of one element is its own reverse.
func.func @main(%a: tensor<1x6xf32>) -> tensor<1x6xf32> {
  %0 = stablehlo.reverse %a, dims = [0] : tensor<1x6xf32>
  return %0 : tensor<1x6xf32>
}
// expect: %0 ([i, j])->([i, j]) {i=1, j=6} permutation={i}

// -----

// A slice whose place is data.
func.func @main(%a: tensor<10x12xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<10x3xf32> {
  %0 = stablehlo.dynamic_slice %a, %i, %j, sizes = [10, 3] : (tensor<10x12xf32>, tensor<i32>, tensor<i32>) -> tensor<10x3xf32>
  return %0 : tensor<10x3xf32>
}
// expect: %0 ([i, j], [], [])->([i, j]) {i=10, j=12} need_replication={j} blocked_propagation={j}

// -----

// Of one element each way.
func.func @main(%a: tensor<10x12xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<1x1xf32> {
  %0 = stablehlo.dynamic_slice %a, %i, %j, sizes = [1, 1] : (tensor<10x12xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}
// expect: %0 ([i, j], [], [])->([i, j]) {i=10, j=12} need_replication={i, j} blocked_propagation={i, j}

// -----

// An update whose place is data.
func.func @main(%a: tensor<10x12xf32>, %u: tensor<10x5xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<10x12xf32> {
  %0 = stablehlo.dynamic_update_slice %a, %u, %i, %j : (tensor<10x12xf32>, tensor<10x5xf32>, tensor<i32>, tensor<i32>) -> tensor<10x12xf32>
  return %0 : tensor<10x12xf32>
}
// expect: %0 ([i, j], [i, k], [], [])->([i, j]) {i=10, j=12, k=5} need_replication={k}

// -----

// An update of the whole.
func.func @main(%a: tensor<10x12xf32>, %u: tensor<10x12xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<10x12xf32> {
  %0 = stablehlo.dynamic_update_slice %a, %u, %i, %j : (tensor<10x12xf32>, tensor<10x12xf32>, tensor<i32>, tensor<i32>) -> tensor<10x12xf32>
  return %0 : tensor<10x12xf32>
}
// expect: %0 ([i, j], [i, j], [], [])->([i, j]) {i=10, j=12}
