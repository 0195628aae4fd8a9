module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x4x8x4xf32>, %arg1: tensor<2x4x8x4xf32>, %arg2: tensor<2x4x8x4xf32>) -> (tensor<2x4x8x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.composite "aten.scaled_dot_product_attention" %arg0, %arg1, %arg2 {composite_attributes = {dropout_p = 1.000000e-01 : f64, is_causal = false}, decomposition = @aten.scaled_dot_product_attention, version = 1 : i32} : (tensor<2x4x8x4xf32>, tensor<2x4x8x4xf32>, tensor<2x4x8x4xf32>) -> tensor<2x4x8x4xf32>
    return %0 : tensor<2x4x8x4xf32>
  }
  func.func private @aten.scaled_dot_product_attention(%arg0: tensor<2x4x8x4xf32>, %arg1: tensor<2x4x8x4xf32>, %arg2: tensor<2x4x8x4xf32>) -> tensor<2x4x8x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1, 3, 4] : (tensor<2x4x8x4xf32>) -> tensor<2x4x1x8x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<2x4x1x8x4xf32>) -> tensor<2x4x8x4xf32>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1, 3, 4] : (tensor<2x4x8x4xf32>) -> tensor<2x4x1x8x4xf32>
    %3 = stablehlo.reshape %2 : (tensor<2x4x1x8x4xf32>) -> tensor<2x4x8x4xf32>
    %4 = stablehlo.transpose %1, dims = [0, 1, 3, 2] : (tensor<2x4x8x4xf32>) -> tensor<2x4x4x8xf32>
    %5 = stablehlo.dot_general %arg0, %4, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x4x8x4xf32>, tensor<2x4x4x8xf32>) -> tensor<2x4x8x8xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x8x8xf32>
    %7 = stablehlo.multiply %5, %6 : tensor<2x4x8x8xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x4x8xf32>
    %10 = stablehlo.maximum %9, %8 : tensor<2x4x8xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %13 = stablehlo.subtract %7, %12 : tensor<2x4x8x8xf32>
    %14 = stablehlo.exponential %13 : tensor<2x4x8x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%14 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3] : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %18 = stablehlo.divide %14, %17 : tensor<2x4x8x8xf32>
    %19 = stablehlo.dot_general %18, %3, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x4x8x8xf32>, tensor<2x4x8x4xf32>) -> tensor<2x4x8x4xf32>
    return %19 : tensor<2x4x8x4xf32>
  }
}
