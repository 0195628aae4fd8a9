// pppppooooooooooooooooii
module @jit_copies attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xbf16> {tf.aliasing_output = 0 : i32}, %arg1: tensor<10x6xbf16> {tf.aliasing_output = 1 : i32}, %arg2: tensor<11x6xbf16> {tf.aliasing_output = 2 : i32}, %arg3: tensor<10xbf16> {tf.aliasing_output = 3 : i32}, %arg4: tensor<6x10xbf16> {tf.aliasing_output = 4 : i32}, %arg5: tensor<6xf32> {tf.aliasing_output = 5 : i32}, %arg6: tensor<10x6xf32> {tf.aliasing_output = 6 : i32}, %arg7: tensor<11x6xf32> {tf.aliasing_output = 7 : i32}, %arg8: tensor<10xf32> {tf.aliasing_output = 8 : i32}, %arg9: tensor<6x10xf32> {tf.aliasing_output = 9 : i32}, %arg10: tensor<i32> {tf.aliasing_output = 10 : i32}, %arg11: tensor<6xf32> {tf.aliasing_output = 11 : i32}, %arg12: tensor<10x6xf32> {tf.aliasing_output = 12 : i32}, %arg13: tensor<11x6xf32> {tf.aliasing_output = 13 : i32}, %arg14: tensor<10xf32> {tf.aliasing_output = 14 : i32}, %arg15: tensor<6x10xf32> {tf.aliasing_output = 15 : i32}, %arg16: tensor<6xf32> {tf.aliasing_output = 16 : i32}, %arg17: tensor<10x6xf32> {tf.aliasing_output = 17 : i32}, %arg18: tensor<11x6xf32> {tf.aliasing_output = 18 : i32}, %arg19: tensor<10xf32> {tf.aliasing_output = 19 : i32}, %arg20: tensor<6x10xf32> {tf.aliasing_output = 20 : i32}, %arg21: tensor<4x3xi32>, %arg22: tensor<4x3xi32>) -> (tensor<6xbf16> {jax.result_info = "result[0]['down']['g']"}, tensor<10x6xbf16> {jax.result_info = "result[0]['down']['w']"}, tensor<11x6xbf16> {jax.result_info = "result[0]['emb']"}, tensor<10xbf16> {jax.result_info = "result[0]['up']['b']"}, tensor<6x10xbf16> {jax.result_info = "result[0]['up']['w']"}, tensor<6xf32> {jax.result_info = "result[1]['down']['g']"}, tensor<10x6xf32> {jax.result_info = "result[1]['down']['w']"}, tensor<11x6xf32> {jax.result_info = "result[1]['emb']"}, tensor<10xf32> {jax.result_info = "result[1]['up']['b']"}, tensor<6x10xf32> {jax.result_info = "result[1]['up']['w']"}, tensor<i32> {jax.result_info = "result[2][0].count"}, tensor<6xf32> {jax.result_info = "result[2][0].mu['down']['g']"}, tensor<10x6xf32> {jax.result_info = "result[2][0].mu['down']['w']"}, tensor<11x6xf32> {jax.result_info = "result[2][0].mu['emb']"}, tensor<10xf32> {jax.result_info = "result[2][0].mu['up']['b']"}, tensor<6x10xf32> {jax.result_info = "result[2][0].mu['up']['w']"}, tensor<6xf32> {jax.result_info = "result[2][0].nu['down']['g']"}, tensor<10x6xf32> {jax.result_info = "result[2][0].nu['down']['w']"}, tensor<11x6xf32> {jax.result_info = "result[2][0].nu['emb']"}, tensor<10xf32> {jax.result_info = "result[2][0].nu['up']['b']"}, tensor<6x10xf32> {jax.result_info = "result[2][0].nu['up']['w']"}, tensor<f32> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x3xi32>
    %1 = stablehlo.compare LT, %arg21, %0, SIGNED : (tensor<4x3xi32>, tensor<4x3xi32>) -> tensor<4x3xi1>
    %c_0 = stablehlo.constant dense<11> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x3xi32>
    %3 = stablehlo.add %arg21, %2 : tensor<4x3xi32>
    %4 = stablehlo.select %1, %3, %arg21 : tensor<4x3xi1>, tensor<4x3xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<4x3xi32>) -> tensor<4x3x1xi32>
    %6 = "stablehlo.gather"(%arg2, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 6>}> : (tensor<11x6xbf16>, tensor<4x3x1xi32>) -> tensor<4x3x6xbf16>
    %7 = stablehlo.dot_general %6, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3x6xbf16>, tensor<6x10xbf16>) -> tensor<4x3x10xbf16>
    %8 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<10xbf16>) -> tensor<1x1x10xbf16>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x10xbf16>) -> tensor<4x3x10xbf16>
    %10 = stablehlo.add %7, %9 : tensor<4x3x10xbf16>
    %11 = call @relu(%10) : (tensor<4x3x10xbf16>) -> tensor<4x3x10xbf16>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %12 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<4x3x10xbf16>
    %13 = stablehlo.compare GT, %10, %12, FLOAT : (tensor<4x3x10xbf16>, tensor<4x3x10xbf16>) -> tensor<4x3x10xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %14 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<4x3x10xbf16>
    %15 = stablehlo.dot_general %11, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3x10xbf16>, tensor<10x6xbf16>) -> tensor<4x3x6xbf16>
    %16 = stablehlo.multiply %15, %15 : tensor<4x3x6xbf16>
    %17 = stablehlo.convert %16 : (tensor<4x3x6xbf16>) -> tensor<4x3x6xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<4x3x6xf32>, tensor<f32>) -> tensor<4x3xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3x1xf32>
    %cst_3 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x3x1xf32>
    %21 = stablehlo.divide %19, %20 : tensor<4x3x1xf32>
    %22 = stablehlo.convert %21 : (tensor<4x3x1xf32>) -> tensor<4x3x1xbf16>
    %cst_4 = stablehlo.constant dense<9.983770e-07> : tensor<bf16>
    %23 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<bf16>) -> tensor<4x3x1xbf16>
    %24 = stablehlo.add %22, %23 : tensor<4x3x1xbf16>
    %25 = stablehlo.rsqrt %24 : tensor<4x3x1xbf16>
    %26 = stablehlo.divide %25, %24 : tensor<4x3x1xbf16>
    %cst_5 = stablehlo.constant dense<-5.000000e-01> : tensor<bf16>
    %27 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<bf16>) -> tensor<4x3x1xbf16>
    %28 = stablehlo.multiply %27, %26 : tensor<4x3x1xbf16>
    %29 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<4x3x1xbf16>) -> tensor<4x3x6xbf16>
    %30 = stablehlo.multiply %15, %29 : tensor<4x3x6xbf16>
    %31 = stablehlo.broadcast_in_dim %arg0, dims = [2] : (tensor<6xbf16>) -> tensor<1x1x6xbf16>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2] : (tensor<1x1x6xbf16>) -> tensor<4x3x6xbf16>
    %33 = stablehlo.multiply %30, %32 : tensor<4x3x6xbf16>
    %34 = stablehlo.add %6, %33 : tensor<4x3x6xbf16>
    %35 = stablehlo.transpose %arg2, dims = [1, 0] : (tensor<11x6xbf16>) -> tensor<6x11xbf16>
    %36 = stablehlo.dot_general %34, %35, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3x6xbf16>, tensor<6x11xbf16>) -> tensor<4x3x11xbf16>
    %37 = stablehlo.convert %36 : (tensor<4x3x11xbf16>) -> tensor<4x3x11xf32>
    %38 = stablehlo.broadcast_in_dim %arg22, dims = [0, 1] : (tensor<4x3xi32>) -> tensor<4x3x1xi32>
    %39:2 = call @take_along_axis(%37, %38) : (tensor<4x3x11xf32>, tensor<4x3x1xi32>) -> (tensor<4x3x1xf32>, tensor<4x3x1x1xi32>)
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %40:2 = call @_take(%39#0, %c_6) : (tensor<4x3x1xf32>, tensor<i32>) -> (tensor<4x3xf32>, tensor<1xi32>)
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %41 = stablehlo.reduce(%37 init: %cst_7) applies stablehlo.maximum across dimensions = [2] : (tensor<4x3x11xf32>, tensor<f32>) -> tensor<4x3xf32>
    %42 = stablehlo.reshape %41 : (tensor<4x3xf32>) -> tensor<4x3x1xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2] : (tensor<4x3x1xf32>) -> tensor<4x3x11xf32>
    %44 = stablehlo.compare EQ, %37, %43, FLOAT : (tensor<4x3x11xf32>, tensor<4x3x11xf32>) -> tensor<4x3x11xi1>
    %45 = stablehlo.convert %44 : (tensor<4x3x11xi1>) -> tensor<4x3x11xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.reduce(%45 init: %cst_8) applies stablehlo.add across dimensions = [2] : (tensor<4x3x11xf32>, tensor<f32>) -> tensor<4x3xf32>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %48 = stablehlo.maximum %47, %41 : tensor<4x3xf32>
    %49 = stablehlo.compare EQ, %41, %48, FLOAT : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %52 = stablehlo.select %49, %50, %51 : tensor<4x3xi1>, tensor<4x3xf32>
    %cst_12 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %54 = stablehlo.compare EQ, %53, %48, FLOAT : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
    %cst_13 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %57 = stablehlo.select %54, %55, %56 : tensor<4x3xi1>, tensor<4x3xf32>
    %58 = stablehlo.divide %52, %57 : tensor<4x3xf32>
    %59 = stablehlo.is_finite %48 : (tensor<4x3xf32>) -> tensor<4x3xi1>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %61 = stablehlo.select %59, %48, %60 : tensor<4x3xi1>, tensor<4x3xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %63 = stablehlo.broadcast_in_dim %61, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3x1xf32>
    %64 = stablehlo.broadcast_in_dim %63, dims = [0, 1, 2] : (tensor<4x3x1xf32>) -> tensor<4x3x11xf32>
    %65 = stablehlo.subtract %37, %64 : tensor<4x3x11xf32>
    %66 = stablehlo.exponential %65 : tensor<4x3x11xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %67 = stablehlo.reduce(%66 init: %cst_17) applies stablehlo.add across dimensions = [2] : (tensor<4x3x11xf32>, tensor<f32>) -> tensor<4x3xf32>
    %68 = stablehlo.sign %67 : tensor<4x3xf32>
    %69 = stablehlo.abs %67 : tensor<4x3xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %71 = stablehlo.compare GE, %67, %70, FLOAT : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
    %72 = stablehlo.log %69 : tensor<4x3xf32>
    %73 = stablehlo.add %72, %61 : tensor<4x3xf32>
    %74 = stablehlo.subtract %73, %40#0 : tensor<4x3xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %75 = stablehlo.reduce(%74 init: %cst_19) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<f32>
    %cst_20 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %76 = stablehlo.divide %75, %cst_20 : tensor<f32>
    %cst_21 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_22 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %77 = stablehlo.divide %cst_21, %cst_22 : tensor<f32>
    %78 = stablehlo.broadcast_in_dim %77, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %79 = stablehlo.negate %78 : tensor<4x3xf32>
    %80 = stablehlo.divide %78, %69 : tensor<4x3xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %82 = stablehlo.select %71, %81, %80 : tensor<4x3xi1>, tensor<4x3xf32>
    %83 = stablehlo.select %71, %80, %81 : tensor<4x3xi1>, tensor<4x3xf32>
    %84 = stablehlo.negate %82 : tensor<4x3xf32>
    %85 = stablehlo.add %83, %84 : tensor<4x3xf32>
    %86 = stablehlo.broadcast_in_dim %85, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3x11xf32>
    %87 = stablehlo.multiply %86, %66 : tensor<4x3x11xf32>
    %88 = call @_take_0(%40#1, %79) : (tensor<1xi32>, tensor<4x3xf32>) -> tensor<4x3x1xf32>
    %89 = call @take_along_axis_1(%39#1, %88) : (tensor<4x3x1x1xi32>, tensor<4x3x1xf32>) -> tensor<4x3x11xf32>
    %90 = stablehlo.add %87, %89 : tensor<4x3x11xf32>
    %91 = stablehlo.convert %90 : (tensor<4x3x11xf32>) -> tensor<4x3x11xbf16>
    %92 = stablehlo.dot_general %91, %34, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x11xbf16>, tensor<4x3x6xbf16>) -> tensor<11x6xbf16>
    %93 = stablehlo.transpose %92, dims = [1, 0] : (tensor<11x6xbf16>) -> tensor<6x11xbf16>
    %94 = stablehlo.dot_general %91, %35, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x11xbf16>, tensor<6x11xbf16>) -> tensor<4x3x6xbf16>
    %95 = stablehlo.transpose %93, dims = [1, 0] : (tensor<6x11xbf16>) -> tensor<11x6xbf16>
    %96 = stablehlo.multiply %30, %94 : tensor<4x3x6xbf16>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %97 = stablehlo.reduce(%96 init: %cst_24) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x3x6xbf16>, tensor<bf16>) -> tensor<6xbf16>
    %98 = stablehlo.reshape %97 : (tensor<6xbf16>) -> tensor<1x1x6xbf16>
    %99 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2] : (tensor<1x1x6xbf16>) -> tensor<4x3x6xbf16>
    %100 = stablehlo.multiply %94, %99 : tensor<4x3x6xbf16>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %101 = stablehlo.reduce(%98 init: %cst_25) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x6xbf16>, tensor<bf16>) -> tensor<6xbf16>
    %102 = stablehlo.multiply %15, %100 : tensor<4x3x6xbf16>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %103 = stablehlo.reduce(%102 init: %cst_26) applies stablehlo.add across dimensions = [2] : (tensor<4x3x6xbf16>, tensor<bf16>) -> tensor<4x3xbf16>
    %104 = stablehlo.reshape %103 : (tensor<4x3xbf16>) -> tensor<4x3x1xbf16>
    %105 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<4x3x1xbf16>) -> tensor<4x3x6xbf16>
    %106 = stablehlo.multiply %100, %105 : tensor<4x3x6xbf16>
    %107 = stablehlo.multiply %104, %28 : tensor<4x3x1xbf16>
    %108 = stablehlo.convert %107 : (tensor<4x3x1xbf16>) -> tensor<4x3x1xf32>
    %cst_27 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %109 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<4x3x1xf32>
    %110 = stablehlo.divide %108, %109 : tensor<4x3x1xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %111 = stablehlo.reduce(%110 init: %cst_28) applies stablehlo.add across dimensions = [2] : (tensor<4x3x1xf32>, tensor<f32>) -> tensor<4x3xf32>
    %112 = stablehlo.broadcast_in_dim %111, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3x6xf32>
    %113 = stablehlo.convert %112 : (tensor<4x3x6xf32>) -> tensor<4x3x6xbf16>
    %114 = stablehlo.multiply %15, %113 : tensor<4x3x6xbf16>
    %115 = stablehlo.add %106, %114 : tensor<4x3x6xbf16>
    %116 = stablehlo.multiply %113, %15 : tensor<4x3x6xbf16>
    %117 = stablehlo.add %115, %116 : tensor<4x3x6xbf16>
    %118 = stablehlo.dot_general %117, %11, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x6xbf16>, tensor<4x3x10xbf16>) -> tensor<6x10xbf16>
    %119 = stablehlo.transpose %118, dims = [1, 0] : (tensor<6x10xbf16>) -> tensor<10x6xbf16>
    %120 = stablehlo.dot_general %117, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x6xbf16>, tensor<10x6xbf16>) -> tensor<4x3x10xbf16>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %121 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<bf16>) -> tensor<4x3x10xbf16>
    %122 = stablehlo.select %13, %120, %121 : tensor<4x3x10xi1>, tensor<4x3x10xbf16>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %123 = stablehlo.reduce(%122 init: %cst_30) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x3x10xbf16>, tensor<bf16>) -> tensor<10xbf16>
    %124 = stablehlo.reshape %123 : (tensor<10xbf16>) -> tensor<1x1x10xbf16>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %125 = stablehlo.reduce(%124 init: %cst_31) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x10xbf16>, tensor<bf16>) -> tensor<10xbf16>
    %126 = stablehlo.dot_general %122, %6, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x10xbf16>, tensor<4x3x6xbf16>) -> tensor<10x6xbf16>
    %127 = stablehlo.transpose %126, dims = [1, 0] : (tensor<10x6xbf16>) -> tensor<6x10xbf16>
    %128 = stablehlo.dot_general %122, %arg4, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x10xbf16>, tensor<6x10xbf16>) -> tensor<4x3x6xbf16>
    %129 = stablehlo.add %94, %128 : tensor<4x3x6xbf16>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %130 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<bf16>) -> tensor<11x6xbf16>
    %131 = "stablehlo.scatter"(%130, %5, %129) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg23: tensor<bf16>, %arg24: tensor<bf16>):
      %289 = stablehlo.add %arg23, %arg24 : tensor<bf16>
      stablehlo.return %289 : tensor<bf16>
    }) : (tensor<11x6xbf16>, tensor<4x3x1xi32>, tensor<4x3x6xbf16>) -> tensor<11x6xbf16>
    %132 = stablehlo.add %95, %131 : tensor<11x6xbf16>
    %133 = stablehlo.convert %101 : (tensor<6xbf16>) -> tensor<6xf32>
    %134 = stablehlo.convert %119 : (tensor<10x6xbf16>) -> tensor<10x6xf32>
    %135 = stablehlo.convert %132 : (tensor<11x6xbf16>) -> tensor<11x6xf32>
    %136 = stablehlo.convert %125 : (tensor<10xbf16>) -> tensor<10xf32>
    %137 = stablehlo.convert %127 : (tensor<6x10xbf16>) -> tensor<6x10xf32>
    %cst_33 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %138 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %139 = stablehlo.multiply %138, %133 : tensor<6xf32>
    %cst_34 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %140 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %141 = stablehlo.multiply %140, %arg11 : tensor<6xf32>
    %142 = stablehlo.add %139, %141 : tensor<6xf32>
    %cst_35 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %143 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %144 = stablehlo.multiply %143, %134 : tensor<10x6xf32>
    %cst_36 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %145 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %146 = stablehlo.multiply %145, %arg12 : tensor<10x6xf32>
    %147 = stablehlo.add %144, %146 : tensor<10x6xf32>
    %cst_37 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %148 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %149 = stablehlo.multiply %148, %135 : tensor<11x6xf32>
    %cst_38 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %151 = stablehlo.multiply %150, %arg13 : tensor<11x6xf32>
    %152 = stablehlo.add %149, %151 : tensor<11x6xf32>
    %cst_39 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %153 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %154 = stablehlo.multiply %153, %136 : tensor<10xf32>
    %cst_40 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %155 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %156 = stablehlo.multiply %155, %arg14 : tensor<10xf32>
    %157 = stablehlo.add %154, %156 : tensor<10xf32>
    %cst_41 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %158 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %159 = stablehlo.multiply %158, %137 : tensor<6x10xf32>
    %cst_42 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %160 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %161 = stablehlo.multiply %160, %arg15 : tensor<6x10xf32>
    %162 = stablehlo.add %159, %161 : tensor<6x10xf32>
    %163 = stablehlo.multiply %133, %133 : tensor<6xf32>
    %cst_43 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %164 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %165 = stablehlo.multiply %164, %163 : tensor<6xf32>
    %cst_44 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %166 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %167 = stablehlo.multiply %166, %arg16 : tensor<6xf32>
    %168 = stablehlo.add %165, %167 : tensor<6xf32>
    %169 = stablehlo.multiply %134, %134 : tensor<10x6xf32>
    %cst_45 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %170 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %171 = stablehlo.multiply %170, %169 : tensor<10x6xf32>
    %cst_46 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %172 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %173 = stablehlo.multiply %172, %arg17 : tensor<10x6xf32>
    %174 = stablehlo.add %171, %173 : tensor<10x6xf32>
    %175 = stablehlo.multiply %135, %135 : tensor<11x6xf32>
    %cst_47 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %176 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %177 = stablehlo.multiply %176, %175 : tensor<11x6xf32>
    %cst_48 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %178 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %179 = stablehlo.multiply %178, %arg18 : tensor<11x6xf32>
    %180 = stablehlo.add %177, %179 : tensor<11x6xf32>
    %181 = stablehlo.multiply %136, %136 : tensor<10xf32>
    %cst_49 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %182 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %183 = stablehlo.multiply %182, %181 : tensor<10xf32>
    %cst_50 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %184 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %185 = stablehlo.multiply %184, %arg19 : tensor<10xf32>
    %186 = stablehlo.add %183, %185 : tensor<10xf32>
    %187 = stablehlo.multiply %137, %137 : tensor<6x10xf32>
    %cst_51 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %188 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %189 = stablehlo.multiply %188, %187 : tensor<6x10xf32>
    %cst_52 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %190 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %191 = stablehlo.multiply %190, %arg20 : tensor<6x10xf32>
    %192 = stablehlo.add %189, %191 : tensor<6x10xf32>
    %c_53 = stablehlo.constant dense<2147483647> : tensor<i32>
    %193 = stablehlo.compare LT, %arg10, %c_53, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_54 = stablehlo.constant dense<1> : tensor<i32>
    %194 = stablehlo.add %arg10, %c_54 : tensor<i32>
    %c_55 = stablehlo.constant dense<2147483647> : tensor<i32>
    %195 = call @_where_2(%193, %194, %c_55) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %196 = stablehlo.convert %195 : (tensor<i32>) -> tensor<f32>
    %cst_56 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %197 = stablehlo.convert %195 : (tensor<i32>) -> tensor<f32>
    %198 = stablehlo.power %cst_56, %197 : tensor<f32>
    %cst_57 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %199 = stablehlo.subtract %cst_57, %198 : tensor<f32>
    %200 = stablehlo.broadcast_in_dim %199, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %201 = stablehlo.divide %142, %200 : tensor<6xf32>
    %202 = stablehlo.broadcast_in_dim %199, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %203 = stablehlo.divide %147, %202 : tensor<10x6xf32>
    %204 = stablehlo.broadcast_in_dim %199, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %205 = stablehlo.divide %152, %204 : tensor<11x6xf32>
    %206 = stablehlo.broadcast_in_dim %199, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %207 = stablehlo.divide %157, %206 : tensor<10xf32>
    %208 = stablehlo.broadcast_in_dim %199, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %209 = stablehlo.divide %162, %208 : tensor<6x10xf32>
    %210 = stablehlo.convert %195 : (tensor<i32>) -> tensor<f32>
    %cst_58 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %211 = stablehlo.convert %195 : (tensor<i32>) -> tensor<f32>
    %212 = stablehlo.power %cst_58, %211 : tensor<f32>
    %cst_59 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %213 = stablehlo.subtract %cst_59, %212 : tensor<f32>
    %214 = stablehlo.broadcast_in_dim %213, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %215 = stablehlo.divide %168, %214 : tensor<6xf32>
    %216 = stablehlo.broadcast_in_dim %213, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %217 = stablehlo.divide %174, %216 : tensor<10x6xf32>
    %218 = stablehlo.broadcast_in_dim %213, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %219 = stablehlo.divide %180, %218 : tensor<11x6xf32>
    %220 = stablehlo.broadcast_in_dim %213, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %221 = stablehlo.divide %186, %220 : tensor<10xf32>
    %222 = stablehlo.broadcast_in_dim %213, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %223 = stablehlo.divide %192, %222 : tensor<6x10xf32>
    %cst_60 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %224 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %225 = stablehlo.add %215, %224 : tensor<6xf32>
    %226 = stablehlo.sqrt %225 : tensor<6xf32>
    %cst_61 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %227 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %228 = stablehlo.add %226, %227 : tensor<6xf32>
    %229 = stablehlo.divide %201, %228 : tensor<6xf32>
    %cst_62 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %230 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %231 = stablehlo.add %217, %230 : tensor<10x6xf32>
    %232 = stablehlo.sqrt %231 : tensor<10x6xf32>
    %cst_63 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %233 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %234 = stablehlo.add %232, %233 : tensor<10x6xf32>
    %235 = stablehlo.divide %203, %234 : tensor<10x6xf32>
    %cst_64 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %236 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %237 = stablehlo.add %219, %236 : tensor<11x6xf32>
    %238 = stablehlo.sqrt %237 : tensor<11x6xf32>
    %cst_65 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %239 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %240 = stablehlo.add %238, %239 : tensor<11x6xf32>
    %241 = stablehlo.divide %205, %240 : tensor<11x6xf32>
    %cst_66 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %242 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %243 = stablehlo.add %221, %242 : tensor<10xf32>
    %244 = stablehlo.sqrt %243 : tensor<10xf32>
    %cst_67 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %245 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %246 = stablehlo.add %244, %245 : tensor<10xf32>
    %247 = stablehlo.divide %207, %246 : tensor<10xf32>
    %cst_68 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %248 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %249 = stablehlo.add %223, %248 : tensor<6x10xf32>
    %250 = stablehlo.sqrt %249 : tensor<6x10xf32>
    %cst_69 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %251 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %252 = stablehlo.add %250, %251 : tensor<6x10xf32>
    %253 = stablehlo.divide %209, %252 : tensor<6x10xf32>
    %cst_70 = stablehlo.constant dense<9.99999974E-5> : tensor<f32>
    %254 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %255 = stablehlo.multiply %254, %arg5 : tensor<6xf32>
    %256 = stablehlo.add %229, %255 : tensor<6xf32>
    %cst_71 = stablehlo.constant dense<9.99999974E-5> : tensor<f32>
    %257 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %258 = stablehlo.multiply %257, %arg6 : tensor<10x6xf32>
    %259 = stablehlo.add %235, %258 : tensor<10x6xf32>
    %cst_72 = stablehlo.constant dense<9.99999974E-5> : tensor<f32>
    %260 = stablehlo.broadcast_in_dim %cst_72, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %261 = stablehlo.multiply %260, %arg7 : tensor<11x6xf32>
    %262 = stablehlo.add %241, %261 : tensor<11x6xf32>
    %cst_73 = stablehlo.constant dense<9.99999974E-5> : tensor<f32>
    %263 = stablehlo.broadcast_in_dim %cst_73, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %264 = stablehlo.multiply %263, %arg8 : tensor<10xf32>
    %265 = stablehlo.add %247, %264 : tensor<10xf32>
    %cst_74 = stablehlo.constant dense<9.99999974E-5> : tensor<f32>
    %266 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %267 = stablehlo.multiply %266, %arg9 : tensor<6x10xf32>
    %268 = stablehlo.add %253, %267 : tensor<6x10xf32>
    %cst_75 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %269 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %270 = stablehlo.multiply %269, %256 : tensor<6xf32>
    %cst_76 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %271 = stablehlo.broadcast_in_dim %cst_76, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %272 = stablehlo.multiply %271, %259 : tensor<10x6xf32>
    %cst_77 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %273 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %274 = stablehlo.multiply %273, %262 : tensor<11x6xf32>
    %cst_78 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %275 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %276 = stablehlo.multiply %275, %265 : tensor<10xf32>
    %cst_79 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %277 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %278 = stablehlo.multiply %277, %268 : tensor<6x10xf32>
    %279 = stablehlo.add %arg5, %270 : tensor<6xf32>
    %280 = stablehlo.add %arg6, %272 : tensor<10x6xf32>
    %281 = stablehlo.add %arg7, %274 : tensor<11x6xf32>
    %282 = stablehlo.add %arg8, %276 : tensor<10xf32>
    %283 = stablehlo.add %arg9, %278 : tensor<6x10xf32>
    %284 = stablehlo.convert %279 : (tensor<6xf32>) -> tensor<6xbf16>
    %285 = stablehlo.convert %280 : (tensor<10x6xf32>) -> tensor<10x6xbf16>
    %286 = stablehlo.convert %281 : (tensor<11x6xf32>) -> tensor<11x6xbf16>
    %287 = stablehlo.convert %282 : (tensor<10xf32>) -> tensor<10xbf16>
    %288 = stablehlo.convert %283 : (tensor<6x10xf32>) -> tensor<6x10xbf16>
    return %284, %285, %286, %287, %288, %279, %280, %281, %282, %283, %195, %142, %147, %152, %157, %162, %168, %174, %180, %186, %192, %76 : tensor<6xbf16>, tensor<10x6xbf16>, tensor<11x6xbf16>, tensor<10xbf16>, tensor<6x10xbf16>, tensor<6xf32>, tensor<10x6xf32>, tensor<11x6xf32>, tensor<10xf32>, tensor<6x10xf32>, tensor<i32>, tensor<6xf32>, tensor<10x6xf32>, tensor<11x6xf32>, tensor<10xf32>, tensor<6x10xf32>, tensor<6xf32>, tensor<10x6xf32>, tensor<11x6xf32>, tensor<10xf32>, tensor<6x10xf32>, tensor<f32>
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
