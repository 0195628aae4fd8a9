func.func @main(%x: tensor<4x5x3xf32>, %s: tensor<3xf32>, %o: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>, %g: tensor<4x5x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4x5x3xf32>, tensor<3xf32>, tensor<3xf32>) {
 %0 = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v) <{epsilon = 1.0e-3 : f32, feature_index = 2 : i64}> : (tensor<4x5x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x5x3xf32>
 %1:3 = "stablehlo.batch_norm_training"(%x, %s, %o) <{epsilon = 0.001 : f32, feature_index = 2 : i64}> : (tensor<4x5x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<4x5x3xf32>, tensor<3xf32>, tensor<3xf32>)
 %2:3 = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g) <{epsilon = 0.001 : f32, feature_index = 2 : i64}> : (tensor<4x5x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4x5x3xf32>) -> (tensor<4x5x3xf32>, tensor<3xf32>, tensor<3xf32>)
 return %0, %1#0, %1#1, %1#2, %2#0, %2#1, %2#2 : tensor<4x5x3xf32>, tensor<4x5x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4x5x3xf32>, tensor<3xf32>, tensor<3xf32>
}
