module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x4x8x4xf32>, %arg1: tensor<2x4x8x4xf32>, %arg2: tensor<2x4x8x4xf32>, %arg3: tensor<8x8xf32>) -> (tensor<2x4x8x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.composite "tenstorrent.scaled_dot_product_attention" %arg0, %arg1, %arg2, %arg3 {composite_attributes = {is_causal = false, scale = 3.000000e-01 : f64}, decomposition = @tenstorrent.scaled_dot_product_attention, version = 1 : i32} : (tensor<2x4x8x4xf32>, tensor<2x4x8x4xf32>, tensor<2x4x8x4xf32>, tensor<8x8xf32>) -> tensor<2x4x8x4xf32>
    return %0 : tensor<2x4x8x4xf32>
  }
  func.func private @tenstorrent.scaled_dot_product_attention(%arg0: tensor<2x4x8x4xf32>, %arg1: tensor<2x4x8x4xf32>, %arg2: tensor<2x4x8x4xf32>, %arg3: tensor<8x8xf32>) -> tensor<2x4x8x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1, 3, 4] : (tensor<2x4x8x4xf32>) -> tensor<2x4x1x8x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<2x4x1x8x4xf32>) -> tensor<2x4x8x4xf32>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1, 3, 4] : (tensor<2x4x8x4xf32>) -> tensor<2x4x1x8x4xf32>
    %3 = stablehlo.reshape %2 : (tensor<2x4x1x8x4xf32>) -> tensor<2x4x8x4xf32>
    %4 = stablehlo.transpose %1, dims = [0, 1, 3, 2] : (tensor<2x4x8x4xf32>) -> tensor<2x4x4x8xf32>
    %5 = stablehlo.dot_general %arg0, %4, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x4x8x4xf32>, tensor<2x4x4x8xf32>) -> tensor<2x4x8x8xf32>
    %cst = stablehlo.constant dense<3.000000e-01> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x8x8xf32>
    %7 = stablehlo.multiply %5, %6 : tensor<2x4x8x8xf32>
    %8 = stablehlo.broadcast_in_dim %arg3, dims = [2, 3] : (tensor<8x8xf32>) -> tensor<1x1x8x8xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x8x8xf32>) -> tensor<2x4x8x8xf32>
    %10 = stablehlo.add %7, %9 : tensor<2x4x8x8xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x4x8xf32>
    %13 = stablehlo.maximum %12, %11 : tensor<2x4x8xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %16 = stablehlo.subtract %10, %15 : tensor<2x4x8x8xf32>
    %17 = stablehlo.exponential %16 : tensor<2x4x8x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %21 = stablehlo.divide %17, %20 : tensor<2x4x8x8xf32>
    %22 = stablehlo.dot_general %21, %3, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x4x8x8xf32>, tensor<2x4x8x4xf32>) -> tensor<2x4x8x4xf32>
    return %22 : tensor<2x4x8x4xf32>
  }
}
