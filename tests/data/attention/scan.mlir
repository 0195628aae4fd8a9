module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8x16xf32>, %arg1: tensor<2x8x16xf32>, %arg2: tensor<3x16x16xf32>, %arg3: tensor<3x16x16xf32>, %arg4: tensor<3x16x16xf32>) -> (tensor<2x8x16xf32> {jax.result_info = "result[0]"}, tensor<2x8x16xf32> {jax.result_info = "result[1]"}, tensor<3x16x16xf32> {jax.result_info = "result[2]"}, tensor<3x16x16xf32> {jax.result_info = "result[3]"}, tensor<3x16x16xf32> {jax.result_info = "result[4]"}) {
    %c = stablehlo.constant dense<true> : tensor<i1>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<2x4x8x8xi1>
    %c_0 = stablehlo.constant dense<true> : tensor<i1>
    %1 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<8x8xi1>
    %2 = call @tril(%1) : (tensor<8x8xi1>) -> tensor<8x8xi1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [2, 3] : (tensor<8x8xi1>) -> tensor<1x1x8x8xi1>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 3] : (tensor<1x1x8x8xi1>) -> tensor<2x4x8x8xi1>
    %5 = stablehlo.and %0, %4 : tensor<2x4x8x8xi1>
    %cst = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>
    %6:2 = call @_where(%5, %cst) : (tensor<2x4x8x8xi1>, tensor<f32>) -> (tensor<1x2x4x8x8xi1>, tensor<1x2x4x8x8xf32>)
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3x2x8x16xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<3x2x8x4x4xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<3x2x8x4x1x4xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<3x1x2x4x8x8xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<3x1x2x4x8x1xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<3x1x2x4x8x1xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<3x1x2x4x8x8xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<3x2x8x4x4xf32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %15:15 = stablehlo.while(%iterArg = %arg2, %iterArg_14 = %arg3, %iterArg_15 = %arg4, %iterArg_16 = %6#0, %iterArg_17 = %6#1, %iterArg_18 = %c_9, %iterArg_19 = %arg1, %iterArg_20 = %7, %iterArg_21 = %8, %iterArg_22 = %9, %iterArg_23 = %10, %iterArg_24 = %11, %iterArg_25 = %12, %iterArg_26 = %13, %iterArg_27 = %14) : tensor<3x16x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>, tensor<1x2x4x8x8xi1>, tensor<1x2x4x8x8xf32>, tensor<i32>, tensor<2x8x16xf32>, tensor<3x2x8x16xf32>, tensor<3x2x8x4x4xf32>, tensor<3x2x8x4x1x4xf32>, tensor<3x1x2x4x8x8xf32>, tensor<3x1x2x4x8x1xf32>, tensor<3x1x2x4x8x1xf32>, tensor<3x1x2x4x8x8xf32>, tensor<3x2x8x4x4xf32>
    cond {
      %c_28 = stablehlo.constant dense<3> : tensor<i32>
      %20 = stablehlo.compare LT, %iterArg_18, %c_28, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %20 : tensor<i1>
    } do {
      %20 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_18) : (tensor<3x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %21 = func.call @dynamic_index_in_dim(%iterArg_14, %iterArg_18) : (tensor<3x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %22 = func.call @dynamic_index_in_dim(%iterArg_15, %iterArg_18) : (tensor<3x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %23:9 = func.call @closed_call(%iterArg_16, %iterArg_17, %iterArg_19, %20, %21, %22) : (tensor<1x2x4x8x8xi1>, tensor<1x2x4x8x8xf32>, tensor<2x8x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> (tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x1x4xf32>, tensor<1x2x4x8x8xf32>, tensor<1x2x4x8x1xf32>, tensor<1x2x4x8x1xf32>, tensor<1x2x4x8x8xf32>, tensor<2x8x4x4xf32>)
      %24 = func.call @dynamic_update_index_in_dim(%iterArg_20, %23#1, %iterArg_18) : (tensor<3x2x8x16xf32>, tensor<2x8x16xf32>, tensor<i32>) -> tensor<3x2x8x16xf32>
      %25 = func.call @dynamic_update_index_in_dim_1(%iterArg_21, %23#2, %iterArg_18) : (tensor<3x2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<i32>) -> tensor<3x2x8x4x4xf32>
      %26 = func.call @dynamic_update_index_in_dim_2(%iterArg_22, %23#3, %iterArg_18) : (tensor<3x2x8x4x1x4xf32>, tensor<2x8x4x1x4xf32>, tensor<i32>) -> tensor<3x2x8x4x1x4xf32>
      %27 = func.call @dynamic_update_index_in_dim_3(%iterArg_23, %23#4, %iterArg_18) : (tensor<3x1x2x4x8x8xf32>, tensor<1x2x4x8x8xf32>, tensor<i32>) -> tensor<3x1x2x4x8x8xf32>
      %28 = func.call @dynamic_update_index_in_dim_4(%iterArg_24, %23#5, %iterArg_18) : (tensor<3x1x2x4x8x1xf32>, tensor<1x2x4x8x1xf32>, tensor<i32>) -> tensor<3x1x2x4x8x1xf32>
      %29 = func.call @dynamic_update_index_in_dim_4(%iterArg_25, %23#6, %iterArg_18) : (tensor<3x1x2x4x8x1xf32>, tensor<1x2x4x8x1xf32>, tensor<i32>) -> tensor<3x1x2x4x8x1xf32>
      %30 = func.call @dynamic_update_index_in_dim_3(%iterArg_26, %23#7, %iterArg_18) : (tensor<3x1x2x4x8x8xf32>, tensor<1x2x4x8x8xf32>, tensor<i32>) -> tensor<3x1x2x4x8x8xf32>
      %31 = func.call @dynamic_update_index_in_dim_1(%iterArg_27, %23#8, %iterArg_18) : (tensor<3x2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<i32>) -> tensor<3x2x8x4x4xf32>
      %c_28 = stablehlo.constant dense<1> : tensor<i32>
      %32 = stablehlo.add %iterArg_18, %c_28 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_14, %iterArg_15, %iterArg_16, %iterArg_17, %32, %23#0, %24, %25, %26, %27, %28, %29, %30, %31 : tensor<3x16x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>, tensor<1x2x4x8x8xi1>, tensor<1x2x4x8x8xf32>, tensor<i32>, tensor<2x8x16xf32>, tensor<3x2x8x16xf32>, tensor<3x2x8x4x4xf32>, tensor<3x2x8x4x1x4xf32>, tensor<3x1x2x4x8x8xf32>, tensor<3x1x2x4x8x1xf32>, tensor<3x1x2x4x8x1xf32>, tensor<3x1x2x4x8x8xf32>, tensor<3x2x8x4x4xf32>
    }
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<3x16x16xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<3x16x16xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<3x16x16xf32>
    %c_13 = stablehlo.constant dense<0> : tensor<i32>
    %19:17 = stablehlo.while(%iterArg = %arg2, %iterArg_14 = %15#7, %iterArg_15 = %arg3, %iterArg_16 = %arg4, %iterArg_17 = %15#8, %iterArg_18 = %15#9, %iterArg_19 = %15#10, %iterArg_20 = %15#11, %iterArg_21 = %15#12, %iterArg_22 = %15#13, %iterArg_23 = %15#14, %iterArg_24 = %6#0, %iterArg_25 = %c_13, %iterArg_26 = %arg0, %iterArg_27 = %16, %iterArg_28 = %17, %iterArg_29 = %18) : tensor<3x16x16xf32>, tensor<3x2x8x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>, tensor<3x2x8x4x4xf32>, tensor<3x2x8x4x1x4xf32>, tensor<3x1x2x4x8x8xf32>, tensor<3x1x2x4x8x1xf32>, tensor<3x1x2x4x8x1xf32>, tensor<3x1x2x4x8x8xf32>, tensor<3x2x8x4x4xf32>, tensor<1x2x4x8x8xi1>, tensor<i32>, tensor<2x8x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>
    cond {
      %c_30 = stablehlo.constant dense<3> : tensor<i32>
      %20 = stablehlo.compare LT, %iterArg_25, %c_30, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %20 : tensor<i1>
    } do {
      %c_30 = stablehlo.constant dense<3> : tensor<i32>
      %20 = stablehlo.subtract %c_30, %iterArg_25 : tensor<i32>
      %c_31 = stablehlo.constant dense<1> : tensor<i32>
      %21 = stablehlo.subtract %20, %c_31 : tensor<i32>
      %22 = func.call @dynamic_index_in_dim(%iterArg, %21) : (tensor<3x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %23 = func.call @dynamic_index_in_dim_5(%iterArg_14, %21) : (tensor<3x2x8x16xf32>, tensor<i32>) -> tensor<2x8x16xf32>
      %24 = func.call @dynamic_index_in_dim(%iterArg_15, %21) : (tensor<3x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %25 = func.call @dynamic_index_in_dim(%iterArg_16, %21) : (tensor<3x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %26 = func.call @dynamic_index_in_dim_6(%iterArg_17, %21) : (tensor<3x2x8x4x4xf32>, tensor<i32>) -> tensor<2x8x4x4xf32>
      %27 = func.call @dynamic_index_in_dim_7(%iterArg_18, %21) : (tensor<3x2x8x4x1x4xf32>, tensor<i32>) -> tensor<2x8x4x1x4xf32>
      %28 = func.call @dynamic_index_in_dim_8(%iterArg_19, %21) : (tensor<3x1x2x4x8x8xf32>, tensor<i32>) -> tensor<1x2x4x8x8xf32>
      %29 = func.call @dynamic_index_in_dim_9(%iterArg_20, %21) : (tensor<3x1x2x4x8x1xf32>, tensor<i32>) -> tensor<1x2x4x8x1xf32>
      %30 = func.call @dynamic_index_in_dim_9(%iterArg_21, %21) : (tensor<3x1x2x4x8x1xf32>, tensor<i32>) -> tensor<1x2x4x8x1xf32>
      %31 = func.call @dynamic_index_in_dim_8(%iterArg_22, %21) : (tensor<3x1x2x4x8x8xf32>, tensor<i32>) -> tensor<1x2x4x8x8xf32>
      %32 = func.call @dynamic_index_in_dim_6(%iterArg_23, %21) : (tensor<3x2x8x4x4xf32>, tensor<i32>) -> tensor<2x8x4x4xf32>
      %33:4 = func.call @closed_call_10(%iterArg_24, %iterArg_26, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32) : (tensor<1x2x4x8x8xi1>, tensor<2x8x16xf32>, tensor<16x16xf32>, tensor<2x8x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x1x4xf32>, tensor<1x2x4x8x8xf32>, tensor<1x2x4x8x1xf32>, tensor<1x2x4x8x1xf32>, tensor<1x2x4x8x8xf32>, tensor<2x8x4x4xf32>) -> (tensor<2x8x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>)
      %34 = func.call @dynamic_update_index_in_dim_12(%iterArg_27, %33#1, %21) : (tensor<3x16x16xf32>, tensor<16x16xf32>, tensor<i32>) -> tensor<3x16x16xf32>
      %35 = func.call @dynamic_update_index_in_dim_12(%iterArg_28, %33#2, %21) : (tensor<3x16x16xf32>, tensor<16x16xf32>, tensor<i32>) -> tensor<3x16x16xf32>
      %36 = func.call @dynamic_update_index_in_dim_12(%iterArg_29, %33#3, %21) : (tensor<3x16x16xf32>, tensor<16x16xf32>, tensor<i32>) -> tensor<3x16x16xf32>
      %c_32 = stablehlo.constant dense<1> : tensor<i32>
      %37 = stablehlo.add %iterArg_25, %c_32 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_14, %iterArg_15, %iterArg_16, %iterArg_17, %iterArg_18, %iterArg_19, %iterArg_20, %iterArg_21, %iterArg_22, %iterArg_23, %iterArg_24, %37, %33#0, %34, %35, %36 : tensor<3x16x16xf32>, tensor<3x2x8x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>, tensor<3x2x8x4x4xf32>, tensor<3x2x8x4x1x4xf32>, tensor<3x1x2x4x8x8xf32>, tensor<3x1x2x4x8x1xf32>, tensor<3x1x2x4x8x1xf32>, tensor<3x1x2x4x8x8xf32>, tensor<3x2x8x4x4xf32>, tensor<1x2x4x8x8xi1>, tensor<i32>, tensor<2x8x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>
    }
    return %15#6, %19#13, %19#14, %19#15, %19#16 : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>
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
  func.func private @_where(%arg0: tensor<2x4x8x8xi1>, %arg1: tensor<f32>) -> (tensor<1x2x4x8x8xi1>, tensor<1x2x4x8x8xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x4x8x8xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2, 3, 4] : (tensor<2x4x8x8xi1>) -> tensor<1x2x4x8x8xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [1, 2, 3, 4] : (tensor<2x4x8x8xf32>) -> tensor<1x2x4x8x8xf32>
    return %1, %2 : tensor<1x2x4x8x8xi1>, tensor<1x2x4x8x8xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<3x16x16xf32>, %arg1: tensor<i32>) -> tensor<16x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 16, 16] : (tensor<3x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
    return %1 : tensor<16x16xf32>
  }
  func.func private @closed_call(%arg0: tensor<1x2x4x8x8xi1>, %arg1: tensor<1x2x4x8x8xf32>, %arg2: tensor<2x8x16xf32>, %arg3: tensor<16x16xf32>, %arg4: tensor<16x16xf32>, %arg5: tensor<16x16xf32>) -> (tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x1x4xf32>, tensor<1x2x4x8x8xf32>, tensor<1x2x4x8x1xf32>, tensor<1x2x4x8x1xf32>, tensor<1x2x4x8x8xf32>, tensor<2x8x4x4xf32>) {
    %0 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<2x8x16xf32>) -> tensor<2x8x4x4xf32>
    %2 = stablehlo.dot_general %arg2, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %3 = stablehlo.reshape %2 : (tensor<2x8x16xf32>) -> tensor<2x8x4x4xf32>
    %4 = stablehlo.dot_general %arg2, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %5 = stablehlo.reshape %4 : (tensor<2x8x16xf32>) -> tensor<2x8x4x4xf32>
    %6 = stablehlo.reshape %1 : (tensor<2x8x4x4xf32>) -> tensor<2x8x4x1x4xf32>
    %7 = stablehlo.dot_general %6, %3, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x4x1x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x4x8x1x8xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x8x1x8xf32>
    %9 = stablehlo.multiply %7, %8 : tensor<2x4x8x1x8xf32>
    %10 = call @_where_0(%9, %arg0, %arg1) : (tensor<2x4x8x1x8xf32>, tensor<1x2x4x8x8xi1>, tensor<1x2x4x8x8xf32>) -> tensor<1x2x4x8x8xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_0) applies stablehlo.maximum across dimensions = [4] : (tensor<1x2x4x8x8xf32>, tensor<f32>) -> tensor<1x2x4x8xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x2x4x8xf32>
    %13 = stablehlo.maximum %12, %11 : tensor<1x2x4x8xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2, 3] : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3, 4] : (tensor<1x2x4x8x1xf32>) -> tensor<1x2x4x8x8xf32>
    %16 = stablehlo.subtract %10, %15 : tensor<1x2x4x8x8xf32>
    %17 = stablehlo.exponential %16 : tensor<1x2x4x8x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_2) applies stablehlo.add across dimensions = [4] : (tensor<1x2x4x8x8xf32>, tensor<f32>) -> tensor<1x2x4x8xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3] : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8x1xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3, 4] : (tensor<1x2x4x8x1xf32>) -> tensor<1x2x4x8x8xf32>
    %21 = stablehlo.divide %17, %20 : tensor<1x2x4x8x8xf32>
    %22 = stablehlo.multiply %19, %19 : tensor<1x2x4x8x1xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x2x4x8x1xf32>
    %24 = stablehlo.divide %23, %22 : tensor<1x2x4x8x1xf32>
    %25 = stablehlo.dot_general %5, %21, batching_dims = [0, 2] x [1, 2], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<2x8x4x4xf32>, tensor<1x2x4x8x8xf32>) -> tensor<2x4x4x1x8xf32>
    %26 = stablehlo.transpose %25, dims = [3, 0, 4, 1, 2] : (tensor<2x4x4x1x8xf32>) -> tensor<1x2x8x4x4xf32>
    %27 = stablehlo.transpose %26, dims = [1, 2, 3, 0, 4] : (tensor<1x2x8x4x4xf32>) -> tensor<2x8x4x1x4xf32>
    %28 = stablehlo.reshape %27 : (tensor<2x8x4x1x4xf32>) -> tensor<2x8x4x4xf32>
    %29 = stablehlo.reshape %28 : (tensor<2x8x4x4xf32>) -> tensor<2x8x16xf32>
    %30 = stablehlo.add %arg2, %29 : tensor<2x8x16xf32>
    return %30, %arg2, %3, %6, %17, %19, %24, %21, %5 : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x1x4xf32>, tensor<1x2x4x8x8xf32>, tensor<1x2x4x8x1xf32>, tensor<1x2x4x8x1xf32>, tensor<1x2x4x8x8xf32>, tensor<2x8x4x4xf32>
  }
  func.func private @_where_0(%arg0: tensor<2x4x8x1x8xf32>, %arg1: tensor<1x2x4x8x8xi1>, %arg2: tensor<1x2x4x8x8xf32>) -> tensor<1x2x4x8x8xf32> {
    %0 = stablehlo.transpose %arg0, dims = [3, 0, 1, 2, 4] : (tensor<2x4x8x1x8xf32>) -> tensor<1x2x4x8x8xf32>
    %1 = stablehlo.select %arg1, %0, %arg2 : tensor<1x2x4x8x8xi1>, tensor<1x2x4x8x8xf32>
    return %1 : tensor<1x2x4x8x8xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<3x2x8x16xf32>, %arg1: tensor<2x8x16xf32>, %arg2: tensor<i32>) -> tensor<3x2x8x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<2x8x16xf32>) -> tensor<1x2x8x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<3x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x2x8x16xf32>
    return %1 : tensor<3x2x8x16xf32>
  }
  func.func private @dynamic_update_index_in_dim_1(%arg0: tensor<3x2x8x4x4xf32>, %arg1: tensor<2x8x4x4xf32>, %arg2: tensor<i32>) -> tensor<3x2x8x4x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3, 4] : (tensor<2x8x4x4xf32>) -> tensor<1x2x8x4x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1, %c_2 : (tensor<3x2x8x4x4xf32>, tensor<1x2x8x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x2x8x4x4xf32>
    return %1 : tensor<3x2x8x4x4xf32>
  }
  func.func private @dynamic_update_index_in_dim_2(%arg0: tensor<3x2x8x4x1x4xf32>, %arg1: tensor<2x8x4x1x4xf32>, %arg2: tensor<i32>) -> tensor<3x2x8x4x1x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3, 4, 5] : (tensor<2x8x4x1x4xf32>) -> tensor<1x2x8x4x1x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1, %c_2, %c_3 : (tensor<3x2x8x4x1x4xf32>, tensor<1x2x8x4x1x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x2x8x4x1x4xf32>
    return %1 : tensor<3x2x8x4x1x4xf32>
  }
  func.func private @dynamic_update_index_in_dim_3(%arg0: tensor<3x1x2x4x8x8xf32>, %arg1: tensor<1x2x4x8x8xf32>, %arg2: tensor<i32>) -> tensor<3x1x2x4x8x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3, 4, 5] : (tensor<1x2x4x8x8xf32>) -> tensor<1x1x2x4x8x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1, %c_2, %c_3 : (tensor<3x1x2x4x8x8xf32>, tensor<1x1x2x4x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x1x2x4x8x8xf32>
    return %1 : tensor<3x1x2x4x8x8xf32>
  }
  func.func private @dynamic_update_index_in_dim_4(%arg0: tensor<3x1x2x4x8x1xf32>, %arg1: tensor<1x2x4x8x1xf32>, %arg2: tensor<i32>) -> tensor<3x1x2x4x8x1xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3, 4, 5] : (tensor<1x2x4x8x1xf32>) -> tensor<1x1x2x4x8x1xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1, %c_2, %c_3 : (tensor<3x1x2x4x8x1xf32>, tensor<1x1x2x4x8x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x1x2x4x8x1xf32>
    return %1 : tensor<3x1x2x4x8x1xf32>
  }
  func.func private @dynamic_index_in_dim_5(%arg0: tensor<3x2x8x16xf32>, %arg1: tensor<i32>) -> tensor<2x8x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 2, 8, 16] : (tensor<3x2x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x8x16xf32>) -> tensor<2x8x16xf32>
    return %1 : tensor<2x8x16xf32>
  }
  func.func private @dynamic_index_in_dim_6(%arg0: tensor<3x2x8x4x4xf32>, %arg1: tensor<i32>) -> tensor<2x8x4x4xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, %c_2, sizes = [1, 2, 8, 4, 4] : (tensor<3x2x8x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8x4x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
    return %1 : tensor<2x8x4x4xf32>
  }
  func.func private @dynamic_index_in_dim_7(%arg0: tensor<3x2x8x4x1x4xf32>, %arg1: tensor<i32>) -> tensor<2x8x4x1x4xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, %c_2, %c_3, sizes = [1, 2, 8, 4, 1, 4] : (tensor<3x2x8x4x1x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8x4x1x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x8x4x1x4xf32>) -> tensor<2x8x4x1x4xf32>
    return %1 : tensor<2x8x4x1x4xf32>
  }
  func.func private @dynamic_index_in_dim_8(%arg0: tensor<3x1x2x4x8x8xf32>, %arg1: tensor<i32>) -> tensor<1x2x4x8x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, %c_2, %c_3, sizes = [1, 1, 2, 4, 8, 8] : (tensor<3x1x2x4x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x2x4x8x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x1x2x4x8x8xf32>) -> tensor<1x2x4x8x8xf32>
    return %1 : tensor<1x2x4x8x8xf32>
  }
  func.func private @dynamic_index_in_dim_9(%arg0: tensor<3x1x2x4x8x1xf32>, %arg1: tensor<i32>) -> tensor<1x2x4x8x1xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, %c_2, %c_3, sizes = [1, 1, 2, 4, 8, 1] : (tensor<3x1x2x4x8x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x2x4x8x1xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x1x2x4x8x1xf32>) -> tensor<1x2x4x8x1xf32>
    return %1 : tensor<1x2x4x8x1xf32>
  }
  func.func private @closed_call_10(%arg0: tensor<1x2x4x8x8xi1>, %arg1: tensor<2x8x16xf32>, %arg2: tensor<16x16xf32>, %arg3: tensor<2x8x16xf32>, %arg4: tensor<16x16xf32>, %arg5: tensor<16x16xf32>, %arg6: tensor<2x8x4x4xf32>, %arg7: tensor<2x8x4x1x4xf32>, %arg8: tensor<1x2x4x8x8xf32>, %arg9: tensor<1x2x4x8x1xf32>, %arg10: tensor<1x2x4x8x1xf32>, %arg11: tensor<1x2x4x8x8xf32>, %arg12: tensor<2x8x4x4xf32>) -> (tensor<2x8x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
    %0 = stablehlo.reshape %arg1 : (tensor<2x8x16xf32>) -> tensor<2x8x4x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<2x8x4x4xf32>) -> tensor<2x8x4x1x4xf32>
    %2 = stablehlo.transpose %1, dims = [3, 0, 1, 2, 4] : (tensor<2x8x4x1x4xf32>) -> tensor<1x2x8x4x4xf32>
    %3 = stablehlo.transpose %2, dims = [1, 3, 4, 0, 2] : (tensor<1x2x8x4x4xf32>) -> tensor<2x4x4x1x8xf32>
    %4 = stablehlo.dot_general %3, %arg12, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x4x4x1x8xf32>, tensor<2x8x4x4xf32>) -> tensor<2x4x1x8x8xf32>
    %5 = stablehlo.transpose %4, dims = [2, 0, 1, 3, 4] : (tensor<2x4x1x8x8xf32>) -> tensor<1x2x4x8x8xf32>
    %6 = stablehlo.dot_general %3, %arg11, batching_dims = [0, 1] x [1, 2], contracting_dims = [3, 4] x [0, 3], precision = [DEFAULT, DEFAULT] : (tensor<2x4x4x1x8xf32>, tensor<1x2x4x8x8xf32>) -> tensor<2x4x4x8xf32>
    %7 = stablehlo.transpose %6, dims = [0, 3, 1, 2] : (tensor<2x4x4x8xf32>) -> tensor<2x8x4x4xf32>
    %8 = stablehlo.broadcast_in_dim %arg10, dims = [0, 1, 2, 3, 4] : (tensor<1x2x4x8x1xf32>) -> tensor<1x2x4x8x8xf32>
    %9 = stablehlo.multiply %5, %8 : tensor<1x2x4x8x8xf32>
    %10 = stablehlo.multiply %9, %arg8 : tensor<1x2x4x8x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst) applies stablehlo.add across dimensions = [4] : (tensor<1x2x4x8x8xf32>, tensor<f32>) -> tensor<1x2x4x8xf32>
    %12 = stablehlo.reshape %11 : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8x1xf32>
    %13 = stablehlo.negate %12 : tensor<1x2x4x8x1xf32>
    %14 = stablehlo.broadcast_in_dim %arg9, dims = [0, 1, 2, 3, 4] : (tensor<1x2x4x8x1xf32>) -> tensor<1x2x4x8x8xf32>
    %15 = stablehlo.divide %5, %14 : tensor<1x2x4x8x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%13 init: %cst_0) applies stablehlo.add across dimensions = [0, 4] : (tensor<1x2x4x8x1xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [1, 2, 3] : (tensor<2x4x8xf32>) -> tensor<1x2x4x8xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3] : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8x8xf32>
    %19 = stablehlo.add %15, %18 : tensor<1x2x4x8x8xf32>
    %20 = stablehlo.multiply %19, %arg8 : tensor<1x2x4x8x8xf32>
    %21 = call @_where_11(%arg0, %20) : (tensor<1x2x4x8x8xi1>, tensor<1x2x4x8x8xf32>) -> tensor<2x4x8x1x8xf32>
    %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x4x8x1x8xf32>
    %23 = stablehlo.multiply %21, %22 : tensor<2x4x8x1x8xf32>
    %24 = stablehlo.dot_general %23, %arg7, batching_dims = [0, 1] x [0, 2], contracting_dims = [2, 3] x [1, 3], precision = [DEFAULT, DEFAULT] : (tensor<2x4x8x1x8xf32>, tensor<2x8x4x1x4xf32>) -> tensor<2x4x8x4xf32>
    %25 = stablehlo.transpose %24, dims = [0, 2, 1, 3] : (tensor<2x4x8x4xf32>) -> tensor<2x8x4x4xf32>
    %26 = stablehlo.dot_general %23, %arg6, batching_dims = [0, 1] x [0, 2], contracting_dims = [4] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x4x8x1x8xf32>, tensor<2x8x4x4xf32>) -> tensor<2x4x8x1x4xf32>
    %27 = stablehlo.transpose %26, dims = [0, 2, 1, 3, 4] : (tensor<2x4x8x1x4xf32>) -> tensor<2x8x4x1x4xf32>
    %28 = stablehlo.reshape %27 : (tensor<2x8x4x1x4xf32>) -> tensor<2x8x4x4xf32>
    %29 = stablehlo.reshape %7 : (tensor<2x8x4x4xf32>) -> tensor<2x8x16xf32>
    %30 = stablehlo.dot_general %29, %arg3, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<16x16xf32>
    %31 = stablehlo.transpose %30, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %32 = stablehlo.dot_general %29, %arg5, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %33 = stablehlo.add %arg1, %32 : tensor<2x8x16xf32>
    %34 = stablehlo.reshape %25 : (tensor<2x8x4x4xf32>) -> tensor<2x8x16xf32>
    %35 = stablehlo.dot_general %34, %arg3, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<16x16xf32>
    %36 = stablehlo.transpose %35, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %37 = stablehlo.dot_general %34, %arg4, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %38 = stablehlo.add %33, %37 : tensor<2x8x16xf32>
    %39 = stablehlo.reshape %28 : (tensor<2x8x4x4xf32>) -> tensor<2x8x16xf32>
    %40 = stablehlo.dot_general %39, %arg3, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<16x16xf32>
    %41 = stablehlo.transpose %40, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %42 = stablehlo.dot_general %39, %arg2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %43 = stablehlo.add %38, %42 : tensor<2x8x16xf32>
    return %43, %41, %36, %31 : tensor<2x8x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  }
  func.func private @_where_11(%arg0: tensor<1x2x4x8x8xi1>, %arg1: tensor<1x2x4x8x8xf32>) -> tensor<2x4x8x1x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x2x4x8x8xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<1x2x4x8x8xi1>, tensor<1x2x4x8x8xf32>
    %2 = stablehlo.transpose %1, dims = [1, 2, 3, 0, 4] : (tensor<1x2x4x8x8xf32>) -> tensor<2x4x8x1x8xf32>
    return %2 : tensor<2x4x8x1x8xf32>
  }
  func.func private @dynamic_update_index_in_dim_12(%arg0: tensor<3x16x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<i32>) -> tensor<3x16x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<16x16xf32>) -> tensor<1x16x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<3x16x16xf32>, tensor<1x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x16x16xf32>
    return %1 : tensor<3x16x16xf32>
  }
}
