// run: propagate --show-rules
// Rows by columns.
func.func @main(%a: tensor<6x10xf32>, %b: tensor<10x4xf32>) -> tensor<6x4xf32> {
  %0 = stablehlo.dot %a, %b : (tensor<6x10xf32>, tensor<10x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
// expect: %0 ([i, k], [k, j])->([i, j]) {i=6, j=4, k=10} reduction={k}

// -----

// A matrix and a vector.
func.func @main(%a: tensor<6x10xf32>, %b: tensor<10xf32>) -> tensor<6xf32> {
  %0 = stablehlo.dot %a, %b : (tensor<6x10xf32>, tensor<10xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
// expect: %0 ([i, j], [j])->([i]) {i=6, j=10} reduction={j}

// -----

// Two vectors.
func.func @main(%a: tensor<10xf32>, %b: tensor<10xf32>) -> tensor<f32> {
  %0 = stablehlo.dot %a, %b : (tensor<10xf32>, tensor<10xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// expect: %0 ([i], [i])->([]) {i=10} reduction={i}

// -----

// A batch of matrices.
func.func @main(%a: tensor<3x6x10xf32>, %b: tensor<3x10x4xf32>) -> tensor<3x6x4xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x6x10xf32>, tensor<3x10x4xf32>) -> tensor<3x6x4xf32>
  return %0 : tensor<3x6x4xf32>
}
// expect: %0 ([i, j, l], [i, l, k])->([i, j, k]) {i=3, j=6, k=4, l=10} reduction={l}

// -----

// Batches behind, sums over two dimensions.
func.func @main(%a: tensor<5x10x7x3xf32>, %b: tensor<7x4x3x10xf32>) -> tensor<3x5x4xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [3] x [2], contracting_dims = [1, 2] x [3, 0] : (tensor<5x10x7x3xf32>, tensor<7x4x3x10xf32>) -> tensor<3x5x4xf32>
  return %0 : tensor<3x5x4xf32>
}
// expect: %0 ([j, l, m, i], [m, k, i, l])->([i, j, k]) {i=3, j=5, k=4, l=10, m=7} reduction={l, m}

// -----

// Nothing is summed: an outer product.
func.func @main(%a: tensor<5x2xf32>, %b: tensor<7xf32>) -> tensor<5x2x7xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [] x [] : (tensor<5x2xf32>, tensor<7xf32>) -> tensor<5x2x7xf32>
  return %0 : tensor<5x2x7xf32>
}
// expect: %0 ([i, j], [k])->([i, j, k]) {i=5, j=2, k=7}

// -----

// Only batches.
func.func @main(%a: tensor<5x2xf32>, %b: tensor<5x2xf32>) -> tensor<5x2xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0, 1] x [0, 1], contracting_dims = [] x [] : (tensor<5x2xf32>, tensor<5x2xf32>) -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}
// expect: %0 ([i, j], [i, j])->([i, j]) {i=5, j=2}

// -----

// With a precision.
func.func @main(%a: tensor<2x10xf32>, %b: tensor<4x10xf32>) -> tensor<2x4xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1], precision = [HIGHEST, DEFAULT] : (tensor<2x10xf32>, tensor<4x10xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
// expect: %0 ([i, k], [j, k])->([i, j]) {i=2, j=4, k=10} reduction={k}

// -----

// Windows in two dimensions: they are permuted; features of the input are summed.
func.func @main(%x: tensor<4x12x10x6xf32>, %k: tensor<3x3x6x8xf32>) -> tensor<4x10x8x8xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x12x10x6xf32>, tensor<3x3x6x8xf32>) -> tensor<4x10x8x8xf32>
  return %0 : tensor<4x10x8x8xf32>
}
// expect: %0 ([i, j, k, l], [n, o, l, m])->([i, j, k, m]) {i=4, j=10, k=8, l=6, m=8, n=1, o=1} reduction={l} permutation={j, k}

// -----

// The same in another order of dimensions.
func.func @main(%x: tensor<6x4x12x10xf32>, %k: tensor<8x6x3x3xf32>) -> tensor<10x8x8x4xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [f, b, 0, 1]x[o, i, 0, 1]->[0, 1, f, b], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<6x4x12x10xf32>, tensor<8x6x3x3xf32>) -> tensor<10x8x8x4xf32>
  return %0 : tensor<10x8x8x4xf32>
}
// expect: %0 ([l, i, j, k], [m, l, n, o])->([j, k, m, i]) {i=4, j=10, k=8, l=6, m=8, n=1, o=1} reduction={l} permutation={j, k}

