module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8x4x4xbf16>, %arg1: tensor<2x8x4x4xbf16>, %arg2: tensor<2x8x2x4xbf16>, %arg3: tensor<2x8x2x4xbf16>, %arg4: tensor<2x4x8x8xi1>) -> (tensor<2x8x4x4xbf16> {jax.result_info = "result[0]"}, tensor<2x8x4x4xbf16> {jax.result_info = "result[1]"}, tensor<2x8x2x4xbf16> {jax.result_info = "result[2]"}, tensor<2x8x2x4xbf16> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1, 2, 4] : (tensor<2x8x2x4xbf16>) -> tensor<2x8x2x2x4xbf16>
    %1 = stablehlo.reshape %0 : (tensor<2x8x2x2x4xbf16>) -> tensor<2x8x4x4xbf16>
    %2 = stablehlo.broadcast_in_dim %arg3, dims = [0, 1, 2, 4] : (tensor<2x8x2x4xbf16>) -> tensor<2x8x2x2x4xbf16>
    %3 = stablehlo.reshape %2 : (tensor<2x8x2x2x4xbf16>) -> tensor<2x8x4x4xbf16>
    %4 = stablehlo.dot_general %arg1, %1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x4x4xbf16>, tensor<2x8x4x4xbf16>) -> tensor<2x4x8x8xbf16>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2x4x8x8xbf16>
    %6 = stablehlo.multiply %4, %5 : tensor<2x4x8x8xbf16>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %7 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<8x8xi1>
    %8 = call @tril(%7) : (tensor<8x8xi1>) -> tensor<8x8xi1>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %9:2 = call @_where(%8, %6, %cst_0) : (tensor<8x8xi1>, tensor<2x4x8x8xbf16>, tensor<f32>) -> (tensor<2x4x8x8xbf16>, tensor<2x4x8x8xi1>)
    %10 = stablehlo.convert %9#0 : (tensor<2x4x8x8xbf16>) -> tensor<2x4x8x8xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x4x8xf32>
    %13 = stablehlo.maximum %12, %11 : tensor<2x4x8xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %16 = stablehlo.subtract %10, %15 : tensor<2x4x8x8xf32>
    %17 = stablehlo.exponential %16 : tensor<2x4x8x8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %21 = stablehlo.divide %17, %20 : tensor<2x4x8x8xf32>
    %22 = stablehlo.multiply %19, %19 : tensor<2x4x8x1xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x4x8x1xf32>
    %24 = stablehlo.divide %23, %22 : tensor<2x4x8x1xf32>
    %25 = stablehlo.convert %arg4 : (tensor<2x4x8x8xi1>) -> tensor<2x4x8x8xf32>
    %26 = stablehlo.multiply %21, %25 : tensor<2x4x8x8xf32>
    %cst_5 = stablehlo.constant dense<1.11111116> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x4x8x8xf32>
    %28 = stablehlo.multiply %26, %27 : tensor<2x4x8x8xf32>
    %29 = stablehlo.convert %28 : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xbf16>
    %30 = stablehlo.dot_general %3, %29, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x4x4xbf16>, tensor<2x4x8x8xbf16>) -> tensor<2x4x4x8xbf16>
    %31 = stablehlo.transpose %30, dims = [0, 3, 1, 2] : (tensor<2x4x4x8xbf16>) -> tensor<2x8x4x4xbf16>
    %32 = stablehlo.transpose %arg0, dims = [0, 2, 3, 1] : (tensor<2x8x4x4xbf16>) -> tensor<2x4x4x8xbf16>
    %33 = stablehlo.dot_general %32, %3, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x4x4x8xbf16>, tensor<2x8x4x4xbf16>) -> tensor<2x4x8x8xbf16>
    %34 = stablehlo.dot_general %32, %29, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x4x4x8xbf16>, tensor<2x4x8x8xbf16>) -> tensor<2x4x4x8xbf16>
    %35 = stablehlo.transpose %34, dims = [0, 3, 1, 2] : (tensor<2x4x4x8xbf16>) -> tensor<2x8x4x4xbf16>
    %36 = stablehlo.convert %33 : (tensor<2x4x8x8xbf16>) -> tensor<2x4x8x8xf32>
    %cst_6 = stablehlo.constant dense<1.11111116> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x4x8x8xf32>
    %38 = stablehlo.multiply %36, %37 : tensor<2x4x8x8xf32>
    %39 = stablehlo.multiply %38, %25 : tensor<2x4x8x8xf32>
    %40 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2, 3] : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %41 = stablehlo.multiply %39, %40 : tensor<2x4x8x8xf32>
    %42 = stablehlo.multiply %41, %17 : tensor<2x4x8x8xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.reduce(%42 init: %cst_7) applies stablehlo.add across dimensions = [3] : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %44 = stablehlo.reshape %43 : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %45 = stablehlo.negate %44 : tensor<2x4x8x1xf32>
    %46 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %47 = stablehlo.divide %39, %46 : tensor<2x4x8x8xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.reduce(%45 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<2x4x8x1xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<2x4x8x8xf32>
    %50 = stablehlo.add %47, %49 : tensor<2x4x8x8xf32>
    %51 = stablehlo.multiply %50, %17 : tensor<2x4x8x8xf32>
    %52 = stablehlo.convert %51 : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xbf16>
    %53 = call @_where_0(%9#1, %52) : (tensor<2x4x8x8xi1>, tensor<2x4x8x8xbf16>) -> tensor<2x4x8x8xbf16>
    %cst_9 = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %54 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<bf16>) -> tensor<2x4x8x8xbf16>
    %55 = stablehlo.multiply %53, %54 : tensor<2x4x8x8xbf16>
    %56 = stablehlo.dot_general %55, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x4x8x8xbf16>, tensor<2x8x4x4xbf16>) -> tensor<2x4x8x4xbf16>
    %57 = stablehlo.transpose %56, dims = [0, 2, 1, 3] : (tensor<2x4x8x4xbf16>) -> tensor<2x8x4x4xbf16>
    %58 = stablehlo.dot_general %55, %1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x4x8x8xbf16>, tensor<2x8x4x4xbf16>) -> tensor<2x4x8x4xbf16>
    %59 = stablehlo.transpose %58, dims = [0, 2, 1, 3] : (tensor<2x4x8x4xbf16>) -> tensor<2x8x4x4xbf16>
    %60 = stablehlo.reshape %35 : (tensor<2x8x4x4xbf16>) -> tensor<2x8x2x2x4xbf16>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %61 = stablehlo.reduce(%60 init: %cst_10) applies stablehlo.add across dimensions = [3] : (tensor<2x8x2x2x4xbf16>, tensor<bf16>) -> tensor<2x8x2x4xbf16>
    %62 = stablehlo.reshape %57 : (tensor<2x8x4x4xbf16>) -> tensor<2x8x2x2x4xbf16>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %63 = stablehlo.reduce(%62 init: %cst_11) applies stablehlo.add across dimensions = [3] : (tensor<2x8x2x2x4xbf16>, tensor<bf16>) -> tensor<2x8x2x4xbf16>
    return %31, %59, %63, %61 : tensor<2x8x4x4xbf16>, tensor<2x8x4x4xbf16>, tensor<2x8x2x4xbf16>, tensor<2x8x2x4xbf16>
  }
  func.func private @tril(%arg0: tensor<8x8xi1>) -> tensor<8x8xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<8x8xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x8xi32>
    %2 = stablehlo.add %0, %1 : tensor<8x8xi32>
    %3 = stablehlo.iota dim = 1 : tensor<8x8xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<8x8xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<8x8xi1>, tensor<8x8xi1>
    return %6 : tensor<8x8xi1>
  }
  func.func private @_where(%arg0: tensor<8x8xi1>, %arg1: tensor<2x4x8x8xbf16>, %arg2: tensor<f32>) -> (tensor<2x4x8x8xbf16>, tensor<2x4x8x8xi1>) {
    %0 = stablehlo.convert %arg2 : (tensor<f32>) -> tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<8x8xi1>) -> tensor<2x4x8x8xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<bf16>) -> tensor<2x4x8x8xbf16>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x4x8x8xi1>, tensor<2x4x8x8xbf16>
    return %3, %1 : tensor<2x4x8x8xbf16>, tensor<2x4x8x8xi1>
  }
  func.func private @_where_0(%arg0: tensor<2x4x8x8xi1>, %arg1: tensor<2x4x8x8xbf16>) -> tensor<2x4x8x8xbf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2x4x8x8xbf16>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2x4x8x8xi1>, tensor<2x4x8x8xbf16>
    return %1 : tensor<2x4x8x8xbf16>
  }
}
