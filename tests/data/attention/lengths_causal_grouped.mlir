module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8x4x4xf32>, %arg1: tensor<2x8x4x4xf32>, %arg2: tensor<2x8x2x4xf32>, %arg3: tensor<2x8x2x4xf32>, %arg4: tensor<2xi32>) -> (tensor<2x8x4x4xf32> {jax.result_info = "result[0]"}, tensor<2x8x4x4xf32> {jax.result_info = "result[1]"}, tensor<2x8x2x4xf32> {jax.result_info = "result[2]"}, tensor<2x8x2x4xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.reshape %arg1 : (tensor<2x8x4x4xf32>) -> tensor<2x8x2x2x4xf32>
    %1 = stablehlo.dot_general %0, %arg2, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x2x2x4xf32>, tensor<2x8x2x4xf32>) -> tensor<2x2x8x2x8xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x8x2x8xf32>
    %3 = stablehlo.multiply %1, %2 : tensor<2x2x8x2x8xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<2x2x8x8xi1>
    %c_0 = stablehlo.constant dense<true> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<8x8xi1>
    %6 = call @tril(%5) : (tensor<8x8xi1>) -> tensor<8x8xi1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [2, 3] : (tensor<8x8xi1>) -> tensor<1x1x8x8xi1>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3] : (tensor<1x1x8x8xi1>) -> tensor<2x2x8x8xi1>
    %9 = stablehlo.and %4, %8 : tensor<2x2x8x8xi1>
    %10 = stablehlo.iota dim = 0 : tensor<8xi32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [2] : (tensor<8xi32>) -> tensor<1x1x8xi32>
    %12 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<2xi32>) -> tensor<2x1x1xi32>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<1x1x8xi32>) -> tensor<2x1x8xi32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<2x1x1xi32>) -> tensor<2x1x8xi32>
    %15 = stablehlo.compare LT, %13, %14, SIGNED : (tensor<2x1x8xi32>, tensor<2x1x8xi32>) -> tensor<2x1x8xi1>
    %c_1 = stablehlo.constant dense<true> : tensor<i1>
    %16 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i1>) -> tensor<2x1x8xi1>
    %17 = stablehlo.and %16, %15 : tensor<2x1x8xi1>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 2, 3] : (tensor<2x1x8xi1>) -> tensor<2x1x1x8xi1>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3] : (tensor<2x1x1x8xi1>) -> tensor<2x2x8x8xi1>
    %20 = stablehlo.and %9, %19 : tensor<2x2x8x8xi1>
    %cst_2 = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>
    %21:2 = call @_where(%20, %3, %cst_2) : (tensor<2x2x8x8xi1>, tensor<2x2x8x2x8xf32>, tensor<f32>) -> (tensor<2x2x2x8x8xf32>, tensor<2x2x2x8x8xi1>)
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %22 = stablehlo.reduce(%21#0 init: %cst_3) applies stablehlo.maximum across dimensions = [4] : (tensor<2x2x2x8x8xf32>, tensor<f32>) -> tensor<2x2x2x8xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x2x2x8xf32>
    %24 = stablehlo.maximum %23, %22 : tensor<2x2x2x8xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2, 3] : (tensor<2x2x2x8xf32>) -> tensor<2x2x2x8x1xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x8x1xf32>) -> tensor<2x2x2x8x8xf32>
    %27 = stablehlo.subtract %21#0, %26 : tensor<2x2x2x8x8xf32>
    %28 = stablehlo.exponential %27 : tensor<2x2x2x8x8xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.reduce(%28 init: %cst_5) applies stablehlo.add across dimensions = [4] : (tensor<2x2x2x8x8xf32>, tensor<f32>) -> tensor<2x2x2x8xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3] : (tensor<2x2x2x8xf32>) -> tensor<2x2x2x8x1xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x8x1xf32>) -> tensor<2x2x2x8x8xf32>
    %32 = stablehlo.divide %28, %31 : tensor<2x2x2x8x8xf32>
    %33 = stablehlo.multiply %30, %30 : tensor<2x2x2x8x1xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x2x2x8x1xf32>
    %35 = stablehlo.divide %34, %33 : tensor<2x2x2x8x1xf32>
    %36 = stablehlo.dot_general %arg3, %32, batching_dims = [0, 2] x [1, 2], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<2x8x2x4xf32>, tensor<2x2x2x8x8xf32>) -> tensor<2x2x4x2x8xf32>
    %37 = stablehlo.transpose %36, dims = [3, 0, 4, 1, 2] : (tensor<2x2x4x2x8xf32>) -> tensor<2x2x8x2x4xf32>
    %38 = stablehlo.transpose %37, dims = [1, 2, 3, 0, 4] : (tensor<2x2x8x2x4xf32>) -> tensor<2x8x2x2x4xf32>
    %39 = stablehlo.reshape %38 : (tensor<2x8x2x2x4xf32>) -> tensor<2x8x4x4xf32>
    %40 = stablehlo.reshape %arg0 : (tensor<2x8x4x4xf32>) -> tensor<2x8x2x2x4xf32>
    %41 = stablehlo.transpose %40, dims = [3, 0, 1, 2, 4] : (tensor<2x8x2x2x4xf32>) -> tensor<2x2x8x2x4xf32>
    %42 = stablehlo.transpose %41, dims = [1, 3, 4, 0, 2] : (tensor<2x2x8x2x4xf32>) -> tensor<2x2x4x2x8xf32>
    %43 = stablehlo.dot_general %42, %arg3, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x2x4x2x8xf32>, tensor<2x8x2x4xf32>) -> tensor<2x2x2x8x8xf32>
    %44 = stablehlo.transpose %43, dims = [2, 0, 1, 3, 4] : (tensor<2x2x2x8x8xf32>) -> tensor<2x2x2x8x8xf32>
    %45 = stablehlo.dot_general %42, %32, batching_dims = [0, 1] x [1, 2], contracting_dims = [3, 4] x [0, 3], precision = [DEFAULT, DEFAULT] : (tensor<2x2x4x2x8xf32>, tensor<2x2x2x8x8xf32>) -> tensor<2x2x4x8xf32>
    %46 = stablehlo.transpose %45, dims = [0, 3, 1, 2] : (tensor<2x2x4x8xf32>) -> tensor<2x8x2x4xf32>
    %47 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x8x1xf32>) -> tensor<2x2x2x8x8xf32>
    %48 = stablehlo.multiply %44, %47 : tensor<2x2x2x8x8xf32>
    %49 = stablehlo.multiply %48, %28 : tensor<2x2x2x8x8xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.reduce(%49 init: %cst_7) applies stablehlo.add across dimensions = [4] : (tensor<2x2x2x8x8xf32>, tensor<f32>) -> tensor<2x2x2x8xf32>
    %51 = stablehlo.reshape %50 : (tensor<2x2x2x8xf32>) -> tensor<2x2x2x8x1xf32>
    %52 = stablehlo.negate %51 : tensor<2x2x2x8x1xf32>
    %53 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x8x1xf32>) -> tensor<2x2x2x8x8xf32>
    %54 = stablehlo.divide %44, %53 : tensor<2x2x2x8x8xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %55 = stablehlo.reduce(%52 init: %cst_8) applies stablehlo.add across dimensions = [4] : (tensor<2x2x2x8x1xf32>, tensor<f32>) -> tensor<2x2x2x8xf32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [0, 1, 2, 3] : (tensor<2x2x2x8xf32>) -> tensor<2x2x2x8x8xf32>
    %57 = stablehlo.add %54, %56 : tensor<2x2x2x8x8xf32>
    %58 = stablehlo.multiply %57, %28 : tensor<2x2x2x8x8xf32>
    %59 = call @_where_0(%21#1, %58) : (tensor<2x2x2x8x8xi1>, tensor<2x2x2x8x8xf32>) -> tensor<2x2x8x2x8xf32>
    %cst_9 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<2x2x8x2x8xf32>
    %61 = stablehlo.multiply %59, %60 : tensor<2x2x8x2x8xf32>
    %62 = stablehlo.dot_general %61, %0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2, 3] x [1, 3], precision = [DEFAULT, DEFAULT] : (tensor<2x2x8x2x8xf32>, tensor<2x8x2x2x4xf32>) -> tensor<2x2x8x4xf32>
    %63 = stablehlo.transpose %62, dims = [0, 2, 1, 3] : (tensor<2x2x8x4xf32>) -> tensor<2x8x2x4xf32>
    %64 = stablehlo.dot_general %61, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [4] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2x8x2x8xf32>, tensor<2x8x2x4xf32>) -> tensor<2x2x8x2x4xf32>
    %65 = stablehlo.transpose %64, dims = [0, 2, 1, 3, 4] : (tensor<2x2x8x2x4xf32>) -> tensor<2x8x2x2x4xf32>
    %66 = stablehlo.reshape %65 : (tensor<2x8x2x2x4xf32>) -> tensor<2x8x4x4xf32>
    return %39, %66, %63, %46 : tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>
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
  func.func private @_where(%arg0: tensor<2x2x8x8xi1>, %arg1: tensor<2x2x8x2x8xf32>, %arg2: tensor<f32>) -> (tensor<2x2x2x8x8xf32>, tensor<2x2x2x8x8xi1>) {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x2x8x8xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2, 3, 4] : (tensor<2x2x8x8xi1>) -> tensor<2x2x2x8x8xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [1, 2, 3, 4] : (tensor<2x2x8x8xf32>) -> tensor<2x2x2x8x8xf32>
    %3 = stablehlo.transpose %arg1, dims = [3, 0, 1, 2, 4] : (tensor<2x2x8x2x8xf32>) -> tensor<2x2x2x8x8xf32>
    %4 = stablehlo.select %1, %3, %2 : tensor<2x2x2x8x8xi1>, tensor<2x2x2x8x8xf32>
    return %4, %1 : tensor<2x2x2x8x8xf32>, tensor<2x2x2x8x8xi1>
  }
  func.func private @_where_0(%arg0: tensor<2x2x2x8x8xi1>, %arg1: tensor<2x2x2x8x8xf32>) -> tensor<2x2x8x2x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x2x8x8xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2x2x2x8x8xi1>, tensor<2x2x2x8x8xf32>
    %2 = stablehlo.transpose %1, dims = [1, 2, 3, 0, 4] : (tensor<2x2x2x8x8xf32>) -> tensor<2x2x8x2x8xf32>
    return %2 : tensor<2x2x8x2x8xf32>
  }
}
