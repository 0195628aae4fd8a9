module { "foo.bar"() ({ ^bb0(%q: i32): "foo.yield"() : () -> () }) {x = #foo.attr<a, b(c) -> d>, y = @sym::@nested, z = [unit, 1 : i8]} : () -> ()
 foo.global private @g : memref<4xf32> = dense<1.0>
 func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {llvm.emit_c_interface} {
  %0 = foo.custom %a, %a {k = 1 : i32} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1:2 = "foo.two"(%0) : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>)
  %cst = arith.constant dense<1.0> : tensor<8x8xf32>
  %2 = arith.addf %1#0, %cst fastmath<fast> : tensor<8x8xf32>
  %3 = tensor.empty() : tensor<8x8xf32>
  %4 = linalg.add ins(%2, %3 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%3 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %4 : tensor<8x8xf32> } }