// -----

// Windows of one element that go on by one move nothing.
func.func @main(%x: tensor<4x12x10x6xf32>, %k: tensor<1x1x6x8xf32>) -> tensor<4x12x10x8xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x12x10x6xf32>, tensor<1x1x6x8xf32>) -> tensor<4x12x10x8xf32>
  return %0 : tensor<4x12x10x8xf32>
}
// expect: %0 ([i, j, k, l], [n, o, l, m])->([i, j, k, m]) {i=4, j=12, k=10, l=6, m=8, n=1, o=1} reduction={l} permutation={j, k}

// -----

// A stride.
func.func @main(%x: tensor<4x12x6xf32>, %k: tensor<2x6x8xf32>) -> tensor<4x6x8xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x12x6xf32>, tensor<2x6x8xf32>) -> tensor<4x6x8xf32>
  return %0 : tensor<4x6x8xf32>
}
// expect: %0 ([i, jk, l], [k, l, m])->([i, j, m]) {i=4, j=6, k=2, l=6, m=8} reduction={k, l} permutation={j}

// -----

// Padding that keeps the size.
func.func @main(%x: tensor<4x12x6xf32>, %k: tensor<3x6x8xf32>) -> tensor<4x12x8xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x12x6xf32>, tensor<3x6x8xf32>) -> tensor<4x12x8xf32>
  return %0 : tensor<4x12x8xf32>
}
// expect: %0 ([i, j, k], [m, k, l])->([i, j, l]) {i=4, j=12, k=6, l=8, m=1} reduction={k} permutation={j}

// -----

// Features in groups.
func.func @main(%x: tensor<4x12x6xf32>, %k: tensor<3x2x9xf32>) -> tensor<4x10x9xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<4x12x6xf32>, tensor<3x2x9xf32>) -> tensor<4x10x9xf32>
  return %0 : tensor<4x10x9xf32>
}
// expect: %0 ([i, j, kl], [n, l, km])->([i, j, km]) {i=4, j=10, k=3, l=2, m=3, n=1} reduction={l} permutation={j}

// -----

// Each feature by itself.
func.func @main(%x: tensor<4x12x6xf32>, %k: tensor<3x1x6xf32>) -> tensor<4x10x6xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 6 : i64} : (tensor<4x12x6xf32>, tensor<3x1x6xf32>) -> tensor<4x10x6xf32>
  return %0 : tensor<4x10x6xf32>
}
// expect: %0 ([i, j, k], [m, l, k])->([i, j, k]) {i=4, j=10, k=6, l=1, m=1} reduction={l} permutation={j}

// -----

// Several outputs for each feature by itself.
func.func @main(%x: tensor<4x12x6xf32>, %k: tensor<3x1x12xf32>) -> tensor<4x10x12xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 6 : i64} : (tensor<4x12x6xf32>, tensor<3x1x12xf32>) -> tensor<4x10x12xf32>
  return %0 : tensor<4x10x12xf32>
}
// expect: %0 ([i, j, k], [n, l, km])->([i, j, km]) {i=4, j=10, k=6, l=1, m=2, n=1} reduction={l} permutation={j}

// -----

// Batches in groups.
func.func @main(%x: tensor<4x12x6xf32>, %k: tensor<3x6x8xf32>) -> tensor<2x10x8xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x12x6xf32>, tensor<3x6x8xf32>) -> tensor<2x10x8xf32>
  return %0 : tensor<2x10x8xf32>
}
// expect: %0 ([ij, k, l], [n, l, im])->([j, k, im]) {i=2, j=2, k=10, l=6, m=4, n=1} reduction={l} permutation={k}

// -----

// One batch of each group.
func.func @main(%x: tensor<4x12x6xf32>, %k: tensor<3x6x4xf32>) -> tensor<1x10x4xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 4 : i64, feature_group_count = 1 : i64} : (tensor<4x12x6xf32>, tensor<3x6x4xf32>) -> tensor<1x10x4xf32>
  return %0 : tensor<1x10x4xf32>
}
// expect: %0 ([i, k, l], [m, l, i])->([j, k, i]) {i=4, j=1, k=10, l=6, m=1} reduction={l} permutation={k}

// -----

