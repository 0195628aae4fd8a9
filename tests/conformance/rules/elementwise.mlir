// run: propagate --show-rules
// Two operands of a vector op share every dimension.
sdy.mesh @m = <["a"=2]>
func.func @main(%a: tensor<6x4xf32>, %b: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %0 = stablehlo.subtract %a, %b : tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
// expect: %0 ([i, j], [i, j])->([i, j]) {i=6, j=4}

// -----

// One operand, used twice.
sdy.mesh @m = <["a"=2]>
func.func @main(%a: tensor<3x5x2xi32>) -> tensor<3x5x2xi32> {
  %0 = stablehlo.multiply %a, %a : tensor<3x5x2xi32>
  return %0 : tensor<3x5x2xi32>
}
// expect: %0 ([i, j, k], [i, j, k])->([i, j, k]) {i=3, j=5, k=2}

// -----

// A dimension of one element is a factor like others.
sdy.mesh @m = <["a"=2]>
func.func @main(%a: tensor<1x12xf32>) -> tensor<1x12xf32> {
  %0 = stablehlo.negate %a : tensor<1x12xf32>
  return %0 : tensor<1x12xf32>
}
// expect: %0 ([i, j])->([i, j]) {i=1, j=12}

// -----

// A dimension without elements.
sdy.mesh @m = <["a"=2]>
func.func @main(%a: tensor<0x12xf32>) -> tensor<0x12xf32> {
  %0 = stablehlo.tanh %a : tensor<0x12xf32>
  return %0 : tensor<0x12xf32>
}
// expect: %0 ([i, j])->([i, j]) {i=0, j=12}

// -----

// Scalars have a rule without factors.
sdy.mesh @m = <["a"=2]>
func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.divide %a, %b : tensor<f32>
  return %0 : tensor<f32>
}
// expect: %0 ([], [])->([])

// -----

// A comparison gives booleans.
sdy.mesh @m = <["a"=2]>
func.func @main(%a: tensor<10x6xf32>, %b: tensor<10x6xf32>) -> tensor<10x6xi1> {
  %0 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<10x6xf32>, tensor<10x6xf32>) -> tensor<10x6xi1>
  return %0 : tensor<10x6xi1>
}
// expect: %0 ([i, j], [i, j])->([i, j]) {i=10, j=6}

// -----

