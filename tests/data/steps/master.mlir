// pppppoooooooooooii
module @jit_master attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<10x6xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<11x6xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<10xf32> {tf.aliasing_output = 3 : i32}, %arg4: tensor<6x10xf32> {tf.aliasing_output = 4 : i32}, %arg5: tensor<i32> {tf.aliasing_output = 5 : i32}, %arg6: tensor<6xf32> {tf.aliasing_output = 6 : i32}, %arg7: tensor<10x6xf32> {tf.aliasing_output = 7 : i32}, %arg8: tensor<11x6xf32> {tf.aliasing_output = 8 : i32}, %arg9: tensor<10xf32> {tf.aliasing_output = 9 : i32}, %arg10: tensor<6x10xf32> {tf.aliasing_output = 10 : i32}, %arg11: tensor<6xf32> {tf.aliasing_output = 11 : i32}, %arg12: tensor<10x6xf32> {tf.aliasing_output = 12 : i32}, %arg13: tensor<11x6xf32> {tf.aliasing_output = 13 : i32}, %arg14: tensor<10xf32> {tf.aliasing_output = 14 : i32}, %arg15: tensor<6x10xf32> {tf.aliasing_output = 15 : i32}, %arg16: tensor<4x3xi32>, %arg17: tensor<4x3xi32>) -> (tensor<6xf32> {jax.result_info = "result[0]['down']['g']"}, tensor<10x6xf32> {jax.result_info = "result[0]['down']['w']"}, tensor<11x6xf32> {jax.result_info = "result[0]['emb']"}, tensor<10xf32> {jax.result_info = "result[0]['up']['b']"}, tensor<6x10xf32> {jax.result_info = "result[0]['up']['w']"}, tensor<i32> {jax.result_info = "result[1][0].count"}, tensor<6xf32> {jax.result_info = "result[1][0].mu['down']['g']"}, tensor<10x6xf32> {jax.result_info = "result[1][0].mu['down']['w']"}, tensor<11x6xf32> {jax.result_info = "result[1][0].mu['emb']"}, tensor<10xf32> {jax.result_info = "result[1][0].mu['up']['b']"}, tensor<6x10xf32> {jax.result_info = "result[1][0].mu['up']['w']"}, tensor<6xf32> {jax.result_info = "result[1][0].nu['down']['g']"}, tensor<10x6xf32> {jax.result_info = "result[1][0].nu['down']['w']"}, tensor<11x6xf32> {jax.result_info = "result[1][0].nu['emb']"}, tensor<10xf32> {jax.result_info = "result[1][0].nu['up']['b']"}, tensor<6x10xf32> {jax.result_info = "result[1][0].nu['up']['w']"}, tensor<f32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xf32>) -> tensor<6xbf16>
    %1 = stablehlo.convert %arg1 : (tensor<10x6xf32>) -> tensor<10x6xbf16>
    %2 = stablehlo.convert %arg2 : (tensor<11x6xf32>) -> tensor<11x6xbf16>
    %3 = stablehlo.convert %arg3 : (tensor<10xf32>) -> tensor<10xbf16>
    %4 = stablehlo.convert %arg4 : (tensor<6x10xf32>) -> tensor<6x10xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x3xi32>
    %6 = stablehlo.compare LT, %arg16, %5, SIGNED : (tensor<4x3xi32>, tensor<4x3xi32>) -> tensor<4x3xi1>
    %c_0 = stablehlo.constant dense<11> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x3xi32>
    %8 = stablehlo.add %arg16, %7 : tensor<4x3xi32>
    %9 = stablehlo.select %6, %8, %arg16 : tensor<4x3xi1>, tensor<4x3xi32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<4x3xi32>) -> tensor<4x3x1xi32>
    %11 = "stablehlo.gather"(%2, %10) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 6>}> : (tensor<11x6xbf16>, tensor<4x3x1xi32>) -> tensor<4x3x6xbf16>
    %12 = stablehlo.dot_general %11, %4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3x6xbf16>, tensor<6x10xbf16>) -> tensor<4x3x10xbf16>
    %13 = stablehlo.broadcast_in_dim %3, dims = [2] : (tensor<10xbf16>) -> tensor<1x1x10xbf16>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<1x1x10xbf16>) -> tensor<4x3x10xbf16>
    %15 = stablehlo.add %12, %14 : tensor<4x3x10xbf16>
    %16 = call @relu(%15) : (tensor<4x3x10xbf16>) -> tensor<4x3x10xbf16>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %17 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<4x3x10xbf16>
    %18 = stablehlo.compare GT, %15, %17, FLOAT : (tensor<4x3x10xbf16>, tensor<4x3x10xbf16>) -> tensor<4x3x10xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %19 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<4x3x10xbf16>
    %20 = stablehlo.dot_general %16, %1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3x10xbf16>, tensor<10x6xbf16>) -> tensor<4x3x6xbf16>
    %21 = stablehlo.multiply %20, %20 : tensor<4x3x6xbf16>
    %22 = stablehlo.convert %21 : (tensor<4x3x6xbf16>) -> tensor<4x3x6xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<4x3x6xf32>, tensor<f32>) -> tensor<4x3xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3x1xf32>
    %cst_3 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x3x1xf32>
    %26 = stablehlo.divide %24, %25 : tensor<4x3x1xf32>
    %27 = stablehlo.convert %26 : (tensor<4x3x1xf32>) -> tensor<4x3x1xbf16>
    %cst_4 = stablehlo.constant dense<9.983770e-07> : tensor<bf16>
    %28 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<bf16>) -> tensor<4x3x1xbf16>
    %29 = stablehlo.add %27, %28 : tensor<4x3x1xbf16>
    %30 = stablehlo.rsqrt %29 : tensor<4x3x1xbf16>
    %31 = stablehlo.divide %30, %29 : tensor<4x3x1xbf16>
    %cst_5 = stablehlo.constant dense<-5.000000e-01> : tensor<bf16>
    %32 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<bf16>) -> tensor<4x3x1xbf16>
    %33 = stablehlo.multiply %32, %31 : tensor<4x3x1xbf16>
    %34 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2] : (tensor<4x3x1xbf16>) -> tensor<4x3x6xbf16>
    %35 = stablehlo.multiply %20, %34 : tensor<4x3x6xbf16>
    %36 = stablehlo.broadcast_in_dim %0, dims = [2] : (tensor<6xbf16>) -> tensor<1x1x6xbf16>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 2] : (tensor<1x1x6xbf16>) -> tensor<4x3x6xbf16>
    %38 = stablehlo.multiply %35, %37 : tensor<4x3x6xbf16>
    %39 = stablehlo.add %11, %38 : tensor<4x3x6xbf16>
    %40 = stablehlo.transpose %2, dims = [1, 0] : (tensor<11x6xbf16>) -> tensor<6x11xbf16>
    %41 = stablehlo.dot_general %39, %40, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3x6xbf16>, tensor<6x11xbf16>) -> tensor<4x3x11xbf16>
    %42 = stablehlo.convert %41 : (tensor<4x3x11xbf16>) -> tensor<4x3x11xf32>
    %43 = stablehlo.broadcast_in_dim %arg17, dims = [0, 1] : (tensor<4x3xi32>) -> tensor<4x3x1xi32>
    %44:2 = call @take_along_axis(%42, %43) : (tensor<4x3x11xf32>, tensor<4x3x1xi32>) -> (tensor<4x3x1xf32>, tensor<4x3x1x1xi32>)
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %45:2 = call @_take(%44#0, %c_6) : (tensor<4x3x1xf32>, tensor<i32>) -> (tensor<4x3xf32>, tensor<1xi32>)
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %46 = stablehlo.reduce(%42 init: %cst_7) applies stablehlo.maximum across dimensions = [2] : (tensor<4x3x11xf32>, tensor<f32>) -> tensor<4x3xf32>
    %47 = stablehlo.reshape %46 : (tensor<4x3xf32>) -> tensor<4x3x1xf32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0, 1, 2] : (tensor<4x3x1xf32>) -> tensor<4x3x11xf32>
    %49 = stablehlo.compare EQ, %42, %48, FLOAT : (tensor<4x3x11xf32>, tensor<4x3x11xf32>) -> tensor<4x3x11xi1>
    %50 = stablehlo.convert %49 : (tensor<4x3x11xi1>) -> tensor<4x3x11xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %51 = stablehlo.reduce(%50 init: %cst_8) applies stablehlo.add across dimensions = [2] : (tensor<4x3x11xf32>, tensor<f32>) -> tensor<4x3xf32>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %53 = stablehlo.maximum %52, %46 : tensor<4x3xf32>
    %54 = stablehlo.compare EQ, %46, %53, FLOAT : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %57 = stablehlo.select %54, %55, %56 : tensor<4x3xi1>, tensor<4x3xf32>
    %cst_12 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %59 = stablehlo.compare EQ, %58, %53, FLOAT : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
    %cst_13 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %62 = stablehlo.select %59, %60, %61 : tensor<4x3xi1>, tensor<4x3xf32>
    %63 = stablehlo.divide %57, %62 : tensor<4x3xf32>
    %64 = stablehlo.is_finite %53 : (tensor<4x3xf32>) -> tensor<4x3xi1>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %66 = stablehlo.select %64, %53, %65 : tensor<4x3xi1>, tensor<4x3xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %68 = stablehlo.broadcast_in_dim %66, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3x1xf32>
    %69 = stablehlo.broadcast_in_dim %68, dims = [0, 1, 2] : (tensor<4x3x1xf32>) -> tensor<4x3x11xf32>
    %70 = stablehlo.subtract %42, %69 : tensor<4x3x11xf32>
    %71 = stablehlo.exponential %70 : tensor<4x3x11xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %72 = stablehlo.reduce(%71 init: %cst_17) applies stablehlo.add across dimensions = [2] : (tensor<4x3x11xf32>, tensor<f32>) -> tensor<4x3xf32>
    %73 = stablehlo.sign %72 : tensor<4x3xf32>
    %74 = stablehlo.abs %72 : tensor<4x3xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %76 = stablehlo.compare GE, %72, %75, FLOAT : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
    %77 = stablehlo.log %74 : tensor<4x3xf32>
    %78 = stablehlo.add %77, %66 : tensor<4x3xf32>
    %79 = stablehlo.subtract %78, %45#0 : tensor<4x3xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %80 = stablehlo.reduce(%79 init: %cst_19) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<f32>
    %cst_20 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %81 = stablehlo.divide %80, %cst_20 : tensor<f32>
    %cst_21 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_22 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %82 = stablehlo.divide %cst_21, %cst_22 : tensor<f32>
    %83 = stablehlo.broadcast_in_dim %82, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %84 = stablehlo.negate %83 : tensor<4x3xf32>
    %85 = stablehlo.divide %83, %74 : tensor<4x3xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %87 = stablehlo.select %76, %86, %85 : tensor<4x3xi1>, tensor<4x3xf32>
    %88 = stablehlo.select %76, %85, %86 : tensor<4x3xi1>, tensor<4x3xf32>
    %89 = stablehlo.negate %87 : tensor<4x3xf32>
    %90 = stablehlo.add %88, %89 : tensor<4x3xf32>
    %91 = stablehlo.broadcast_in_dim %90, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3x11xf32>
    %92 = stablehlo.multiply %91, %71 : tensor<4x3x11xf32>
    %93 = call @_take_0(%45#1, %84) : (tensor<1xi32>, tensor<4x3xf32>) -> tensor<4x3x1xf32>
    %94 = call @take_along_axis_1(%44#1, %93) : (tensor<4x3x1x1xi32>, tensor<4x3x1xf32>) -> tensor<4x3x11xf32>
    %95 = stablehlo.add %92, %94 : tensor<4x3x11xf32>
    %96 = stablehlo.convert %95 : (tensor<4x3x11xf32>) -> tensor<4x3x11xbf16>
    %97 = stablehlo.dot_general %96, %39, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x11xbf16>, tensor<4x3x6xbf16>) -> tensor<11x6xbf16>
    %98 = stablehlo.transpose %97, dims = [1, 0] : (tensor<11x6xbf16>) -> tensor<6x11xbf16>
    %99 = stablehlo.dot_general %96, %40, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x11xbf16>, tensor<6x11xbf16>) -> tensor<4x3x6xbf16>
    %100 = stablehlo.transpose %98, dims = [1, 0] : (tensor<6x11xbf16>) -> tensor<11x6xbf16>
    %101 = stablehlo.multiply %35, %99 : tensor<4x3x6xbf16>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %102 = stablehlo.reduce(%101 init: %cst_24) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x3x6xbf16>, tensor<bf16>) -> tensor<6xbf16>
    %103 = stablehlo.reshape %102 : (tensor<6xbf16>) -> tensor<1x1x6xbf16>
    %104 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 2] : (tensor<1x1x6xbf16>) -> tensor<4x3x6xbf16>
    %105 = stablehlo.multiply %99, %104 : tensor<4x3x6xbf16>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %106 = stablehlo.reduce(%103 init: %cst_25) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x6xbf16>, tensor<bf16>) -> tensor<6xbf16>
    %107 = stablehlo.multiply %20, %105 : tensor<4x3x6xbf16>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %108 = stablehlo.reduce(%107 init: %cst_26) applies stablehlo.add across dimensions = [2] : (tensor<4x3x6xbf16>, tensor<bf16>) -> tensor<4x3xbf16>
    %109 = stablehlo.reshape %108 : (tensor<4x3xbf16>) -> tensor<4x3x1xbf16>
    %110 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2] : (tensor<4x3x1xbf16>) -> tensor<4x3x6xbf16>
    %111 = stablehlo.multiply %105, %110 : tensor<4x3x6xbf16>
    %112 = stablehlo.multiply %109, %33 : tensor<4x3x1xbf16>
    %113 = stablehlo.convert %112 : (tensor<4x3x1xbf16>) -> tensor<4x3x1xf32>
    %cst_27 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %114 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<4x3x1xf32>
    %115 = stablehlo.divide %113, %114 : tensor<4x3x1xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %116 = stablehlo.reduce(%115 init: %cst_28) applies stablehlo.add across dimensions = [2] : (tensor<4x3x1xf32>, tensor<f32>) -> tensor<4x3xf32>
    %117 = stablehlo.broadcast_in_dim %116, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3x6xf32>
    %118 = stablehlo.convert %117 : (tensor<4x3x6xf32>) -> tensor<4x3x6xbf16>
    %119 = stablehlo.multiply %20, %118 : tensor<4x3x6xbf16>
    %120 = stablehlo.add %111, %119 : tensor<4x3x6xbf16>
    %121 = stablehlo.multiply %118, %20 : tensor<4x3x6xbf16>
    %122 = stablehlo.add %120, %121 : tensor<4x3x6xbf16>
    %123 = stablehlo.dot_general %122, %16, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x6xbf16>, tensor<4x3x10xbf16>) -> tensor<6x10xbf16>
    %124 = stablehlo.transpose %123, dims = [1, 0] : (tensor<6x10xbf16>) -> tensor<10x6xbf16>
    %125 = stablehlo.dot_general %122, %1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x6xbf16>, tensor<10x6xbf16>) -> tensor<4x3x10xbf16>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %126 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<bf16>) -> tensor<4x3x10xbf16>
    %127 = stablehlo.select %18, %125, %126 : tensor<4x3x10xi1>, tensor<4x3x10xbf16>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %128 = stablehlo.reduce(%127 init: %cst_30) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x3x10xbf16>, tensor<bf16>) -> tensor<10xbf16>
    %129 = stablehlo.reshape %128 : (tensor<10xbf16>) -> tensor<1x1x10xbf16>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %130 = stablehlo.reduce(%129 init: %cst_31) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x10xbf16>, tensor<bf16>) -> tensor<10xbf16>
    %131 = stablehlo.dot_general %127, %11, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x10xbf16>, tensor<4x3x6xbf16>) -> tensor<10x6xbf16>
    %132 = stablehlo.transpose %131, dims = [1, 0] : (tensor<10x6xbf16>) -> tensor<6x10xbf16>
    %133 = stablehlo.dot_general %127, %4, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x10xbf16>, tensor<6x10xbf16>) -> tensor<4x3x6xbf16>
    %134 = stablehlo.add %99, %133 : tensor<4x3x6xbf16>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %135 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<bf16>) -> tensor<11x6xbf16>
    %136 = "stablehlo.scatter"(%135, %10, %134) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg18: tensor<bf16>, %arg19: tensor<bf16>):
      %289 = stablehlo.add %arg18, %arg19 : tensor<bf16>
      stablehlo.return %289 : tensor<bf16>
    }) : (tensor<11x6xbf16>, tensor<4x3x1xi32>, tensor<4x3x6xbf16>) -> tensor<11x6xbf16>
    %137 = stablehlo.add %100, %136 : tensor<11x6xbf16>
    %138 = stablehlo.convert %132 : (tensor<6x10xbf16>) -> tensor<6x10xf32>
    %139 = stablehlo.convert %130 : (tensor<10xbf16>) -> tensor<10xf32>
    %140 = stablehlo.convert %137 : (tensor<11x6xbf16>) -> tensor<11x6xf32>
    %141 = stablehlo.convert %124 : (tensor<10x6xbf16>) -> tensor<10x6xf32>
    %142 = stablehlo.convert %106 : (tensor<6xbf16>) -> tensor<6xf32>
    %cst_33 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %143 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %144 = stablehlo.multiply %143, %142 : tensor<6xf32>
    %cst_34 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %145 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %146 = stablehlo.multiply %145, %arg6 : tensor<6xf32>
    %147 = stablehlo.add %144, %146 : tensor<6xf32>
    %cst_35 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %148 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %149 = stablehlo.multiply %148, %141 : tensor<10x6xf32>
    %cst_36 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %151 = stablehlo.multiply %150, %arg7 : tensor<10x6xf32>
    %152 = stablehlo.add %149, %151 : tensor<10x6xf32>
    %cst_37 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %153 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %154 = stablehlo.multiply %153, %140 : tensor<11x6xf32>
    %cst_38 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %155 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %156 = stablehlo.multiply %155, %arg8 : tensor<11x6xf32>
    %157 = stablehlo.add %154, %156 : tensor<11x6xf32>
    %cst_39 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %158 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %159 = stablehlo.multiply %158, %139 : tensor<10xf32>
    %cst_40 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %160 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %161 = stablehlo.multiply %160, %arg9 : tensor<10xf32>
    %162 = stablehlo.add %159, %161 : tensor<10xf32>
    %cst_41 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %163 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %164 = stablehlo.multiply %163, %138 : tensor<6x10xf32>
    %cst_42 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %165 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %166 = stablehlo.multiply %165, %arg10 : tensor<6x10xf32>
    %167 = stablehlo.add %164, %166 : tensor<6x10xf32>
    %168 = stablehlo.multiply %142, %142 : tensor<6xf32>
    %cst_43 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %169 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %170 = stablehlo.multiply %169, %168 : tensor<6xf32>
    %cst_44 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %171 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %172 = stablehlo.multiply %171, %arg11 : tensor<6xf32>
    %173 = stablehlo.add %170, %172 : tensor<6xf32>
    %174 = stablehlo.multiply %141, %141 : tensor<10x6xf32>
    %cst_45 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %175 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %176 = stablehlo.multiply %175, %174 : tensor<10x6xf32>
    %cst_46 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %177 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %178 = stablehlo.multiply %177, %arg12 : tensor<10x6xf32>
    %179 = stablehlo.add %176, %178 : tensor<10x6xf32>
    %180 = stablehlo.multiply %140, %140 : tensor<11x6xf32>
    %cst_47 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %181 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %182 = stablehlo.multiply %181, %180 : tensor<11x6xf32>
    %cst_48 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %183 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %184 = stablehlo.multiply %183, %arg13 : tensor<11x6xf32>
    %185 = stablehlo.add %182, %184 : tensor<11x6xf32>
    %186 = stablehlo.multiply %139, %139 : tensor<10xf32>
    %cst_49 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %187 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %188 = stablehlo.multiply %187, %186 : tensor<10xf32>
    %cst_50 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %189 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %190 = stablehlo.multiply %189, %arg14 : tensor<10xf32>
    %191 = stablehlo.add %188, %190 : tensor<10xf32>
    %192 = stablehlo.multiply %138, %138 : tensor<6x10xf32>
    %cst_51 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %193 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %194 = stablehlo.multiply %193, %192 : tensor<6x10xf32>
    %cst_52 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %195 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %196 = stablehlo.multiply %195, %arg15 : tensor<6x10xf32>
    %197 = stablehlo.add %194, %196 : tensor<6x10xf32>
    %c_53 = stablehlo.constant dense<2147483647> : tensor<i32>
    %198 = stablehlo.compare LT, %arg5, %c_53, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_54 = stablehlo.constant dense<1> : tensor<i32>
    %199 = stablehlo.add %arg5, %c_54 : tensor<i32>
    %c_55 = stablehlo.constant dense<2147483647> : tensor<i32>
    %200 = call @_where_2(%198, %199, %c_55) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %201 = stablehlo.convert %200 : (tensor<i32>) -> tensor<f32>
    %cst_56 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %202 = stablehlo.convert %200 : (tensor<i32>) -> tensor<f32>
    %203 = stablehlo.power %cst_56, %202 : tensor<f32>
    %cst_57 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %204 = stablehlo.subtract %cst_57, %203 : tensor<f32>
    %205 = stablehlo.broadcast_in_dim %204, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %206 = stablehlo.divide %147, %205 : tensor<6xf32>
    %207 = stablehlo.broadcast_in_dim %204, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %208 = stablehlo.divide %152, %207 : tensor<10x6xf32>
    %209 = stablehlo.broadcast_in_dim %204, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %210 = stablehlo.divide %157, %209 : tensor<11x6xf32>
    %211 = stablehlo.broadcast_in_dim %204, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %212 = stablehlo.divide %162, %211 : tensor<10xf32>
    %213 = stablehlo.broadcast_in_dim %204, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %214 = stablehlo.divide %167, %213 : tensor<6x10xf32>
    %215 = stablehlo.convert %200 : (tensor<i32>) -> tensor<f32>
    %cst_58 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %216 = stablehlo.convert %200 : (tensor<i32>) -> tensor<f32>
    %217 = stablehlo.power %cst_58, %216 : tensor<f32>
    %cst_59 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %218 = stablehlo.subtract %cst_59, %217 : tensor<f32>
    %219 = stablehlo.broadcast_in_dim %218, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %220 = stablehlo.divide %173, %219 : tensor<6xf32>
    %221 = stablehlo.broadcast_in_dim %218, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %222 = stablehlo.divide %179, %221 : tensor<10x6xf32>
    %223 = stablehlo.broadcast_in_dim %218, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %224 = stablehlo.divide %185, %223 : tensor<11x6xf32>
    %225 = stablehlo.broadcast_in_dim %218, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %226 = stablehlo.divide %191, %225 : tensor<10xf32>
    %227 = stablehlo.broadcast_in_dim %218, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %228 = stablehlo.divide %197, %227 : tensor<6x10xf32>
    %cst_60 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %229 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %230 = stablehlo.add %220, %229 : tensor<6xf32>
    %231 = stablehlo.sqrt %230 : tensor<6xf32>
    %cst_61 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %232 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %233 = stablehlo.add %231, %232 : tensor<6xf32>
    %234 = stablehlo.divide %206, %233 : tensor<6xf32>
    %cst_62 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %235 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %236 = stablehlo.add %222, %235 : tensor<10x6xf32>
    %237 = stablehlo.sqrt %236 : tensor<10x6xf32>
    %cst_63 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %238 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %239 = stablehlo.add %237, %238 : tensor<10x6xf32>
    %240 = stablehlo.divide %208, %239 : tensor<10x6xf32>
    %cst_64 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %241 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %242 = stablehlo.add %224, %241 : tensor<11x6xf32>
    %243 = stablehlo.sqrt %242 : tensor<11x6xf32>
    %cst_65 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %244 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %245 = stablehlo.add %243, %244 : tensor<11x6xf32>
    %246 = stablehlo.divide %210, %245 : tensor<11x6xf32>
    %cst_66 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %247 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %248 = stablehlo.add %226, %247 : tensor<10xf32>
    %249 = stablehlo.sqrt %248 : tensor<10xf32>
    %cst_67 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %250 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %251 = stablehlo.add %249, %250 : tensor<10xf32>
    %252 = stablehlo.divide %212, %251 : tensor<10xf32>
    %cst_68 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %253 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %254 = stablehlo.add %228, %253 : tensor<6x10xf32>
    %255 = stablehlo.sqrt %254 : tensor<6x10xf32>
    %cst_69 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %256 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %257 = stablehlo.add %255, %256 : tensor<6x10xf32>
    %258 = stablehlo.divide %214, %257 : tensor<6x10xf32>
    %cst_70 = stablehlo.constant dense<9.99999974E-5> : tensor<f32>
    %259 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %260 = stablehlo.multiply %259, %arg0 : tensor<6xf32>
    %261 = stablehlo.add %234, %260 : tensor<6xf32>
    %cst_71 = stablehlo.constant dense<9.99999974E-5> : tensor<f32>
    %262 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %263 = stablehlo.multiply %262, %arg1 : tensor<10x6xf32>
    %264 = stablehlo.add %240, %263 : tensor<10x6xf32>
    %cst_72 = stablehlo.constant dense<9.99999974E-5> : tensor<f32>
    %265 = stablehlo.broadcast_in_dim %cst_72, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %266 = stablehlo.multiply %265, %arg2 : tensor<11x6xf32>
    %267 = stablehlo.add %246, %266 : tensor<11x6xf32>
    %cst_73 = stablehlo.constant dense<9.99999974E-5> : tensor<f32>
    %268 = stablehlo.broadcast_in_dim %cst_73, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %269 = stablehlo.multiply %268, %arg3 : tensor<10xf32>
    %270 = stablehlo.add %252, %269 : tensor<10xf32>
    %cst_74 = stablehlo.constant dense<9.99999974E-5> : tensor<f32>
    %271 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %272 = stablehlo.multiply %271, %arg4 : tensor<6x10xf32>
    %273 = stablehlo.add %258, %272 : tensor<6x10xf32>
    %cst_75 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %274 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %275 = stablehlo.multiply %274, %261 : tensor<6xf32>
    %cst_76 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %276 = stablehlo.broadcast_in_dim %cst_76, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %277 = stablehlo.multiply %276, %264 : tensor<10x6xf32>
    %cst_77 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %278 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %279 = stablehlo.multiply %278, %267 : tensor<11x6xf32>
    %cst_78 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %280 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %281 = stablehlo.multiply %280, %270 : tensor<10xf32>
    %cst_79 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %282 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %283 = stablehlo.multiply %282, %273 : tensor<6x10xf32>
    %284 = stablehlo.add %arg0, %275 : tensor<6xf32>
    %285 = stablehlo.add %arg1, %277 : tensor<10x6xf32>
    %286 = stablehlo.add %arg2, %279 : tensor<11x6xf32>
    %287 = stablehlo.add %arg3, %281 : tensor<10xf32>
    %288 = stablehlo.add %arg4, %283 : tensor<6x10xf32>
    return %284, %285, %286, %287, %288, %200, %147, %152, %157, %162, %167, %173, %179, %185, %191, %197, %81 : tensor<6xf32>, tensor<10x6xf32>, tensor<11x6xf32>, tensor<10xf32>, tensor<6x10xf32>, tensor<i32>, tensor<6xf32>, tensor<10x6xf32>, tensor<11x6xf32>, tensor<10xf32>, tensor<6x10xf32>, tensor<6xf32>, tensor<10x6xf32>, tensor<11x6xf32>, tensor<10xf32>, tensor<6x10xf32>, tensor<f32>
  }
  func.func private @relu(%arg0: tensor<4x3x10xbf16>) -> tensor<4x3x10xbf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<4x3x10xbf16>
    %1 = stablehlo.maximum %arg0, %0 : tensor<4x3x10xbf16>
    return %1 : tensor<4x3x10xbf16>
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
}
