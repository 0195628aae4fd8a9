func.func @main() -> (tensor<6xi32>) {
  %x = stablehlo.constant dense<[99, 21, 33, 100, 12, 40]> : tensor<6xi32>
  %base = stablehlo.constant dense<10> : tensor<i32>
  %r = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %o = stablehlo.constant dense<0> : tensor<i32>
    %s:2 = stablehlo.while(%p = %a, %t = %o) : tensor<i32>, tensor<i32>
    cond {
      %c = stablehlo.compare GT, %p, %o : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %m = stablehlo.remainder %p, %base : tensor<i32>
      %d = stablehlo.divide %p, %base : tensor<i32>
      %u = stablehlo.add %t, %m : tensor<i32>
      stablehlo.return %d, %u : tensor<i32>, tensor<i32>
    }
    %v:2 = stablehlo.while(%p = %b, %t = %o) : tensor<i32>, tensor<i32>
    cond {
      %c = stablehlo.compare GT, %p, %o : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %m = stablehlo.remainder %p, %base : tensor<i32>
      %d = stablehlo.divide %p, %base : tensor<i32>
      %u = stablehlo.add %t, %m : tensor<i32>
      stablehlo.return %d, %u : tensor<i32>, tensor<i32>
    }
    %l = stablehlo.compare LT, %s#1, %v#1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) : (tensor<6xi32>) -> tensor<6xi32>
  return %r : tensor<6xi32>
}