// The predicate of a select may be a tensor
sdy.mesh @m = <["a"=2]>
func.func @main(%p: tensor<4x6xi1>, %a: tensor<4x6xf32>, %b: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = stablehlo.select %p, %a, %b : tensor<4x6xi1>, tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
// expect: %0 ([i, j], [i, j], [i, j])->([i, j]) {i=4, j=6}

// -----

// or a scalar, which has no factors.
sdy.mesh @m = <["a"=2]>
func.func @main(%p: tensor<i1>, %a: tensor<4x6xf32>, %b: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = stablehlo.select %p, %a, %b : tensor<i1>, tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
// expect: %0 ([], [i, j], [i, j])->([i, j]) {i=4, j=6}

// -----

// Bounds of a clamp may be tensors
sdy.mesh @m = <["a"=2]>
func.func @main(%l: tensor<9x2xf32>, %a: tensor<9x2xf32>, %h: tensor<9x2xf32>) -> tensor<9x2xf32> {
  %0 = stablehlo.clamp %l, %a, %h : tensor<9x2xf32>
  return %0 : tensor<9x2xf32>
}
// expect: %0 ([i, j], [i, j], [i, j])->([i, j]) {i=9, j=2}

// -----

// or scalars.
sdy.mesh @m = <["a"=2]>
func.func @main(%l: tensor<f32>, %a: tensor<9x2xf32>, %h: tensor<f32>) -> tensor<9x2xf32> {
  %0 = stablehlo.clamp %l, %a, %h : (tensor<f32>, tensor<9x2xf32>, tensor<f32>) -> tensor<9x2xf32>
  return %0 : tensor<9x2xf32>
}
// expect: %0 ([], [i, j], [])->([i, j]) {i=9, j=2}

// -----

// Another element type has no part in the rule.
sdy.mesh @m = <["a"=2]>
func.func @main(%a: tensor<7x8xi32>) -> tensor<7x8xbf16> {
  %0 = stablehlo.convert %a : (tensor<7x8xi32>) -> tensor<7x8xbf16>
  return %0 : tensor<7x8xbf16>
}
// expect: %0 ([i, j])->([i, j]) {i=7, j=8}

// -----

// Elements of the same number of bits keep their dimensions.
sdy.mesh @m = <["a"=2]>
func.func @main(%a: tensor<7x8xi32>) -> tensor<7x8xf32> {
  %0 = stablehlo.bitcast_convert %a : (tensor<7x8xi32>) -> tensor<7x8xf32>
  return %0 : tensor<7x8xf32>
}
// expect: %0 ([i, j])->([i, j]) {i=7, j=8}

// -----

// Elements that become several smaller ones: a dimension more, behind the others.
sdy.mesh @m = <["a"=2]>
func.func @main(%a: tensor<7x8xui64>) -> tensor<7x8x4xui16> {
  %0 = stablehlo.bitcast_convert %a : (tensor<7x8xui64>) -> tensor<7x8x4xui16>
  return %0 : tensor<7x8x4xui16>
}
// expect: %0 ([i, j])->([i, j, k]) {i=7, j=8, k=4} need_replication={k}

// -----

// Smaller ones that become one: the last dimension goes.
sdy.mesh @m = <["a"=2]>
func.func @main(%a: tensor<5x3x2xi16>) -> tensor<5x3xi32> {
  %0 = stablehlo.bitcast_convert %a : (tensor<5x3x2xi16>) -> tensor<5x3xi32>
  return %0 : tensor<5x3xi32>
}
// expect: %0 ([i, j, k])->([i, j]) {i=5, j=3, k=2} need_replication={k}

// -----

// Real and imaginary parts become a complex number.
sdy.mesh @m = <["a"=2]>
func.func @main(%a: tensor<4x3xf32>, %b: tensor<4x3xf32>) -> tensor<4x3xcomplex<f32>> {
  %0 = stablehlo.complex %a, %b : tensor<4x3xcomplex<f32>>
  return %0 : tensor<4x3xcomplex<f32>>
}
// expect: %0 ([i, j], [i, j])->([i, j]) {i=4, j=3}

// -----

// The real part of complex numbers.
sdy.mesh @m = <["a"=2]>
func.func @main(%a: tensor<4x3xcomplex<f32>>) -> tensor<4x3xf32> {
  %0 = stablehlo.real %a : (tensor<4x3xcomplex<f32>>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
// expect: %0 ([i, j])->([i, j]) {i=4, j=3}

// -----

// The imaginary part.
sdy.mesh @m = <["a"=2]>
func.func @main(%a: tensor<4x3xcomplex<f32>>) -> tensor<4x3xf32> {
  %0 = stablehlo.imag %a : (tensor<4x3xcomplex<f32>>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
// expect: %0 ([i, j])->([i, j]) {i=4, j=3}

// -----

// Fewer bits of precision.
sdy.mesh @m = <["a"=2]>
func.func @main(%a: tensor<6x5xf32>) -> tensor<6x5xf32> {
  %0 = stablehlo.reduce_precision %a, format = e5m10 : tensor<6x5xf32>
  return %0 : tensor<6x5xf32>
}
// expect: %0 ([i, j])->([i, j]) {i=6, j=5}

// -----

// Whether numbers are finite.
sdy.mesh @m = <["a"=2]>
func.func @main(%a: tensor<6x5xf32>) -> tensor<6x5xi1> {
  %0 = stablehlo.is_finite %a : (tensor<6x5xf32>) -> tensor<6x5xi1>
  return %0 : tensor<6x5xi1>
}
// expect: %0 ([i, j])->([i, j]) {i=6, j=5}

// -----

// A map over two tensors goes by the elements.
// differs: Shardy has no rule for it; ours is read off its loops
sdy.mesh @m = <["a"=2]>
func.func @main(%a: tensor<4x6xf32>, %b: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %1 = stablehlo.maximum %x, %y : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
// expect: %1 ([], [])->([])

// -----

// An arc tangent of two tensors.
sdy.mesh @m = <["a"=2]>
func.func @main(%a: tensor<2x3x4xf32>, %b: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = stablehlo.atan2 %a, %b : tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}
// expect: %0 ([i, j, k], [i, j, k])->([i, j, k]) {i=2, j=3, k=4}

// -----

// A barrier for the compiler, of one value.
sdy.mesh @m = <["a"=2]>
func.func @main(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %0 = stablehlo.optimization_barrier %a : tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
// expect: nothing

// -----

// Bits of integers.
sdy.mesh @m = <["a"=2]>
func.func @main(%a: tensor<12xi32>, %b: tensor<12xi32>) -> tensor<12xi32> {
  %0 = stablehlo.shift_left %a, %b : tensor<12xi32>
  return %0 : tensor<12xi32>
}
// expect: %0 ([i], [i])->([i]) {i=12}

// -----

// Elementwise ops of the CHLO dialect are as those of StableHLO.
// differs: Shardy meets CHLO only when it has become StableHLO
sdy.mesh @m = <["a"=2]>
func.func @main(%a: tensor<6x10xf32>) -> tensor<6x10xf32> {
  %0 = chlo.erf %a : tensor<6x10xf32> -> tensor<6x10xf32>
  return %0 : tensor<6x10xf32>
}
// expect: nothing
