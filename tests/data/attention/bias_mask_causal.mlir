module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8x4x4xf32>, %arg1: tensor<2x8x4x4xf32>, %arg2: tensor<2x8x4x4xf32>, %arg3: tensor<2x8x4x4xf32>, %arg4: tensor<2x4x8x8xf32>, %arg5: tensor<2x1x8x8xi1>) -> (tensor<2x8x4x4xf32> {jax.result_info = "result[0]"}, tensor<2x8x4x4xf32> {jax.result_info = "result[1]"}, tensor<2x8x4x4xf32> {jax.result_info = "result[2]"}, tensor<2x8x4x4xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.reshape %arg1 : (tensor<2x8x4x4xf32>) -> tensor<2x8x4x1x4xf32>
    %1 = stablehlo.reshape %arg4 : (tensor<2x4x8x8xf32>) -> tensor<2x4x1x8x8xf32>
    %2 = stablehlo.broadcast_in_dim %arg5, dims = [0, 1, 3, 4] : (tensor<2x1x8x8xi1>) -> tensor<2x1x1x8x8xi1>
    %3 = stablehlo.dot_general %0, %arg2, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x4x1x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x4x8x1x8xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x8x1x8xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<2x4x8x1x8xf32>
    %6 = stablehlo.transpose %5, dims = [3, 0, 1, 2, 4] : (tensor<2x4x8x1x8xf32>) -> tensor<1x2x4x8x8xf32>
    %7 = stablehlo.transpose %1, dims = [2, 0, 1, 3, 4] : (tensor<2x4x1x8x8xf32>) -> tensor<1x2x4x8x8xf32>
    %8 = stablehlo.add %6, %7 : tensor<1x2x4x8x8xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<2x4x8x8xi1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [1, 2, 3, 4] : (tensor<2x4x8x8xi1>) -> tensor<1x2x4x8x8xi1>
    %11 = stablehlo.transpose %2, dims = [2, 0, 1, 3, 4] : (tensor<2x1x1x8x8xi1>) -> tensor<1x2x1x8x8xi1>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3, 4] : (tensor<1x2x1x8x8xi1>) -> tensor<1x2x4x8x8xi1>
    %13 = stablehlo.and %10, %12 : tensor<1x2x4x8x8xi1>
    %c_0 = stablehlo.constant dense<true> : tensor<i1>
    %14 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<8x8xi1>
    %15 = call @tril(%14) : (tensor<8x8xi1>) -> tensor<8x8xi1>
    %16 = stablehlo.broadcast_in_dim %15, dims = [2, 3] : (tensor<8x8xi1>) -> tensor<1x1x8x8xi1>
    %17 = stablehlo.broadcast_in_dim %16, dims = [1, 2, 3, 4] : (tensor<1x1x8x8xi1>) -> tensor<1x1x1x8x8xi1>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3, 4] : (tensor<1x1x1x8x8xi1>) -> tensor<1x2x4x8x8xi1>
    %19 = stablehlo.and %13, %18 : tensor<1x2x4x8x8xi1>
    %cst_1 = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>
    %20 = call @_where(%19, %8, %cst_1) : (tensor<1x2x4x8x8xi1>, tensor<1x2x4x8x8xf32>, tensor<f32>) -> tensor<1x2x4x8x8xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %21 = stablehlo.reduce(%20 init: %cst_2) applies stablehlo.maximum across dimensions = [4] : (tensor<1x2x4x8x8xf32>, tensor<f32>) -> tensor<1x2x4x8xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x2x4x8xf32>
    %23 = stablehlo.maximum %22, %21 : tensor<1x2x4x8xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2, 3] : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8x1xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2, 3, 4] : (tensor<1x2x4x8x1xf32>) -> tensor<1x2x4x8x8xf32>
    %26 = stablehlo.subtract %20, %25 : tensor<1x2x4x8x8xf32>
    %27 = stablehlo.exponential %26 : tensor<1x2x4x8x8xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst_4) applies stablehlo.add across dimensions = [4] : (tensor<1x2x4x8x8xf32>, tensor<f32>) -> tensor<1x2x4x8xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2, 3] : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8x1xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3, 4] : (tensor<1x2x4x8x1xf32>) -> tensor<1x2x4x8x8xf32>
    %31 = stablehlo.divide %27, %30 : tensor<1x2x4x8x8xf32>
    %32 = stablehlo.multiply %29, %29 : tensor<1x2x4x8x1xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x2x4x8x1xf32>
    %34 = stablehlo.divide %33, %32 : tensor<1x2x4x8x1xf32>
    %35 = stablehlo.dot_general %arg3, %31, batching_dims = [0, 2] x [1, 2], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<2x8x4x4xf32>, tensor<1x2x4x8x8xf32>) -> tensor<2x4x4x1x8xf32>
    %36 = stablehlo.transpose %35, dims = [3, 0, 4, 1, 2] : (tensor<2x4x4x1x8xf32>) -> tensor<1x2x8x4x4xf32>
    %37 = stablehlo.transpose %36, dims = [1, 2, 3, 0, 4] : (tensor<1x2x8x4x4xf32>) -> tensor<2x8x4x1x4xf32>
    %38 = stablehlo.reshape %37 : (tensor<2x8x4x1x4xf32>) -> tensor<2x8x4x4xf32>
    %39 = stablehlo.reshape %arg0 : (tensor<2x8x4x4xf32>) -> tensor<2x8x4x1x4xf32>
    %40 = stablehlo.transpose %39, dims = [3, 0, 1, 2, 4] : (tensor<2x8x4x1x4xf32>) -> tensor<1x2x8x4x4xf32>
    %41 = stablehlo.transpose %40, dims = [1, 3, 4, 0, 2] : (tensor<1x2x8x4x4xf32>) -> tensor<2x4x4x1x8xf32>
    %42 = stablehlo.dot_general %41, %arg3, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x4x4x1x8xf32>, tensor<2x8x4x4xf32>) -> tensor<2x4x1x8x8xf32>
    %43 = stablehlo.transpose %42, dims = [2, 0, 1, 3, 4] : (tensor<2x4x1x8x8xf32>) -> tensor<1x2x4x8x8xf32>
    %44 = stablehlo.dot_general %41, %31, batching_dims = [0, 1] x [1, 2], contracting_dims = [3, 4] x [0, 3], precision = [DEFAULT, DEFAULT] : (tensor<2x4x4x1x8xf32>, tensor<1x2x4x8x8xf32>) -> tensor<2x4x4x8xf32>
    %45 = stablehlo.transpose %44, dims = [0, 3, 1, 2] : (tensor<2x4x4x8xf32>) -> tensor<2x8x4x4xf32>
    %46 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3, 4] : (tensor<1x2x4x8x1xf32>) -> tensor<1x2x4x8x8xf32>
    %47 = stablehlo.multiply %43, %46 : tensor<1x2x4x8x8xf32>
    %48 = stablehlo.multiply %47, %27 : tensor<1x2x4x8x8xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %49 = stablehlo.reduce(%48 init: %cst_6) applies stablehlo.add across dimensions = [4] : (tensor<1x2x4x8x8xf32>, tensor<f32>) -> tensor<1x2x4x8xf32>
    %50 = stablehlo.reshape %49 : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8x1xf32>
    %51 = stablehlo.negate %50 : tensor<1x2x4x8x1xf32>
    %52 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3, 4] : (tensor<1x2x4x8x1xf32>) -> tensor<1x2x4x8x8xf32>
    %53 = stablehlo.divide %43, %52 : tensor<1x2x4x8x8xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %54 = stablehlo.reduce(%51 init: %cst_7) applies stablehlo.add across dimensions = [0, 4] : (tensor<1x2x4x8x1xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %55 = stablehlo.broadcast_in_dim %54, dims = [1, 2, 3] : (tensor<2x4x8xf32>) -> tensor<1x2x4x8xf32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [0, 1, 2, 3] : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8x8xf32>
    %57 = stablehlo.add %53, %56 : tensor<1x2x4x8x8xf32>
    %58 = stablehlo.multiply %57, %27 : tensor<1x2x4x8x8xf32>
    %59 = call @_where_0(%19, %58) : (tensor<1x2x4x8x8xi1>, tensor<1x2x4x8x8xf32>) -> tensor<1x2x4x8x8xf32>
    %60 = stablehlo.transpose %59, dims = [1, 2, 3, 0, 4] : (tensor<1x2x4x8x8xf32>) -> tensor<2x4x8x1x8xf32>
    %cst_8 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x4x8x1x8xf32>
    %62 = stablehlo.multiply %60, %61 : tensor<2x4x8x1x8xf32>
    %63 = stablehlo.dot_general %62, %0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2, 3] x [1, 3], precision = [DEFAULT, DEFAULT] : (tensor<2x4x8x1x8xf32>, tensor<2x8x4x1x4xf32>) -> tensor<2x4x8x4xf32>
    %64 = stablehlo.transpose %63, dims = [0, 2, 1, 3] : (tensor<2x4x8x4xf32>) -> tensor<2x8x4x4xf32>
    %65 = stablehlo.dot_general %62, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [4] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x4x8x1x8xf32>, tensor<2x8x4x4xf32>) -> tensor<2x4x8x1x4xf32>
    %66 = stablehlo.transpose %65, dims = [0, 2, 1, 3, 4] : (tensor<2x4x8x1x4xf32>) -> tensor<2x8x4x1x4xf32>
    %67 = stablehlo.reshape %66 : (tensor<2x8x4x1x4xf32>) -> tensor<2x8x4x4xf32>
    return %38, %67, %64, %45 : tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>
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
  func.func private @_where(%arg0: tensor<1x2x4x8x8xi1>, %arg1: tensor<1x2x4x8x8xf32>, %arg2: tensor<f32>) -> tensor<1x2x4x8x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x4x8x8xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [1, 2, 3, 4] : (tensor<2x4x8x8xf32>) -> tensor<1x2x4x8x8xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<1x2x4x8x8xi1>, tensor<1x2x4x8x8xf32>
    return %2 : tensor<1x2x4x8x8xf32>
  }
  func.func private @_where_0(%arg0: tensor<1x2x4x8x8xi1>, %arg1: tensor<1x2x4x8x8xf32>) -> tensor<1x2x4x8x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x2x4x8x8xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<1x2x4x8x8xi1>, tensor<1x2x4x8x8xf32>
    return %1 : tensor<1x2x4x8x8xf32>
  }
}
