module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8x4x4xf32>, %arg1: tensor<2x8x2x4xf32>, %arg2: tensor<2x8x2x4xf32>, %arg3: tensor<1x1x8x8xf32>) -> (tensor<2x8x4x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.composite "odml.scaled_dot_product_attention" %arg0, %arg1, %arg2, %arg3 {composite_attributes = {logit_cap = 2.000000e+01 : f64, scale = 2.500000e-01 : f64}, decomposition = @odml.scaled_dot_product_attention, version = 1 : i32} : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<1x1x8x8xf32>) -> tensor<2x8x4x4xf32>
    return %0 : tensor<2x8x4x4xf32>
  }
  func.func private @odml.scaled_dot_product_attention(%arg0: tensor<2x8x4x4xf32>, %arg1: tensor<2x8x2x4xf32>, %arg2: tensor<2x8x2x4xf32>, %arg3: tensor<1x1x8x8xf32>) -> tensor<2x8x4x4xf32> {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1, 3] : (tensor<2x8x4x4xf32>) -> tensor<2x4x8x4xf32>
    %1 = stablehlo.transpose %arg1, dims = [0, 2, 1, 3] : (tensor<2x8x2x4xf32>) -> tensor<2x2x8x4xf32>
    %2 = stablehlo.transpose %arg2, dims = [0, 2, 1, 3] : (tensor<2x8x2x4xf32>) -> tensor<2x2x8x4xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 3, 4] : (tensor<2x2x8x4xf32>) -> tensor<2x2x2x8x4xf32>
    %4 = stablehlo.reshape %3 : (tensor<2x2x2x8x4xf32>) -> tensor<2x4x8x4xf32>
    %5 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 3, 4] : (tensor<2x2x8x4xf32>) -> tensor<2x2x2x8x4xf32>
    %6 = stablehlo.reshape %5 : (tensor<2x2x2x8x4xf32>) -> tensor<2x4x8x4xf32>
    %7 = stablehlo.transpose %4, dims = [0, 1, 3, 2] : (tensor<2x4x8x4xf32>) -> tensor<2x4x4x8xf32>
    %8 = stablehlo.dot_general %0, %7, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x4x8x4xf32>, tensor<2x4x4x8xf32>) -> tensor<2x4x8x8xf32>
    %cst = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x8x8xf32>
    %10 = stablehlo.multiply %8, %9 : tensor<2x4x8x8xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+01> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x4x8x8xf32>
    %12 = stablehlo.divide %10, %11 : tensor<2x4x8x8xf32>
    %13 = stablehlo.tanh %12 : tensor<2x4x8x8xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+01> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x4x8x8xf32>
    %15 = stablehlo.multiply %13, %14 : tensor<2x4x8x8xf32>
    %16 = stablehlo.broadcast_in_dim %arg3, dims = [0, 1, 2, 3] : (tensor<1x1x8x8xf32>) -> tensor<2x4x8x8xf32>
    %17 = stablehlo.add %15, %16 : tensor<2x4x8x8xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_2) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x4x8xf32>
    %20 = stablehlo.maximum %19, %18 : tensor<2x4x8xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3] : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %23 = stablehlo.subtract %17, %22 : tensor<2x4x8x8xf32>
    %24 = stablehlo.exponential %23 : tensor<2x4x8x8xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%24 init: %cst_4) applies stablehlo.add across dimensions = [3] : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3] : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %28 = stablehlo.divide %24, %27 : tensor<2x4x8x8xf32>
    %29 = stablehlo.dot_general %28, %6, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x4x8x8xf32>, tensor<2x4x8x4xf32>) -> tensor<2x4x8x4xf32>
    %30 = stablehlo.transpose %29, dims = [0, 2, 1, 3] : (tensor<2x4x8x4xf32>) -> tensor<2x8x4x4xf32>
    return %30 : tensor<2x8x4x4xf32>
  }
}
