// run: propagate --show-rules
// A sum over the last dimension.
func.func @main(%a: tensor<4x6x10xf32>, %z: tensor<f32>) -> tensor<4x6xf32> {
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [2] : (tensor<4x6x10xf32>, tensor<f32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
// expect: %0 ([i, j, k], [])->([i, j]) {i=4, j=6, k=10} reduction={k}

// -----

// A maximum over two dimensions.
func.func @main(%a: tensor<4x6x10xf32>, %z: tensor<f32>) -> tensor<6xf32> {
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<4x6x10xf32>, tensor<f32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
// expect: %0 ([i, j, k], [])->([j]) {i=4, j=6, k=10} reduction={i, k}

// -----

// Everything.
func.func @main(%a: tensor<4x6xf32>, %z: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// expect: %0 ([i, j], [])->([]) {i=4, j=6} reduction={i, j}

// -----

// Nothing.
func.func @main(%a: tensor<4x6xf32>, %z: tensor<f32>) -> tensor<4x6xf32> {
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
// expect: %0 ([i, j], [])->([i, j]) {i=4, j=6}

// -----

// A dimension without elements stays.
func.func @main(%a: tensor<0x6xf32>, %z: tensor<f32>) -> tensor<0xf32> {
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : (tensor<0x6xf32>, tensor<f32>) -> tensor<0xf32>
  return %0 : tensor<0xf32>
}
// expect: %0 ([i, j], [])->([i]) {i=0, j=6} reduction={j}

// -----

// Values and their places, reduced together.
func.func @main(%a: tensor<4x12xf32>, %i: tensor<4x12xi32>, %z: tensor<f32>, %n: tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %0:2 = stablehlo.reduce(%a init: %z), (%i init: %n) across dimensions = [1] : (tensor<4x12xf32>, tensor<4x12xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
     reducer(%x: tensor<f32>, %y: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>)  {
      %1 = stablehlo.maximum %x, %y : tensor<f32>
      %2 = stablehlo.minimum %j, %k : tensor<i32>
      stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
    }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
}
// expect: %0 ([i, j], [i, j], [], [])->([i], [i]) {i=4, j=12} reduction={j}
// expect: %1 ([], [])->([])
// expect: %2 ([], [])->([])

// -----

// Sums in windows: the dimension is permuted.
func.func @main(%a: tensor<4x12xf32>, %z: tensor<f32>) -> tensor<4x10xf32> {
  %0 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %1 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x12xf32>, tensor<f32>) -> tensor<4x10xf32>
  return %0 : tensor<4x10xf32>
}
// expect: %1 ([], [])->([])
// expect: %0 ([i, j], [])->([i, j]) {i=4, j=10} permutation={j}

// -----

// Windows side by side.
func.func @main(%a: tensor<4x12x8xf32>, %z: tensor<f32>) -> tensor<4x4x4xf32> {
  %0 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 1, 3, 2>, window_strides = array<i64: 1, 3, 2>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %1 = stablehlo.maximum %x, %y : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x12x8xf32>, tensor<f32>) -> tensor<4x4x4xf32>
  return %0 : tensor<4x4x4xf32>
}
// expect: %1 ([], [])->([])
// expect: %0 ([i, j, k], [])->([i, j, k]) {i=4, j=4, k=4} permutation={j, k}

// -----

// A sum of all that came before.
func.func @main(%a: tensor<5x8xf32>, %z: tensor<f32>) -> tensor<5x8xf32> {
  %0 = "stablehlo.reduce_window"(%a, %z) <{padding = dense<[[0, 0], [7, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 8>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %1 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<5x8xf32>, tensor<f32>) -> tensor<5x8xf32>
  return %0 : tensor<5x8xf32>
}
// expect: %1 ([], [])->([])
// expect: %0 ([i, j], [])->([i, j]) {i=5, j=8} permutation={j}

// -----

// Two tensors in windows.
func.func @main(%a: tensor<4x12xf32>, %b: tensor<4x12xi32>, %z: tensor<f32>, %n: tensor<i32>) -> (tensor<4x6xf32>, tensor<4x6xi32>) {
  %0:2 = "stablehlo.reduce_window"(%a, %b, %z, %n) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
    ^bb0(%x: tensor<f32>, %i: tensor<i32>, %y: tensor<f32>, %j: tensor<i32>):
      %1 = stablehlo.maximum %x, %y : tensor<f32>
      %2 = stablehlo.maximum %i, %j : tensor<i32>
      stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
    }) : (tensor<4x12xf32>, tensor<4x12xi32>, tensor<f32>, tensor<i32>) -> (tensor<4x6xf32>, tensor<4x6xi32>)
  return %0#0, %0#1 : tensor<4x6xf32>, tensor<4x6xi32>
}
// expect: %1 ([], [])->([])
// expect: %2 ([], [])->([])
// expect: %0 ([i, j], [i, j], [], [])->([i, j], [i, j]) {i=4, j=6} permutation={j}

// -----

// The place of the largest in a window gets what is handed in for it.
func.func @main(%a: tensor<6x12xf32>, %b: tensor<6x4xf32>, %z: tensor<f32>) -> tensor<6x12xf32> {
  %0 = "stablehlo.select_and_scatter"(%a, %b, %z) <{window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 3>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %1 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }, {
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %1 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<6x12xf32>, tensor<6x4xf32>, tensor<f32>) -> tensor<6x12xf32>
  return %0 : tensor<6x12xf32>
}
// expect: %1 ([], [])->([]) ([], [])->([])
// expect: %0 ([i, k], [i, j], [])->([i, k]) {i=6, j=4, k=12} need_replication={j} permutation={k}

// -----

// Rows are sorted: each needs all of its dimension.
func.func @main(%a: tensor<10x6xf32>) -> tensor<10x6xf32> {
  %0 = "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %1 = stablehlo.compare LT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<10x6xf32>) -> tensor<10x6xf32>
  return %0 : tensor<10x6xf32>
}
// expect: %1 ([], [])->([])
// expect: %0 ([i, j])->([i, j]) {i=10, j=6} need_replication={j}

// -----

// Two tensors sorted by the first.
func.func @main(%a: tensor<10x6xf32>, %b: tensor<10x6xi32>) -> (tensor<10x6xf32>, tensor<10x6xi32>) {
  %0:2 = "stablehlo.sort"(%a, %b) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
      %1 = stablehlo.compare GT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<10x6xf32>, tensor<10x6xi32>) -> (tensor<10x6xf32>, tensor<10x6xi32>)
  return %0#0, %0#1 : tensor<10x6xf32>, tensor<10x6xi32>
}
// expect: %1 ([], [])->([])
// expect: %0 ([i, j], [i, j])->([i, j], [i, j]) {i=10, j=6} need_replication={i}

// -----

// Only one dimension has more than one element: nothing could take its axes.
func.func @main(%a: tensor<1x12x1xf32>) -> tensor<1x12x1xf32> {
  %0 = "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %1 = stablehlo.compare LT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<1x12x1xf32>) -> tensor<1x12x1xf32>
  return %0 : tensor<1x12x1xf32>
}
// expect: %1 ([], [])->([])
// expect: %0 ([i, j, k])->([i, j, k]) {i=1, j=12, k=1} need_replication={j} blocked_propagation={j}

// -----

// The sorted dimension has one element.
func.func @main(%a: tensor<6x1xf32>) -> tensor<6x1xf32> {
  %0 = "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %1 = stablehlo.compare LT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<6x1xf32>) -> tensor<6x1xf32>
  return %0 : tensor<6x1xf32>
}
// expect: %1 ([], [])->([])
// expect: %0 ([i, j])->([i, j]) {i=6, j=1} need_replication={j}

// -----

// Normalized by given statistics of each feature.
func.func @main(%a: tensor<8x5x6xf32>, %s: tensor<6xf32>, %o: tensor<6xf32>, %m: tensor<6xf32>, %v: tensor<6xf32>) -> tensor<8x5x6xf32> {
  %0 = "stablehlo.batch_norm_inference"(%a, %s, %o, %m, %v) <{epsilon = 1.000000e-03 : f32, feature_index = 2 : i64}> : (tensor<8x5x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<8x5x6xf32>
  return %0 : tensor<8x5x6xf32>
}
// expect: %0 ([i, j, k], [k], [k], [k], [k])->([i, j, k]) {i=8, j=5, k=6}

// -----

// By its own statistics.
// differs: Shardy has a rule for inference only
func.func @main(%a: tensor<8x6x5xf32>, %s: tensor<6xf32>, %o: tensor<6xf32>) -> (tensor<8x6x5xf32>, tensor<6xf32>, tensor<6xf32>) {
  %0:3 = "stablehlo.batch_norm_training"(%a, %s, %o) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<8x6x5xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<8x6x5xf32>, tensor<6xf32>, tensor<6xf32>)
  return %0#0, %0#1, %0#2 : tensor<8x6x5xf32>, tensor<6xf32>, tensor<6xf32>
}
// expect: nothing

// -----

// Its gradient.
// differs: Shardy has a rule for inference only
func.func @main(%a: tensor<8x6x5xf32>, %s: tensor<6xf32>, %m: tensor<6xf32>, %v: tensor<6xf32>, %g: tensor<8x6x5xf32>) -> (tensor<8x6x5xf32>, tensor<6xf32>, tensor<6xf32>) {
  %0:3 = "stablehlo.batch_norm_grad"(%a, %s, %m, %v, %g) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<8x6x5xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<8x6x5xf32>) -> (tensor<8x6x5xf32>, tensor<6xf32>, tensor<6xf32>)
  return %0#0, %0#1, %0#2 : tensor<8x6x5xf32>, tensor<6xf32>, tensor<6xf32>
}
// expect: nothing
