// run: propagate --show-rules
// Moved to the host.
func.func @main(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %0 = stablehlo.custom_call @MoveToHost(%a) {backend_config = ""} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
// expect: %0 ([i, j])->([i, j]) {i=6, j=4}

// -----

// And back.
func.func @main(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %0 = stablehlo.custom_call @MoveToDevice(%a) {backend_config = ""} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
// expect: %0 ([i, j])->([i, j]) {i=6, j=4}

// -----

// Where a value is kept.
func.func @main(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %0 = stablehlo.custom_call @annotate_device_placement(%a) {has_side_effect = true} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
// expect: %0 ([i, j])->([i, j]) {i=6, j=4}

// -----

// A layout is asked for.
func.func @main(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %0 = stablehlo.custom_call @LayoutConstraint(%a) : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
// expect: %0 ([i, j])->([i, j]) {i=6, j=4}

// -----

// Its sharding is looked at.
func.func @main(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %0 = stablehlo.custom_call @InspectSharding(%a) : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
// expect: %0 ([i, j])->([i, j]) {i=6, j=4}

// -----

// Halves of numbers become numbers.
func.func @main(%a: tensor<6x4xui32>, %b: tensor<6x4xui32>) -> tensor<6x4xui64> {
  %0 = stablehlo.custom_call @X64Combine(%a, %b) : (tensor<6x4xui32>, tensor<6x4xui32>) -> tensor<6x4xui64>
  return %0 : tensor<6x4xui64>
}
// expect: %0 ([i, j], [i, j])->([i, j]) {i=6, j=4}

// -----

// Upper halves.
func.func @main(%a: tensor<6x4xui64>) -> tensor<6x4xui32> {
  %0 = stablehlo.custom_call @X64SplitHigh(%a) : (tensor<6x4xui64>) -> tensor<6x4xui32>
  return %0 : tensor<6x4xui32>
}
// expect: %0 ([i, j])->([i, j]) {i=6, j=4}

// -----

// Lower halves.
func.func @main(%a: tensor<6x4xui64>) -> tensor<6x4xui32> {
  %0 = stablehlo.custom_call @X64SplitLow(%a) : (tensor<6x4xui64>) -> tensor<6x4xui32>
  return %0 : tensor<6x4xui32>
}
// expect: %0 ([i, j])->([i, j]) {i=6, j=4}

// -----

// Reflectors in the form of W and Y.
func.func @main(%a: tensor<6x6xf32>) -> tensor<6x6xf32> {
  %0 = stablehlo.custom_call @CompactWyHelper(%a) : (tensor<6x6xf32>) -> tensor<6x6xf32>
  return %0 : tensor<6x6xf32>
}
// expect: %0 ([i, j])->([i, j]) {i=6, j=6}

// -----

// Eigenvectors and eigenvalues of matrices.
func.func @main(%a: tensor<3x6x6xf32>) -> (tensor<3x6x6xf32>, tensor<3x6xf32>) {
  %0:2 = stablehlo.custom_call @Eigh(%a) : (tensor<3x6x6xf32>) -> (tensor<3x6x6xf32>, tensor<3x6xf32>)
  return %0#0, %0#1 : tensor<3x6x6xf32>, tensor<3x6xf32>
}
// expect: %0 ([i, j, k])->([i, j, k], [i, k]) {i=3, j=6, k=6}

// -----

// A matrix with its reflectors.
func.func @main(%a: tensor<3x8x6xf32>) -> (tensor<3x8x6xf32>, tensor<3x6xf32>) {
  %0:2 = stablehlo.custom_call @Qr(%a) : (tensor<3x8x6xf32>) -> (tensor<3x8x6xf32>, tensor<3x6xf32>)
  return %0#0, %0#1 : tensor<3x8x6xf32>, tensor<3x6xf32>
}
// expect: %0 ([i, j, k])->([i, j, k], [i, l]) {i=3, j=8, k=6, l=6} need_replication={j, k, l}

// -----

// A block of it.
func.func @main(%a: tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<6xf32>) {
  %0:2 = stablehlo.custom_call @QrDecompositionBlock(%a) : (tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<6xf32>)
  return %0#0, %0#1 : tensor<8x6xf32>, tensor<6xf32>
}
// expect: %0 ([i, j])->([i, j], [k]) {i=8, j=6, k=6} need_replication={i, j, k}

// -----

// The product of reflectors.
func.func @main(%a: tensor<3x8x6xf32>, %t: tensor<3x6xf32>) -> tensor<3x8x6xf32> {
  %0 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%a, %t) : (tensor<3x8x6xf32>, tensor<3x6xf32>) -> tensor<3x8x6xf32>
  return %0 : tensor<3x8x6xf32>
}
// expect: %0 ([i, j, k], [i, l])->([i, j, k]) {i=3, j=8, k=6, l=6} need_replication={j, k, l}

// -----

// About the largest in each row.
func.func @main(%a: tensor<4x16xbf16>, %i: tensor<4x16xi32>, %z: tensor<bf16>, %n: tensor<i32>) -> (tensor<4x3xbf16>, tensor<4x3xi32>) {
  %0:2 = stablehlo.custom_call @ApproxTopK(%a, %i, %z, %n) : (tensor<4x16xbf16>, tensor<4x16xi32>, tensor<bf16>, tensor<i32>) -> (tensor<4x3xbf16>, tensor<4x3xi32>)
  return %0#0, %0#1 : tensor<4x3xbf16>, tensor<4x3xi32>
}
// expect: %0 ([i, j], [i, j], [], [])->([i, k], [i, k]) {i=4, j=16, k=3} need_replication={k} blocked_propagation={k}

// -----

// A part of a reduction.
func.func @main(%a: tensor<4x16xbf16>, %i: tensor<4x16xi32>, %z: tensor<bf16>, %n: tensor<i32>) -> (tensor<4x8xbf16>, tensor<4x8xi32>) {
  %0:2 = stablehlo.custom_call @PartialReduce(%a, %i, %z, %n) : (tensor<4x16xbf16>, tensor<4x16xi32>, tensor<bf16>, tensor<i32>) -> (tensor<4x8xbf16>, tensor<4x8xi32>)
  return %0#0, %0#1 : tensor<4x8xbf16>, tensor<4x8xi32>
}
// expect: %0 ([i, j], [i, j], [], [])->([i, k], [i, k]) {i=4, j=16, k=8} need_replication={k} blocked_propagation={k}

// -----

// The largest in each row.
func.func @main(%a: tensor<4x16xf32>) -> (tensor<4x3xf32>, tensor<4x3xi32>) {
  %0:2 = stablehlo.custom_call @mhlo.topk(%a) {mhlo.attributes = {k = 3 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<4x16xf32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
  return %0#0, %0#1 : tensor<4x3xf32>, tensor<4x3xi32>
}
// expect: %0 ([i, j])->([i, j], [i, j]) {i=4, j=16} need_replication={j} blocked_propagation={j}

// -----

// An error function.
func.func @main(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = stablehlo.custom_call @mhlo.erf(%a) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
// expect: %0 ([i, j])->([i, j]) {i=4, j=6}

// -----

// A call that nobody knows has no rule.
func.func @main(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = stablehlo.custom_call @whatever(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
// expect: nothing

// -----

// Random bits: the state is needed whole.
func.func @main(%a: tensor<2xui64>) -> (tensor<2xui64>, tensor<12x8xui32>) {
  %0:2 = stablehlo.rng_bit_generator %a, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<12x8xui32>)
  return %0#0, %0#1 : tensor<2xui64>, tensor<12x8xui32>
}
// expect: %0 ([i])->([i], [j, k]) {i=2, j=12, k=8} need_replication={i} blocked_propagation={i}

// -----

// Random numbers of a shape.
// differs: Shardy has no rule for it; ours is read off its loops
func.func @main(%a: tensor<f32>, %b: tensor<f32>, %n: tensor<2xi64>) -> tensor<6x4xf32> {
  %0 = stablehlo.rng %a, %b, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
// expect: nothing

// -----

// A number for each position has no operand.
func.func @main() -> tensor<6x4xi32> {
  %0 = stablehlo.iota dim = 1 : tensor<6x4xi32>
  return %0 : tensor<6x4xi32>
}
// expect: nothing

// -----

// A rule that the op says itself.
func.func @main(%a: tensor<6x4xf32>, %b: tensor<4x10xf32>) -> tensor<6x10xf32> {
  %0 = stablehlo.custom_call @mine(%a, %b) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=6, j=10, k=4} reduction={k}, custom>} : (tensor<6x4xf32>, tensor<4x10xf32>) -> tensor<6x10xf32>
  return %0 : tensor<6x10xf32>
}
// expect: %0 ([i, k], [k, j])->([i, j]) {i=6, j=10, k=4} reduction={k}, custom

// -----

// With all kinds of factors.
func.func @main(%a: tensor<6x24xf32>) -> tensor<6x4x7xf32> {
  %0 = stablehlo.custom_call @mine(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, jk])->([i, j, l]) {i=6, j=4, k=6, l=7} need_replication={l} permutation={j} blocked_propagation={i}, custom>} : (tensor<6x24xf32>) -> tensor<6x4x7xf32>
  return %0 : tensor<6x4x7xf32>
}
// expect: %0 ([i, jk])->([i, j, l]) {i=6, j=4, k=6, l=7} need_replication={l} permutation={j} blocked_propagation={i}, custom

// -----

// Nothing of a dimension takes part.
// unasked: the Shardy of JAX's wheel does not know `*` yet
func.func @main(%a: tensor<6x24xf32>) -> tensor<6x4xf32> {
  %0 = stablehlo.custom_call @mine(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, *])->([i, *]) {i=6}, custom>} : (tensor<6x24xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
// expect: %0 ([i, *])->([i, *]) {i=6}

// -----

// A token is handed on.
func.func @main(%t: !stablehlo.token, %a: tensor<6x4xf32>) -> !stablehlo.token {
  %0 = "stablehlo.send"(%a, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<6x4xf32>, !stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}
// expect: nothing

// -----

// A mixed tangent.
func.func @main(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %0 = stablehlo.tan %a : tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
// expect: %0 ([i, j])->([i, j]) {i=6, j=4}
