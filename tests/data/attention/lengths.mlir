module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8x4x4xf32>, %arg1: tensor<2x8x4x4xf32>, %arg2: tensor<2x8x4x4xf32>, %arg3: tensor<2x8x4x4xf32>, %arg4: tensor<2xi32>, %arg5: tensor<2xi32>) -> (tensor<2x8x4x4xf32> {jax.result_info = "result[0]"}, tensor<2x8x4x4xf32> {jax.result_info = "result[1]"}, tensor<2x8x4x4xf32> {jax.result_info = "result[2]"}, tensor<2x8x4x4xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.reshape %arg1 : (tensor<2x8x4x4xf32>) -> tensor<2x8x4x1x4xf32>
    %1 = stablehlo.dot_general %0, %arg2, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x4x1x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x4x8x1x8xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x8x1x8xf32>
    %3 = stablehlo.multiply %1, %2 : tensor<2x4x8x1x8xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<2x4x8x8xi1>
    %5 = stablehlo.iota dim = 0 : tensor<8xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [1] : (tensor<8xi32>) -> tensor<1x8x1xi32>
    %7 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<2xi32>) -> tensor<2x1x1xi32>
    %8 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<1x8x1xi32>) -> tensor<2x8x1xi32>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<2x1x1xi32>) -> tensor<2x8x1xi32>
    %10 = stablehlo.compare LT, %8, %9, SIGNED : (tensor<2x8x1xi32>, tensor<2x8x1xi32>) -> tensor<2x8x1xi1>
    %11 = stablehlo.iota dim = 0 : tensor<8xi32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [2] : (tensor<8xi32>) -> tensor<1x1x8xi32>
    %13 = stablehlo.broadcast_in_dim %arg5, dims = [0] : (tensor<2xi32>) -> tensor<2x1x1xi32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<1x1x8xi32>) -> tensor<2x1x8xi32>
    %15 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<2x1x1xi32>) -> tensor<2x1x8xi32>
    %16 = stablehlo.compare LT, %14, %15, SIGNED : (tensor<2x1x8xi32>, tensor<2x1x8xi32>) -> tensor<2x1x8xi1>
    %17 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<2x8x1xi1>) -> tensor<2x8x8xi1>
    %18 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<2x1x8xi1>) -> tensor<2x8x8xi1>
    %19 = stablehlo.and %17, %18 : tensor<2x8x8xi1>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 2, 3] : (tensor<2x8x8xi1>) -> tensor<2x1x8x8xi1>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<2x1x8x8xi1>) -> tensor<2x4x8x8xi1>
    %22 = stablehlo.and %4, %21 : tensor<2x4x8x8xi1>
    %cst_0 = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>
    %23:2 = call @_where(%22, %3, %cst_0) : (tensor<2x4x8x8xi1>, tensor<2x4x8x1x8xf32>, tensor<f32>) -> (tensor<1x2x4x8x8xf32>, tensor<1x2x4x8x8xi1>)
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %24 = stablehlo.reduce(%23#0 init: %cst_1) applies stablehlo.maximum across dimensions = [4] : (tensor<1x2x4x8x8xf32>, tensor<f32>) -> tensor<1x2x4x8xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x2x4x8xf32>
    %26 = stablehlo.maximum %25, %24 : tensor<1x2x4x8xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3] : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8x1xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2, 3, 4] : (tensor<1x2x4x8x1xf32>) -> tensor<1x2x4x8x8xf32>
    %29 = stablehlo.subtract %23#0, %28 : tensor<1x2x4x8x8xf32>
    %30 = stablehlo.exponential %29 : tensor<1x2x4x8x8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.reduce(%30 init: %cst_3) applies stablehlo.add across dimensions = [4] : (tensor<1x2x4x8x8xf32>, tensor<f32>) -> tensor<1x2x4x8xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8x1xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2, 3, 4] : (tensor<1x2x4x8x1xf32>) -> tensor<1x2x4x8x8xf32>
    %34 = stablehlo.divide %30, %33 : tensor<1x2x4x8x8xf32>
    %35 = stablehlo.multiply %32, %32 : tensor<1x2x4x8x1xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x2x4x8x1xf32>
    %37 = stablehlo.divide %36, %35 : tensor<1x2x4x8x1xf32>
    %38 = stablehlo.dot_general %arg3, %34, batching_dims = [0, 2] x [1, 2], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<2x8x4x4xf32>, tensor<1x2x4x8x8xf32>) -> tensor<2x4x4x1x8xf32>
    %39 = stablehlo.transpose %38, dims = [3, 0, 4, 1, 2] : (tensor<2x4x4x1x8xf32>) -> tensor<1x2x8x4x4xf32>
    %40 = stablehlo.iota dim = 0 : tensor<8xi32>
    %41 = stablehlo.broadcast_in_dim %40, dims = [1] : (tensor<8xi32>) -> tensor<1x8xi32>
    %42 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %43 = stablehlo.broadcast_in_dim %41, dims = [0, 1] : (tensor<1x8xi32>) -> tensor<2x8xi32>
    %44 = stablehlo.broadcast_in_dim %42, dims = [0, 1] : (tensor<2x1xi32>) -> tensor<2x8xi32>
    %45 = stablehlo.compare LT, %43, %44, SIGNED : (tensor<2x8xi32>, tensor<2x8xi32>) -> tensor<2x8xi1>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1] : (tensor<2x8xi1>) -> tensor<2x8x1x1xi1>
    %47 = stablehlo.convert %46 : (tensor<2x8x1x1xi1>) -> tensor<2x8x1x1xf32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [1, 2, 3, 4] : (tensor<2x8x1x1xf32>) -> tensor<1x2x8x1x1xf32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [0, 1, 2, 3, 4] : (tensor<1x2x8x1x1xf32>) -> tensor<1x2x8x4x4xf32>
    %50 = stablehlo.multiply %39, %49 : tensor<1x2x8x4x4xf32>
    %51 = stablehlo.transpose %50, dims = [1, 2, 3, 0, 4] : (tensor<1x2x8x4x4xf32>) -> tensor<2x8x4x1x4xf32>
    %52 = stablehlo.reshape %51 : (tensor<2x8x4x1x4xf32>) -> tensor<2x8x4x4xf32>
    %53 = stablehlo.reshape %arg0 : (tensor<2x8x4x4xf32>) -> tensor<2x8x4x1x4xf32>
    %54 = stablehlo.transpose %53, dims = [3, 0, 1, 2, 4] : (tensor<2x8x4x1x4xf32>) -> tensor<1x2x8x4x4xf32>
    %55 = stablehlo.broadcast_in_dim %48, dims = [0, 1, 2, 3, 4] : (tensor<1x2x8x1x1xf32>) -> tensor<1x2x8x4x4xf32>
    %56 = stablehlo.multiply %54, %55 : tensor<1x2x8x4x4xf32>
    %57 = stablehlo.transpose %56, dims = [1, 3, 4, 0, 2] : (tensor<1x2x8x4x4xf32>) -> tensor<2x4x4x1x8xf32>
    %58 = stablehlo.dot_general %57, %arg3, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x4x4x1x8xf32>, tensor<2x8x4x4xf32>) -> tensor<2x4x1x8x8xf32>
    %59 = stablehlo.transpose %58, dims = [2, 0, 1, 3, 4] : (tensor<2x4x1x8x8xf32>) -> tensor<1x2x4x8x8xf32>
    %60 = stablehlo.dot_general %57, %34, batching_dims = [0, 1] x [1, 2], contracting_dims = [3, 4] x [0, 3], precision = [DEFAULT, DEFAULT] : (tensor<2x4x4x1x8xf32>, tensor<1x2x4x8x8xf32>) -> tensor<2x4x4x8xf32>
    %61 = stablehlo.transpose %60, dims = [0, 3, 1, 2] : (tensor<2x4x4x8xf32>) -> tensor<2x8x4x4xf32>
    %62 = stablehlo.broadcast_in_dim %37, dims = [0, 1, 2, 3, 4] : (tensor<1x2x4x8x1xf32>) -> tensor<1x2x4x8x8xf32>
    %63 = stablehlo.multiply %59, %62 : tensor<1x2x4x8x8xf32>
    %64 = stablehlo.multiply %63, %30 : tensor<1x2x4x8x8xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %65 = stablehlo.reduce(%64 init: %cst_5) applies stablehlo.add across dimensions = [4] : (tensor<1x2x4x8x8xf32>, tensor<f32>) -> tensor<1x2x4x8xf32>
    %66 = stablehlo.reshape %65 : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8x1xf32>
    %67 = stablehlo.negate %66 : tensor<1x2x4x8x1xf32>
    %68 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2, 3, 4] : (tensor<1x2x4x8x1xf32>) -> tensor<1x2x4x8x8xf32>
    %69 = stablehlo.divide %59, %68 : tensor<1x2x4x8x8xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %70 = stablehlo.reduce(%67 init: %cst_6) applies stablehlo.add across dimensions = [0, 4] : (tensor<1x2x4x8x1xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %71 = stablehlo.broadcast_in_dim %70, dims = [1, 2, 3] : (tensor<2x4x8xf32>) -> tensor<1x2x4x8xf32>
    %72 = stablehlo.broadcast_in_dim %71, dims = [0, 1, 2, 3] : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8x8xf32>
    %73 = stablehlo.add %69, %72 : tensor<1x2x4x8x8xf32>
    %74 = stablehlo.multiply %73, %30 : tensor<1x2x4x8x8xf32>
    %75 = call @_where_0(%23#1, %74) : (tensor<1x2x4x8x8xi1>, tensor<1x2x4x8x8xf32>) -> tensor<2x4x8x1x8xf32>
    %cst_7 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x4x8x1x8xf32>
    %77 = stablehlo.multiply %75, %76 : tensor<2x4x8x1x8xf32>
    %78 = stablehlo.dot_general %77, %0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2, 3] x [1, 3], precision = [DEFAULT, DEFAULT] : (tensor<2x4x8x1x8xf32>, tensor<2x8x4x1x4xf32>) -> tensor<2x4x8x4xf32>
    %79 = stablehlo.transpose %78, dims = [0, 2, 1, 3] : (tensor<2x4x8x4xf32>) -> tensor<2x8x4x4xf32>
    %80 = stablehlo.dot_general %77, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [4] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x4x8x1x8xf32>, tensor<2x8x4x4xf32>) -> tensor<2x4x8x1x4xf32>
    %81 = stablehlo.transpose %80, dims = [0, 2, 1, 3, 4] : (tensor<2x4x8x1x4xf32>) -> tensor<2x8x4x1x4xf32>
    %82 = stablehlo.reshape %81 : (tensor<2x8x4x1x4xf32>) -> tensor<2x8x4x4xf32>
    return %52, %82, %79, %61 : tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>
  }
  func.func private @_where(%arg0: tensor<2x4x8x8xi1>, %arg1: tensor<2x4x8x1x8xf32>, %arg2: tensor<f32>) -> (tensor<1x2x4x8x8xf32>, tensor<1x2x4x8x8xi1>) {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x4x8x8xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2, 3, 4] : (tensor<2x4x8x8xi1>) -> tensor<1x2x4x8x8xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [1, 2, 3, 4] : (tensor<2x4x8x8xf32>) -> tensor<1x2x4x8x8xf32>
    %3 = stablehlo.transpose %arg1, dims = [3, 0, 1, 2, 4] : (tensor<2x4x8x1x8xf32>) -> tensor<1x2x4x8x8xf32>
    %4 = stablehlo.select %1, %3, %2 : tensor<1x2x4x8x8xi1>, tensor<1x2x4x8x8xf32>
    return %4, %1 : tensor<1x2x4x8x8xf32>, tensor<1x2x4x8x8xi1>
  }
  func.func private @_where_0(%arg0: tensor<1x2x4x8x8xi1>, %arg1: tensor<1x2x4x8x8xf32>) -> tensor<2x4x8x1x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x2x4x8x8xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<1x2x4x8x8xi1>, tensor<1x2x4x8x8xf32>
    %2 = stablehlo.transpose %1, dims = [1, 2, 3, 0, 4] : (tensor<1x2x4x8x8xf32>) -> tensor<2x4x8x1x8xf32>
    return %2 : tensor<2x4x8x1x8xf32>
  }
}
