module { func.func @main(%a: tensor<2x2xf32>) -> tensor<2x2xf32> { %c = stablehlo.constant dense_resource<blob1> : tensor<2x2xf32>
 %d = stablehlo.constant dense<"0x0000803F0000004000004040000080400000A0400000C040"> : tensor<3x2xf32>
 %e = stablehlo.constant dense<[[0x7F800000, 1.0], [-1.5e-3, 0xFF800000]]> : tensor<2x2xf32>
 %f = stablehlo.constant dense<(1.0,2.0)> : tensor<2x2xcomplex<f32>>
 %g = stablehlo.constant dense<true> : tensor<i1>
 %h = stablehlo.constant dense<> : tensor<0x2xf32>
 %0 = stablehlo.add %a, %c : tensor<2x2xf32>
 %1 = stablehlo.dot_general %0, %d, contracting_dims = [1] x [1] : (tensor<2x2xf32>, tensor<3x2xf32>) -> tensor<2x3xf32>
 %2 = stablehlo.add %0, %e : tensor<2x2xf32>
 return %2 : tensor<2x2xf32> } }
{-#
  dialect_resources: {
    builtin: {
      blob1: "0x04000000000080400000803F0000803F0000803F"
    }
  }
#-}
