// pppppooooooooooii
module @jit_averaged attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<10x6xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<11x6xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<10xf32> {tf.aliasing_output = 3 : i32}, %arg4: tensor<6x10xf32> {tf.aliasing_output = 4 : i32}, %arg5: tensor<6xf32> {tf.aliasing_output = 5 : i32}, %arg6: tensor<10x6xf32> {tf.aliasing_output = 6 : i32}, %arg7: tensor<11x6xf32> {tf.aliasing_output = 7 : i32}, %arg8: tensor<10xf32> {tf.aliasing_output = 8 : i32}, %arg9: tensor<6x10xf32> {tf.aliasing_output = 9 : i32}, %arg10: tensor<6xf32> {tf.aliasing_output = 10 : i32}, %arg11: tensor<10x6xf32> {tf.aliasing_output = 11 : i32}, %arg12: tensor<11x6xf32> {tf.aliasing_output = 12 : i32}, %arg13: tensor<10xf32> {tf.aliasing_output = 13 : i32}, %arg14: tensor<6x10xf32> {tf.aliasing_output = 14 : i32}, %arg15: tensor<4x3xi32>, %arg16: tensor<4x3xi32>) -> (tensor<6xf32> {jax.result_info = "result[0]['down']['g']"}, tensor<10x6xf32> {jax.result_info = "result[0]['down']['w']"}, tensor<11x6xf32> {jax.result_info = "result[0]['emb']"}, tensor<10xf32> {jax.result_info = "result[0]['up']['b']"}, tensor<6x10xf32> {jax.result_info = "result[0]['up']['w']"}, tensor<6xf32> {jax.result_info = "result[1][0].trace['down']['g']"}, tensor<10x6xf32> {jax.result_info = "result[1][0].trace['down']['w']"}, tensor<11x6xf32> {jax.result_info = "result[1][0].trace['emb']"}, tensor<10xf32> {jax.result_info = "result[1][0].trace['up']['b']"}, tensor<6x10xf32> {jax.result_info = "result[1][0].trace['up']['w']"}, tensor<6xf32> {jax.result_info = "result[2]['down']['g']"}, tensor<10x6xf32> {jax.result_info = "result[2]['down']['w']"}, tensor<11x6xf32> {jax.result_info = "result[2]['emb']"}, tensor<10xf32> {jax.result_info = "result[2]['up']['b']"}, tensor<6x10xf32> {jax.result_info = "result[2]['up']['w']"}, tensor<f32> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x3xi32>
    %1 = stablehlo.compare LT, %arg15, %0, SIGNED : (tensor<4x3xi32>, tensor<4x3xi32>) -> tensor<4x3xi1>
    %c_0 = stablehlo.constant dense<11> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x3xi32>
    %3 = stablehlo.add %arg15, %2 : tensor<4x3xi32>
    %4 = stablehlo.select %1, %3, %arg15 : tensor<4x3xi1>, tensor<4x3xi32>
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
    %35 = stablehlo.broadcast_in_dim %arg16, dims = [0, 1] : (tensor<4x3xi32>) -> tensor<4x3x1xi32>
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
    %cst_21 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_22 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %74 = stablehlo.divide %cst_21, %cst_22 : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %74, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %76 = stablehlo.negate %75 : tensor<4x3xf32>
    %77 = stablehlo.divide %75, %66 : tensor<4x3xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %78 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %79 = stablehlo.select %68, %78, %77 : tensor<4x3xi1>, tensor<4x3xf32>
    %80 = stablehlo.select %68, %77, %78 : tensor<4x3xi1>, tensor<4x3xf32>
    %81 = stablehlo.negate %79 : tensor<4x3xf32>
    %82 = stablehlo.add %80, %81 : tensor<4x3xf32>
    %83 = stablehlo.broadcast_in_dim %82, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3x11xf32>
    %84 = stablehlo.multiply %83, %63 : tensor<4x3x11xf32>
    %85 = call @_take_0(%37#1, %76) : (tensor<1xi32>, tensor<4x3xf32>) -> tensor<4x3x1xf32>
    %86 = call @take_along_axis_1(%36#1, %85) : (tensor<4x3x1x1xi32>, tensor<4x3x1xf32>) -> tensor<4x3x11xf32>
    %87 = stablehlo.add %84, %86 : tensor<4x3x11xf32>
    %88 = stablehlo.dot_general %87, %32, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x11xf32>, tensor<4x3x6xf32>) -> tensor<11x6xf32>
    %89 = stablehlo.transpose %88, dims = [1, 0] : (tensor<11x6xf32>) -> tensor<6x11xf32>
    %90 = stablehlo.dot_general %87, %33, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x11xf32>, tensor<6x11xf32>) -> tensor<4x3x6xf32>
    %91 = stablehlo.transpose %89, dims = [1, 0] : (tensor<6x11xf32>) -> tensor<11x6xf32>
    %92 = stablehlo.multiply %28, %90 : tensor<4x3x6xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %93 = stablehlo.reduce(%92 init: %cst_24) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x3x6xf32>, tensor<f32>) -> tensor<6xf32>
    %94 = stablehlo.reshape %93 : (tensor<6xf32>) -> tensor<1x1x6xf32>
    %95 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<1x1x6xf32>) -> tensor<4x3x6xf32>
    %96 = stablehlo.multiply %90, %95 : tensor<4x3x6xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %97 = stablehlo.reduce(%94 init: %cst_25) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x6xf32>, tensor<f32>) -> tensor<6xf32>
    %98 = stablehlo.multiply %15, %96 : tensor<4x3x6xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %99 = stablehlo.reduce(%98 init: %cst_26) applies stablehlo.add across dimensions = [2] : (tensor<4x3x6xf32>, tensor<f32>) -> tensor<4x3xf32>
    %100 = stablehlo.reshape %99 : (tensor<4x3xf32>) -> tensor<4x3x1xf32>
    %101 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<4x3x1xf32>) -> tensor<4x3x6xf32>
    %102 = stablehlo.multiply %96, %101 : tensor<4x3x6xf32>
    %103 = stablehlo.multiply %100, %26 : tensor<4x3x1xf32>
    %cst_27 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %104 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<4x3x1xf32>
    %105 = stablehlo.divide %103, %104 : tensor<4x3x1xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %106 = stablehlo.reduce(%105 init: %cst_28) applies stablehlo.add across dimensions = [2] : (tensor<4x3x1xf32>, tensor<f32>) -> tensor<4x3xf32>
    %107 = stablehlo.broadcast_in_dim %106, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3x6xf32>
    %108 = stablehlo.multiply %15, %107 : tensor<4x3x6xf32>
    %109 = stablehlo.add %102, %108 : tensor<4x3x6xf32>
    %110 = stablehlo.multiply %107, %15 : tensor<4x3x6xf32>
    %111 = stablehlo.add %109, %110 : tensor<4x3x6xf32>
    %112 = stablehlo.dot_general %111, %11, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x6xf32>, tensor<4x3x10xf32>) -> tensor<6x10xf32>
    %113 = stablehlo.transpose %112, dims = [1, 0] : (tensor<6x10xf32>) -> tensor<10x6xf32>
    %114 = stablehlo.dot_general %111, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x6xf32>, tensor<10x6xf32>) -> tensor<4x3x10xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %115 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<4x3x10xf32>
    %116 = stablehlo.select %13, %114, %115 : tensor<4x3x10xi1>, tensor<4x3x10xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %117 = stablehlo.reduce(%116 init: %cst_30) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x3x10xf32>, tensor<f32>) -> tensor<10xf32>
    %118 = stablehlo.reshape %117 : (tensor<10xf32>) -> tensor<1x1x10xf32>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %119 = stablehlo.reduce(%118 init: %cst_31) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x10xf32>, tensor<f32>) -> tensor<10xf32>
    %120 = stablehlo.dot_general %116, %6, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x10xf32>, tensor<4x3x6xf32>) -> tensor<10x6xf32>
    %121 = stablehlo.transpose %120, dims = [1, 0] : (tensor<10x6xf32>) -> tensor<6x10xf32>
    %122 = stablehlo.dot_general %116, %arg4, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x10xf32>, tensor<6x10xf32>) -> tensor<4x3x6xf32>
    %123 = stablehlo.add %90, %122 : tensor<4x3x6xf32>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %124 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %125 = "stablehlo.scatter"(%124, %5, %123) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg17: tensor<f32>, %arg18: tensor<f32>):
      %182 = stablehlo.add %arg17, %arg18 : tensor<f32>
      stablehlo.return %182 : tensor<f32>
    }) : (tensor<11x6xf32>, tensor<4x3x1xi32>, tensor<4x3x6xf32>) -> tensor<11x6xf32>
    %126 = stablehlo.add %91, %125 : tensor<11x6xf32>
    %cst_33 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %127 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %128 = stablehlo.multiply %127, %arg5 : tensor<6xf32>
    %129 = stablehlo.add %97, %128 : tensor<6xf32>
    %cst_34 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %130 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %131 = stablehlo.multiply %130, %arg6 : tensor<10x6xf32>
    %132 = stablehlo.add %113, %131 : tensor<10x6xf32>
    %cst_35 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %133 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %134 = stablehlo.multiply %133, %arg7 : tensor<11x6xf32>
    %135 = stablehlo.add %126, %134 : tensor<11x6xf32>
    %cst_36 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %136 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %137 = stablehlo.multiply %136, %arg8 : tensor<10xf32>
    %138 = stablehlo.add %119, %137 : tensor<10xf32>
    %cst_37 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %139 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %140 = stablehlo.multiply %139, %arg9 : tensor<6x10xf32>
    %141 = stablehlo.add %121, %140 : tensor<6x10xf32>
    %cst_38 = stablehlo.constant dense<-0.00999999977> : tensor<f32>
    %142 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %143 = stablehlo.multiply %142, %129 : tensor<6xf32>
    %cst_39 = stablehlo.constant dense<-0.00999999977> : tensor<f32>
    %144 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %145 = stablehlo.multiply %144, %132 : tensor<10x6xf32>
    %cst_40 = stablehlo.constant dense<-0.00999999977> : tensor<f32>
    %146 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %147 = stablehlo.multiply %146, %135 : tensor<11x6xf32>
    %cst_41 = stablehlo.constant dense<-0.00999999977> : tensor<f32>
    %148 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %149 = stablehlo.multiply %148, %138 : tensor<10xf32>
    %cst_42 = stablehlo.constant dense<-0.00999999977> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %151 = stablehlo.multiply %150, %141 : tensor<6x10xf32>
    %152 = stablehlo.add %arg0, %143 : tensor<6xf32>
    %153 = stablehlo.add %arg1, %145 : tensor<10x6xf32>
    %154 = stablehlo.add %arg2, %147 : tensor<11x6xf32>
    %155 = stablehlo.add %arg3, %149 : tensor<10xf32>
    %156 = stablehlo.add %arg4, %151 : tensor<6x10xf32>
    %cst_43 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %157 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %158 = stablehlo.multiply %157, %arg10 : tensor<6xf32>
    %cst_44 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %159 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %160 = stablehlo.multiply %159, %152 : tensor<6xf32>
    %161 = stablehlo.add %158, %160 : tensor<6xf32>
    %cst_45 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %162 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %163 = stablehlo.multiply %162, %arg11 : tensor<10x6xf32>
    %cst_46 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %164 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %165 = stablehlo.multiply %164, %153 : tensor<10x6xf32>
    %166 = stablehlo.add %163, %165 : tensor<10x6xf32>
    %cst_47 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %167 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %168 = stablehlo.multiply %167, %arg12 : tensor<11x6xf32>
    %cst_48 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %169 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %170 = stablehlo.multiply %169, %154 : tensor<11x6xf32>
    %171 = stablehlo.add %168, %170 : tensor<11x6xf32>
    %cst_49 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %172 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %173 = stablehlo.multiply %172, %arg13 : tensor<10xf32>
    %cst_50 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %174 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %175 = stablehlo.multiply %174, %155 : tensor<10xf32>
    %176 = stablehlo.add %173, %175 : tensor<10xf32>
    %cst_51 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %177 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %178 = stablehlo.multiply %177, %arg14 : tensor<6x10xf32>
    %cst_52 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %179 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %180 = stablehlo.multiply %179, %156 : tensor<6x10xf32>
    %181 = stablehlo.add %178, %180 : tensor<6x10xf32>
    return %152, %153, %154, %155, %156, %129, %132, %135, %138, %141, %161, %166, %171, %176, %181, %73 : tensor<6xf32>, tensor<10x6xf32>, tensor<11x6xf32>, tensor<10xf32>, tensor<6x10xf32>, tensor<6xf32>, tensor<10x6xf32>, tensor<11x6xf32>, tensor<10xf32>, tensor<6x10xf32>, tensor<6xf32>, tensor<10x6xf32>, tensor<11x6xf32>, tensor<10xf32>, tensor<6x10xf32>, tensor<f32>
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
}
