// pppppooooooooooooooooii
module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<10x6xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<11x6xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<10xf32> {tf.aliasing_output = 3 : i32}, %arg4: tensor<6x10xf32> {tf.aliasing_output = 4 : i32}, %arg5: tensor<i32> {tf.aliasing_output = 5 : i32}, %arg6: tensor<1xf32> {tf.aliasing_output = 6 : i32}, %arg7: tensor<6xf32> {tf.aliasing_output = 7 : i32}, %arg8: tensor<6xf32> {tf.aliasing_output = 8 : i32}, %arg9: tensor<1xf32> {tf.aliasing_output = 9 : i32}, %arg10: tensor<6xf32> {tf.aliasing_output = 10 : i32}, %arg11: tensor<1xf32> {tf.aliasing_output = 11 : i32}, %arg12: tensor<10xf32> {tf.aliasing_output = 12 : i32}, %arg13: tensor<11xf32> {tf.aliasing_output = 13 : i32}, %arg14: tensor<1xf32> {tf.aliasing_output = 14 : i32}, %arg15: tensor<10xf32> {tf.aliasing_output = 15 : i32}, %arg16: tensor<6xf32> {tf.aliasing_output = 16 : i32}, %arg17: tensor<1xf32> {tf.aliasing_output = 17 : i32}, %arg18: tensor<1xf32> {tf.aliasing_output = 18 : i32}, %arg19: tensor<10xf32> {tf.aliasing_output = 19 : i32}, %arg20: tensor<1xf32> {tf.aliasing_output = 20 : i32}, %arg21: tensor<4x3xi32>, %arg22: tensor<4x3xi32>) -> (tensor<6xf32> {jax.result_info = "result[0]['down']['g']"}, tensor<10x6xf32> {jax.result_info = "result[0]['down']['w']"}, tensor<11x6xf32> {jax.result_info = "result[0]['emb']"}, tensor<10xf32> {jax.result_info = "result[0]['up']['b']"}, tensor<6x10xf32> {jax.result_info = "result[0]['up']['w']"}, tensor<i32> {jax.result_info = "result[1][0].count"}, tensor<1xf32> {jax.result_info = "result[1][0].v_row['down']['g']"}, tensor<6xf32> {jax.result_info = "result[1][0].v_row['down']['w']"}, tensor<6xf32> {jax.result_info = "result[1][0].v_row['emb']"}, tensor<1xf32> {jax.result_info = "result[1][0].v_row['up']['b']"}, tensor<6xf32> {jax.result_info = "result[1][0].v_row['up']['w']"}, tensor<1xf32> {jax.result_info = "result[1][0].v_col['down']['g']"}, tensor<10xf32> {jax.result_info = "result[1][0].v_col['down']['w']"}, tensor<11xf32> {jax.result_info = "result[1][0].v_col['emb']"}, tensor<1xf32> {jax.result_info = "result[1][0].v_col['up']['b']"}, tensor<10xf32> {jax.result_info = "result[1][0].v_col['up']['w']"}, tensor<6xf32> {jax.result_info = "result[1][0].v['down']['g']"}, tensor<1xf32> {jax.result_info = "result[1][0].v['down']['w']"}, tensor<1xf32> {jax.result_info = "result[1][0].v['emb']"}, tensor<10xf32> {jax.result_info = "result[1][0].v['up']['b']"}, tensor<1xf32> {jax.result_info = "result[1][0].v['up']['w']"}, tensor<f32> {jax.result_info = "result[2]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x3xi32>
    %1 = stablehlo.compare LT, %arg21, %0, SIGNED : (tensor<4x3xi32>, tensor<4x3xi32>) -> tensor<4x3xi1>
    %c_0 = stablehlo.constant dense<11> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x3xi32>
    %3 = stablehlo.add %arg21, %2 : tensor<4x3xi32>
    %4 = stablehlo.select %1, %3, %arg21 : tensor<4x3xi1>, tensor<4x3xi32>
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
    %35 = stablehlo.broadcast_in_dim %arg22, dims = [0, 1] : (tensor<4x3xi32>) -> tensor<4x3x1xi32>
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
    ^bb0(%arg23: tensor<f32>, %arg24: tensor<f32>):
      %445 = stablehlo.add %arg23, %arg24 : tensor<f32>
      stablehlo.return %445 : tensor<f32>
    }) : (tensor<11x6xf32>, tensor<4x3x1xi32>, tensor<4x3x6xf32>) -> tensor<11x6xf32>
    %126 = stablehlo.add %91, %125 : tensor<11x6xf32>
    %c_33 = stablehlo.constant dense<0> : tensor<i32>
    %127 = stablehlo.subtract %arg5, %c_33 : tensor<i32>
    %c_34 = stablehlo.constant dense<1> : tensor<i32>
    %128 = stablehlo.add %127, %c_34 : tensor<i32>
    %129 = stablehlo.convert %128 : (tensor<i32>) -> tensor<f32>
    %cst_35 = stablehlo.constant dense<-8.000000e-01> : tensor<f32>
    %130 = stablehlo.power %129, %cst_35 : tensor<f32>
    %cst_36 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %131 = stablehlo.subtract %cst_36, %130 : tensor<f32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %132 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %133 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %134 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %135 = stablehlo.multiply %97, %97 : tensor<6xf32>
    %cst_40 = stablehlo.constant dense<1.000000e-30> : tensor<f32>
    %136 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %137 = stablehlo.add %135, %136 : tensor<6xf32>
    %138 = stablehlo.broadcast_in_dim %131, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %139 = stablehlo.multiply %138, %arg16 : tensor<6xf32>
    %cst_41 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %140 = stablehlo.subtract %cst_41, %131 : tensor<f32>
    %141 = stablehlo.broadcast_in_dim %140, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %142 = stablehlo.multiply %141, %137 : tensor<6xf32>
    %143 = stablehlo.add %139, %142 : tensor<6xf32>
    %cst_42 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %144 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %145 = stablehlo.power %143, %144 : tensor<6xf32>
    %146 = stablehlo.multiply %97, %145 : tensor<6xf32>
    %c_43 = stablehlo.constant dense<0> : tensor<i32>
    %147 = stablehlo.subtract %arg5, %c_43 : tensor<i32>
    %c_44 = stablehlo.constant dense<1> : tensor<i32>
    %148 = stablehlo.add %147, %c_44 : tensor<i32>
    %149 = stablehlo.convert %148 : (tensor<i32>) -> tensor<f32>
    %cst_45 = stablehlo.constant dense<-8.000000e-01> : tensor<f32>
    %150 = stablehlo.power %149, %cst_45 : tensor<f32>
    %cst_46 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %151 = stablehlo.subtract %cst_46, %150 : tensor<f32>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %152 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %cst_48 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %153 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %cst_49 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %154 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %155 = stablehlo.multiply %113, %113 : tensor<10x6xf32>
    %cst_50 = stablehlo.constant dense<1.000000e-30> : tensor<f32>
    %156 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %157 = stablehlo.add %155, %156 : tensor<10x6xf32>
    %158 = stablehlo.broadcast_in_dim %151, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %159 = stablehlo.multiply %158, %arg7 : tensor<6xf32>
    %cst_51 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %160 = stablehlo.subtract %cst_51, %151 : tensor<f32>
    %cst_52 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %161 = stablehlo.reduce(%157 init: %cst_52) applies stablehlo.add across dimensions = [0] : (tensor<10x6xf32>, tensor<f32>) -> tensor<6xf32>
    %cst_53 = stablehlo.constant dense<1.000000e+01> : tensor<f32>
    %162 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %163 = stablehlo.divide %161, %162 : tensor<6xf32>
    %164 = stablehlo.broadcast_in_dim %160, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %165 = stablehlo.multiply %164, %163 : tensor<6xf32>
    %166 = stablehlo.add %159, %165 : tensor<6xf32>
    %167 = stablehlo.broadcast_in_dim %151, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %168 = stablehlo.multiply %167, %arg12 : tensor<10xf32>
    %cst_54 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %169 = stablehlo.subtract %cst_54, %151 : tensor<f32>
    %cst_55 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %170 = stablehlo.reduce(%157 init: %cst_55) applies stablehlo.add across dimensions = [1] : (tensor<10x6xf32>, tensor<f32>) -> tensor<10xf32>
    %cst_56 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %171 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %172 = stablehlo.divide %170, %171 : tensor<10xf32>
    %173 = stablehlo.broadcast_in_dim %169, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %174 = stablehlo.multiply %173, %172 : tensor<10xf32>
    %175 = stablehlo.add %168, %174 : tensor<10xf32>
    %cst_57 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %176 = stablehlo.reduce(%166 init: %cst_57) applies stablehlo.add across dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
    %177 = stablehlo.broadcast_in_dim %176, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %cst_58 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %178 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %179 = stablehlo.divide %177, %178 : tensor<1xf32>
    %180 = stablehlo.broadcast_in_dim %179, dims = [0] : (tensor<1xf32>) -> tensor<6xf32>
    %181 = stablehlo.divide %166, %180 : tensor<6xf32>
    %cst_59 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %182 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %183 = stablehlo.power %181, %182 : tensor<6xf32>
    %cst_60 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %184 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %185 = stablehlo.power %175, %184 : tensor<10xf32>
    %186 = stablehlo.broadcast_in_dim %183, dims = [1] : (tensor<6xf32>) -> tensor<1x6xf32>
    %187 = stablehlo.broadcast_in_dim %186, dims = [0, 1] : (tensor<1x6xf32>) -> tensor<10x6xf32>
    %188 = stablehlo.multiply %113, %187 : tensor<10x6xf32>
    %189 = stablehlo.broadcast_in_dim %185, dims = [0] : (tensor<10xf32>) -> tensor<10x1xf32>
    %190 = stablehlo.broadcast_in_dim %189, dims = [0, 1] : (tensor<10x1xf32>) -> tensor<10x6xf32>
    %191 = stablehlo.multiply %188, %190 : tensor<10x6xf32>
    %c_61 = stablehlo.constant dense<0> : tensor<i32>
    %192 = stablehlo.subtract %arg5, %c_61 : tensor<i32>
    %c_62 = stablehlo.constant dense<1> : tensor<i32>
    %193 = stablehlo.add %192, %c_62 : tensor<i32>
    %194 = stablehlo.convert %193 : (tensor<i32>) -> tensor<f32>
    %cst_63 = stablehlo.constant dense<-8.000000e-01> : tensor<f32>
    %195 = stablehlo.power %194, %cst_63 : tensor<f32>
    %cst_64 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %196 = stablehlo.subtract %cst_64, %195 : tensor<f32>
    %cst_65 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %197 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %cst_66 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %198 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %cst_67 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %199 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %200 = stablehlo.multiply %126, %126 : tensor<11x6xf32>
    %cst_68 = stablehlo.constant dense<1.000000e-30> : tensor<f32>
    %201 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %202 = stablehlo.add %200, %201 : tensor<11x6xf32>
    %203 = stablehlo.broadcast_in_dim %196, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %204 = stablehlo.multiply %203, %arg8 : tensor<6xf32>
    %cst_69 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %205 = stablehlo.subtract %cst_69, %196 : tensor<f32>
    %cst_70 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %206 = stablehlo.reduce(%202 init: %cst_70) applies stablehlo.add across dimensions = [0] : (tensor<11x6xf32>, tensor<f32>) -> tensor<6xf32>
    %cst_71 = stablehlo.constant dense<1.100000e+01> : tensor<f32>
    %207 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %208 = stablehlo.divide %206, %207 : tensor<6xf32>
    %209 = stablehlo.broadcast_in_dim %205, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %210 = stablehlo.multiply %209, %208 : tensor<6xf32>
    %211 = stablehlo.add %204, %210 : tensor<6xf32>
    %212 = stablehlo.broadcast_in_dim %196, dims = [] : (tensor<f32>) -> tensor<11xf32>
    %213 = stablehlo.multiply %212, %arg13 : tensor<11xf32>
    %cst_72 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %214 = stablehlo.subtract %cst_72, %196 : tensor<f32>
    %cst_73 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %215 = stablehlo.reduce(%202 init: %cst_73) applies stablehlo.add across dimensions = [1] : (tensor<11x6xf32>, tensor<f32>) -> tensor<11xf32>
    %cst_74 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %216 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<11xf32>
    %217 = stablehlo.divide %215, %216 : tensor<11xf32>
    %218 = stablehlo.broadcast_in_dim %214, dims = [] : (tensor<f32>) -> tensor<11xf32>
    %219 = stablehlo.multiply %218, %217 : tensor<11xf32>
    %220 = stablehlo.add %213, %219 : tensor<11xf32>
    %cst_75 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %221 = stablehlo.reduce(%211 init: %cst_75) applies stablehlo.add across dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
    %222 = stablehlo.broadcast_in_dim %221, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %cst_76 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %223 = stablehlo.broadcast_in_dim %cst_76, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %224 = stablehlo.divide %222, %223 : tensor<1xf32>
    %225 = stablehlo.broadcast_in_dim %224, dims = [0] : (tensor<1xf32>) -> tensor<6xf32>
    %226 = stablehlo.divide %211, %225 : tensor<6xf32>
    %cst_77 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %227 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %228 = stablehlo.power %226, %227 : tensor<6xf32>
    %cst_78 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %229 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<11xf32>
    %230 = stablehlo.power %220, %229 : tensor<11xf32>
    %231 = stablehlo.broadcast_in_dim %228, dims = [1] : (tensor<6xf32>) -> tensor<1x6xf32>
    %232 = stablehlo.broadcast_in_dim %231, dims = [0, 1] : (tensor<1x6xf32>) -> tensor<11x6xf32>
    %233 = stablehlo.multiply %126, %232 : tensor<11x6xf32>
    %234 = stablehlo.broadcast_in_dim %230, dims = [0] : (tensor<11xf32>) -> tensor<11x1xf32>
    %235 = stablehlo.broadcast_in_dim %234, dims = [0, 1] : (tensor<11x1xf32>) -> tensor<11x6xf32>
    %236 = stablehlo.multiply %233, %235 : tensor<11x6xf32>
    %c_79 = stablehlo.constant dense<0> : tensor<i32>
    %237 = stablehlo.subtract %arg5, %c_79 : tensor<i32>
    %c_80 = stablehlo.constant dense<1> : tensor<i32>
    %238 = stablehlo.add %237, %c_80 : tensor<i32>
    %239 = stablehlo.convert %238 : (tensor<i32>) -> tensor<f32>
    %cst_81 = stablehlo.constant dense<-8.000000e-01> : tensor<f32>
    %240 = stablehlo.power %239, %cst_81 : tensor<f32>
    %cst_82 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %241 = stablehlo.subtract %cst_82, %240 : tensor<f32>
    %cst_83 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %242 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %cst_84 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %243 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %cst_85 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %244 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %245 = stablehlo.multiply %119, %119 : tensor<10xf32>
    %cst_86 = stablehlo.constant dense<1.000000e-30> : tensor<f32>
    %246 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %247 = stablehlo.add %245, %246 : tensor<10xf32>
    %248 = stablehlo.broadcast_in_dim %241, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %249 = stablehlo.multiply %248, %arg19 : tensor<10xf32>
    %cst_87 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %250 = stablehlo.subtract %cst_87, %241 : tensor<f32>
    %251 = stablehlo.broadcast_in_dim %250, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %252 = stablehlo.multiply %251, %247 : tensor<10xf32>
    %253 = stablehlo.add %249, %252 : tensor<10xf32>
    %cst_88 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %254 = stablehlo.broadcast_in_dim %cst_88, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %255 = stablehlo.power %253, %254 : tensor<10xf32>
    %256 = stablehlo.multiply %119, %255 : tensor<10xf32>
    %c_89 = stablehlo.constant dense<0> : tensor<i32>
    %257 = stablehlo.subtract %arg5, %c_89 : tensor<i32>
    %c_90 = stablehlo.constant dense<1> : tensor<i32>
    %258 = stablehlo.add %257, %c_90 : tensor<i32>
    %259 = stablehlo.convert %258 : (tensor<i32>) -> tensor<f32>
    %cst_91 = stablehlo.constant dense<-8.000000e-01> : tensor<f32>
    %260 = stablehlo.power %259, %cst_91 : tensor<f32>
    %cst_92 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %261 = stablehlo.subtract %cst_92, %260 : tensor<f32>
    %cst_93 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %262 = stablehlo.broadcast_in_dim %cst_93, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %cst_94 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %263 = stablehlo.broadcast_in_dim %cst_94, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %cst_95 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %264 = stablehlo.broadcast_in_dim %cst_95, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %265 = stablehlo.multiply %121, %121 : tensor<6x10xf32>
    %cst_96 = stablehlo.constant dense<1.000000e-30> : tensor<f32>
    %266 = stablehlo.broadcast_in_dim %cst_96, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %267 = stablehlo.add %265, %266 : tensor<6x10xf32>
    %268 = stablehlo.broadcast_in_dim %261, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %269 = stablehlo.multiply %268, %arg10 : tensor<6xf32>
    %cst_97 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %270 = stablehlo.subtract %cst_97, %261 : tensor<f32>
    %cst_98 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %271 = stablehlo.reduce(%267 init: %cst_98) applies stablehlo.add across dimensions = [1] : (tensor<6x10xf32>, tensor<f32>) -> tensor<6xf32>
    %cst_99 = stablehlo.constant dense<1.000000e+01> : tensor<f32>
    %272 = stablehlo.broadcast_in_dim %cst_99, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %273 = stablehlo.divide %271, %272 : tensor<6xf32>
    %274 = stablehlo.broadcast_in_dim %270, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %275 = stablehlo.multiply %274, %273 : tensor<6xf32>
    %276 = stablehlo.add %269, %275 : tensor<6xf32>
    %277 = stablehlo.broadcast_in_dim %261, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %278 = stablehlo.multiply %277, %arg15 : tensor<10xf32>
    %cst_100 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %279 = stablehlo.subtract %cst_100, %261 : tensor<f32>
    %cst_101 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %280 = stablehlo.reduce(%267 init: %cst_101) applies stablehlo.add across dimensions = [0] : (tensor<6x10xf32>, tensor<f32>) -> tensor<10xf32>
    %cst_102 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %281 = stablehlo.broadcast_in_dim %cst_102, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %282 = stablehlo.divide %280, %281 : tensor<10xf32>
    %283 = stablehlo.broadcast_in_dim %279, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %284 = stablehlo.multiply %283, %282 : tensor<10xf32>
    %285 = stablehlo.add %278, %284 : tensor<10xf32>
    %cst_103 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %286 = stablehlo.reduce(%276 init: %cst_103) applies stablehlo.add across dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
    %287 = stablehlo.broadcast_in_dim %286, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %cst_104 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %288 = stablehlo.broadcast_in_dim %cst_104, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %289 = stablehlo.divide %287, %288 : tensor<1xf32>
    %290 = stablehlo.broadcast_in_dim %289, dims = [0] : (tensor<1xf32>) -> tensor<6xf32>
    %291 = stablehlo.divide %276, %290 : tensor<6xf32>
    %cst_105 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %292 = stablehlo.broadcast_in_dim %cst_105, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %293 = stablehlo.power %291, %292 : tensor<6xf32>
    %cst_106 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %294 = stablehlo.broadcast_in_dim %cst_106, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %295 = stablehlo.power %285, %294 : tensor<10xf32>
    %296 = stablehlo.broadcast_in_dim %293, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %297 = stablehlo.broadcast_in_dim %296, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x10xf32>
    %298 = stablehlo.multiply %121, %297 : tensor<6x10xf32>
    %299 = stablehlo.broadcast_in_dim %295, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %300 = stablehlo.broadcast_in_dim %299, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<6x10xf32>
    %301 = stablehlo.multiply %298, %300 : tensor<6x10xf32>
    %c_107 = stablehlo.constant dense<2147483647> : tensor<i32>
    %302 = stablehlo.compare LT, %arg5, %c_107, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_108 = stablehlo.constant dense<1> : tensor<i32>
    %303 = stablehlo.add %arg5, %c_108 : tensor<i32>
    %c_109 = stablehlo.constant dense<2147483647> : tensor<i32>
    %304 = call @_where_2(%302, %303, %c_109) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %305 = stablehlo.multiply %146, %146 : tensor<6xf32>
    %cst_110 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %306 = stablehlo.reduce(%305 init: %cst_110) applies stablehlo.add across dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
    %cst_111 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %307 = stablehlo.divide %306, %cst_111 : tensor<f32>
    %308 = stablehlo.sqrt %307 : tensor<f32>
    %cst_112 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %309 = stablehlo.divide %308, %cst_112 : tensor<f32>
    %cst_113 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %310 = stablehlo.maximum %cst_113, %309 : tensor<f32>
    %311 = stablehlo.broadcast_in_dim %310, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %312 = stablehlo.divide %146, %311 : tensor<6xf32>
    %313 = stablehlo.multiply %191, %191 : tensor<10x6xf32>
    %cst_114 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %314 = stablehlo.reduce(%313 init: %cst_114) applies stablehlo.add across dimensions = [0, 1] : (tensor<10x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_115 = stablehlo.constant dense<6.000000e+01> : tensor<f32>
    %315 = stablehlo.divide %314, %cst_115 : tensor<f32>
    %316 = stablehlo.sqrt %315 : tensor<f32>
    %cst_116 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %317 = stablehlo.divide %316, %cst_116 : tensor<f32>
    %cst_117 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %318 = stablehlo.maximum %cst_117, %317 : tensor<f32>
    %319 = stablehlo.broadcast_in_dim %318, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %320 = stablehlo.divide %191, %319 : tensor<10x6xf32>
    %321 = stablehlo.multiply %236, %236 : tensor<11x6xf32>
    %cst_118 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %322 = stablehlo.reduce(%321 init: %cst_118) applies stablehlo.add across dimensions = [0, 1] : (tensor<11x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_119 = stablehlo.constant dense<6.600000e+01> : tensor<f32>
    %323 = stablehlo.divide %322, %cst_119 : tensor<f32>
    %324 = stablehlo.sqrt %323 : tensor<f32>
    %cst_120 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %325 = stablehlo.divide %324, %cst_120 : tensor<f32>
    %cst_121 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %326 = stablehlo.maximum %cst_121, %325 : tensor<f32>
    %327 = stablehlo.broadcast_in_dim %326, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %328 = stablehlo.divide %236, %327 : tensor<11x6xf32>
    %329 = stablehlo.multiply %256, %256 : tensor<10xf32>
    %cst_122 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %330 = stablehlo.reduce(%329 init: %cst_122) applies stablehlo.add across dimensions = [0] : (tensor<10xf32>, tensor<f32>) -> tensor<f32>
    %cst_123 = stablehlo.constant dense<1.000000e+01> : tensor<f32>
    %331 = stablehlo.divide %330, %cst_123 : tensor<f32>
    %332 = stablehlo.sqrt %331 : tensor<f32>
    %cst_124 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %333 = stablehlo.divide %332, %cst_124 : tensor<f32>
    %cst_125 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %334 = stablehlo.maximum %cst_125, %333 : tensor<f32>
    %335 = stablehlo.broadcast_in_dim %334, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %336 = stablehlo.divide %256, %335 : tensor<10xf32>
    %337 = stablehlo.multiply %301, %301 : tensor<6x10xf32>
    %cst_126 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %338 = stablehlo.reduce(%337 init: %cst_126) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x10xf32>, tensor<f32>) -> tensor<f32>
    %cst_127 = stablehlo.constant dense<6.000000e+01> : tensor<f32>
    %339 = stablehlo.divide %338, %cst_127 : tensor<f32>
    %340 = stablehlo.sqrt %339 : tensor<f32>
    %cst_128 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %341 = stablehlo.divide %340, %cst_128 : tensor<f32>
    %cst_129 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %342 = stablehlo.maximum %cst_129, %341 : tensor<f32>
    %343 = stablehlo.broadcast_in_dim %342, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %344 = stablehlo.divide %301, %343 : tensor<6x10xf32>
    %cst_130 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %345 = stablehlo.broadcast_in_dim %cst_130, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %346 = stablehlo.multiply %345, %312 : tensor<6xf32>
    %cst_131 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %347 = stablehlo.broadcast_in_dim %cst_131, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %348 = stablehlo.multiply %347, %320 : tensor<10x6xf32>
    %cst_132 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %349 = stablehlo.broadcast_in_dim %cst_132, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %350 = stablehlo.multiply %349, %328 : tensor<11x6xf32>
    %cst_133 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %351 = stablehlo.broadcast_in_dim %cst_133, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %352 = stablehlo.multiply %351, %336 : tensor<10xf32>
    %cst_134 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %353 = stablehlo.broadcast_in_dim %cst_134, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %354 = stablehlo.multiply %353, %344 : tensor<6x10xf32>
    %355 = stablehlo.multiply %arg0, %arg0 : tensor<6xf32>
    %cst_135 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %356 = stablehlo.reduce(%355 init: %cst_135) applies stablehlo.add across dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
    %cst_136 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %357 = stablehlo.divide %356, %cst_136 : tensor<f32>
    %358 = stablehlo.sqrt %357 : tensor<f32>
    %cst_137 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %359 = stablehlo.compare LE, %358, %cst_137, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_138 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %360 = stablehlo.broadcast_in_dim %cst_138, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %361 = call @_where_3(%359, %360, %arg0) : (tensor<i1>, tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %cst_139 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %362 = stablehlo.compare LE, %358, %cst_139, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %363 = stablehlo.multiply %361, %361 : tensor<6xf32>
    %cst_140 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %364 = stablehlo.reduce(%363 init: %cst_140) applies stablehlo.add across dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
    %cst_141 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %365 = stablehlo.divide %364, %cst_141 : tensor<f32>
    %366 = stablehlo.sqrt %365 : tensor<f32>
    %cst_142 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %367 = call @_where_4(%362, %cst_142, %366) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %368 = stablehlo.broadcast_in_dim %367, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %369 = stablehlo.multiply %346, %368 : tensor<6xf32>
    %370 = stablehlo.multiply %arg1, %arg1 : tensor<10x6xf32>
    %cst_143 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %371 = stablehlo.reduce(%370 init: %cst_143) applies stablehlo.add across dimensions = [0, 1] : (tensor<10x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_144 = stablehlo.constant dense<6.000000e+01> : tensor<f32>
    %372 = stablehlo.divide %371, %cst_144 : tensor<f32>
    %373 = stablehlo.sqrt %372 : tensor<f32>
    %cst_145 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %374 = stablehlo.compare LE, %373, %cst_145, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_146 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %375 = stablehlo.broadcast_in_dim %cst_146, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %376 = call @_where_5(%374, %375, %arg1) : (tensor<i1>, tensor<10x6xf32>, tensor<10x6xf32>) -> tensor<10x6xf32>
    %cst_147 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %377 = stablehlo.compare LE, %373, %cst_147, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %378 = stablehlo.multiply %376, %376 : tensor<10x6xf32>
    %cst_148 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %379 = stablehlo.reduce(%378 init: %cst_148) applies stablehlo.add across dimensions = [0, 1] : (tensor<10x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_149 = stablehlo.constant dense<6.000000e+01> : tensor<f32>
    %380 = stablehlo.divide %379, %cst_149 : tensor<f32>
    %381 = stablehlo.sqrt %380 : tensor<f32>
    %cst_150 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %382 = call @_where_4(%377, %cst_150, %381) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %383 = stablehlo.broadcast_in_dim %382, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %384 = stablehlo.multiply %348, %383 : tensor<10x6xf32>
    %385 = stablehlo.multiply %arg2, %arg2 : tensor<11x6xf32>
    %cst_151 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %386 = stablehlo.reduce(%385 init: %cst_151) applies stablehlo.add across dimensions = [0, 1] : (tensor<11x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_152 = stablehlo.constant dense<6.600000e+01> : tensor<f32>
    %387 = stablehlo.divide %386, %cst_152 : tensor<f32>
    %388 = stablehlo.sqrt %387 : tensor<f32>
    %cst_153 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %389 = stablehlo.compare LE, %388, %cst_153, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_154 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %390 = stablehlo.broadcast_in_dim %cst_154, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %391 = call @_where_6(%389, %390, %arg2) : (tensor<i1>, tensor<11x6xf32>, tensor<11x6xf32>) -> tensor<11x6xf32>
    %cst_155 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %392 = stablehlo.compare LE, %388, %cst_155, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %393 = stablehlo.multiply %391, %391 : tensor<11x6xf32>
    %cst_156 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %394 = stablehlo.reduce(%393 init: %cst_156) applies stablehlo.add across dimensions = [0, 1] : (tensor<11x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_157 = stablehlo.constant dense<6.600000e+01> : tensor<f32>
    %395 = stablehlo.divide %394, %cst_157 : tensor<f32>
    %396 = stablehlo.sqrt %395 : tensor<f32>
    %cst_158 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %397 = call @_where_4(%392, %cst_158, %396) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %398 = stablehlo.broadcast_in_dim %397, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %399 = stablehlo.multiply %350, %398 : tensor<11x6xf32>
    %400 = stablehlo.multiply %arg3, %arg3 : tensor<10xf32>
    %cst_159 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %401 = stablehlo.reduce(%400 init: %cst_159) applies stablehlo.add across dimensions = [0] : (tensor<10xf32>, tensor<f32>) -> tensor<f32>
    %cst_160 = stablehlo.constant dense<1.000000e+01> : tensor<f32>
    %402 = stablehlo.divide %401, %cst_160 : tensor<f32>
    %403 = stablehlo.sqrt %402 : tensor<f32>
    %cst_161 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %404 = stablehlo.compare LE, %403, %cst_161, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_162 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %405 = stablehlo.broadcast_in_dim %cst_162, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %406 = call @_where_7(%404, %405, %arg3) : (tensor<i1>, tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %cst_163 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %407 = stablehlo.compare LE, %403, %cst_163, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %408 = stablehlo.multiply %406, %406 : tensor<10xf32>
    %cst_164 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %409 = stablehlo.reduce(%408 init: %cst_164) applies stablehlo.add across dimensions = [0] : (tensor<10xf32>, tensor<f32>) -> tensor<f32>
    %cst_165 = stablehlo.constant dense<1.000000e+01> : tensor<f32>
    %410 = stablehlo.divide %409, %cst_165 : tensor<f32>
    %411 = stablehlo.sqrt %410 : tensor<f32>
    %cst_166 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %412 = call @_where_4(%407, %cst_166, %411) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %413 = stablehlo.broadcast_in_dim %412, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %414 = stablehlo.multiply %352, %413 : tensor<10xf32>
    %415 = stablehlo.multiply %arg4, %arg4 : tensor<6x10xf32>
    %cst_167 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %416 = stablehlo.reduce(%415 init: %cst_167) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x10xf32>, tensor<f32>) -> tensor<f32>
    %cst_168 = stablehlo.constant dense<6.000000e+01> : tensor<f32>
    %417 = stablehlo.divide %416, %cst_168 : tensor<f32>
    %418 = stablehlo.sqrt %417 : tensor<f32>
    %cst_169 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %419 = stablehlo.compare LE, %418, %cst_169, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_170 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %420 = stablehlo.broadcast_in_dim %cst_170, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %421 = call @_where_8(%419, %420, %arg4) : (tensor<i1>, tensor<6x10xf32>, tensor<6x10xf32>) -> tensor<6x10xf32>
    %cst_171 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %422 = stablehlo.compare LE, %418, %cst_171, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %423 = stablehlo.multiply %421, %421 : tensor<6x10xf32>
    %cst_172 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %424 = stablehlo.reduce(%423 init: %cst_172) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x10xf32>, tensor<f32>) -> tensor<f32>
    %cst_173 = stablehlo.constant dense<6.000000e+01> : tensor<f32>
    %425 = stablehlo.divide %424, %cst_173 : tensor<f32>
    %426 = stablehlo.sqrt %425 : tensor<f32>
    %cst_174 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %427 = call @_where_4(%422, %cst_174, %426) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %428 = stablehlo.broadcast_in_dim %427, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %429 = stablehlo.multiply %354, %428 : tensor<6x10xf32>
    %cst_175 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %430 = stablehlo.broadcast_in_dim %cst_175, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %431 = stablehlo.multiply %430, %369 : tensor<6xf32>
    %cst_176 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %432 = stablehlo.broadcast_in_dim %cst_176, dims = [] : (tensor<f32>) -> tensor<10x6xf32>
    %433 = stablehlo.multiply %432, %384 : tensor<10x6xf32>
    %cst_177 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %434 = stablehlo.broadcast_in_dim %cst_177, dims = [] : (tensor<f32>) -> tensor<11x6xf32>
    %435 = stablehlo.multiply %434, %399 : tensor<11x6xf32>
    %cst_178 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %436 = stablehlo.broadcast_in_dim %cst_178, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %437 = stablehlo.multiply %436, %414 : tensor<10xf32>
    %cst_179 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %438 = stablehlo.broadcast_in_dim %cst_179, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %439 = stablehlo.multiply %438, %429 : tensor<6x10xf32>
    %440 = stablehlo.add %arg0, %431 : tensor<6xf32>
    %441 = stablehlo.add %arg1, %433 : tensor<10x6xf32>
    %442 = stablehlo.add %arg2, %435 : tensor<11x6xf32>
    %443 = stablehlo.add %arg3, %437 : tensor<10xf32>
    %444 = stablehlo.add %arg4, %439 : tensor<6x10xf32>
    return %440, %441, %442, %443, %444, %304, %132, %166, %211, %242, %276, %133, %175, %220, %243, %285, %143, %154, %199, %253, %264, %73 : tensor<6xf32>, tensor<10x6xf32>, tensor<11x6xf32>, tensor<10xf32>, tensor<6x10xf32>, tensor<i32>, tensor<1xf32>, tensor<6xf32>, tensor<6xf32>, tensor<1xf32>, tensor<6xf32>, tensor<1xf32>, tensor<10xf32>, tensor<11xf32>, tensor<1xf32>, tensor<10xf32>, tensor<6xf32>, tensor<1xf32>, tensor<1xf32>, tensor<10xf32>, tensor<1xf32>, tensor<f32>
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
  func.func private @_where_3(%arg0: tensor<i1>, %arg1: tensor<6xf32>, %arg2: tensor<6xf32>) -> tensor<6xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<6xf32>
    return %0 : tensor<6xf32>
  }
  func.func private @_where_4(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.select %arg0, %0, %arg2 : tensor<i1>, tensor<f32>
    return %1 : tensor<f32>
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
}
