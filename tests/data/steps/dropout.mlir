// pppppoooooooooooosii
module @jit_dropout attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<6xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<10x6xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<11x6xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<10xf32> {tf.aliasing_output = 3 : i32}, %arg4: tensor<6x10xf32> {tf.aliasing_output = 4 : i32}, %arg5: tensor<i32> {tf.aliasing_output = 5 : i32}, %arg6: tensor<6xf32> {tf.aliasing_output = 6 : i32}, %arg7: tensor<10x6xf32> {tf.aliasing_output = 7 : i32}, %arg8: tensor<11x6xf32> {tf.aliasing_output = 8 : i32}, %arg9: tensor<10xf32> {tf.aliasing_output = 9 : i32}, %arg10: tensor<6x10xf32> {tf.aliasing_output = 10 : i32}, %arg11: tensor<6xf32> {tf.aliasing_output = 11 : i32}, %arg12: tensor<10x6xf32> {tf.aliasing_output = 12 : i32}, %arg13: tensor<11x6xf32> {tf.aliasing_output = 13 : i32}, %arg14: tensor<10xf32> {tf.aliasing_output = 14 : i32}, %arg15: tensor<6x10xf32> {tf.aliasing_output = 15 : i32}, %arg16: tensor<i32> {tf.aliasing_output = 16 : i32}, %arg17: tensor<2xui32> {tf.aliasing_output = 17 : i32}, %arg18: tensor<4x3xi32>, %arg19: tensor<4x3xi32>) -> (tensor<6xf32> {jax.result_info = "result[0]['down']['g']"}, tensor<10x6xf32> {jax.result_info = "result[0]['down']['w']"}, tensor<11x6xf32> {jax.result_info = "result[0]['emb']"}, tensor<10xf32> {jax.result_info = "result[0]['up']['b']"}, tensor<6x10xf32> {jax.result_info = "result[0]['up']['w']"}, tensor<i32> {jax.result_info = "result[1][1][0].count"}, tensor<6xf32> {jax.result_info = "result[1][1][0].mu['down']['g']"}, tensor<10x6xf32> {jax.result_info = "result[1][1][0].mu['down']['w']"}, tensor<11x6xf32> {jax.result_info = "result[1][1][0].mu['emb']"}, tensor<10xf32> {jax.result_info = "result[1][1][0].mu['up']['b']"}, tensor<6x10xf32> {jax.result_info = "result[1][1][0].mu['up']['w']"}, tensor<6xf32> {jax.result_info = "result[1][1][0].nu['down']['g']"}, tensor<10x6xf32> {jax.result_info = "result[1][1][0].nu['down']['w']"}, tensor<11x6xf32> {jax.result_info = "result[1][1][0].nu['emb']"}, tensor<10xf32> {jax.result_info = "result[1][1][0].nu['up']['b']"}, tensor<6x10xf32> {jax.result_info = "result[1][1][0].nu['up']['w']"}, tensor<i32> {jax.result_info = "result[1][1][1].count"}, tensor<2xui32> {jax.result_info = "result[2]"}, tensor<f32> {jax.result_info = "result[3]"}) {
    %0 = sdy.sharding_constraint %arg17 <@empty_mesh, [{}]> : tensor<2xui32>
    %1 = call @_threefry_split(%0) : (tensor<2xui32>) -> tensor<2x2xui32>
    %2 = stablehlo.slice %1 [0:1, 0:2] : (tensor<2x2xui32>) -> tensor<1x2xui32>
    %3 = stablehlo.reshape %2 : (tensor<1x2xui32>) -> tensor<2xui32>
    %4 = stablehlo.slice %1 [1:2, 0:2] : (tensor<2x2xui32>) -> tensor<1x2xui32>
    %5 = stablehlo.reshape %4 : (tensor<1x2xui32>) -> tensor<2xui32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x3xi32>
    %7 = stablehlo.compare LT, %arg18, %6, SIGNED : (tensor<4x3xi32>, tensor<4x3xi32>) -> tensor<4x3xi1>
    %c_0 = stablehlo.constant dense<11> : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x3xi32>
    %9 = stablehlo.add %arg18, %8 : tensor<4x3xi32>
    %10 = stablehlo.select %7, %9, %arg18 : tensor<4x3xi1>, tensor<4x3xi32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<4x3xi32>) -> tensor<4x3x1xi32>
    %12 = "stablehlo.gather"(%arg2, %11) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 6>}> : (tensor<11x6xf32>, tensor<4x3x1xi32>) -> tensor<4x3x6xf32>
    %13 = stablehlo.dot_general %12, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3x6xf32>, tensor<6x10xf32>) -> tensor<4x3x10xf32>
    %14 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<10xf32>) -> tensor<1x1x10xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<1x1x10xf32>) -> tensor<4x3x10xf32>
    %16 = stablehlo.add %13, %15 : tensor<4x3x10xf32>
    %17 = call @relu(%16) : (tensor<4x3x10xf32>) -> tensor<4x3x10xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x3x10xf32>
    %19 = stablehlo.compare GT, %16, %18, FLOAT : (tensor<4x3x10xf32>, tensor<4x3x10xf32>) -> tensor<4x3x10xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x3x10xf32>
    %cst_2 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %21 = call @_bernoulli(%5, %cst_2) : (tensor<2xui32>, tensor<f32>) -> tensor<4x3x10xi1>
    %22 = stablehlo.convert %21 : (tensor<4x3x10xi1>) -> tensor<4x3x10xf32>
    %23 = stablehlo.multiply %17, %22 : tensor<4x3x10xf32>
    %24 = stablehlo.dot_general %23, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3x10xf32>, tensor<10x6xf32>) -> tensor<4x3x6xf32>
    %25 = stablehlo.multiply %24, %24 : tensor<4x3x6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_3) applies stablehlo.add across dimensions = [2] : (tensor<4x3x6xf32>, tensor<f32>) -> tensor<4x3xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3x1xf32>
    %cst_4 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x3x1xf32>
    %29 = stablehlo.divide %27, %28 : tensor<4x3x1xf32>
    %cst_5 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x3x1xf32>
    %31 = stablehlo.add %29, %30 : tensor<4x3x1xf32>
    %32 = stablehlo.rsqrt %31 : tensor<4x3x1xf32>
    %33 = stablehlo.divide %32, %31 : tensor<4x3x1xf32>
    %cst_6 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x3x1xf32>
    %35 = stablehlo.multiply %34, %33 : tensor<4x3x1xf32>
    %36 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2] : (tensor<4x3x1xf32>) -> tensor<4x3x6xf32>
    %37 = stablehlo.multiply %24, %36 : tensor<4x3x6xf32>
    %38 = stablehlo.broadcast_in_dim %arg0, dims = [2] : (tensor<6xf32>) -> tensor<1x1x6xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2] : (tensor<1x1x6xf32>) -> tensor<4x3x6xf32>
    %40 = stablehlo.multiply %37, %39 : tensor<4x3x6xf32>
    %41 = stablehlo.add %12, %40 : tensor<4x3x6xf32>
    %42 = stablehlo.transpose %arg2, dims = [1, 0] : (tensor<11x6xf32>) -> tensor<6x11xf32>
    %43 = stablehlo.dot_general %41, %42, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3x6xf32>, tensor<6x11xf32>) -> tensor<4x3x11xf32>
    %44 = stablehlo.broadcast_in_dim %arg19, dims = [0, 1] : (tensor<4x3xi32>) -> tensor<4x3x1xi32>
    %45:2 = call @take_along_axis(%43, %44) : (tensor<4x3x11xf32>, tensor<4x3x1xi32>) -> (tensor<4x3x1xf32>, tensor<4x3x1x1xi32>)
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %46:2 = call @_take(%45#0, %c_7) : (tensor<4x3x1xf32>, tensor<i32>) -> (tensor<4x3xf32>, tensor<1xi32>)
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %47 = stablehlo.reduce(%43 init: %cst_8) applies stablehlo.maximum across dimensions = [2] : (tensor<4x3x11xf32>, tensor<f32>) -> tensor<4x3xf32>
    %48 = stablehlo.reshape %47 : (tensor<4x3xf32>) -> tensor<4x3x1xf32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [0, 1, 2] : (tensor<4x3x1xf32>) -> tensor<4x3x11xf32>
    %50 = stablehlo.compare EQ, %43, %49, FLOAT : (tensor<4x3x11xf32>, tensor<4x3x11xf32>) -> tensor<4x3x11xi1>
    %51 = stablehlo.convert %50 : (tensor<4x3x11xi1>) -> tensor<4x3x11xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %52 = stablehlo.reduce(%51 init: %cst_9) applies stablehlo.add across dimensions = [2] : (tensor<4x3x11xf32>, tensor<f32>) -> tensor<4x3xf32>
    %cst_10 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %54 = stablehlo.maximum %53, %47 : tensor<4x3xf32>
    %55 = stablehlo.compare EQ, %47, %54, FLOAT : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %58 = stablehlo.select %55, %56, %57 : tensor<4x3xi1>, tensor<4x3xf32>
    %cst_13 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %60 = stablehlo.compare EQ, %59, %54, FLOAT : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
    %cst_14 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %63 = stablehlo.select %60, %61, %62 : tensor<4x3xi1>, tensor<4x3xf32>
    %64 = stablehlo.divide %58, %63 : tensor<4x3xf32>
    %65 = stablehlo.is_finite %54 : (tensor<4x3xf32>) -> tensor<4x3xi1>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %66 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %67 = stablehlo.select %65, %54, %66 : tensor<4x3xi1>, tensor<4x3xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %69 = stablehlo.broadcast_in_dim %67, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3x1xf32>
    %70 = stablehlo.broadcast_in_dim %69, dims = [0, 1, 2] : (tensor<4x3x1xf32>) -> tensor<4x3x11xf32>
    %71 = stablehlo.subtract %43, %70 : tensor<4x3x11xf32>
    %72 = stablehlo.exponential %71 : tensor<4x3x11xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %73 = stablehlo.reduce(%72 init: %cst_18) applies stablehlo.add across dimensions = [2] : (tensor<4x3x11xf32>, tensor<f32>) -> tensor<4x3xf32>
    %74 = stablehlo.sign %73 : tensor<4x3xf32>
    %75 = stablehlo.abs %73 : tensor<4x3xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %77 = stablehlo.compare GE, %73, %76, FLOAT : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
    %78 = stablehlo.log %75 : tensor<4x3xf32>
    %79 = stablehlo.add %78, %67 : tensor<4x3xf32>
    %80 = stablehlo.subtract %79, %46#0 : tensor<4x3xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %81 = stablehlo.reduce(%80 init: %cst_20) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<f32>
    %cst_21 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %82 = stablehlo.divide %81, %cst_21 : tensor<f32>
    %cst_22 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_23 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %83 = stablehlo.divide %cst_22, %cst_23 : tensor<f32>
    %84 = stablehlo.broadcast_in_dim %83, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %85 = stablehlo.negate %84 : tensor<4x3xf32>
    %86 = stablehlo.divide %84, %75 : tensor<4x3xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %87 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %88 = stablehlo.select %77, %87, %86 : tensor<4x3xi1>, tensor<4x3xf32>
    %89 = stablehlo.select %77, %86, %87 : tensor<4x3xi1>, tensor<4x3xf32>
    %90 = stablehlo.negate %88 : tensor<4x3xf32>
    %91 = stablehlo.add %89, %90 : tensor<4x3xf32>
    %92 = stablehlo.broadcast_in_dim %91, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3x11xf32>
    %93 = stablehlo.multiply %92, %72 : tensor<4x3x11xf32>
    %94 = call @_take_2(%46#1, %85) : (tensor<1xi32>, tensor<4x3xf32>) -> tensor<4x3x1xf32>
    %95 = call @take_along_axis_3(%45#1, %94) : (tensor<4x3x1x1xi32>, tensor<4x3x1xf32>) -> tensor<4x3x11xf32>
    %96 = stablehlo.add %93, %95 : tensor<4x3x11xf32>
    %97 = stablehlo.dot_general %96, %41, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x11xf32>, tensor<4x3x6xf32>) -> tensor<11x6xf32>
    %98 = stablehlo.transpose %97, dims = [1, 0] : (tensor<11x6xf32>) -> tensor<6x11xf32>
    %99 = stablehlo.dot_general %96, %42, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x11xf32>, tensor<6x11xf32>) -> tensor<4x3x6xf32>
    %100 = stablehlo.transpose %98, dims = [1, 0] : (tensor<6x11xf32>) -> tensor<11x6xf32>
    %101 = stablehlo.multiply %37, %99 : tensor<4x3x6xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %102 = stablehlo.reduce(%101 init: %cst_25) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x3x6xf32>, tensor<f32>) -> tensor<6xf32>
    %103 = stablehlo.reshape %102 : (tensor<6xf32>) -> tensor<1x1x6xf32>
    %104 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2] : (tensor<1x1x6xf32>) -> tensor<4x3x6xf32>
    %105 = stablehlo.multiply %99, %104 : tensor<4x3x6xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %106 = stablehlo.reduce(%103 init: %cst_26) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x6xf32>, tensor<f32>) -> tensor<6xf32>
    %107 = stablehlo.multiply %24, %105 : tensor<4x3x6xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %108 = stablehlo.reduce(%107 init: %cst_27) applies stablehlo.add across dimensions = [2] : (tensor<4x3x6xf32>, tensor<f32>) -> tensor<4x3xf32>
    %109 = stablehlo.reshape %108 : (tensor<4x3xf32>) -> tensor<4x3x1xf32>
    %110 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2] : (tensor<4x3x1xf32>) -> tensor<4x3x6xf32>
    %111 = stablehlo.multiply %105, %110 : tensor<4x3x6xf32>
    %112 = stablehlo.multiply %109, %35 : tensor<4x3x1xf32>
    %cst_28 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %113 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<4x3x1xf32>
    %114 = stablehlo.divide %112, %113 : tensor<4x3x1xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %115 = stablehlo.reduce(%114 init: %cst_29) applies stablehlo.add across dimensions = [2] : (tensor<4x3x1xf32>, tensor<f32>) -> tensor<4x3xf32>
    %116 = stablehlo.broadcast_in_dim %115, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3x6xf32>
    %117 = stablehlo.multiply %24, %116 : tensor<4x3x6xf32>
    %118 = stablehlo.add %111, %117 : tensor<4x3x6xf32>
    %119 = stablehlo.multiply %116, %24 : tensor<4x3x6xf32>
    %120 = stablehlo.add %118, %119 : tensor<4x3x6xf32>
    %121 = stablehlo.dot_general %120, %23, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x6xf32>, tensor<4x3x10xf32>) -> tensor<6x10xf32>
    %122 = stablehlo.transpose %121, dims = [1, 0] : (tensor<6x10xf32>) -> tensor<10x6xf32>
    %123 = stablehlo.dot_general %120, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x6xf32>, tensor<10x6xf32>) -> tensor<4x3x10xf32>
    %124 = stablehlo.multiply %123, %22 : tensor<4x3x10xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %125 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<4x3x10xf32>
    %126 = stablehlo.select %19, %124, %125 : tensor<4x3x10xi1>, tensor<4x3x10xf32>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %127 = stablehlo.reduce(%126 init: %cst_31) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x3x10xf32>, tensor<f32>) -> tensor<10xf32>
    %128 = stablehlo.reshape %127 : (tensor<10xf32>) -> tensor<1x1x10xf32>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %129 = stablehlo.reduce(%128 init: %cst_32) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x10xf32>, tensor<f32>) -> tensor<10xf32>
    %130 = stablehlo.dot_general %126, %12, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x10xf32>, tensor<4x3x6xf32>) -> tensor<10x6xf32>
    %131 = stablehlo.transpose %130, dims = [1, 0] : (tensor<10x6xf32>) -> tensor<6x10xf32>
    %132 = stablehlo.dot_general %126, %arg4, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x10xf32>, tensor<6x10xf32>) -> tensor<4x3x6xf32>
    %133 = stablehlo.add %99, %132 : tensor<4x3x6xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %134 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %135 = "stablehlo.scatter"(%134, %11, %133) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg20: tensor<f32>, %arg21: tensor<f32>):
      %351 = stablehlo.add %arg20, %arg21 : tensor<f32>
      stablehlo.return %351 : tensor<f32>
    }) : (tensor<11x6xf32>, tensor<4x3x1xi32>, tensor<4x3x6xf32>) -> tensor<11x6xf32>
    %136 = stablehlo.add %100, %135 : tensor<11x6xf32>
    %137 = chlo.square %106 : tensor<6xf32> -> tensor<6xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %138 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %139 = chlo.square %138 : tensor<6xf32> -> tensor<6xf32>
    %140 = stablehlo.add %137, %139 : tensor<6xf32>
    %141 = chlo.square %122 : tensor<10x6xf32> -> tensor<10x6xf32>
    %cst_35 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %142 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %143 = chlo.square %142 : tensor<10x6xf32> -> tensor<10x6xf32>
    %144 = stablehlo.add %141, %143 : tensor<10x6xf32>
    %145 = chlo.square %136 : tensor<11x6xf32> -> tensor<11x6xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %146 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %147 = chlo.square %146 : tensor<11x6xf32> -> tensor<11x6xf32>
    %148 = stablehlo.add %145, %147 : tensor<11x6xf32>
    %149 = chlo.square %129 : tensor<10xf32> -> tensor<10xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %151 = chlo.square %150 : tensor<10xf32> -> tensor<10xf32>
    %152 = stablehlo.add %149, %151 : tensor<10xf32>
    %153 = chlo.square %131 : tensor<6x10xf32> -> tensor<6x10xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %154 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %155 = chlo.square %154 : tensor<6x10xf32> -> tensor<6x10xf32>
    %156 = stablehlo.add %153, %155 : tensor<6x10xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %157 = stablehlo.reduce(%140 init: %cst_39) applies stablehlo.add across dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %158 = stablehlo.reduce(%144 init: %cst_40) applies stablehlo.add across dimensions = [0, 1] : (tensor<10x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %159 = stablehlo.reduce(%148 init: %cst_41) applies stablehlo.add across dimensions = [0, 1] : (tensor<11x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %160 = stablehlo.reduce(%152 init: %cst_42) applies stablehlo.add across dimensions = [0] : (tensor<10xf32>, tensor<f32>) -> tensor<f32>
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %161 = stablehlo.reduce(%156 init: %cst_43) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x10xf32>, tensor<f32>) -> tensor<f32>
    %cst_44 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %162 = stablehlo.add %cst_44, %157 : tensor<f32>
    %163 = stablehlo.add %162, %158 : tensor<f32>
    %164 = stablehlo.add %163, %159 : tensor<f32>
    %165 = stablehlo.add %164, %160 : tensor<f32>
    %166 = stablehlo.add %165, %161 : tensor<f32>
    %167 = stablehlo.sqrt %166 : tensor<f32>
    %cst_45 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %168 = stablehlo.compare LT, %167, %cst_45, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %169 = stablehlo.broadcast_in_dim %167, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %170 = stablehlo.divide %106, %169 : tensor<6xf32>
    %cst_46 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %171 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %172 = stablehlo.multiply %170, %171 : tensor<6xf32>
    %173 = stablehlo.select %168, %106, %172 : tensor<i1>, tensor<6xf32>
    %174 = stablehlo.broadcast_in_dim %167, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %175 = stablehlo.divide %122, %174 : tensor<10x6xf32>
    %cst_47 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %176 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %177 = stablehlo.multiply %175, %176 : tensor<10x6xf32>
    %178 = stablehlo.select %168, %122, %177 : tensor<i1>, tensor<10x6xf32>
    %179 = stablehlo.broadcast_in_dim %167, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %180 = stablehlo.divide %136, %179 : tensor<11x6xf32>
    %cst_48 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %181 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %182 = stablehlo.multiply %180, %181 : tensor<11x6xf32>
    %183 = stablehlo.select %168, %136, %182 : tensor<i1>, tensor<11x6xf32>
    %184 = stablehlo.broadcast_in_dim %167, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %185 = stablehlo.divide %129, %184 : tensor<10xf32>
    %cst_49 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %186 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %187 = stablehlo.multiply %185, %186 : tensor<10xf32>
    %188 = stablehlo.select %168, %129, %187 : tensor<i1>, tensor<10xf32>
    %189 = stablehlo.broadcast_in_dim %167, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %190 = stablehlo.divide %131, %189 : tensor<6x10xf32>
    %cst_50 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %191 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %192 = stablehlo.multiply %190, %191 : tensor<6x10xf32>
    %193 = stablehlo.select %168, %131, %192 : tensor<i1>, tensor<6x10xf32>
    %cst_51 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %194 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %195 = stablehlo.multiply %194, %173 : tensor<6xf32>
    %cst_52 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %196 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %197 = stablehlo.multiply %196, %arg6 : tensor<6xf32>
    %198 = stablehlo.add %195, %197 : tensor<6xf32>
    %cst_53 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %199 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %200 = stablehlo.multiply %199, %178 : tensor<10x6xf32>
    %cst_54 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %201 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %202 = stablehlo.multiply %201, %arg7 : tensor<10x6xf32>
    %203 = stablehlo.add %200, %202 : tensor<10x6xf32>
    %cst_55 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %204 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %205 = stablehlo.multiply %204, %183 : tensor<11x6xf32>
    %cst_56 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %206 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %207 = stablehlo.multiply %206, %arg8 : tensor<11x6xf32>
    %208 = stablehlo.add %205, %207 : tensor<11x6xf32>
    %cst_57 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %209 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %210 = stablehlo.multiply %209, %188 : tensor<10xf32>
    %cst_58 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %211 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %212 = stablehlo.multiply %211, %arg9 : tensor<10xf32>
    %213 = stablehlo.add %210, %212 : tensor<10xf32>
    %cst_59 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %214 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %215 = stablehlo.multiply %214, %193 : tensor<6x10xf32>
    %cst_60 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %216 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %217 = stablehlo.multiply %216, %arg10 : tensor<6x10xf32>
    %218 = stablehlo.add %215, %217 : tensor<6x10xf32>
    %219 = stablehlo.multiply %173, %173 : tensor<6xf32>
    %cst_61 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %220 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %221 = stablehlo.multiply %220, %219 : tensor<6xf32>
    %cst_62 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %222 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %223 = stablehlo.multiply %222, %arg11 : tensor<6xf32>
    %224 = stablehlo.add %221, %223 : tensor<6xf32>
    %225 = stablehlo.multiply %178, %178 : tensor<10x6xf32>
    %cst_63 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %226 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %227 = stablehlo.multiply %226, %225 : tensor<10x6xf32>
    %cst_64 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %228 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %229 = stablehlo.multiply %228, %arg12 : tensor<10x6xf32>
    %230 = stablehlo.add %227, %229 : tensor<10x6xf32>
    %231 = stablehlo.multiply %183, %183 : tensor<11x6xf32>
    %cst_65 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %232 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %233 = stablehlo.multiply %232, %231 : tensor<11x6xf32>
    %cst_66 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %234 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %235 = stablehlo.multiply %234, %arg13 : tensor<11x6xf32>
    %236 = stablehlo.add %233, %235 : tensor<11x6xf32>
    %237 = stablehlo.multiply %188, %188 : tensor<10xf32>
    %cst_67 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %238 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %239 = stablehlo.multiply %238, %237 : tensor<10xf32>
    %cst_68 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %240 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %241 = stablehlo.multiply %240, %arg14 : tensor<10xf32>
    %242 = stablehlo.add %239, %241 : tensor<10xf32>
    %243 = stablehlo.multiply %193, %193 : tensor<6x10xf32>
    %cst_69 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %244 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %245 = stablehlo.multiply %244, %243 : tensor<6x10xf32>
    %cst_70 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %246 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %247 = stablehlo.multiply %246, %arg15 : tensor<6x10xf32>
    %248 = stablehlo.add %245, %247 : tensor<6x10xf32>
    %c_71 = stablehlo.constant dense<2147483647> : tensor<i32>
    %249 = stablehlo.compare LT, %arg5, %c_71, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_72 = stablehlo.constant dense<1> : tensor<i32>
    %250 = stablehlo.add %arg5, %c_72 : tensor<i32>
    %c_73 = stablehlo.constant dense<2147483647> : tensor<i32>
    %251 = call @_where_4(%249, %250, %c_73) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %252 = stablehlo.convert %251 : (tensor<i32>) -> tensor<f32>
    %cst_74 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %253 = stablehlo.convert %251 : (tensor<i32>) -> tensor<f32>
    %254 = stablehlo.power %cst_74, %253 : tensor<f32>
    %cst_75 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %255 = stablehlo.subtract %cst_75, %254 : tensor<f32>
    %256 = stablehlo.broadcast_in_dim %255, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %257 = stablehlo.divide %198, %256 : tensor<6xf32>
    %258 = stablehlo.broadcast_in_dim %255, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %259 = stablehlo.divide %203, %258 : tensor<10x6xf32>
    %260 = stablehlo.broadcast_in_dim %255, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %261 = stablehlo.divide %208, %260 : tensor<11x6xf32>
    %262 = stablehlo.broadcast_in_dim %255, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %263 = stablehlo.divide %213, %262 : tensor<10xf32>
    %264 = stablehlo.broadcast_in_dim %255, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %265 = stablehlo.divide %218, %264 : tensor<6x10xf32>
    %266 = stablehlo.convert %251 : (tensor<i32>) -> tensor<f32>
    %cst_76 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %267 = stablehlo.convert %251 : (tensor<i32>) -> tensor<f32>
    %268 = stablehlo.power %cst_76, %267 : tensor<f32>
    %cst_77 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %269 = stablehlo.subtract %cst_77, %268 : tensor<f32>
    %270 = stablehlo.broadcast_in_dim %269, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %271 = stablehlo.divide %224, %270 : tensor<6xf32>
    %272 = stablehlo.broadcast_in_dim %269, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %273 = stablehlo.divide %230, %272 : tensor<10x6xf32>
    %274 = stablehlo.broadcast_in_dim %269, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %275 = stablehlo.divide %236, %274 : tensor<11x6xf32>
    %276 = stablehlo.broadcast_in_dim %269, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %277 = stablehlo.divide %242, %276 : tensor<10xf32>
    %278 = stablehlo.broadcast_in_dim %269, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %279 = stablehlo.divide %248, %278 : tensor<6x10xf32>
    %cst_78 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %280 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %281 = stablehlo.add %271, %280 : tensor<6xf32>
    %282 = stablehlo.sqrt %281 : tensor<6xf32>
    %cst_79 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %283 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %284 = stablehlo.add %282, %283 : tensor<6xf32>
    %285 = stablehlo.divide %257, %284 : tensor<6xf32>
    %cst_80 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %286 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %287 = stablehlo.add %273, %286 : tensor<10x6xf32>
    %288 = stablehlo.sqrt %287 : tensor<10x6xf32>
    %cst_81 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %289 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %290 = stablehlo.add %288, %289 : tensor<10x6xf32>
    %291 = stablehlo.divide %259, %290 : tensor<10x6xf32>
    %cst_82 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %292 = stablehlo.broadcast_in_dim %cst_82, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %293 = stablehlo.add %275, %292 : tensor<11x6xf32>
    %294 = stablehlo.sqrt %293 : tensor<11x6xf32>
    %cst_83 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %295 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %296 = stablehlo.add %294, %295 : tensor<11x6xf32>
    %297 = stablehlo.divide %261, %296 : tensor<11x6xf32>
    %cst_84 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %298 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %299 = stablehlo.add %277, %298 : tensor<10xf32>
    %300 = stablehlo.sqrt %299 : tensor<10xf32>
    %cst_85 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %301 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %302 = stablehlo.add %300, %301 : tensor<10xf32>
    %303 = stablehlo.divide %263, %302 : tensor<10xf32>
    %cst_86 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %304 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %305 = stablehlo.add %279, %304 : tensor<6x10xf32>
    %306 = stablehlo.sqrt %305 : tensor<6x10xf32>
    %cst_87 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %307 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %308 = stablehlo.add %306, %307 : tensor<6x10xf32>
    %309 = stablehlo.divide %265, %308 : tensor<6x10xf32>
    %c_88 = stablehlo.constant dense<0> : tensor<i32>
    %310 = stablehlo.subtract %arg16, %c_88 : tensor<i32>
    %c_89 = stablehlo.constant dense<0> : tensor<i32>
    %c_90 = stablehlo.constant dense<10> : tensor<i32>
    %311 = call @clip(%310, %c_89, %c_90) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %312 = stablehlo.convert %311 : (tensor<i32>) -> tensor<f32>
    %cst_91 = stablehlo.constant dense<1.000000e+01> : tensor<f32>
    %313 = stablehlo.divide %312, %cst_91 : tensor<f32>
    %cst_92 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %314 = stablehlo.subtract %cst_92, %313 : tensor<f32>
    %cst_93 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %315 = stablehlo.multiply %cst_93, %314 : tensor<f32>
    %cst_94 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %316 = stablehlo.add %315, %cst_94 : tensor<f32>
    %c_95 = stablehlo.constant dense<10> : tensor<i32>
    %317 = stablehlo.compare LT, %arg16, %c_95, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_96 = stablehlo.constant dense<10> : tensor<i32>
    %318 = stablehlo.subtract %arg16, %c_96 : tensor<i32>
    %319 = stablehlo.convert %318 : (tensor<i32>) -> tensor<f32>
    %cst_97 = stablehlo.constant dense<9.000000e+01> : tensor<f32>
    %320 = stablehlo.minimum %319, %cst_97 : tensor<f32>
    %cst_98 = stablehlo.constant dense<3.14159274> : tensor<f32>
    %321 = stablehlo.multiply %cst_98, %320 : tensor<f32>
    %cst_99 = stablehlo.constant dense<9.000000e+01> : tensor<f32>
    %322 = stablehlo.divide %321, %cst_99 : tensor<f32>
    %323 = stablehlo.cosine %322 : tensor<f32>
    %cst_100 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %324 = stablehlo.add %cst_100, %323 : tensor<f32>
    %cst_101 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %325 = stablehlo.multiply %cst_101, %324 : tensor<f32>
    %cst_102 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %326 = stablehlo.power %325, %cst_102 : tensor<f32>
    %cst_103 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %327 = stablehlo.multiply %cst_103, %326 : tensor<f32>
    %cst_104 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %328 = stablehlo.add %327, %cst_104 : tensor<f32>
    %cst_105 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %329 = stablehlo.multiply %cst_105, %328 : tensor<f32>
    %330 = call @_where_5(%317, %316, %329) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %cst_106 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %331 = stablehlo.multiply %cst_106, %330 : tensor<f32>
    %332 = stablehlo.broadcast_in_dim %331, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %333 = stablehlo.multiply %332, %285 : tensor<6xf32>
    %334 = stablehlo.broadcast_in_dim %331, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %335 = stablehlo.multiply %334, %291 : tensor<10x6xf32>
    %336 = stablehlo.broadcast_in_dim %331, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %337 = stablehlo.multiply %336, %297 : tensor<11x6xf32>
    %338 = stablehlo.broadcast_in_dim %331, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %339 = stablehlo.multiply %338, %303 : tensor<10xf32>
    %340 = stablehlo.broadcast_in_dim %331, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %341 = stablehlo.multiply %340, %309 : tensor<6x10xf32>
    %c_107 = stablehlo.constant dense<2147483647> : tensor<i32>
    %342 = stablehlo.compare LT, %arg16, %c_107, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_108 = stablehlo.constant dense<1> : tensor<i32>
    %343 = stablehlo.add %arg16, %c_108 : tensor<i32>
    %c_109 = stablehlo.constant dense<2147483647> : tensor<i32>
    %344 = call @_where_4(%342, %343, %c_109) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %345 = stablehlo.add %arg0, %333 : tensor<6xf32>
    %346 = stablehlo.add %arg1, %335 : tensor<10x6xf32>
    %347 = stablehlo.add %arg2, %337 : tensor<11x6xf32>
    %348 = stablehlo.add %arg3, %339 : tensor<10xf32>
    %349 = stablehlo.add %arg4, %341 : tensor<6x10xf32>
    %350 = sdy.sharding_constraint %3 <@empty_mesh, [{}]> : tensor<2xui32>
    return %345, %346, %347, %348, %349, %251, %198, %203, %208, %213, %218, %224, %230, %236, %242, %248, %344, %350, %82 : tensor<6xf32>, tensor<10x6xf32>, tensor<11x6xf32>, tensor<10xf32>, tensor<6x10xf32>, tensor<i32>, tensor<6xf32>, tensor<10x6xf32>, tensor<11x6xf32>, tensor<10xf32>, tensor<6x10xf32>, tensor<6xf32>, tensor<10x6xf32>, tensor<11x6xf32>, tensor<10xf32>, tensor<6x10xf32>, tensor<i32>, tensor<2xui32>, tensor<f32>
  }
  func.func private @_threefry_split(%arg0: tensor<2xui32>) -> tensor<2x2xui32> {
    %0 = stablehlo.slice %arg0 [0:1] : (tensor<2xui32>) -> tensor<1xui32>
    %1 = stablehlo.reshape %0 : (tensor<1xui32>) -> tensor<ui32>
    %2 = stablehlo.slice %arg0 [1:2] : (tensor<2xui32>) -> tensor<1xui32>
    %3 = stablehlo.reshape %2 : (tensor<1xui32>) -> tensor<ui32>
    %4 = stablehlo.iota dim = 0 : tensor<2xui64>
    %c = stablehlo.constant dense<1> : tensor<ui64>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui64>) -> tensor<2xui64>
    %6 = stablehlo.multiply %5, %4 : tensor<2xui64>
    %c_0 = stablehlo.constant dense<32> : tensor<ui64>
    %7 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui64>) -> tensor<2xui64>
    %8 = stablehlo.shift_right_logical %6, %7 : tensor<2xui64>
    %9 = stablehlo.convert %6 : (tensor<2xui64>) -> tensor<2xui32>
    %10 = stablehlo.convert %8 : (tensor<2xui64>) -> tensor<2xui32>
    %11:2 = call @threefry2x32(%1, %3, %10, %9) : (tensor<ui32>, tensor<ui32>, tensor<2xui32>, tensor<2xui32>) -> (tensor<2xui32>, tensor<2xui32>)
    %12 = stablehlo.broadcast_in_dim %11#0, dims = [0] : (tensor<2xui32>) -> tensor<2x1xui32>
    %13 = stablehlo.broadcast_in_dim %11#1, dims = [0] : (tensor<2xui32>) -> tensor<2x1xui32>
    %14 = stablehlo.concatenate %12, %13, dim = 1 : (tensor<2x1xui32>, tensor<2x1xui32>) -> tensor<2x2xui32>
    return %14 : tensor<2x2xui32>
  }
  func.func private @threefry2x32(%arg0: tensor<ui32>, %arg1: tensor<ui32>, %arg2: tensor<2xui32>, %arg3: tensor<2xui32>) -> (tensor<2xui32>, tensor<2xui32>) {
    %c = stablehlo.constant dense<[13, 15, 26, 6]> : tensor<4xui32>
    %c_0 = stablehlo.constant dense<[17, 29, 16, 24]> : tensor<4xui32>
    %0 = stablehlo.xor %arg0, %arg1 : tensor<ui32>
    %c_1 = stablehlo.constant dense<466688986> : tensor<ui32>
    %1 = stablehlo.xor %0, %c_1 : tensor<ui32>
    %2 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %3 = stablehlo.add %arg2, %2 : tensor<2xui32>
    %4 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %5 = stablehlo.add %arg3, %4 : tensor<2xui32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6:9 = stablehlo.while(%iterArg = %c_3, %iterArg_4 = %c_2, %iterArg_5 = %3, %iterArg_6 = %5, %iterArg_7 = %arg1, %iterArg_8 = %1, %iterArg_9 = %arg0, %iterArg_10 = %c, %iterArg_11 = %c_0) : tensor<i32>, tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    cond {
      %c_12 = stablehlo.constant dense<5> : tensor<i32>
      %7 = stablehlo.compare LT, %iterArg, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %7:8 = func.call @closed_call(%iterArg_4, %iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_9, %iterArg_10, %iterArg_11) : (tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %c_12 = stablehlo.constant dense<1> : tensor<i32>
      %8 = stablehlo.add %iterArg, %c_12 : tensor<i32>
      stablehlo.return %8, %7#0, %7#1, %7#2, %7#3, %7#4, %7#5, %7#6, %7#7 : tensor<i32>, tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    }
    return %6#2, %6#3 : tensor<2xui32>, tensor<2xui32>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<2xui32>, %arg2: tensor<2xui32>, %arg3: tensor<ui32>, %arg4: tensor<ui32>, %arg5: tensor<ui32>, %arg6: tensor<4xui32>, %arg7: tensor<4xui32>) -> (tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg0, %c : tensor<i32>
    %1 = stablehlo.slice %arg6 [0:1] : (tensor<4xui32>) -> tensor<1xui32>
    %2 = stablehlo.reshape %1 : (tensor<1xui32>) -> tensor<ui32>
    %3 = stablehlo.add %arg1, %arg2 : tensor<2xui32>
    %4 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %5 = stablehlo.shift_left %arg2, %4 : tensor<2xui32>
    %c_0 = stablehlo.constant dense<32> : tensor<ui32>
    %6 = stablehlo.subtract %c_0, %2 : tensor<ui32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %8 = stablehlo.shift_right_logical %arg2, %7 : tensor<2xui32>
    %9 = stablehlo.or %5, %8 : tensor<2xui32>
    %10 = stablehlo.xor %3, %9 : tensor<2xui32>
    %11 = stablehlo.slice %arg6 [1:2] : (tensor<4xui32>) -> tensor<1xui32>
    %12 = stablehlo.reshape %11 : (tensor<1xui32>) -> tensor<ui32>
    %13 = stablehlo.add %3, %10 : tensor<2xui32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %15 = stablehlo.shift_left %10, %14 : tensor<2xui32>
    %c_1 = stablehlo.constant dense<32> : tensor<ui32>
    %16 = stablehlo.subtract %c_1, %12 : tensor<ui32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %18 = stablehlo.shift_right_logical %10, %17 : tensor<2xui32>
    %19 = stablehlo.or %15, %18 : tensor<2xui32>
    %20 = stablehlo.xor %13, %19 : tensor<2xui32>
    %21 = stablehlo.slice %arg6 [2:3] : (tensor<4xui32>) -> tensor<1xui32>
    %22 = stablehlo.reshape %21 : (tensor<1xui32>) -> tensor<ui32>
    %23 = stablehlo.add %13, %20 : tensor<2xui32>
    %24 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %25 = stablehlo.shift_left %20, %24 : tensor<2xui32>
    %c_2 = stablehlo.constant dense<32> : tensor<ui32>
    %26 = stablehlo.subtract %c_2, %22 : tensor<ui32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %28 = stablehlo.shift_right_logical %20, %27 : tensor<2xui32>
    %29 = stablehlo.or %25, %28 : tensor<2xui32>
    %30 = stablehlo.xor %23, %29 : tensor<2xui32>
    %31 = stablehlo.slice %arg6 [3:4] : (tensor<4xui32>) -> tensor<1xui32>
    %32 = stablehlo.reshape %31 : (tensor<1xui32>) -> tensor<ui32>
    %33 = stablehlo.add %23, %30 : tensor<2xui32>
    %34 = stablehlo.broadcast_in_dim %32, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %35 = stablehlo.shift_left %30, %34 : tensor<2xui32>
    %c_3 = stablehlo.constant dense<32> : tensor<ui32>
    %36 = stablehlo.subtract %c_3, %32 : tensor<ui32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %38 = stablehlo.shift_right_logical %30, %37 : tensor<2xui32>
    %39 = stablehlo.or %35, %38 : tensor<2xui32>
    %40 = stablehlo.xor %33, %39 : tensor<2xui32>
    %41 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %42 = stablehlo.add %33, %41 : tensor<2xui32>
    %43 = stablehlo.broadcast_in_dim %arg4, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %44 = stablehlo.add %40, %43 : tensor<2xui32>
    %c_4 = stablehlo.constant dense<1> : tensor<i32>
    %45 = stablehlo.add %arg0, %c_4 : tensor<i32>
    %46 = stablehlo.convert %45 : (tensor<i32>) -> tensor<ui32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %48 = stablehlo.add %44, %47 : tensor<2xui32>
    return %0, %42, %48, %arg4, %arg5, %arg3, %arg7, %arg6 : tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
  }
  func.func private @relu(%arg0: tensor<4x3x10xf32>) -> tensor<4x3x10xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x3x10xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<4x3x10xf32>
    return %1 : tensor<4x3x10xf32>
  }
  func.func private @_bernoulli(%arg0: tensor<2xui32>, %arg1: tensor<f32>) -> tensor<4x3x10xi1> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = call @_uniform(%arg0, %cst, %cst_0) : (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<4x3x10xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4x3x10xf32>
    %2 = stablehlo.compare LT, %0, %1, FLOAT : (tensor<4x3x10xf32>, tensor<4x3x10xf32>) -> tensor<4x3x10xi1>
    return %2 : tensor<4x3x10xi1>
  }
  func.func private @_uniform(%arg0: tensor<2xui32>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<4x3x10xf32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.convert %arg2 : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %4 = stablehlo.slice %arg0 [0:1] : (tensor<2xui32>) -> tensor<1xui32>
    %5 = stablehlo.reshape %4 : (tensor<1xui32>) -> tensor<ui32>
    %6 = stablehlo.slice %arg0 [1:2] : (tensor<2xui32>) -> tensor<1xui32>
    %7 = stablehlo.reshape %6 : (tensor<1xui32>) -> tensor<ui32>
    %8 = stablehlo.iota dim = 0 : tensor<4x3x10xui64>
    %9 = stablehlo.iota dim = 1 : tensor<4x3x10xui64>
    %10 = stablehlo.iota dim = 2 : tensor<4x3x10xui64>
    %c = stablehlo.constant dense<30> : tensor<ui64>
    %11 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui64>) -> tensor<4x3x10xui64>
    %12 = stablehlo.multiply %11, %8 : tensor<4x3x10xui64>
    %c_0 = stablehlo.constant dense<10> : tensor<ui64>
    %13 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui64>) -> tensor<4x3x10xui64>
    %14 = stablehlo.multiply %13, %9 : tensor<4x3x10xui64>
    %c_1 = stablehlo.constant dense<1> : tensor<ui64>
    %15 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui64>) -> tensor<4x3x10xui64>
    %16 = stablehlo.multiply %15, %10 : tensor<4x3x10xui64>
    %17 = stablehlo.add %12, %14 : tensor<4x3x10xui64>
    %18 = stablehlo.add %17, %16 : tensor<4x3x10xui64>
    %c_2 = stablehlo.constant dense<32> : tensor<ui64>
    %19 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<ui64>) -> tensor<4x3x10xui64>
    %20 = stablehlo.shift_right_logical %18, %19 : tensor<4x3x10xui64>
    %21 = stablehlo.convert %18 : (tensor<4x3x10xui64>) -> tensor<4x3x10xui32>
    %22 = stablehlo.convert %20 : (tensor<4x3x10xui64>) -> tensor<4x3x10xui32>
    %23:2 = call @threefry2x32_0(%5, %7, %22, %21) : (tensor<ui32>, tensor<ui32>, tensor<4x3x10xui32>, tensor<4x3x10xui32>) -> (tensor<4x3x10xui32>, tensor<4x3x10xui32>)
    %24 = stablehlo.xor %23#0, %23#1 : tensor<4x3x10xui32>
    %c_3 = stablehlo.constant dense<9> : tensor<ui32>
    %25 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<ui32>) -> tensor<4x3x10xui32>
    %26 = stablehlo.shift_right_logical %24, %25 : tensor<4x3x10xui32>
    %c_4 = stablehlo.constant dense<1065353216> : tensor<ui32>
    %27 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<ui32>) -> tensor<4x3x10xui32>
    %28 = stablehlo.or %26, %27 : tensor<4x3x10xui32>
    %29 = stablehlo.bitcast_convert %28 : (tensor<4x3x10xui32>) -> tensor<4x3x10xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x3x10xf32>
    %31 = stablehlo.subtract %29, %30 : tensor<4x3x10xf32>
    %32 = stablehlo.subtract %3, %2 : tensor<1x1x1xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<4x3x10xf32>
    %34 = stablehlo.multiply %31, %33 : tensor<4x3x10xf32>
    %35 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<4x3x10xf32>
    %36 = stablehlo.add %34, %35 : tensor<4x3x10xf32>
    %37 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<4x3x10xf32>
    %38 = stablehlo.maximum %37, %36 : tensor<4x3x10xf32>
    return %38 : tensor<4x3x10xf32>
  }
  func.func private @threefry2x32_0(%arg0: tensor<ui32>, %arg1: tensor<ui32>, %arg2: tensor<4x3x10xui32>, %arg3: tensor<4x3x10xui32>) -> (tensor<4x3x10xui32>, tensor<4x3x10xui32>) {
    %c = stablehlo.constant dense<[13, 15, 26, 6]> : tensor<4xui32>
    %c_0 = stablehlo.constant dense<[17, 29, 16, 24]> : tensor<4xui32>
    %0 = stablehlo.xor %arg0, %arg1 : tensor<ui32>
    %c_1 = stablehlo.constant dense<466688986> : tensor<ui32>
    %1 = stablehlo.xor %0, %c_1 : tensor<ui32>
    %2 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<ui32>) -> tensor<4x3x10xui32>
    %3 = stablehlo.add %arg2, %2 : tensor<4x3x10xui32>
    %4 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<ui32>) -> tensor<4x3x10xui32>
    %5 = stablehlo.add %arg3, %4 : tensor<4x3x10xui32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6:9 = stablehlo.while(%iterArg = %c_3, %iterArg_4 = %c_2, %iterArg_5 = %3, %iterArg_6 = %5, %iterArg_7 = %arg1, %iterArg_8 = %1, %iterArg_9 = %arg0, %iterArg_10 = %c, %iterArg_11 = %c_0) : tensor<i32>, tensor<i32>, tensor<4x3x10xui32>, tensor<4x3x10xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    cond {
      %c_12 = stablehlo.constant dense<5> : tensor<i32>
      %7 = stablehlo.compare LT, %iterArg, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %7:8 = func.call @closed_call_1(%iterArg_4, %iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_9, %iterArg_10, %iterArg_11) : (tensor<i32>, tensor<4x3x10xui32>, tensor<4x3x10xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<4x3x10xui32>, tensor<4x3x10xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %c_12 = stablehlo.constant dense<1> : tensor<i32>
      %8 = stablehlo.add %iterArg, %c_12 : tensor<i32>
      stablehlo.return %8, %7#0, %7#1, %7#2, %7#3, %7#4, %7#5, %7#6, %7#7 : tensor<i32>, tensor<i32>, tensor<4x3x10xui32>, tensor<4x3x10xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    }
    return %6#2, %6#3 : tensor<4x3x10xui32>, tensor<4x3x10xui32>
  }
  func.func private @closed_call_1(%arg0: tensor<i32>, %arg1: tensor<4x3x10xui32>, %arg2: tensor<4x3x10xui32>, %arg3: tensor<ui32>, %arg4: tensor<ui32>, %arg5: tensor<ui32>, %arg6: tensor<4xui32>, %arg7: tensor<4xui32>) -> (tensor<i32>, tensor<4x3x10xui32>, tensor<4x3x10xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg0, %c : tensor<i32>
    %1 = stablehlo.slice %arg6 [0:1] : (tensor<4xui32>) -> tensor<1xui32>
    %2 = stablehlo.reshape %1 : (tensor<1xui32>) -> tensor<ui32>
    %3 = stablehlo.add %arg1, %arg2 : tensor<4x3x10xui32>
    %4 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<ui32>) -> tensor<4x3x10xui32>
    %5 = stablehlo.shift_left %arg2, %4 : tensor<4x3x10xui32>
    %c_0 = stablehlo.constant dense<32> : tensor<ui32>
    %6 = stablehlo.subtract %c_0, %2 : tensor<ui32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<ui32>) -> tensor<4x3x10xui32>
    %8 = stablehlo.shift_right_logical %arg2, %7 : tensor<4x3x10xui32>
    %9 = stablehlo.or %5, %8 : tensor<4x3x10xui32>
    %10 = stablehlo.xor %3, %9 : tensor<4x3x10xui32>
    %11 = stablehlo.slice %arg6 [1:2] : (tensor<4xui32>) -> tensor<1xui32>
    %12 = stablehlo.reshape %11 : (tensor<1xui32>) -> tensor<ui32>
    %13 = stablehlo.add %3, %10 : tensor<4x3x10xui32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<ui32>) -> tensor<4x3x10xui32>
    %15 = stablehlo.shift_left %10, %14 : tensor<4x3x10xui32>
    %c_1 = stablehlo.constant dense<32> : tensor<ui32>
    %16 = stablehlo.subtract %c_1, %12 : tensor<ui32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<ui32>) -> tensor<4x3x10xui32>
    %18 = stablehlo.shift_right_logical %10, %17 : tensor<4x3x10xui32>
    %19 = stablehlo.or %15, %18 : tensor<4x3x10xui32>
    %20 = stablehlo.xor %13, %19 : tensor<4x3x10xui32>
    %21 = stablehlo.slice %arg6 [2:3] : (tensor<4xui32>) -> tensor<1xui32>
    %22 = stablehlo.reshape %21 : (tensor<1xui32>) -> tensor<ui32>
    %23 = stablehlo.add %13, %20 : tensor<4x3x10xui32>
    %24 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<ui32>) -> tensor<4x3x10xui32>
    %25 = stablehlo.shift_left %20, %24 : tensor<4x3x10xui32>
    %c_2 = stablehlo.constant dense<32> : tensor<ui32>
    %26 = stablehlo.subtract %c_2, %22 : tensor<ui32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<ui32>) -> tensor<4x3x10xui32>
    %28 = stablehlo.shift_right_logical %20, %27 : tensor<4x3x10xui32>
    %29 = stablehlo.or %25, %28 : tensor<4x3x10xui32>
    %30 = stablehlo.xor %23, %29 : tensor<4x3x10xui32>
    %31 = stablehlo.slice %arg6 [3:4] : (tensor<4xui32>) -> tensor<1xui32>
    %32 = stablehlo.reshape %31 : (tensor<1xui32>) -> tensor<ui32>
    %33 = stablehlo.add %23, %30 : tensor<4x3x10xui32>
    %34 = stablehlo.broadcast_in_dim %32, dims = [] : (tensor<ui32>) -> tensor<4x3x10xui32>
    %35 = stablehlo.shift_left %30, %34 : tensor<4x3x10xui32>
    %c_3 = stablehlo.constant dense<32> : tensor<ui32>
    %36 = stablehlo.subtract %c_3, %32 : tensor<ui32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [] : (tensor<ui32>) -> tensor<4x3x10xui32>
    %38 = stablehlo.shift_right_logical %30, %37 : tensor<4x3x10xui32>
    %39 = stablehlo.or %35, %38 : tensor<4x3x10xui32>
    %40 = stablehlo.xor %33, %39 : tensor<4x3x10xui32>
    %41 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<ui32>) -> tensor<4x3x10xui32>
    %42 = stablehlo.add %33, %41 : tensor<4x3x10xui32>
    %43 = stablehlo.broadcast_in_dim %arg4, dims = [] : (tensor<ui32>) -> tensor<4x3x10xui32>
    %44 = stablehlo.add %40, %43 : tensor<4x3x10xui32>
    %c_4 = stablehlo.constant dense<1> : tensor<i32>
    %45 = stablehlo.add %arg0, %c_4 : tensor<i32>
    %46 = stablehlo.convert %45 : (tensor<i32>) -> tensor<ui32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [] : (tensor<ui32>) -> tensor<4x3x10xui32>
    %48 = stablehlo.add %44, %47 : tensor<4x3x10xui32>
    return %0, %42, %48, %arg4, %arg5, %arg3, %arg7, %arg6 : tensor<i32>, tensor<4x3x10xui32>, tensor<4x3x10xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
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
  func.func private @_take_2(%arg0: tensor<1xi32>, %arg1: tensor<4x3xf32>) -> tensor<4x3x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x3x1xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], inserted_window_dims = [2], scatter_dims_to_operand_dims = [2]>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x3x1xf32>, tensor<1xi32>, tensor<4x3xf32>) -> tensor<4x3x1xf32>
    return %1 : tensor<4x3x1xf32>
  }
  func.func private @take_along_axis_3(%arg0: tensor<4x3x1x1xi32>, %arg1: tensor<4x3x1xf32>) -> tensor<4x3x11xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x3x11xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x3x11xf32>, tensor<4x3x1x1xi32>, tensor<4x3x1xf32>) -> tensor<4x3x11xf32>
    return %1 : tensor<4x3x11xf32>
  }
  func.func private @_where_4(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @clip(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.maximum %0, %arg0 : tensor<i32>
    %2 = stablehlo.convert %arg2 : tensor<i32>
    %3 = stablehlo.minimum %2, %1 : tensor<i32>
    return %3 : tensor<i32>
  }
  func.func private @_where_5(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<i1>, tensor<f32>
    return %1 : tensor<f32>
  }
}
