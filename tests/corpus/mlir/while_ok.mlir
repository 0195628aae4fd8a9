module { func.func @main(%arg0: tensor<8x8xf32>, %n: tensor<i32>) -> tensor<8x8xf32> {
 %c = stablehlo.constant dense<0> : tensor<i32>
 %0:3 = stablehlo.while(%i = %c, %x = %arg0, %m = %n) : tensor<i32>, tensor<8x8xf32>, tensor<i32> attributes {mhlo.frontend_attributes = {foo = "1"}} 
 cond { %p = stablehlo.compare LT, %i, %m, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
 stablehlo.return %p : tensor<i1> } do { %one = stablehlo.constant dense<1> : tensor<i32>
 %j = stablehlo.add %i, %one : tensor<i32>
 %y = stablehlo.dot %x, %arg0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
 stablehlo.return %j, %y, %m : tensor<i32>, tensor<8x8xf32>, tensor<i32> }
 %r = stablehlo.compare EQ, %n, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
 %q = "stablehlo.if"(%r) ({ stablehlo.return %0#1 : tensor<8x8xf32> }, { %z = stablehlo.negate %0#1 : tensor<8x8xf32>
 stablehlo.return %z : tensor<8x8xf32> }) : (tensor<i1>) -> tensor<8x8xf32>
 return %q : tensor<8x8xf32> } }
