// run: propagate --show-rules
// Rows of a table by their numbers.
func.func @main(%t: tensor<20x6xf32>, %i: tensor<5x3x1xi32>) -> tensor<5x3x6xf32> {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 6>}> : (tensor<20x6xf32>, tensor<5x3x1xi32>) -> tensor<5x3x6xf32>
  return %0 : tensor<5x3x6xf32>
}
// expect: %0 ([l, k], [i, j, m])->([i, j, k]) {i=5, j=3, k=6, l=20, m=1} reduction={l} need_replication={m}

// -----

// The numbers have no dimension for coordinates.
func.func @main(%t: tensor<20x6xf32>, %i: tensor<5x3xi32>) -> tensor<5x3x6xf32> {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 6>}> : (tensor<20x6xf32>, tensor<5x3xi32>) -> tensor<5x3x6xf32>
  return %0 : tensor<5x3x6xf32>
}
// expect: %0 ([l, k], [i, j])->([i, j, k]) {i=5, j=3, k=6, l=20} reduction={l}

// -----

// Columns, which stand in front.
func.func @main(%t: tensor<20x6xf32>, %i: tensor<9x1xi32>) -> tensor<20x9xf32> {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 20, 1>}> : (tensor<20x6xf32>, tensor<9x1xi32>) -> tensor<20x9xf32>
  return %0 : tensor<20x9xf32>
}
// expect: %0 ([i, k], [j, l])->([i, j]) {i=20, j=9, k=6, l=1} reduction={k} need_replication={l}

// -----

// Single elements by two coordinates.
func.func @main(%t: tensor<20x6xf32>, %i: tensor<9x2xi32>) -> tensor<9xf32> {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<20x6xf32>, tensor<9x2xi32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}
// expect: %0 ([j, k], [i, l])->([i]) {i=9, j=20, k=6, l=2} reduction={j, k} need_replication={l}

// -----

// Parts of rows.
func.func @main(%t: tensor<20x6xf32>, %i: tensor<9x2xi32>) -> tensor<9x4xf32> {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<20x6xf32>, tensor<9x2xi32>) -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}
// expect: %0 ([k, j], [i, l])->([i, j]) {i=9, j=6, k=20, l=2} reduction={k} need_replication={j, l} blocked_propagation={j}

// -----

// Slices of one row that is not dropped.
func.func @main(%t: tensor<20x6xf32>, %i: tensor<9x1xi32>) -> tensor<9x1x6xf32> {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 6>}> : (tensor<20x6xf32>, tensor<9x1xi32>) -> tensor<9x1x6xf32>
  return %0 : tensor<9x1x6xf32>
}
// expect: %0 ([j, l], [i, m])->([i, k, l]) {i=9, j=20, k=1, l=6, m=1} reduction={j} need_replication={k, m}

// -----

// Each batch has a table and numbers of its own.
func.func @main(%t: tensor<4x20x6xf32>, %i: tensor<4x5x1xi32>) -> tensor<4x5x6xf32> {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 6>}> : (tensor<4x20x6xf32>, tensor<4x5x1xi32>) -> tensor<4x5x6xf32>
  return %0 : tensor<4x5x6xf32>
}
// expect: %0 ([i, l, k], [i, j, m])->([i, j, k]) {i=4, j=5, k=6, l=20, m=1} reduction={l} need_replication={m}

// -----

// Two dimensions of batches in another order.
func.func @main(%t: tensor<4x20x3x6xf32>, %i: tensor<3x5x4x1xi32>) -> tensor<3x5x4x6xf32> {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [3], collapsed_slice_dims = [1], operand_batching_dims = [0, 2], start_indices_batching_dims = [2, 0], start_index_map = [1], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1, 6>}> : (tensor<4x20x3x6xf32>, tensor<3x5x4x1xi32>) -> tensor<3x5x4x6xf32>
  return %0 : tensor<3x5x4x6xf32>
}
// expect: %0 ([k, m, i, l], [i, j, k, n])->([i, j, k, l]) {i=3, j=5, k=4, l=6, m=20, n=1} reduction={m} need_replication={n}

// -----

// Coordinates stand in front.
func.func @main(%t: tensor<20x6xf32>, %i: tensor<2x9xi32>) -> tensor<9xf32> {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [1, 0], index_vector_dim = 0>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<20x6xf32>, tensor<2x9xi32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}
// expect: %0 ([j, k], [l, i])->([i]) {i=9, j=20, k=6, l=2} reduction={j, k} need_replication={l}

// -----

// Of all dimensions a part.
func.func @main(%t: tensor<12x8xf32>, %i: tensor<5x2xi32>) -> tensor<5x4x2xf32> {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 4, 2>}> : (tensor<12x8xf32>, tensor<5x2xi32>) -> tensor<5x4x2xf32>
  return %0 : tensor<5x4x2xf32>
}
// expect: %0 ([j, k], [i, l])->([i, j, k]) {i=5, j=12, k=8, l=2} need_replication={j, k, l} blocked_propagation={j, k}

// -----

// Updates are added to rows.
func.func @main(%t: tensor<20x6xf32>, %i: tensor<5x1xi32>, %u: tensor<5x6xf32>) -> tensor<20x6xf32> {
  %0 = "stablehlo.scatter"(%t, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %1 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<20x6xf32>, tensor<5x1xi32>, tensor<5x6xf32>) -> tensor<20x6xf32>
  return %0 : tensor<20x6xf32>
}
// expect: %1 ([], [])->([])
// expect: %0 ([k, j], [i, l], [i, j])->([k, j]) {i=5, j=6, k=20, l=1} reduction={i} need_replication={l}

// -----

