module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x4x8x4xf32>, %arg1: tensor<2x4x8x4xbf16>, %arg2: tensor<2x2x8x4xbf16>, %arg3: tensor<2x2x8x4xbf16>, %arg4: tensor<2x1x8x8xf32>) -> (tensor<2x4x8x4xf32> {jax.result_info = "result[0]"}, tensor<2x4x8x4xbf16> {jax.result_info = "result[1]"}, tensor<2x2x8x4xbf16> {jax.result_info = "result[2]"}, tensor<2x2x8x4xbf16> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1, 3, 4] : (tensor<2x2x8x4xbf16>) -> tensor<2x2x2x8x4xbf16>
    %1 = stablehlo.reshape %0 : (tensor<2x2x2x8x4xbf16>) -> tensor<2x4x8x4xbf16>
    %2 = stablehlo.convert %1 : (tensor<2x4x8x4xbf16>) -> tensor<2x4x8x4xf32>
    %3 = stablehlo.broadcast_in_dim %arg3, dims = [0, 1, 3, 4] : (tensor<2x2x8x4xbf16>) -> tensor<2x2x2x8x4xbf16>
    %4 = stablehlo.reshape %3 : (tensor<2x2x2x8x4xbf16>) -> tensor<2x4x8x4xbf16>
    %5 = stablehlo.convert %4 : (tensor<2x4x8x4xbf16>) -> tensor<2x4x8x4xf32>
    %6 = stablehlo.convert %arg1 : (tensor<2x4x8x4xbf16>) -> tensor<2x4x8x4xf32>
    %cst = stablehlo.constant dense<0.707106769> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x8x4xf32>
    %8 = stablehlo.multiply %6, %7 : tensor<2x4x8x4xf32>
    %9 = stablehlo.reshape %8 : (tensor<2x4x8x4xf32>) -> tensor<8x8x4xf32>
    %10 = stablehlo.transpose %2, dims = [0, 1, 3, 2] : (tensor<2x4x8x4xf32>) -> tensor<2x4x4x8xf32>
    %cst_0 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x4x4x8xf32>
    %12 = stablehlo.multiply %10, %11 : tensor<2x4x4x8xf32>
    %13 = stablehlo.reshape %12 : (tensor<2x4x4x8xf32>) -> tensor<8x4x8xf32>
    %14 = stablehlo.dot_general %9, %13, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4xf32>, tensor<8x4x8xf32>) -> tensor<8x8x8xf32>
    %15 = stablehlo.reshape %14 : (tensor<8x8x8xf32>) -> tensor<2x4x8x8xf32>
    %16 = stablehlo.broadcast_in_dim %arg4, dims = [0, 1, 2, 3] : (tensor<2x1x8x8xf32>) -> tensor<2x4x8x8xf32>
    %17 = stablehlo.add %15, %16 : tensor<2x4x8x8xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x4x8xf32>
    %20 = stablehlo.maximum %19, %18 : tensor<2x4x8xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3] : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %23 = stablehlo.subtract %17, %22 : tensor<2x4x8x8xf32>
    %24 = stablehlo.exponential %23 : tensor<2x4x8x8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%24 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3] : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %28 = stablehlo.divide %24, %27 : tensor<2x4x8x8xf32>
    %29 = stablehlo.multiply %26, %26 : tensor<2x4x8x1xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x4x8x1xf32>
    %31 = stablehlo.divide %30, %29 : tensor<2x4x8x1xf32>
    %32 = stablehlo.reshape %28 : (tensor<2x4x8x8xf32>) -> tensor<8x8x8xf32>
    %33 = stablehlo.reshape %5 : (tensor<2x4x8x4xf32>) -> tensor<8x8x4xf32>
    %34 = stablehlo.dot_general %32, %33, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8xf32>, tensor<8x8x4xf32>) -> tensor<8x8x4xf32>
    %35 = stablehlo.reshape %34 : (tensor<8x8x4xf32>) -> tensor<2x4x8x4xf32>
    %36 = stablehlo.reshape %arg0 : (tensor<2x4x8x4xf32>) -> tensor<8x8x4xf32>
    %37 = stablehlo.dot_general %36, %32, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4xf32>, tensor<8x8x8xf32>) -> tensor<8x4x8xf32>
    %38 = stablehlo.transpose %37, dims = [0, 2, 1] : (tensor<8x4x8xf32>) -> tensor<8x8x4xf32>
    %39 = stablehlo.dot_general %36, %33, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4xf32>, tensor<8x8x4xf32>) -> tensor<8x8x8xf32>
    %40 = stablehlo.reshape %38 : (tensor<8x8x4xf32>) -> tensor<2x4x8x4xf32>
    %41 = stablehlo.reshape %39 : (tensor<8x8x8xf32>) -> tensor<2x4x8x8xf32>
    %42 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %43 = stablehlo.multiply %41, %42 : tensor<2x4x8x8xf32>
    %44 = stablehlo.multiply %43, %24 : tensor<2x4x8x8xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %45 = stablehlo.reduce(%44 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %46 = stablehlo.reshape %45 : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %47 = stablehlo.negate %46 : tensor<2x4x8x1xf32>
    %48 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3] : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %49 = stablehlo.divide %41, %48 : tensor<2x4x8x8xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.reduce(%47 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<2x4x8x1xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<2x4x8x8xf32>
    %52 = stablehlo.add %49, %51 : tensor<2x4x8x8xf32>
    %53 = stablehlo.multiply %52, %24 : tensor<2x4x8x8xf32>
    %54 = stablehlo.reshape %53 : (tensor<2x4x8x8xf32>) -> tensor<8x8x8xf32>
    %55 = stablehlo.dot_general %54, %9, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8xf32>, tensor<8x8x4xf32>) -> tensor<8x8x4xf32>
    %56 = stablehlo.transpose %55, dims = [0, 2, 1] : (tensor<8x8x4xf32>) -> tensor<8x4x8xf32>
    %57 = stablehlo.dot_general %54, %13, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8xf32>, tensor<8x4x8xf32>) -> tensor<8x8x4xf32>
    %58 = stablehlo.reshape %56 : (tensor<8x4x8xf32>) -> tensor<2x4x4x8xf32>
    %cst_7 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x4x4x8xf32>
    %60 = stablehlo.multiply %58, %59 : tensor<2x4x4x8xf32>
    %61 = stablehlo.transpose %60, dims = [0, 1, 3, 2] : (tensor<2x4x4x8xf32>) -> tensor<2x4x8x4xf32>
    %62 = stablehlo.reshape %57 : (tensor<8x8x4xf32>) -> tensor<2x4x8x4xf32>
    %cst_8 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x4x8x4xf32>
    %64 = stablehlo.multiply %62, %63 : tensor<2x4x8x4xf32>
    %65 = stablehlo.convert %64 : (tensor<2x4x8x4xf32>) -> tensor<2x4x8x4xbf16>
    %66 = stablehlo.convert %40 : (tensor<2x4x8x4xf32>) -> tensor<2x4x8x4xbf16>
    %67 = stablehlo.reshape %66 : (tensor<2x4x8x4xbf16>) -> tensor<2x2x2x8x4xbf16>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %68 = stablehlo.reduce(%67 init: %cst_9) applies stablehlo.add across dimensions = [2] : (tensor<2x2x2x8x4xbf16>, tensor<bf16>) -> tensor<2x2x8x4xbf16>
    %69 = stablehlo.convert %61 : (tensor<2x4x8x4xf32>) -> tensor<2x4x8x4xbf16>
    %70 = stablehlo.reshape %69 : (tensor<2x4x8x4xbf16>) -> tensor<2x2x2x8x4xbf16>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %71 = stablehlo.reduce(%70 init: %cst_10) applies stablehlo.add across dimensions = [2] : (tensor<2x2x2x8x4xbf16>, tensor<bf16>) -> tensor<2x2x8x4xbf16>
    return %35, %65, %71, %68 : tensor<2x4x8x4xf32>, tensor<2x4x8x4xbf16>, tensor<2x2x8x4xbf16>, tensor<2x2x8x4xbf16>
  }
}