// No window at all.
func.func @main(%x: tensor<4x6xf32>, %k: tensor<6x8xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f]x[i, o]->[b, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// expect: %0 ([i, j], [j, k])->([i, k]) {i=4, j=6, k=8} reduction={j}

// -----

// Elements of the input are apart.
func.func @main(%x: tensor<4x6x2xf32>, %k: tensor<2x2x5xf32>) -> tensor<4x10x5xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {lhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x6x2xf32>, tensor<2x2x5xf32>) -> tensor<4x10x5xf32>
  return %0 : tensor<4x10x5xf32>
}
// expect: %0 ([i, j, k], [m, k, l])->([i, j, l]) {i=4, j=6, k=2, l=5, m=1} reduction={k} permutation={j}

// -----

// The window is against its order.
// differs: the kernel is turned around by an op of its own, and its dimension permuted
func.func @main(%x: tensor<4x6x2xf32>, %k: tensor<2x2x5xf32>) -> tensor<4x5x5xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x6x2xf32>, tensor<2x2x5xf32>) -> tensor<4x5x5xf32>
  return %0 : tensor<4x5x5xf32>
}
// expect: %0 ([i, j, k], [m, k, l])->([i, j, l]) {i=4, j=5, k=2, l=5, m=1} reduction={k} permutation={j}

// -----

// A Cholesky factor: matrices are needed whole.
func.func @main(%a: tensor<5x6x6xf32>) -> tensor<5x6x6xf32> {
  %0 = stablehlo.cholesky %a, lower = true : tensor<5x6x6xf32>
  return %0 : tensor<5x6x6xf32>
}
// expect: %0 ([i, j, k])->([i, j, k]) {i=5, j=6, k=6} need_replication={j, k}

// -----

// A triangular system, the matrix at the left
func.func @main(%a: tensor<5x6x6xf32>, %b: tensor<5x6x3xf32>) -> tensor<5x6x3xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<5x6x6xf32>, tensor<5x6x3xf32>) -> tensor<5x6x3xf32>
  return %0 : tensor<5x6x3xf32>
}
// expect: %0 ([i, j, l], [i, j, k])->([i, l, k]) {i=5, j=6, k=3, l=6} need_replication={j, k, l}

// -----

// or at the right.
func.func @main(%a: tensor<6x6xf32>, %b: tensor<3x6xf32>) -> tensor<3x6xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = true}> : (tensor<6x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  return %0 : tensor<3x6xf32>
}
// expect: %0 ([j, k], [i, j])->([i, k]) {i=3, j=6, k=6} need_replication={i, j, k}

// -----

// A Fourier transform of the last dimension
func.func @main(%a: tensor<4x6x16xcomplex<f32>>) -> tensor<4x6x16xcomplex<f32>> {
  %0 = stablehlo.fft %a, type = FFT, length = [16] : (tensor<4x6x16xcomplex<f32>>) -> tensor<4x6x16xcomplex<f32>>
  return %0 : tensor<4x6x16xcomplex<f32>>
}
// expect: %0 ([i, j, k])->([i, j, k]) {i=4, j=6, k=16} need_replication={k}

// -----

// of two
func.func @main(%a: tensor<4x6x16xcomplex<f32>>) -> tensor<4x6x16xcomplex<f32>> {
  %0 = stablehlo.fft %a, type = IFFT, length = [6, 16] : (tensor<4x6x16xcomplex<f32>>) -> tensor<4x6x16xcomplex<f32>>
  return %0 : tensor<4x6x16xcomplex<f32>>
}
// expect: %0 ([i, j, k])->([i, j, k]) {i=4, j=6, k=16} need_replication={j, k}

// -----

// of real numbers
func.func @main(%a: tensor<4x6x16xf32>) -> tensor<4x6x9xcomplex<f32>> {
  %0 = stablehlo.fft %a, type = RFFT, length = [16] : (tensor<4x6x16xf32>) -> tensor<4x6x9xcomplex<f32>>
  return %0 : tensor<4x6x9xcomplex<f32>>
}
// expect: %0 ([i, j, k])->([i, j, k]) {i=4, j=6, k=16} need_replication={k} blocked_propagation={k}

// -----

// and back.
func.func @main(%a: tensor<4x6x9xcomplex<f32>>) -> tensor<4x6x16xf32> {
  %0 = stablehlo.fft %a, type = IRFFT, length = [16] : (tensor<4x6x9xcomplex<f32>>) -> tensor<4x6x16xf32>
  return %0 : tensor<4x6x16xf32>
}
// expect: %0 ([i, j, k])->([i, j, k]) {i=4, j=6, k=9} need_replication={k} blocked_propagation={k}
