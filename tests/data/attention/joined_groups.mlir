module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8x4x4xf32>, %arg1: tensor<2x8x4x4xf32>, %arg2: tensor<2x8x2x4xf32>, %arg3: tensor<2x8x2x4xf32>) -> (tensor<2x8x4x4xf32> {jax.result_info = "result[0]"}, tensor<2x8x4x4xf32> {jax.result_info = "result[1]"}, tensor<2x8x2x4xf32> {jax.result_info = "result[2]"}, tensor<2x8x2x4xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.reshape %arg1 : (tensor<2x8x4x4xf32>) -> tensor<2x8x2x2x4xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x2x2x4xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2x8x2x2x4xf32>
    %3 = stablehlo.dot_general %arg2, %2, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [4], precision = [DEFAULT, DEFAULT] : (tensor<2x8x2x4xf32>, tensor<2x8x2x2x4xf32>) -> tensor<2x2x8x8x2xf32>
    %4 = stablehlo.transpose %3, dims = [0, 3, 1, 4, 2] : (tensor<2x2x8x8x2xf32>) -> tensor<2x8x2x2x8xf32>
    %5 = stablehlo.reshape %4 : (tensor<2x8x2x2x8xf32>) -> tensor<2x8x4x8xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<8x8xi1>
    %7 = call @tril(%6) : (tensor<8x8xi1>) -> tensor<8x8xi1>
    %8 = stablehlo.broadcast_in_dim %7, dims = [1, 3] : (tensor<8x8xi1>) -> tensor<1x8x1x8xi1>
    %cst_0 = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>
    %9:2 = call @_where(%8, %5, %cst_0) : (tensor<1x8x1x8xi1>, tensor<2x8x4x8xf32>, tensor<f32>) -> (tensor<2x8x4x8xf32>, tensor<2x8x4x8xi1>)
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %10 = stablehlo.reduce(%9#0 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x8x4x8xf32>, tensor<f32>) -> tensor<2x8x4xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x8x4xf32>
    %12 = stablehlo.maximum %11, %10 : tensor<2x8x4xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<2x8x4xf32>) -> tensor<2x8x4x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2, 3] : (tensor<2x8x4x1xf32>) -> tensor<2x8x4x8xf32>
    %15 = stablehlo.subtract %9#0, %14 : tensor<2x8x4x8xf32>
    %16 = stablehlo.exponential %15 : tensor<2x8x4x8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x8x4x8xf32>, tensor<f32>) -> tensor<2x8x4xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<2x8x4xf32>) -> tensor<2x8x4x1xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3] : (tensor<2x8x4x1xf32>) -> tensor<2x8x4x8xf32>
    %20 = stablehlo.divide %16, %19 : tensor<2x8x4x8xf32>
    %21 = stablehlo.multiply %18, %18 : tensor<2x8x4x1xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x8x4x1xf32>
    %23 = stablehlo.divide %22, %21 : tensor<2x8x4x1xf32>
    %24 = stablehlo.reshape %20 : (tensor<2x8x4x8xf32>) -> tensor<2x8x2x2x8xf32>
    %25 = stablehlo.dot_general %arg3, %24, batching_dims = [0, 2] x [0, 2], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<2x8x2x4xf32>, tensor<2x8x2x2x8xf32>) -> tensor<2x2x4x8x2xf32>
    %26 = stablehlo.transpose %25, dims = [0, 3, 1, 4, 2] : (tensor<2x2x4x8x2xf32>) -> tensor<2x8x2x2x4xf32>
    %27 = stablehlo.reshape %26 : (tensor<2x8x2x2x4xf32>) -> tensor<2x8x4x4xf32>
    %28 = stablehlo.reshape %arg0 : (tensor<2x8x4x4xf32>) -> tensor<2x8x2x2x4xf32>
    %29 = stablehlo.transpose %28, dims = [0, 2, 4, 1, 3] : (tensor<2x8x2x2x4xf32>) -> tensor<2x2x4x8x2xf32>
    %30 = stablehlo.dot_general %29, %arg3, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x2x4x8x2xf32>, tensor<2x8x2x4xf32>) -> tensor<2x2x8x2x8xf32>
    %31 = stablehlo.transpose %30, dims = [0, 2, 1, 3, 4] : (tensor<2x2x8x2x8xf32>) -> tensor<2x8x2x2x8xf32>
    %32 = stablehlo.dot_general %29, %24, batching_dims = [0, 1] x [0, 2], contracting_dims = [3, 4] x [1, 3], precision = [DEFAULT, DEFAULT] : (tensor<2x2x4x8x2xf32>, tensor<2x8x2x2x8xf32>) -> tensor<2x2x4x8xf32>
    %33 = stablehlo.transpose %32, dims = [0, 3, 1, 2] : (tensor<2x2x4x8xf32>) -> tensor<2x8x2x4xf32>
    %34 = stablehlo.reshape %31 : (tensor<2x8x2x2x8xf32>) -> tensor<2x8x4x8xf32>
    %35 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2, 3] : (tensor<2x8x4x1xf32>) -> tensor<2x8x4x8xf32>
    %36 = stablehlo.multiply %34, %35 : tensor<2x8x4x8xf32>
    %37 = stablehlo.multiply %36, %16 : tensor<2x8x4x8xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.reduce(%37 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x8x4x8xf32>, tensor<f32>) -> tensor<2x8x4xf32>
    %39 = stablehlo.reshape %38 : (tensor<2x8x4xf32>) -> tensor<2x8x4x1xf32>
    %40 = stablehlo.negate %39 : tensor<2x8x4x1xf32>
    %41 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3] : (tensor<2x8x4x1xf32>) -> tensor<2x8x4x8xf32>
    %42 = stablehlo.divide %34, %41 : tensor<2x8x4x8xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.reduce(%40 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<2x8x4x1xf32>, tensor<f32>) -> tensor<2x8x4xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2] : (tensor<2x8x4xf32>) -> tensor<2x8x4x8xf32>
    %45 = stablehlo.add %42, %44 : tensor<2x8x4x8xf32>
    %46 = stablehlo.multiply %45, %16 : tensor<2x8x4x8xf32>
    %47 = call @_where_0(%9#1, %46) : (tensor<2x8x4x8xi1>, tensor<2x8x4x8xf32>) -> tensor<2x8x4x8xf32>
    %48 = stablehlo.reshape %47 : (tensor<2x8x4x8xf32>) -> tensor<2x8x2x2x8xf32>
    %49 = stablehlo.transpose %48, dims = [0, 2, 4, 1, 3] : (tensor<2x8x2x2x8xf32>) -> tensor<2x2x8x8x2xf32>
    %50 = stablehlo.dot_general %49, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2x8x8x2xf32>, tensor<2x8x2x4xf32>) -> tensor<2x2x8x2x4xf32>
    %51 = stablehlo.transpose %50, dims = [0, 2, 1, 3, 4] : (tensor<2x2x8x2x4xf32>) -> tensor<2x8x2x2x4xf32>
    %52 = stablehlo.dot_general %49, %2, batching_dims = [0, 1] x [0, 2], contracting_dims = [3, 4] x [1, 3], precision = [DEFAULT, DEFAULT] : (tensor<2x2x8x8x2xf32>, tensor<2x8x2x2x4xf32>) -> tensor<2x2x8x4xf32>
    %53 = stablehlo.transpose %52, dims = [0, 2, 1, 3] : (tensor<2x2x8x4xf32>) -> tensor<2x8x2x4xf32>
    %cst_7 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x8x2x2x4xf32>
    %55 = stablehlo.multiply %51, %54 : tensor<2x8x2x2x4xf32>
    %56 = stablehlo.reshape %55 : (tensor<2x8x2x2x4xf32>) -> tensor<2x8x4x4xf32>
    return %27, %56, %53, %33 : tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>
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
  func.func private @_where(%arg0: tensor<1x8x1x8xi1>, %arg1: tensor<2x8x4x8xf32>, %arg2: tensor<f32>) -> (tensor<2x8x4x8xf32>, tensor<2x8x4x8xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 2, 3] : (tensor<1x8x1x8xi1>) -> tensor<2x8x4x8xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x8x4x8xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x8x4x8xi1>, tensor<2x8x4x8xf32>
    return %3, %1 : tensor<2x8x4x8xf32>, tensor<2x8x4x8xi1>
  }
  func.func private @_where_0(%arg0: tensor<2x8x4x8xi1>, %arg1: tensor<2x8x4x8xf32>) -> tensor<2x8x4x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x4x8xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2x8x4x8xi1>, tensor<2x8x4x8xf32>
    return %1 : tensor<2x8x4x8xf32>
  }
}
