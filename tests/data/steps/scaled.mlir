// pppppooooooooooosoii
module @jit_scaled attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<10x6xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<11x6xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<10xf32> {tf.aliasing_output = 3 : i32}, %arg4: tensor<6x10xf32> {tf.aliasing_output = 4 : i32}, %arg5: tensor<i32> {tf.aliasing_output = 5 : i32}, %arg6: tensor<6xf32> {tf.aliasing_output = 6 : i32}, %arg7: tensor<10x6xf32> {tf.aliasing_output = 7 : i32}, %arg8: tensor<11x6xf32> {tf.aliasing_output = 8 : i32}, %arg9: tensor<10xf32> {tf.aliasing_output = 9 : i32}, %arg10: tensor<6x10xf32> {tf.aliasing_output = 10 : i32}, %arg11: tensor<6xf32> {tf.aliasing_output = 11 : i32}, %arg12: tensor<10x6xf32> {tf.aliasing_output = 12 : i32}, %arg13: tensor<11x6xf32> {tf.aliasing_output = 13 : i32}, %arg14: tensor<10xf32> {tf.aliasing_output = 14 : i32}, %arg15: tensor<6x10xf32> {tf.aliasing_output = 15 : i32}, %arg16: tensor<f32> {tf.aliasing_output = 16 : i32}, %arg17: tensor<i32> {tf.aliasing_output = 17 : i32}, %arg18: tensor<4x3xi32>, %arg19: tensor<4x3xi32>) -> (tensor<6xf32> {jax.result_info = "result[0]['down']['g']"}, tensor<10x6xf32> {jax.result_info = "result[0]['down']['w']"}, tensor<11x6xf32> {jax.result_info = "result[0]['emb']"}, tensor<10xf32> {jax.result_info = "result[0]['up']['b']"}, tensor<6x10xf32> {jax.result_info = "result[0]['up']['w']"}, tensor<i32> {jax.result_info = "result[1][0].count"}, tensor<6xf32> {jax.result_info = "result[1][0].mu['down']['g']"}, tensor<10x6xf32> {jax.result_info = "result[1][0].mu['down']['w']"}, tensor<11x6xf32> {jax.result_info = "result[1][0].mu['emb']"}, tensor<10xf32> {jax.result_info = "result[1][0].mu['up']['b']"}, tensor<6x10xf32> {jax.result_info = "result[1][0].mu['up']['w']"}, tensor<6xf32> {jax.result_info = "result[1][0].nu['down']['g']"}, tensor<10x6xf32> {jax.result_info = "result[1][0].nu['down']['w']"}, tensor<11x6xf32> {jax.result_info = "result[1][0].nu['emb']"}, tensor<10xf32> {jax.result_info = "result[1][0].nu['up']['b']"}, tensor<6x10xf32> {jax.result_info = "result[1][0].nu['up']['w']"}, tensor<f32> {jax.result_info = "result[2]"}, tensor<i32> {jax.result_info = "result[3]"}, tensor<f32> {jax.result_info = "result[4]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x3xi32>
    %1 = stablehlo.compare LT, %arg18, %0, SIGNED : (tensor<4x3xi32>, tensor<4x3xi32>) -> tensor<4x3xi1>
    %c_0 = stablehlo.constant dense<11> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x3xi32>
    %3 = stablehlo.add %arg18, %2 : tensor<4x3xi32>
    %4 = stablehlo.select %1, %3, %arg18 : tensor<4x3xi1>, tensor<4x3xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<4x3xi32>) -> tensor<4x3x1xi32>
    %6 = "stablehlo.gather"(%arg2, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 6>}> : (tensor<11x6xf32>, tensor<4x3x1xi32>) -> tensor<4x3x6xf32>
    %7 = stablehlo.dot_general %6, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3x6xf32>, tensor<6x10xf32>) -> tensor<4x3x10xf32>
    %8 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<10xf32>) -> tensor<1x1x10xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x10xf32>) -> tensor<4x3x10xf32>
    %10 = stablehlo.add %7, %9 : tensor<4x3x10xf32>
    %11 = call @relu(%10) : (tensor<4x3x10xf32>) -> tensor<4x3x10xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x3x10xf32>
    %13 = stablehlo.compare GT, %10, %12, FLOAT : (tensor<4x3x10xf32>, tensor<4x3x10xf32>) -> tensor<4x3x10xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x3x10xf32>
    %15 = stablehlo.dot_general %11, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3x10xf32>, tensor<10x6xf32>) -> tensor<4x3x6xf32>
    %16 = stablehlo.multiply %15, %15 : tensor<4x3x6xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<4x3x6xf32>, tensor<f32>) -> tensor<4x3xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3x1xf32>
    %cst_3 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x3x1xf32>
    %20 = stablehlo.divide %18, %19 : tensor<4x3x1xf32>
    %cst_4 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x3x1xf32>
    %22 = stablehlo.add %20, %21 : tensor<4x3x1xf32>
    %23 = stablehlo.rsqrt %22 : tensor<4x3x1xf32>
    %24 = stablehlo.divide %23, %22 : tensor<4x3x1xf32>
    %cst_5 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x3x1xf32>
    %26 = stablehlo.multiply %25, %24 : tensor<4x3x1xf32>
    %27 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<4x3x1xf32>) -> tensor<4x3x6xf32>
    %28 = stablehlo.multiply %15, %27 : tensor<4x3x6xf32>
    %29 = stablehlo.broadcast_in_dim %arg0, dims = [2] : (tensor<6xf32>) -> tensor<1x1x6xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<1x1x6xf32>) -> tensor<4x3x6xf32>
    %31 = stablehlo.multiply %28, %30 : tensor<4x3x6xf32>
    %32 = stablehlo.add %6, %31 : tensor<4x3x6xf32>
    %33 = stablehlo.transpose %arg2, dims = [1, 0] : (tensor<11x6xf32>) -> tensor<6x11xf32>
    %34 = stablehlo.dot_general %32, %33, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3x6xf32>, tensor<6x11xf32>) -> tensor<4x3x11xf32>
    %35 = stablehlo.broadcast_in_dim %arg19, dims = [0, 1] : (tensor<4x3xi32>) -> tensor<4x3x1xi32>
    %36:2 = call @take_along_axis(%34, %35) : (tensor<4x3x11xf32>, tensor<4x3x1xi32>) -> (tensor<4x3x1xf32>, tensor<4x3x1x1xi32>)
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %37:2 = call @_take(%36#0, %c_6) : (tensor<4x3x1xf32>, tensor<i32>) -> (tensor<4x3xf32>, tensor<1xi32>)
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %38 = stablehlo.reduce(%34 init: %cst_7) applies stablehlo.maximum across dimensions = [2] : (tensor<4x3x11xf32>, tensor<f32>) -> tensor<4x3xf32>
    %39 = stablehlo.reshape %38 : (tensor<4x3xf32>) -> tensor<4x3x1xf32>
    %40 = stablehlo.broadcast_in_dim %39, dims = [0, 1, 2] : (tensor<4x3x1xf32>) -> tensor<4x3x11xf32>
    %41 = stablehlo.compare EQ, %34, %40, FLOAT : (tensor<4x3x11xf32>, tensor<4x3x11xf32>) -> tensor<4x3x11xi1>
    %42 = stablehlo.convert %41 : (tensor<4x3x11xi1>) -> tensor<4x3x11xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.reduce(%42 init: %cst_8) applies stablehlo.add across dimensions = [2] : (tensor<4x3x11xf32>, tensor<f32>) -> tensor<4x3xf32>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %45 = stablehlo.maximum %44, %38 : tensor<4x3xf32>
    %46 = stablehlo.compare EQ, %38, %45, FLOAT : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %49 = stablehlo.select %46, %47, %48 : tensor<4x3xi1>, tensor<4x3xf32>
    %cst_12 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %51 = stablehlo.compare EQ, %50, %45, FLOAT : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
    %cst_13 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %54 = stablehlo.select %51, %52, %53 : tensor<4x3xi1>, tensor<4x3xf32>
    %55 = stablehlo.divide %49, %54 : tensor<4x3xf32>
    %56 = stablehlo.is_finite %45 : (tensor<4x3xf32>) -> tensor<4x3xi1>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %58 = stablehlo.select %56, %45, %57 : tensor<4x3xi1>, tensor<4x3xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %60 = stablehlo.broadcast_in_dim %58, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3x1xf32>
    %61 = stablehlo.broadcast_in_dim %60, dims = [0, 1, 2] : (tensor<4x3x1xf32>) -> tensor<4x3x11xf32>
    %62 = stablehlo.subtract %34, %61 : tensor<4x3x11xf32>
    %63 = stablehlo.exponential %62 : tensor<4x3x11xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %64 = stablehlo.reduce(%63 init: %cst_17) applies stablehlo.add across dimensions = [2] : (tensor<4x3x11xf32>, tensor<f32>) -> tensor<4x3xf32>
    %65 = stablehlo.sign %64 : tensor<4x3xf32>
    %66 = stablehlo.abs %64 : tensor<4x3xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %68 = stablehlo.compare GE, %64, %67, FLOAT : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
    %69 = stablehlo.log %66 : tensor<4x3xf32>
    %70 = stablehlo.add %69, %58 : tensor<4x3xf32>
    %71 = stablehlo.subtract %70, %37#0 : tensor<4x3xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %72 = stablehlo.reduce(%71 init: %cst_19) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<f32>
    %cst_20 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %73 = stablehlo.divide %72, %cst_20 : tensor<f32>
    %74 = stablehlo.multiply %73, %arg16 : tensor<f32>
    %cst_21 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %75 = stablehlo.multiply %cst_21, %arg16 : tensor<f32>
    %cst_22 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %76 = stablehlo.divide %75, %cst_22 : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %76, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %78 = stablehlo.negate %77 : tensor<4x3xf32>
    %79 = stablehlo.divide %77, %66 : tensor<4x3xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %80 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %81 = stablehlo.select %68, %80, %79 : tensor<4x3xi1>, tensor<4x3xf32>
    %82 = stablehlo.select %68, %79, %80 : tensor<4x3xi1>, tensor<4x3xf32>
    %83 = stablehlo.negate %81 : tensor<4x3xf32>
    %84 = stablehlo.add %82, %83 : tensor<4x3xf32>
    %85 = stablehlo.broadcast_in_dim %84, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3x11xf32>
    %86 = stablehlo.multiply %85, %63 : tensor<4x3x11xf32>
    %87 = call @_take_0(%37#1, %78) : (tensor<1xi32>, tensor<4x3xf32>) -> tensor<4x3x1xf32>
    %88 = call @take_along_axis_1(%36#1, %87) : (tensor<4x3x1x1xi32>, tensor<4x3x1xf32>) -> tensor<4x3x11xf32>
    %89 = stablehlo.add %86, %88 : tensor<4x3x11xf32>
    %90 = stablehlo.dot_general %89, %32, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x11xf32>, tensor<4x3x6xf32>) -> tensor<11x6xf32>
    %91 = stablehlo.transpose %90, dims = [1, 0] : (tensor<11x6xf32>) -> tensor<6x11xf32>
    %92 = stablehlo.dot_general %89, %33, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x11xf32>, tensor<6x11xf32>) -> tensor<4x3x6xf32>
    %93 = stablehlo.transpose %91, dims = [1, 0] : (tensor<6x11xf32>) -> tensor<11x6xf32>
    %94 = stablehlo.multiply %28, %92 : tensor<4x3x6xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %95 = stablehlo.reduce(%94 init: %cst_24) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x3x6xf32>, tensor<f32>) -> tensor<6xf32>
    %96 = stablehlo.reshape %95 : (tensor<6xf32>) -> tensor<1x1x6xf32>
    %97 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<1x1x6xf32>) -> tensor<4x3x6xf32>
    %98 = stablehlo.multiply %92, %97 : tensor<4x3x6xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %99 = stablehlo.reduce(%96 init: %cst_25) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x6xf32>, tensor<f32>) -> tensor<6xf32>
    %100 = stablehlo.multiply %15, %98 : tensor<4x3x6xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %101 = stablehlo.reduce(%100 init: %cst_26) applies stablehlo.add across dimensions = [2] : (tensor<4x3x6xf32>, tensor<f32>) -> tensor<4x3xf32>
    %102 = stablehlo.reshape %101 : (tensor<4x3xf32>) -> tensor<4x3x1xf32>
    %103 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<4x3x1xf32>) -> tensor<4x3x6xf32>
    %104 = stablehlo.multiply %98, %103 : tensor<4x3x6xf32>
    %105 = stablehlo.multiply %102, %26 : tensor<4x3x1xf32>
    %cst_27 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %106 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<4x3x1xf32>
    %107 = stablehlo.divide %105, %106 : tensor<4x3x1xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %108 = stablehlo.reduce(%107 init: %cst_28) applies stablehlo.add across dimensions = [2] : (tensor<4x3x1xf32>, tensor<f32>) -> tensor<4x3xf32>
    %109 = stablehlo.broadcast_in_dim %108, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3x6xf32>
    %110 = stablehlo.multiply %15, %109 : tensor<4x3x6xf32>
    %111 = stablehlo.add %104, %110 : tensor<4x3x6xf32>
    %112 = stablehlo.multiply %109, %15 : tensor<4x3x6xf32>
    %113 = stablehlo.add %111, %112 : tensor<4x3x6xf32>
    %114 = stablehlo.dot_general %113, %11, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x6xf32>, tensor<4x3x10xf32>) -> tensor<6x10xf32>
    %115 = stablehlo.transpose %114, dims = [1, 0] : (tensor<6x10xf32>) -> tensor<10x6xf32>
    %116 = stablehlo.dot_general %113, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x6xf32>, tensor<10x6xf32>) -> tensor<4x3x10xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %117 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<4x3x10xf32>
    %118 = stablehlo.select %13, %116, %117 : tensor<4x3x10xi1>, tensor<4x3x10xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %119 = stablehlo.reduce(%118 init: %cst_30) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x3x10xf32>, tensor<f32>) -> tensor<10xf32>
    %120 = stablehlo.reshape %119 : (tensor<10xf32>) -> tensor<1x1x10xf32>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %121 = stablehlo.reduce(%120 init: %cst_31) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x10xf32>, tensor<f32>) -> tensor<10xf32>
    %122 = stablehlo.dot_general %118, %6, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x10xf32>, tensor<4x3x6xf32>) -> tensor<10x6xf32>
    %123 = stablehlo.transpose %122, dims = [1, 0] : (tensor<10x6xf32>) -> tensor<6x10xf32>
    %124 = stablehlo.dot_general %118, %arg4, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x10xf32>, tensor<6x10xf32>) -> tensor<4x3x6xf32>
    %125 = stablehlo.add %92, %124 : tensor<4x3x6xf32>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %126 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %127 = "stablehlo.scatter"(%126, %5, %125) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg20: tensor<f32>, %arg21: tensor<f32>):
      %325 = stablehlo.add %arg20, %arg21 : tensor<f32>
      stablehlo.return %325 : tensor<f32>
    }) : (tensor<11x6xf32>, tensor<4x3x1xi32>, tensor<4x3x6xf32>) -> tensor<11x6xf32>
    %128 = stablehlo.add %93, %127 : tensor<11x6xf32>
    %129 = stablehlo.broadcast_in_dim %arg16, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %130 = stablehlo.divide %99, %129 : tensor<6xf32>
    %131 = stablehlo.broadcast_in_dim %arg16, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %132 = stablehlo.divide %115, %131 : tensor<10x6xf32>
    %133 = stablehlo.broadcast_in_dim %arg16, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %134 = stablehlo.divide %128, %133 : tensor<11x6xf32>
    %135 = stablehlo.broadcast_in_dim %arg16, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %136 = stablehlo.divide %121, %135 : tensor<10xf32>
    %137 = stablehlo.broadcast_in_dim %arg16, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %138 = stablehlo.divide %123, %137 : tensor<6x10xf32>
    %139 = stablehlo.is_finite %130 : (tensor<6xf32>) -> tensor<6xi1>
    %c_33 = stablehlo.constant dense<true> : tensor<i1>
    %140 = stablehlo.reduce(%139 init: %c_33) applies stablehlo.and across dimensions = [0] : (tensor<6xi1>, tensor<i1>) -> tensor<i1>
    %141 = stablehlo.is_finite %132 : (tensor<10x6xf32>) -> tensor<10x6xi1>
    %c_34 = stablehlo.constant dense<true> : tensor<i1>
    %142 = stablehlo.reduce(%141 init: %c_34) applies stablehlo.and across dimensions = [0, 1] : (tensor<10x6xi1>, tensor<i1>) -> tensor<i1>
    %143 = stablehlo.is_finite %134 : (tensor<11x6xf32>) -> tensor<11x6xi1>
    %c_35 = stablehlo.constant dense<true> : tensor<i1>
    %144 = stablehlo.reduce(%143 init: %c_35) applies stablehlo.and across dimensions = [0, 1] : (tensor<11x6xi1>, tensor<i1>) -> tensor<i1>
    %145 = stablehlo.is_finite %136 : (tensor<10xf32>) -> tensor<10xi1>
    %c_36 = stablehlo.constant dense<true> : tensor<i1>
    %146 = stablehlo.reduce(%145 init: %c_36) applies stablehlo.and across dimensions = [0] : (tensor<10xi1>, tensor<i1>) -> tensor<i1>
    %147 = stablehlo.is_finite %138 : (tensor<6x10xf32>) -> tensor<6x10xi1>
    %c_37 = stablehlo.constant dense<true> : tensor<i1>
    %148 = stablehlo.reduce(%147 init: %c_37) applies stablehlo.and across dimensions = [0, 1] : (tensor<6x10xi1>, tensor<i1>) -> tensor<i1>
    %149 = stablehlo.broadcast_in_dim %140, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %150 = stablehlo.broadcast_in_dim %142, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %151 = stablehlo.broadcast_in_dim %144, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %152 = stablehlo.broadcast_in_dim %146, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %153 = stablehlo.broadcast_in_dim %148, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %154 = stablehlo.concatenate %149, %150, %151, %152, %153, dim = 0 : (tensor<1xi1>, tensor<1xi1>, tensor<1xi1>, tensor<1xi1>, tensor<1xi1>) -> tensor<5xi1>
    %c_38 = stablehlo.constant dense<true> : tensor<i1>
    %155 = stablehlo.reduce(%154 init: %c_38) applies stablehlo.and across dimensions = [0] : (tensor<5xi1>, tensor<i1>) -> tensor<i1>
    %cst_39 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %156 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %157 = stablehlo.multiply %156, %130 : tensor<6xf32>
    %cst_40 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %158 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %159 = stablehlo.multiply %158, %arg6 : tensor<6xf32>
    %160 = stablehlo.add %157, %159 : tensor<6xf32>
    %cst_41 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %161 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %162 = stablehlo.multiply %161, %132 : tensor<10x6xf32>
    %cst_42 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %163 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %164 = stablehlo.multiply %163, %arg7 : tensor<10x6xf32>
    %165 = stablehlo.add %162, %164 : tensor<10x6xf32>
    %cst_43 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %166 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %167 = stablehlo.multiply %166, %134 : tensor<11x6xf32>
    %cst_44 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %168 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %169 = stablehlo.multiply %168, %arg8 : tensor<11x6xf32>
    %170 = stablehlo.add %167, %169 : tensor<11x6xf32>
    %cst_45 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %171 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %172 = stablehlo.multiply %171, %136 : tensor<10xf32>
    %cst_46 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %173 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %174 = stablehlo.multiply %173, %arg9 : tensor<10xf32>
    %175 = stablehlo.add %172, %174 : tensor<10xf32>
    %cst_47 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %176 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %177 = stablehlo.multiply %176, %138 : tensor<6x10xf32>
    %cst_48 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %178 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %179 = stablehlo.multiply %178, %arg10 : tensor<6x10xf32>
    %180 = stablehlo.add %177, %179 : tensor<6x10xf32>
    %181 = stablehlo.multiply %130, %130 : tensor<6xf32>
    %cst_49 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %182 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %183 = stablehlo.multiply %182, %181 : tensor<6xf32>
    %cst_50 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %184 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %185 = stablehlo.multiply %184, %arg11 : tensor<6xf32>
    %186 = stablehlo.add %183, %185 : tensor<6xf32>
    %187 = stablehlo.multiply %132, %132 : tensor<10x6xf32>
    %cst_51 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %188 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %189 = stablehlo.multiply %188, %187 : tensor<10x6xf32>
    %cst_52 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %190 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %191 = stablehlo.multiply %190, %arg12 : tensor<10x6xf32>
    %192 = stablehlo.add %189, %191 : tensor<10x6xf32>
    %193 = stablehlo.multiply %134, %134 : tensor<11x6xf32>
    %cst_53 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %194 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %195 = stablehlo.multiply %194, %193 : tensor<11x6xf32>
    %cst_54 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %196 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %197 = stablehlo.multiply %196, %arg13 : tensor<11x6xf32>
    %198 = stablehlo.add %195, %197 : tensor<11x6xf32>
    %199 = stablehlo.multiply %136, %136 : tensor<10xf32>
    %cst_55 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %200 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %201 = stablehlo.multiply %200, %199 : tensor<10xf32>
    %cst_56 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %202 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %203 = stablehlo.multiply %202, %arg14 : tensor<10xf32>
    %204 = stablehlo.add %201, %203 : tensor<10xf32>
    %205 = stablehlo.multiply %138, %138 : tensor<6x10xf32>
    %cst_57 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %206 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %207 = stablehlo.multiply %206, %205 : tensor<6x10xf32>
    %cst_58 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %208 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %209 = stablehlo.multiply %208, %arg15 : tensor<6x10xf32>
    %210 = stablehlo.add %207, %209 : tensor<6x10xf32>
    %c_59 = stablehlo.constant dense<2147483647> : tensor<i32>
    %211 = stablehlo.compare LT, %arg5, %c_59, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_60 = stablehlo.constant dense<1> : tensor<i32>
    %212 = stablehlo.add %arg5, %c_60 : tensor<i32>
    %c_61 = stablehlo.constant dense<2147483647> : tensor<i32>
    %213 = call @_where_2(%211, %212, %c_61) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %214 = stablehlo.convert %213 : (tensor<i32>) -> tensor<f32>
    %cst_62 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %215 = stablehlo.convert %213 : (tensor<i32>) -> tensor<f32>
    %216 = stablehlo.power %cst_62, %215 : tensor<f32>
    %cst_63 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %217 = stablehlo.subtract %cst_63, %216 : tensor<f32>
    %218 = stablehlo.broadcast_in_dim %217, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %219 = stablehlo.divide %160, %218 : tensor<6xf32>
    %220 = stablehlo.broadcast_in_dim %217, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %221 = stablehlo.divide %165, %220 : tensor<10x6xf32>
    %222 = stablehlo.broadcast_in_dim %217, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %223 = stablehlo.divide %170, %222 : tensor<11x6xf32>
    %224 = stablehlo.broadcast_in_dim %217, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %225 = stablehlo.divide %175, %224 : tensor<10xf32>
    %226 = stablehlo.broadcast_in_dim %217, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %227 = stablehlo.divide %180, %226 : tensor<6x10xf32>
    %228 = stablehlo.convert %213 : (tensor<i32>) -> tensor<f32>
    %cst_64 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %229 = stablehlo.convert %213 : (tensor<i32>) -> tensor<f32>
    %230 = stablehlo.power %cst_64, %229 : tensor<f32>
    %cst_65 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %231 = stablehlo.subtract %cst_65, %230 : tensor<f32>
    %232 = stablehlo.broadcast_in_dim %231, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %233 = stablehlo.divide %186, %232 : tensor<6xf32>
    %234 = stablehlo.broadcast_in_dim %231, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %235 = stablehlo.divide %192, %234 : tensor<10x6xf32>
    %236 = stablehlo.broadcast_in_dim %231, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %237 = stablehlo.divide %198, %236 : tensor<11x6xf32>
    %238 = stablehlo.broadcast_in_dim %231, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %239 = stablehlo.divide %204, %238 : tensor<10xf32>
    %240 = stablehlo.broadcast_in_dim %231, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %241 = stablehlo.divide %210, %240 : tensor<6x10xf32>
    %cst_66 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %242 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %243 = stablehlo.add %233, %242 : tensor<6xf32>
    %244 = stablehlo.sqrt %243 : tensor<6xf32>
    %cst_67 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %245 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %246 = stablehlo.add %244, %245 : tensor<6xf32>
    %247 = stablehlo.divide %219, %246 : tensor<6xf32>
    %cst_68 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %248 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %249 = stablehlo.add %235, %248 : tensor<10x6xf32>
    %250 = stablehlo.sqrt %249 : tensor<10x6xf32>
    %cst_69 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %251 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %252 = stablehlo.add %250, %251 : tensor<10x6xf32>
    %253 = stablehlo.divide %221, %252 : tensor<10x6xf32>
    %cst_70 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %254 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %255 = stablehlo.add %237, %254 : tensor<11x6xf32>
    %256 = stablehlo.sqrt %255 : tensor<11x6xf32>
    %cst_71 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %257 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %258 = stablehlo.add %256, %257 : tensor<11x6xf32>
    %259 = stablehlo.divide %223, %258 : tensor<11x6xf32>
    %cst_72 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %260 = stablehlo.broadcast_in_dim %cst_72, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %261 = stablehlo.add %239, %260 : tensor<10xf32>
    %262 = stablehlo.sqrt %261 : tensor<10xf32>
    %cst_73 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %263 = stablehlo.broadcast_in_dim %cst_73, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %264 = stablehlo.add %262, %263 : tensor<10xf32>
    %265 = stablehlo.divide %225, %264 : tensor<10xf32>
    %cst_74 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %266 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %267 = stablehlo.add %241, %266 : tensor<6x10xf32>
    %268 = stablehlo.sqrt %267 : tensor<6x10xf32>
    %cst_75 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %269 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %270 = stablehlo.add %268, %269 : tensor<6x10xf32>
    %271 = stablehlo.divide %227, %270 : tensor<6x10xf32>
    %cst_76 = stablehlo.constant dense<9.99999974E-5> : tensor<f32>
    %272 = stablehlo.broadcast_in_dim %cst_76, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %273 = stablehlo.multiply %272, %arg0 : tensor<6xf32>
    %274 = stablehlo.add %247, %273 : tensor<6xf32>
    %cst_77 = stablehlo.constant dense<9.99999974E-5> : tensor<f32>
    %275 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %276 = stablehlo.multiply %275, %arg1 : tensor<10x6xf32>
    %277 = stablehlo.add %253, %276 : tensor<10x6xf32>
    %cst_78 = stablehlo.constant dense<9.99999974E-5> : tensor<f32>
    %278 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %279 = stablehlo.multiply %278, %arg2 : tensor<11x6xf32>
    %280 = stablehlo.add %259, %279 : tensor<11x6xf32>
    %cst_79 = stablehlo.constant dense<9.99999974E-5> : tensor<f32>
    %281 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %282 = stablehlo.multiply %281, %arg3 : tensor<10xf32>
    %283 = stablehlo.add %265, %282 : tensor<10xf32>
    %cst_80 = stablehlo.constant dense<9.99999974E-5> : tensor<f32>
    %284 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %285 = stablehlo.multiply %284, %arg4 : tensor<6x10xf32>
    %286 = stablehlo.add %271, %285 : tensor<6x10xf32>
    %cst_81 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %287 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %288 = stablehlo.multiply %287, %274 : tensor<6xf32>
    %cst_82 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %289 = stablehlo.broadcast_in_dim %cst_82, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %290 = stablehlo.multiply %289, %277 : tensor<10x6xf32>
    %cst_83 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %291 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %292 = stablehlo.multiply %291, %280 : tensor<11x6xf32>
    %cst_84 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %293 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %294 = stablehlo.multiply %293, %283 : tensor<10xf32>
    %cst_85 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %295 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %296 = stablehlo.multiply %295, %286 : tensor<6x10xf32>
    %297 = stablehlo.add %arg0, %288 : tensor<6xf32>
    %298 = stablehlo.add %arg1, %290 : tensor<10x6xf32>
    %299 = stablehlo.add %arg2, %292 : tensor<11x6xf32>
    %300 = stablehlo.add %arg3, %294 : tensor<10xf32>
    %301 = stablehlo.add %arg4, %296 : tensor<6x10xf32>
    %c_86 = stablehlo.constant dense<200> : tensor<i32>
    %302 = stablehlo.compare GE, %arg17, %c_86, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %cst_87 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %303 = stablehlo.multiply %arg16, %cst_87 : tensor<f32>
    %304 = call @_where_3(%302, %303, %arg16) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %cst_88 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %305 = stablehlo.divide %arg16, %cst_88 : tensor<f32>
    %306 = call @_where_3(%155, %304, %305) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %307 = call @_where_4(%155, %297, %arg0) : (tensor<i1>, tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %308 = call @_where_5(%155, %298, %arg1) : (tensor<i1>, tensor<10x6xf32>, tensor<10x6xf32>) -> tensor<10x6xf32>
    %309 = call @_where_6(%155, %299, %arg2) : (tensor<i1>, tensor<11x6xf32>, tensor<11x6xf32>) -> tensor<11x6xf32>
    %310 = call @_where_7(%155, %300, %arg3) : (tensor<i1>, tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %311 = call @_where_8(%155, %301, %arg4) : (tensor<i1>, tensor<6x10xf32>, tensor<6x10xf32>) -> tensor<6x10xf32>
    %312 = call @_where_2(%155, %213, %arg5) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %313 = call @_where_4(%155, %160, %arg6) : (tensor<i1>, tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %314 = call @_where_5(%155, %165, %arg7) : (tensor<i1>, tensor<10x6xf32>, tensor<10x6xf32>) -> tensor<10x6xf32>
    %315 = call @_where_6(%155, %170, %arg8) : (tensor<i1>, tensor<11x6xf32>, tensor<11x6xf32>) -> tensor<11x6xf32>
    %316 = call @_where_7(%155, %175, %arg9) : (tensor<i1>, tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %317 = call @_where_8(%155, %180, %arg10) : (tensor<i1>, tensor<6x10xf32>, tensor<6x10xf32>) -> tensor<6x10xf32>
    %318 = call @_where_4(%155, %186, %arg11) : (tensor<i1>, tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %319 = call @_where_5(%155, %192, %arg12) : (tensor<i1>, tensor<10x6xf32>, tensor<10x6xf32>) -> tensor<10x6xf32>
    %320 = call @_where_6(%155, %198, %arg13) : (tensor<i1>, tensor<11x6xf32>, tensor<11x6xf32>) -> tensor<11x6xf32>
    %321 = call @_where_7(%155, %204, %arg14) : (tensor<i1>, tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %322 = call @_where_8(%155, %210, %arg15) : (tensor<i1>, tensor<6x10xf32>, tensor<6x10xf32>) -> tensor<6x10xf32>
    %c_89 = stablehlo.constant dense<1> : tensor<i32>
    %323 = stablehlo.add %arg17, %c_89 : tensor<i32>
    %c_90 = stablehlo.constant dense<0> : tensor<i32>
    %324 = call @_where_9(%155, %323, %c_90) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    return %307, %308, %309, %310, %311, %312, %313, %314, %315, %316, %317, %318, %319, %320, %321, %322, %306, %324, %74 : tensor<6xf32>, tensor<10x6xf32>, tensor<11x6xf32>, tensor<10xf32>, tensor<6x10xf32>, tensor<i32>, tensor<6xf32>, tensor<10x6xf32>, tensor<11x6xf32>, tensor<10xf32>, tensor<6x10xf32>, tensor<6xf32>, tensor<10x6xf32>, tensor<11x6xf32>, tensor<10xf32>, tensor<6x10xf32>, tensor<f32>, tensor<i32>, tensor<f32>
  }
  func.func private @relu(%arg0: tensor<4x3x10xf32>) -> tensor<4x3x10xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x3x10xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<4x3x10xf32>
    return %1 : tensor<4x3x10xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<4x3x11xf32>, %arg1: tensor<4x3x1xi32>) -> (tensor<4x3x1xf32>, tensor<4x3x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x3x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4x3x1xi32>, tensor<4x3x1xi32>) -> tensor<4x3x1xi1>
    %c_0 = stablehlo.constant dense<11> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x3x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<4x3x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<4x3x1xi1>, tensor<4x3x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<4x3x1xi32>) -> tensor<4x3x1x1xi32>
    %c_1 = stablehlo.constant dense<10> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x3x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<4x3x1x1xi32>, tensor<4x3x1x1xi32>) -> tensor<4x3x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<4x3x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<4x3x1x1xi32>, tensor<4x3x1x1xi32>) -> tensor<4x3x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<4x3x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<4x3x1x1xi1>, tensor<i1>) -> tensor<4x3x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<4x3x11xf32>, tensor<4x3x1x1xi32>) -> tensor<4x3x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x3x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<4x3x1xi1>, tensor<4x3x1xf32>
    return %15, %5 : tensor<4x3x1xf32>, tensor<4x3x1x1xi32>
  }
  func.func private @_take(%arg0: tensor<4x3x1xf32>, %arg1: tensor<i32>) -> (tensor<4x3xf32>, tensor<1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %arg1, %c_0 : tensor<i32>
    %2 = call @_where(%0, %1, %arg1) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<1xi32>
    %4 = stablehlo.convert %3 : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1>
    %7 = stablehlo.compare LE, %4, %c_1, SIGNED : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1>
    %8 = stablehlo.and %6, %7 : tensor<1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %9 = stablehlo.reduce(%8 init: %c_3) applies stablehlo.and across dimensions = [0] : (tensor<1xi1>, tensor<i1>) -> tensor<i1>
    %10 = "stablehlo.gather"(%arg0, %4) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], collapsed_slice_dims = [2], start_index_map = [2]>, indices_are_sorted = false, slice_sizes = array<i64: 4, 3, 1>}> : (tensor<4x3x1xf32>, tensor<1xi32>) -> tensor<4x3xf32>
    %11 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i1>) -> tensor<4x3xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %13 = stablehlo.select %11, %10, %12 : tensor<4x3xi1>, tensor<4x3xf32>
    return %13, %3 : tensor<4x3xf32>, tensor<1xi32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @_take_0(%arg0: tensor<1xi32>, %arg1: tensor<4x3xf32>) -> tensor<4x3x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x3x1xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], inserted_window_dims = [2], scatter_dims_to_operand_dims = [2]>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x3x1xf32>, tensor<1xi32>, tensor<4x3xf32>) -> tensor<4x3x1xf32>
    return %1 : tensor<4x3x1xf32>
  }
  func.func private @take_along_axis_1(%arg0: tensor<4x3x1x1xi32>, %arg1: tensor<4x3x1xf32>) -> tensor<4x3x11xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x3x11xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x3x11xf32>, tensor<4x3x1x1xi32>, tensor<4x3x1xf32>) -> tensor<4x3x11xf32>
    return %1 : tensor<4x3x11xf32>
  }
  func.func private @_where_2(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @_where_3(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @_where_4(%arg0: tensor<i1>, %arg1: tensor<6xf32>, %arg2: tensor<6xf32>) -> tensor<6xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<6xf32>
    return %0 : tensor<6xf32>
  }
  func.func private @_where_5(%arg0: tensor<i1>, %arg1: tensor<10x6xf32>, %arg2: tensor<10x6xf32>) -> tensor<10x6xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<10x6xf32>
    return %0 : tensor<10x6xf32>
  }
  func.func private @_where_6(%arg0: tensor<i1>, %arg1: tensor<11x6xf32>, %arg2: tensor<11x6xf32>) -> tensor<11x6xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<11x6xf32>
    return %0 : tensor<11x6xf32>
  }
  func.func private @_where_7(%arg0: tensor<i1>, %arg1: tensor<10xf32>, %arg2: tensor<10xf32>) -> tensor<10xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<10xf32>
    return %0 : tensor<10xf32>
  }
  func.func private @_where_8(%arg0: tensor<i1>, %arg1: tensor<6x10xf32>, %arg2: tensor<6x10xf32>) -> tensor<6x10xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<6x10xf32>
    return %0 : tensor<6x10xf32>
  }
  func.func private @_where_9(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.convert %arg2 : tensor<i32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<i1>, tensor<i32>
    return %1 : tensor<i32>
  }
}
