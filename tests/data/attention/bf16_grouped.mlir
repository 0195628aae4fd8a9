module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8x4x4xbf16>, %arg1: tensor<2x8x4x4xbf16>, %arg2: tensor<2x8x2x4xbf16>, %arg3: tensor<2x8x2x4xbf16>) -> (tensor<2x8x4x4xbf16> {jax.result_info = "result[0]"}, tensor<2x8x4x4xbf16> {jax.result_info = "result[1]"}, tensor<2x8x2x4xbf16> {jax.result_info = "result[2]"}, tensor<2x8x2x4xbf16> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.reshape %arg1 : (tensor<2x8x4x4xbf16>) -> tensor<2x8x2x2x4xbf16>
    %1 = stablehlo.dot_general %0, %arg2, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x8x2x2x4xbf16>, tensor<2x8x2x4xbf16>) -> tensor<2x2x8x2x8xf32>
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
    %cst_1 = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>
    %10:2 = call @_where(%9, %3, %cst_1) : (tensor<2x2x8x8xi1>, tensor<2x2x8x2x8xf32>, tensor<f32>) -> (tensor<2x2x2x8x8xf32>, tensor<2x2x2x8x8xi1>)
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %11 = stablehlo.reduce(%10#0 init: %cst_2) applies stablehlo.maximum across dimensions = [4] : (tensor<2x2x2x8x8xf32>, tensor<f32>) -> tensor<2x2x2x8xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x2x2x8xf32>
    %13 = stablehlo.maximum %12, %11 : tensor<2x2x2x8xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2, 3] : (tensor<2x2x2x8xf32>) -> tensor<2x2x2x8x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x8x1xf32>) -> tensor<2x2x2x8x8xf32>
    %16 = stablehlo.subtract %10#0, %15 : tensor<2x2x2x8x8xf32>
    %17 = stablehlo.exponential %16 : tensor<2x2x2x8x8xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_4) applies stablehlo.add across dimensions = [4] : (tensor<2x2x2x8x8xf32>, tensor<f32>) -> tensor<2x2x2x8xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3] : (tensor<2x2x2x8xf32>) -> tensor<2x2x2x8x1xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x8x1xf32>) -> tensor<2x2x2x8x8xf32>
    %21 = stablehlo.divide %17, %20 : tensor<2x2x2x8x8xf32>
    %22 = stablehlo.multiply %19, %19 : tensor<2x2x2x8x1xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x2x2x8x1xf32>
    %24 = stablehlo.divide %23, %22 : tensor<2x2x2x8x1xf32>
    %25 = stablehlo.convert %21 : (tensor<2x2x2x8x8xf32>) -> tensor<2x2x2x8x8xbf16>
    %26 = stablehlo.dot_general %arg3, %25, batching_dims = [0, 2] x [1, 2], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<2x8x2x4xbf16>, tensor<2x2x2x8x8xbf16>) -> tensor<2x2x4x2x8xbf16>
    %27 = stablehlo.transpose %26, dims = [3, 0, 4, 1, 2] : (tensor<2x2x4x2x8xbf16>) -> tensor<2x2x8x2x4xbf16>
    %28 = stablehlo.transpose %27, dims = [1, 2, 3, 0, 4] : (tensor<2x2x8x2x4xbf16>) -> tensor<2x8x2x2x4xbf16>
    %29 = stablehlo.reshape %28 : (tensor<2x8x2x2x4xbf16>) -> tensor<2x8x4x4xbf16>
    %30 = stablehlo.reshape %arg0 : (tensor<2x8x4x4xbf16>) -> tensor<2x8x2x2x4xbf16>
    %31 = stablehlo.transpose %30, dims = [3, 0, 1, 2, 4] : (tensor<2x8x2x2x4xbf16>) -> tensor<2x2x8x2x4xbf16>
    %32 = stablehlo.transpose %31, dims = [1, 3, 4, 0, 2] : (tensor<2x2x8x2x4xbf16>) -> tensor<2x2x4x2x8xbf16>
    %33 = stablehlo.dot_general %32, %arg3, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x2x4x2x8xbf16>, tensor<2x8x2x4xbf16>) -> tensor<2x2x2x8x8xbf16>
    %34 = stablehlo.transpose %33, dims = [2, 0, 1, 3, 4] : (tensor<2x2x2x8x8xbf16>) -> tensor<2x2x2x8x8xbf16>
    %35 = stablehlo.dot_general %32, %25, batching_dims = [0, 1] x [1, 2], contracting_dims = [3, 4] x [0, 3], precision = [DEFAULT, DEFAULT] : (tensor<2x2x4x2x8xbf16>, tensor<2x2x2x8x8xbf16>) -> tensor<2x2x4x8xbf16>
    %36 = stablehlo.transpose %35, dims = [0, 3, 1, 2] : (tensor<2x2x4x8xbf16>) -> tensor<2x8x2x4xbf16>
    %37 = stablehlo.convert %34 : (tensor<2x2x2x8x8xbf16>) -> tensor<2x2x2x8x8xf32>
    %38 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x8x1xf32>) -> tensor<2x2x2x8x8xf32>
    %39 = stablehlo.multiply %37, %38 : tensor<2x2x2x8x8xf32>
    %40 = stablehlo.multiply %39, %17 : tensor<2x2x2x8x8xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.reduce(%40 init: %cst_6) applies stablehlo.add across dimensions = [4] : (tensor<2x2x2x8x8xf32>, tensor<f32>) -> tensor<2x2x2x8xf32>
    %42 = stablehlo.reshape %41 : (tensor<2x2x2x8xf32>) -> tensor<2x2x2x8x1xf32>
    %43 = stablehlo.negate %42 : tensor<2x2x2x8x1xf32>
    %44 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x8x1xf32>) -> tensor<2x2x2x8x8xf32>
    %45 = stablehlo.divide %37, %44 : tensor<2x2x2x8x8xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.reduce(%43 init: %cst_7) applies stablehlo.add across dimensions = [4] : (tensor<2x2x2x8x1xf32>, tensor<f32>) -> tensor<2x2x2x8xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2, 3] : (tensor<2x2x2x8xf32>) -> tensor<2x2x2x8x8xf32>
    %48 = stablehlo.add %45, %47 : tensor<2x2x2x8x8xf32>
    %49 = stablehlo.multiply %48, %17 : tensor<2x2x2x8x8xf32>
    %50 = call @_where_0(%10#1, %49) : (tensor<2x2x2x8x8xi1>, tensor<2x2x2x8x8xf32>) -> tensor<2x2x8x2x8xf32>
    %cst_8 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x2x8x2x8xf32>
    %52 = stablehlo.multiply %50, %51 : tensor<2x2x8x2x8xf32>
    %53 = stablehlo.dot_general %52, %0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2, 3] x [1, 3], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2x8x2x8xf32>, tensor<2x8x2x2x4xbf16>) -> tensor<2x2x8x4xf32>
    %54 = stablehlo.transpose %53, dims = [0, 2, 1, 3] : (tensor<2x2x8x4xf32>) -> tensor<2x8x2x4xf32>
    %55 = stablehlo.convert %54 : (tensor<2x8x2x4xf32>) -> tensor<2x8x2x4xbf16>
    %56 = stablehlo.dot_general %52, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [4] x [1], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2x8x2x8xf32>, tensor<2x8x2x4xbf16>) -> tensor<2x2x8x2x4xf32>
    %57 = stablehlo.transpose %56, dims = [0, 2, 1, 3, 4] : (tensor<2x2x8x2x4xf32>) -> tensor<2x8x2x2x4xf32>
    %58 = stablehlo.convert %57 : (tensor<2x8x2x2x4xf32>) -> tensor<2x8x2x2x4xbf16>
    %59 = stablehlo.reshape %58 : (tensor<2x8x2x2x4xbf16>) -> tensor<2x8x4x4xbf16>
    return %29, %59, %55, %36 : tensor<2x8x4x4xbf16>, tensor<2x8x4x4xbf16>, tensor<2x8x2x4xbf16>, tensor<2x8x2x4xbf16>
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
