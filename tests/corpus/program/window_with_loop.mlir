func.func @main() -> (tensor<2x3xi32>) {
  %x = stablehlo.constant dense<[[12, 18, 30, 6], [35, 15, 0, 25]]> : tensor<2x4xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %g = func.call @gcd(%a, %b) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    stablehlo.return %g : tensor<i32>
  }) : (tensor<2x4xi32>, tensor<i32>) -> tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}
func.func private @gcd(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %g:2 = stablehlo.while(%p = %a, %q = %b) : tensor<i32>, tensor<i32>
  cond {
    %o = stablehlo.constant dense<0> : tensor<i32>
    %c = stablehlo.compare NE, %q, %o : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %m = stablehlo.remainder %p, %q : tensor<i32>
    stablehlo.return %q, %m : tensor<i32>, tensor<i32>
  }
  return %g#0 : tensor<i32>
}
