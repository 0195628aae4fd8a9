module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8x4x4xbf16>, %arg1: tensor<2x8x4x4xbf16>, %arg2: tensor<2x8x2x4xbf16>, %arg3: tensor<2x8x2x4xbf16>) -> (tensor<2x8x4x4xbf16> {jax.result_info = "result[0]"}, tensor<2x8x4x4xbf16> {jax.result_info = "result[1]"}, tensor<2x8x2x4xbf16> {jax.result_info = "result[2]"}, tensor<2x8x2x4xbf16> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.reshape %arg1 : (tensor<2x8x4x4xbf16>) -> tensor<2x8x2x2x4xbf16>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2x8x2x2x4xbf16>
    %2 = stablehlo.multiply %0, %1 : tensor<2x8x2x2x4xbf16>
    %3 = stablehlo.dot_general %arg2, %2, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [4], precision = [DEFAULT, DEFAULT] : (tensor<2x8x2x4xbf16>, tensor<2x8x2x2x4xbf16>) -> tensor<2x2x8x8x2xbf16>
    %4 = stablehlo.transpose %3, dims = [0, 3, 1, 4, 2] : (tensor<2x2x8x8x2xbf16>) -> tensor<2x8x2x2x8xbf16>
    %5 = stablehlo.reshape %4 : (tensor<2x8x2x2x8xbf16>) -> tensor<2x8x4x8xbf16>
    %cst_0 = stablehlo.constant dense<5.000000e+01> : tensor<bf16>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<2x8x4x8xbf16>
    %7 = stablehlo.divide %5, %6 : tensor<2x8x4x8xbf16>
    %8 = stablehlo.tanh %7 : tensor<2x8x4x8xbf16>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<2x8x4x8xbf16>
    %10 = stablehlo.subtract %9, %8 : tensor<2x8x4x8xbf16>
    %cst_2 = stablehlo.constant dense<5.000000e+01> : tensor<bf16>
    %11 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<bf16>) -> tensor<2x8x4x8xbf16>
    %12 = stablehlo.multiply %8, %11 : tensor<2x8x4x8xbf16>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %13 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<8x8xi1>
    %14 = call @tril(%13) : (tensor<8x8xi1>) -> tensor<8x8xi1>
    %15 = stablehlo.broadcast_in_dim %14, dims = [1, 3] : (tensor<8x8xi1>) -> tensor<1x8x1x8xi1>
    %cst_3 = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>
    %16:2 = call @_where(%15, %12, %cst_3) : (tensor<1x8x1x8xi1>, tensor<2x8x4x8xbf16>, tensor<f32>) -> (tensor<2x8x4x8xbf16>, tensor<2x8x4x8xi1>)
    %cst_4 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %17 = stablehlo.reduce(%16#0 init: %cst_4) applies stablehlo.maximum across dimensions = [3] : (tensor<2x8x4x8xbf16>, tensor<bf16>) -> tensor<2x8x4xbf16>
    %cst_5 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %18 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<bf16>) -> tensor<2x8x4xbf16>
    %19 = stablehlo.maximum %18, %17 : tensor<2x8x4xbf16>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<2x8x4xbf16>) -> tensor<2x8x4x1xbf16>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<2x8x4x1xbf16>) -> tensor<2x8x4x8xbf16>
    %22 = stablehlo.subtract %16#0, %21 : tensor<2x8x4x8xbf16>
    %23 = stablehlo.exponential %22 : tensor<2x8x4x8xbf16>
    %24 = stablehlo.convert %23 : (tensor<2x8x4x8xbf16>) -> tensor<2x8x4x8xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%24 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<2x8x4x8xf32>, tensor<f32>) -> tensor<2x8x4xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<2x8x4xf32>) -> tensor<2x8x4x1xf32>
    %27 = stablehlo.convert %26 : (tensor<2x8x4x1xf32>) -> tensor<2x8x4x1xbf16>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2, 3] : (tensor<2x8x4x1xbf16>) -> tensor<2x8x4x8xbf16>
    %29 = stablehlo.divide %23, %28 : tensor<2x8x4x8xbf16>
    %30 = stablehlo.multiply %27, %27 : tensor<2x8x4x1xbf16>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %31 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<bf16>) -> tensor<2x8x4x1xbf16>
    %32 = stablehlo.divide %31, %30 : tensor<2x8x4x1xbf16>
    %33 = stablehlo.reshape %29 : (tensor<2x8x4x8xbf16>) -> tensor<2x8x2x2x8xbf16>
    %34 = stablehlo.dot_general %arg3, %33, batching_dims = [0, 2] x [0, 2], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<2x8x2x4xbf16>, tensor<2x8x2x2x8xbf16>) -> tensor<2x2x4x8x2xbf16>
    %35 = stablehlo.transpose %34, dims = [0, 3, 1, 4, 2] : (tensor<2x2x4x8x2xbf16>) -> tensor<2x8x2x2x4xbf16>
    %36 = stablehlo.reshape %35 : (tensor<2x8x2x2x4xbf16>) -> tensor<2x8x4x4xbf16>
    %37 = stablehlo.reshape %arg0 : (tensor<2x8x4x4xbf16>) -> tensor<2x8x2x2x4xbf16>
    %38 = stablehlo.transpose %37, dims = [0, 2, 4, 1, 3] : (tensor<2x8x2x2x4xbf16>) -> tensor<2x2x4x8x2xbf16>
    %39 = stablehlo.dot_general %38, %arg3, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x2x4x8x2xbf16>, tensor<2x8x2x4xbf16>) -> tensor<2x2x8x2x8xbf16>
    %40 = stablehlo.transpose %39, dims = [0, 2, 1, 3, 4] : (tensor<2x2x8x2x8xbf16>) -> tensor<2x8x2x2x8xbf16>
    %41 = stablehlo.dot_general %38, %33, batching_dims = [0, 1] x [0, 2], contracting_dims = [3, 4] x [1, 3], precision = [DEFAULT, DEFAULT] : (tensor<2x2x4x8x2xbf16>, tensor<2x8x2x2x8xbf16>) -> tensor<2x2x4x8xbf16>
    %42 = stablehlo.transpose %41, dims = [0, 3, 1, 2] : (tensor<2x2x4x8xbf16>) -> tensor<2x8x2x4xbf16>
    %43 = stablehlo.reshape %40 : (tensor<2x8x2x2x8xbf16>) -> tensor<2x8x4x8xbf16>
    %44 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2, 3] : (tensor<2x8x4x1xbf16>) -> tensor<2x8x4x8xbf16>
    %45 = stablehlo.multiply %43, %44 : tensor<2x8x4x8xbf16>
    %46 = stablehlo.multiply %45, %23 : tensor<2x8x4x8xbf16>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %47 = stablehlo.reduce(%46 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<2x8x4x8xbf16>, tensor<bf16>) -> tensor<2x8x4xbf16>
    %48 = stablehlo.reshape %47 : (tensor<2x8x4xbf16>) -> tensor<2x8x4x1xbf16>
    %49 = stablehlo.negate %48 : tensor<2x8x4x1xbf16>
    %50 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2, 3] : (tensor<2x8x4x1xbf16>) -> tensor<2x8x4x8xbf16>
    %51 = stablehlo.divide %43, %50 : tensor<2x8x4x8xbf16>
    %52 = stablehlo.convert %49 : (tensor<2x8x4x1xbf16>) -> tensor<2x8x4x1xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %53 = stablehlo.reduce(%52 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<2x8x4x1xf32>, tensor<f32>) -> tensor<2x8x4xf32>
    %54 = stablehlo.broadcast_in_dim %53, dims = [0, 1, 2] : (tensor<2x8x4xf32>) -> tensor<2x8x4x8xf32>
    %55 = stablehlo.convert %54 : (tensor<2x8x4x8xf32>) -> tensor<2x8x4x8xbf16>
    %56 = stablehlo.add %51, %55 : tensor<2x8x4x8xbf16>
    %57 = stablehlo.multiply %56, %23 : tensor<2x8x4x8xbf16>
    %58 = call @_where_0(%16#1, %57) : (tensor<2x8x4x8xi1>, tensor<2x8x4x8xbf16>) -> tensor<2x8x4x8xbf16>
    %cst_10 = stablehlo.constant dense<5.000000e+01> : tensor<bf16>
    %59 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<bf16>) -> tensor<2x8x4x8xbf16>
    %60 = stablehlo.multiply %58, %59 : tensor<2x8x4x8xbf16>
    %61 = stablehlo.multiply %60, %10 : tensor<2x8x4x8xbf16>
    %62 = stablehlo.multiply %61, %8 : tensor<2x8x4x8xbf16>
    %63 = stablehlo.add %61, %62 : tensor<2x8x4x8xbf16>
    %cst_11 = stablehlo.constant dense<5.000000e+01> : tensor<bf16>
    %64 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<bf16>) -> tensor<2x8x4x8xbf16>
    %65 = stablehlo.divide %63, %64 : tensor<2x8x4x8xbf16>
    %66 = stablehlo.reshape %65 : (tensor<2x8x4x8xbf16>) -> tensor<2x8x2x2x8xbf16>
    %67 = stablehlo.transpose %66, dims = [0, 2, 4, 1, 3] : (tensor<2x8x2x2x8xbf16>) -> tensor<2x2x8x8x2xbf16>
    %68 = stablehlo.dot_general %67, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2x8x8x2xbf16>, tensor<2x8x2x4xbf16>) -> tensor<2x2x8x2x4xbf16>
    %69 = stablehlo.transpose %68, dims = [0, 2, 1, 3, 4] : (tensor<2x2x8x2x4xbf16>) -> tensor<2x8x2x2x4xbf16>
    %70 = stablehlo.dot_general %67, %2, batching_dims = [0, 1] x [0, 2], contracting_dims = [3, 4] x [1, 3], precision = [DEFAULT, DEFAULT] : (tensor<2x2x8x8x2xbf16>, tensor<2x8x2x2x4xbf16>) -> tensor<2x2x8x4xbf16>
    %71 = stablehlo.transpose %70, dims = [0, 2, 1, 3] : (tensor<2x2x8x4xbf16>) -> tensor<2x8x2x4xbf16>
    %cst_12 = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %72 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<bf16>) -> tensor<2x8x2x2x4xbf16>
    %73 = stablehlo.multiply %69, %72 : tensor<2x8x2x2x4xbf16>
    %74 = stablehlo.reshape %73 : (tensor<2x8x2x2x4xbf16>) -> tensor<2x8x4x4xbf16>
    return %36, %74, %71, %42 : tensor<2x8x4x4xbf16>, tensor<2x8x4x4xbf16>, tensor<2x8x2x4xbf16>, tensor<2x8x2x4xbf16>
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
  func.func private @_where(%arg0: tensor<1x8x1x8xi1>, %arg1: tensor<2x8x4x8xbf16>, %arg2: tensor<f32>) -> (tensor<2x8x4x8xbf16>, tensor<2x8x4x8xi1>) {
    %0 = stablehlo.convert %arg2 : (tensor<f32>) -> tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 2, 3] : (tensor<1x8x1x8xi1>) -> tensor<2x8x4x8xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<bf16>) -> tensor<2x8x4x8xbf16>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x8x4x8xi1>, tensor<2x8x4x8xbf16>
    return %3, %1 : tensor<2x8x4x8xbf16>, tensor<2x8x4x8xi1>
  }
  func.func private @_where_0(%arg0: tensor<2x8x4x8xi1>, %arg1: tensor<2x8x4x8xbf16>) -> tensor<2x8x4x8xbf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2x8x4x8xbf16>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2x8x4x8xi1>, tensor<2x8x4x8xbf16>
    return %1 : tensor<2x8x4x8xbf16>
  }
}
