// A loop that reads a value from around it, a choice, an if, a sort, an argmax.
module @control {
  func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>, %k: tensor<i32>) -> (tensor<8x4xf32>, tensor<8xi32>, tensor<i32>) {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c3 = stablehlo.constant dense<3> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %0:2 = stablehlo.while(%i = %c0, %y = %x) : tensor<i32>, tensor<8x4xf32>
     cond {
      %9 = stablehlo.compare  LT, %i, %c3,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      %9 = func.call @step(%y, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      %10 = stablehlo.add %i, %c1 : tensor<i32>
      stablehlo.return %10, %9 : tensor<i32>, tensor<8x4xf32>
    }
    %1 = "stablehlo.case"(%k) ({
      %9 = stablehlo.negate %0#1 : tensor<8x4xf32>
      stablehlo.return %9 : tensor<8x4xf32>
    }, {
      stablehlo.return %x : tensor<8x4xf32>
    }) : (tensor<i32>) -> tensor<8x4xf32>
    %2 = stablehlo.compare  EQ, %k, %c1,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = "stablehlo.if"(%2) ({
      stablehlo.return %c0 : tensor<i32>
    }, {
      %9 = stablehlo.multiply %0#0, %k : tensor<i32>
      stablehlo.return %9 : tensor<i32>
    }) : (tensor<i1>) -> tensor<i32>
    %4 = "stablehlo.sort"(%1) <{dimension = -1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %9 = stablehlo.compare  GT, %a, %b,  TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %5 = stablehlo.iota dim = 1 : tensor<8x4xi32>
    %ninf = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6:2 = stablehlo.reduce(%4 init: %ninf), (%5 init: %c0) across dimensions = [1] : (tensor<8x4xf32>, tensor<8x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%ai: tensor<i32>, %bi: tensor<i32>)  {
      %9 = stablehlo.compare  GT, %a, %b,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %10 = stablehlo.select %9, %a, %b : tensor<i1>, tensor<f32>
      %11 = stablehlo.select %9, %ai, %bi : tensor<i1>, tensor<i32>
      stablehlo.return %10, %11 : tensor<f32>, tensor<i32>
    }
    return %4, %6#1, %3 : tensor<8x4xf32>, tensor<8xi32>, tensor<i32>
  }
  func.func private @step(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> {
    %0 = stablehlo.dot %x, %w : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}