// Or replace them.
func.func @main(%t: tensor<20x6xf32>, %i: tensor<5x1xi32>, %u: tensor<5x6xf32>) -> tensor<20x6xf32> {
  %0 = "stablehlo.scatter"(%t, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      stablehlo.return %y : tensor<f32>
    }) : (tensor<20x6xf32>, tensor<5x1xi32>, tensor<5x6xf32>) -> tensor<20x6xf32>
  return %0 : tensor<20x6xf32>
}
// expect: %0 ([k, j], [i, l], [i, j])->([k, j]) {i=5, j=6, k=20, l=1} need_replication={i, l}

// -----

// The largest of both stays.
func.func @main(%t: tensor<20x6xf32>, %i: tensor<5x1xi32>, %u: tensor<5x6xf32>) -> tensor<20x6xf32> {
  %0 = "stablehlo.scatter"(%t, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %1 = stablehlo.maximum %x, %y : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<20x6xf32>, tensor<5x1xi32>, tensor<5x6xf32>) -> tensor<20x6xf32>
  return %0 : tensor<20x6xf32>
}
// expect: %1 ([], [])->([])
// expect: %0 ([k, j], [i, l], [i, j])->([k, j]) {i=5, j=6, k=20, l=1} reduction={i} need_replication={l}

// -----

// Windows of updates are a part of the dimension.
func.func @main(%t: tensor<20x6xf32>, %i: tensor<5x2xi32>, %u: tensor<5x4xf32>) -> tensor<20x6xf32> {
  %0 = "stablehlo.scatter"(%t, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %1 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<20x6xf32>, tensor<5x2xi32>, tensor<5x4xf32>) -> tensor<20x6xf32>
  return %0 : tensor<20x6xf32>
}
// expect: %1 ([], [])->([])
// expect: %0 ([l, j], [i, m], [i, k])->([l, j]) {i=5, j=6, k=4, l=20, m=2} reduction={i} need_replication={j, k, m}

// -----

// Batches with numbers of their own.
func.func @main(%t: tensor<4x20x6xf32>, %i: tensor<4x5x1xi32>, %u: tensor<4x5x6xf32>) -> tensor<4x20x6xf32> {
  %0 = "stablehlo.scatter"(%t, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %1 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x20x6xf32>, tensor<4x5x1xi32>, tensor<4x5x6xf32>) -> tensor<4x20x6xf32>
  return %0 : tensor<4x20x6xf32>
}
// expect: %1 ([], [])->([])
// expect: %0 ([i, l, k], [i, j, m], [i, j, k])->([i, l, k]) {i=4, j=5, k=6, l=20, m=1} reduction={j} need_replication={m}

// -----

// One element is written.
func.func @main(%t: tensor<20xf32>, %i: tensor<1xi32>, %u: tensor<f32>) -> tensor<20xf32> {
  %0 = "stablehlo.scatter"(%t, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 0>, unique_indices = false}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      stablehlo.return %y : tensor<f32>
    }) : (tensor<20xf32>, tensor<1xi32>, tensor<f32>) -> tensor<20xf32>
  return %0 : tensor<20xf32>
}
// expect: %0 ([i], [j], [])->([i]) {i=20, j=1} need_replication={j}

// -----

// Two tables get updates at the same places.
func.func @main(%t: tensor<20x6xf32>, %s: tensor<20x6xf32>, %i: tensor<5x1xi32>, %u: tensor<5x6xf32>, %v: tensor<5x6xf32>) -> (tensor<20x6xf32>, tensor<20x6xf32>) {
  %0:2 = "stablehlo.scatter"(%t, %s, %i, %u, %v) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>, %p: tensor<f32>, %q: tensor<f32>):
      %1 = stablehlo.add %x, %p : tensor<f32>
      %2 = stablehlo.add %y, %q : tensor<f32>
      stablehlo.return %1, %2 : tensor<f32>, tensor<f32>
    }) : (tensor<20x6xf32>, tensor<20x6xf32>, tensor<5x1xi32>, tensor<5x6xf32>, tensor<5x6xf32>) -> (tensor<20x6xf32>, tensor<20x6xf32>)
  return %0#0, %0#1 : tensor<20x6xf32>, tensor<20x6xf32>
}
// expect: %1 ([], [])->([])
// expect: %2 ([], [])->([])
// expect: %0 ([k, j], [k, j], [i, l], [i, j], [i, j])->([k, j], [k, j]) {i=5, j=6, k=20, l=1} reduction={i} need_replication={l}

// -----

// Two that are combined in different ways.
func.func @main(%t: tensor<20x6xf32>, %s: tensor<20x6xf32>, %i: tensor<5x1xi32>, %u: tensor<5x6xf32>, %v: tensor<5x6xf32>) -> (tensor<20x6xf32>, tensor<20x6xf32>) {
  %0:2 = "stablehlo.scatter"(%t, %s, %i, %u, %v) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>, %p: tensor<f32>, %q: tensor<f32>):
      %1 = stablehlo.add %x, %p : tensor<f32>
      %2 = stablehlo.maximum %y, %q : tensor<f32>
      stablehlo.return %1, %2 : tensor<f32>, tensor<f32>
    }) : (tensor<20x6xf32>, tensor<20x6xf32>, tensor<5x1xi32>, tensor<5x6xf32>, tensor<5x6xf32>) -> (tensor<20x6xf32>, tensor<20x6xf32>)
  return %0#0, %0#1 : tensor<20x6xf32>, tensor<20x6xf32>
}
// expect: %1 ([], [])->([])
// expect: %2 ([], [])->([])
// expect: %0 ([k, j], [k, j], [i, l], [i, j], [i, j])->([k, j], [k, j]) {i=5, j=6, k=20, l=1} need_replication={i, l}
