module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8x4x4xbf16>, %arg1: tensor<2x8x4x4xbf16>, %arg2: tensor<2x8x2x4xbf16>, %arg3: tensor<2x8x2x4xbf16>) -> (tensor<2x8x4x4xbf16> {jax.result_info = "result[0]"}, tensor<2x8x4x4xbf16> {jax.result_info = "result[1]"}, tensor<2x8x2x4xbf16> {jax.result_info = "result[2]"}, tensor<2x8x2x4xbf16> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1, 2, 4] : (tensor<2x8x2x4xbf16>) -> tensor<2x8x2x2x4xbf16>
    %1 = stablehlo.reshape %0 : (tensor<2x8x2x2x4xbf16>) -> tensor<2x8x4x4xbf16>
    %2 = stablehlo.broadcast_in_dim %arg3, dims = [0, 1, 2, 4] : (tensor<2x8x2x4xbf16>) -> tensor<2x8x2x2x4xbf16>
    %3 = stablehlo.reshape %2 : (tensor<2x8x2x2x4xbf16>) -> tensor<2x8x4x4xbf16>
    %4 = stablehlo.dot_general %arg1, %1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x4x4xbf16>, tensor<2x8x4x4xbf16>) -> tensor<2x4x8x8xbf16>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<bf16>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2x4x8x8xbf16>
    %6 = stablehlo.divide %4, %5 : tensor<2x4x8x8xbf16>
    %cst_0 = stablehlo.constant dense<3.000000e+01> : tensor<bf16>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<2x4x8x8xbf16>
    %8 = stablehlo.divide %6, %7 : tensor<2x4x8x8xbf16>
    %9 = stablehlo.tanh %8 : tensor<2x4x8x8xbf16>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<2x4x8x8xbf16>
    %11 = stablehlo.subtract %10, %9 : tensor<2x4x8x8xbf16>
    %cst_2 = stablehlo.constant dense<3.000000e+01> : tensor<bf16>
    %12 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<bf16>) -> tensor<2x4x8x8xbf16>
    %13 = stablehlo.multiply %9, %12 : tensor<2x4x8x8xbf16>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %14 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<8x8xi1>
    %15 = call @tril(%14) : (tensor<8x8xi1>) -> tensor<8x8xi1>
    %cst_3 = stablehlo.constant dense<-3.389530e+38> : tensor<bf16>
    %16:2 = call @_where(%15, %13, %cst_3) : (tensor<8x8xi1>, tensor<2x4x8x8xbf16>, tensor<bf16>) -> (tensor<2x4x8x8xbf16>, tensor<2x4x8x8xi1>)
    %17 = stablehlo.convert %16#0 : (tensor<2x4x8x8xbf16>) -> tensor<2x4x8x8xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_4) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x4x8xf32>
    %20 = stablehlo.maximum %19, %18 : tensor<2x4x8xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3] : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %23 = stablehlo.subtract %17, %22 : tensor<2x4x8x8xf32>
    %24 = stablehlo.exponential %23 : tensor<2x4x8x8xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%24 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3] : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %28 = stablehlo.divide %24, %27 : tensor<2x4x8x8xf32>
    %29 = stablehlo.multiply %26, %26 : tensor<2x4x8x1xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x4x8x1xf32>
    %31 = stablehlo.divide %30, %29 : tensor<2x4x8x1xf32>
    %32 = stablehlo.convert %28 : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xbf16>
    %33 = stablehlo.dot_general %3, %32, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x4x4xbf16>, tensor<2x4x8x8xbf16>) -> tensor<2x4x4x8xbf16>
    %34 = stablehlo.transpose %33, dims = [0, 3, 1, 2] : (tensor<2x4x4x8xbf16>) -> tensor<2x8x4x4xbf16>
    %35 = stablehlo.transpose %arg0, dims = [0, 2, 3, 1] : (tensor<2x8x4x4xbf16>) -> tensor<2x4x4x8xbf16>
    %36 = stablehlo.dot_general %35, %3, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x4x4x8xbf16>, tensor<2x8x4x4xbf16>) -> tensor<2x4x8x8xbf16>
    %37 = stablehlo.dot_general %35, %32, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x4x4x8xbf16>, tensor<2x4x8x8xbf16>) -> tensor<2x4x4x8xbf16>
    %38 = stablehlo.transpose %37, dims = [0, 3, 1, 2] : (tensor<2x4x4x8xbf16>) -> tensor<2x8x4x4xbf16>
    %39 = stablehlo.convert %36 : (tensor<2x4x8x8xbf16>) -> tensor<2x4x8x8xf32>
    %40 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %41 = stablehlo.multiply %39, %40 : tensor<2x4x8x8xf32>
    %42 = stablehlo.multiply %41, %24 : tensor<2x4x8x8xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.reduce(%42 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %44 = stablehlo.reshape %43 : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %45 = stablehlo.negate %44 : tensor<2x4x8x1xf32>
    %46 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3] : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %47 = stablehlo.divide %39, %46 : tensor<2x4x8x8xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.reduce(%45 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<2x4x8x1xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<2x4x8x8xf32>
    %50 = stablehlo.add %47, %49 : tensor<2x4x8x8xf32>
    %51 = stablehlo.multiply %50, %24 : tensor<2x4x8x8xf32>
    %52 = stablehlo.convert %51 : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xbf16>
    %53 = call @_where_0(%16#1, %52) : (tensor<2x4x8x8xi1>, tensor<2x4x8x8xbf16>) -> tensor<2x4x8x8xbf16>
    %cst_10 = stablehlo.constant dense<3.000000e+01> : tensor<bf16>
    %54 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<bf16>) -> tensor<2x4x8x8xbf16>
    %55 = stablehlo.multiply %53, %54 : tensor<2x4x8x8xbf16>
    %56 = stablehlo.multiply %55, %11 : tensor<2x4x8x8xbf16>
    %57 = stablehlo.multiply %56, %9 : tensor<2x4x8x8xbf16>
    %58 = stablehlo.add %56, %57 : tensor<2x4x8x8xbf16>
    %cst_11 = stablehlo.constant dense<3.000000e+01> : tensor<bf16>
    %59 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<bf16>) -> tensor<2x4x8x8xbf16>
    %60 = stablehlo.divide %58, %59 : tensor<2x4x8x8xbf16>
    %cst_12 = stablehlo.constant dense<2.000000e+00> : tensor<bf16>
    %61 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<bf16>) -> tensor<2x4x8x8xbf16>
    %62 = stablehlo.divide %60, %61 : tensor<2x4x8x8xbf16>
    %63 = stablehlo.dot_general %62, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x4x8x8xbf16>, tensor<2x8x4x4xbf16>) -> tensor<2x4x8x4xbf16>
    %64 = stablehlo.transpose %63, dims = [0, 2, 1, 3] : (tensor<2x4x8x4xbf16>) -> tensor<2x8x4x4xbf16>
    %65 = stablehlo.dot_general %62, %1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x4x8x8xbf16>, tensor<2x8x4x4xbf16>) -> tensor<2x4x8x4xbf16>
    %66 = stablehlo.transpose %65, dims = [0, 2, 1, 3] : (tensor<2x4x8x4xbf16>) -> tensor<2x8x4x4xbf16>
    %67 = stablehlo.reshape %38 : (tensor<2x8x4x4xbf16>) -> tensor<2x8x2x2x4xbf16>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %68 = stablehlo.reduce(%67 init: %cst_13) applies stablehlo.add across dimensions = [3] : (tensor<2x8x2x2x4xbf16>, tensor<bf16>) -> tensor<2x8x2x4xbf16>
    %69 = stablehlo.reshape %64 : (tensor<2x8x4x4xbf16>) -> tensor<2x8x2x2x4xbf16>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %70 = stablehlo.reduce(%69 init: %cst_14) applies stablehlo.add across dimensions = [3] : (tensor<2x8x2x2x4xbf16>, tensor<bf16>) -> tensor<2x8x2x4xbf16>
    return %34, %66, %70, %68 : tensor<2x8x4x4xbf16>, tensor<2x8x4x4xbf16>, tensor<2x8x2x4xbf16>, tensor<2x8x2x4xbf16>
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
  func.func private @_where(%arg0: tensor<8x8xi1>, %arg1: tensor<2x4x8x8xbf16>, %arg2: tensor<bf16>) -> (tensor<2x4x8x8xbf16>, tensor<2x4x8x8xi1>) {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<8x8xi1>) -> tensor<2x4x8x8xi1>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<bf16>) -> tensor<2x4x8x8xbf16>
    %2 = stablehlo.select %0, %arg1, %1 : tensor<2x4x8x8xi1>, tensor<2x4x8x8xbf16>
    return %2, %0 : tensor<2x4x8x8xbf16>, tensor<2x4x8x8xi1>
  }
  func.func private @_where_0(%arg0: tensor<2x4x8x8xi1>, %arg1: tensor<2x4x8x8xbf16>) -> tensor<2x4x8x8xbf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2x4x8x8xbf16>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2x4x8x8xi1>, tensor<2x4x8x8xbf16>
    return %1 : tensor<2x4x8x8xbf16>
  }
}
