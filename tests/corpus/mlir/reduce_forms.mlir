module { func.func @main(%x: tensor<8x16xf32>, %i: tensor<8x16xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xi32>) {
 %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
 %z = stablehlo.constant dense<0> : tensor<i32>
 %0 = stablehlo.reduce(%x init: %c) across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32> reducer(%a: tensor<f32>, %b: tensor<f32>) { %m = stablehlo.maximum %a, %b : tensor<f32>
 stablehlo.return %m : tensor<f32> }
 %1:2 = stablehlo.reduce(%x init: %c), (%i init: %z) across dimensions = [1] : (tensor<8x16xf32>, tensor<8x16xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
  reducer(%a: tensor<f32>, %b: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>)  {
   %g = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
   %s = stablehlo.select %g, %a, %b : tensor<i1>, tensor<f32>
   %t = stablehlo.select %g, %p, %q : tensor<i1>, tensor<i32>
   stablehlo.return %s, %t : tensor<f32>, tensor<i32> }
 return %0, %1#0, %1#1 : tensor<8xf32>, tensor<8xf32>, tensor<8xi32> } }
