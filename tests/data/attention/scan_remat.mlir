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
    %9 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<3x2x8x4x4xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<3x2x8x4x4xf32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %11:11 = stablehlo.while(%iterArg = %arg2, %iterArg_10 = %arg3, %iterArg_11 = %arg4, %iterArg_12 = %6#0, %iterArg_13 = %6#1, %iterArg_14 = %c_5, %iterArg_15 = %arg1, %iterArg_16 = %7, %iterArg_17 = %8, %iterArg_18 = %9, %iterArg_19 = %10) : tensor<3x16x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>, tensor<1x2x4x8x8xi1>, tensor<1x2x4x8x8xf32>, tensor<i32>, tensor<2x8x16xf32>, tensor<3x2x8x16xf32>, tensor<3x2x8x4x4xf32>, tensor<3x2x8x4x4xf32>, tensor<3x2x8x4x4xf32>
    cond {
      %c_20 = stablehlo.constant dense<3> : tensor<i32>
      %16 = stablehlo.compare LT, %iterArg_14, %c_20, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %16 : tensor<i1>
    } do {
      %16 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_14) : (tensor<3x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %17 = func.call @dynamic_index_in_dim(%iterArg_10, %iterArg_14) : (tensor<3x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %18 = func.call @dynamic_index_in_dim(%iterArg_11, %iterArg_14) : (tensor<3x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %19:5 = func.call @closed_call(%iterArg_12, %iterArg_13, %iterArg_15, %16, %17, %18) : (tensor<1x2x4x8x8xi1>, tensor<1x2x4x8x8xf32>, tensor<2x8x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> (tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>)
      %20 = func.call @dynamic_update_index_in_dim(%iterArg_16, %19#1, %iterArg_14) : (tensor<3x2x8x16xf32>, tensor<2x8x16xf32>, tensor<i32>) -> tensor<3x2x8x16xf32>
      %21 = func.call @dynamic_update_index_in_dim_1(%iterArg_17, %19#2, %iterArg_14) : (tensor<3x2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<i32>) -> tensor<3x2x8x4x4xf32>
      %22 = func.call @dynamic_update_index_in_dim_1(%iterArg_18, %19#3, %iterArg_14) : (tensor<3x2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<i32>) -> tensor<3x2x8x4x4xf32>
      %23 = func.call @dynamic_update_index_in_dim_1(%iterArg_19, %19#4, %iterArg_14) : (tensor<3x2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<i32>) -> tensor<3x2x8x4x4xf32>
      %c_20 = stablehlo.constant dense<1> : tensor<i32>
      %24 = stablehlo.add %iterArg_14, %c_20 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_10, %iterArg_11, %iterArg_12, %iterArg_13, %24, %19#0, %20, %21, %22, %23 : tensor<3x16x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>, tensor<1x2x4x8x8xi1>, tensor<1x2x4x8x8xf32>, tensor<i32>, tensor<2x8x16xf32>, tensor<3x2x8x16xf32>, tensor<3x2x8x4x4xf32>, tensor<3x2x8x4x4xf32>, tensor<3x2x8x4x4xf32>
    }
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<3x16x16xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<3x16x16xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<3x16x16xf32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %15:12 = stablehlo.while(%iterArg = %arg2, %iterArg_10 = %11#7, %iterArg_11 = %arg3, %iterArg_12 = %arg4, %iterArg_13 = %11#8, %iterArg_14 = %11#9, %iterArg_15 = %11#10, %iterArg_16 = %c_9, %iterArg_17 = %arg0, %iterArg_18 = %12, %iterArg_19 = %13, %iterArg_20 = %14) : tensor<3x16x16xf32>, tensor<3x2x8x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>, tensor<3x2x8x4x4xf32>, tensor<3x2x8x4x4xf32>, tensor<3x2x8x4x4xf32>, tensor<i32>, tensor<2x8x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>
    cond {
      %c_21 = stablehlo.constant dense<3> : tensor<i32>
      %16 = stablehlo.compare LT, %iterArg_16, %c_21, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %16 : tensor<i1>
    } do {
      %c_21 = stablehlo.constant dense<3> : tensor<i32>
      %16 = stablehlo.subtract %c_21, %iterArg_16 : tensor<i32>
      %c_22 = stablehlo.constant dense<1> : tensor<i32>
      %17 = stablehlo.subtract %16, %c_22 : tensor<i32>
      %18 = func.call @dynamic_index_in_dim(%iterArg, %17) : (tensor<3x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %19 = func.call @dynamic_index_in_dim_2(%iterArg_10, %17) : (tensor<3x2x8x16xf32>, tensor<i32>) -> tensor<2x8x16xf32>
      %20 = func.call @dynamic_index_in_dim(%iterArg_11, %17) : (tensor<3x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %21 = func.call @dynamic_index_in_dim(%iterArg_12, %17) : (tensor<3x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %22 = func.call @dynamic_index_in_dim_3(%iterArg_13, %17) : (tensor<3x2x8x4x4xf32>, tensor<i32>) -> tensor<2x8x4x4xf32>
      %23 = func.call @dynamic_index_in_dim_3(%iterArg_14, %17) : (tensor<3x2x8x4x4xf32>, tensor<i32>) -> tensor<2x8x4x4xf32>
      %24 = func.call @dynamic_index_in_dim_3(%iterArg_15, %17) : (tensor<3x2x8x4x4xf32>, tensor<i32>) -> tensor<2x8x4x4xf32>
      %25:4 = func.call @closed_call_4(%iterArg_17, %18, %19, %20, %21, %22, %23, %24) : (tensor<2x8x16xf32>, tensor<16x16xf32>, tensor<2x8x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> (tensor<2x8x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>)
      %26 = func.call @dynamic_update_index_in_dim_8(%iterArg_18, %25#1, %17) : (tensor<3x16x16xf32>, tensor<16x16xf32>, tensor<i32>) -> tensor<3x16x16xf32>
      %27 = func.call @dynamic_update_index_in_dim_8(%iterArg_19, %25#2, %17) : (tensor<3x16x16xf32>, tensor<16x16xf32>, tensor<i32>) -> tensor<3x16x16xf32>
      %28 = func.call @dynamic_update_index_in_dim_8(%iterArg_20, %25#3, %17) : (tensor<3x16x16xf32>, tensor<16x16xf32>, tensor<i32>) -> tensor<3x16x16xf32>
      %c_23 = stablehlo.constant dense<1> : tensor<i32>
      %29 = stablehlo.add %iterArg_16, %c_23 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_10, %iterArg_11, %iterArg_12, %iterArg_13, %iterArg_14, %iterArg_15, %29, %25#0, %26, %27, %28 : tensor<3x16x16xf32>, tensor<3x2x8x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>, tensor<3x2x8x4x4xf32>, tensor<3x2x8x4x4xf32>, tensor<3x2x8x4x4xf32>, tensor<i32>, tensor<2x8x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>
    }
    return %11#6, %15#8, %15#9, %15#10, %15#11 : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>
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
  func.func private @closed_call(%arg0: tensor<1x2x4x8x8xi1>, %arg1: tensor<1x2x4x8x8xf32>, %arg2: tensor<2x8x16xf32>, %arg3: tensor<16x16xf32>, %arg4: tensor<16x16xf32>, %arg5: tensor<16x16xf32>) -> (tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) {
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
    %22 = stablehlo.dot_general %5, %21, batching_dims = [0, 2] x [1, 2], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<2x8x4x4xf32>, tensor<1x2x4x8x8xf32>) -> tensor<2x4x4x1x8xf32>
    %23 = stablehlo.transpose %22, dims = [3, 0, 4, 1, 2] : (tensor<2x4x4x1x8xf32>) -> tensor<1x2x8x4x4xf32>
    %24 = stablehlo.transpose %23, dims = [1, 2, 3, 0, 4] : (tensor<1x2x8x4x4xf32>) -> tensor<2x8x4x1x4xf32>
    %25 = stablehlo.reshape %24 : (tensor<2x8x4x1x4xf32>) -> tensor<2x8x4x4xf32>
    %26 = stablehlo.reshape %25 : (tensor<2x8x4x4xf32>) -> tensor<2x8x16xf32>
    %27 = stablehlo.add %arg2, %26 : tensor<2x8x16xf32>
    return %27, %arg2, %1, %3, %5 : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>
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
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<3x2x8x16xf32>, %arg1: tensor<i32>) -> tensor<2x8x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 2, 8, 16] : (tensor<3x2x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x8x16xf32>) -> tensor<2x8x16xf32>
    return %1 : tensor<2x8x16xf32>
  }
  func.func private @dynamic_index_in_dim_3(%arg0: tensor<3x2x8x4x4xf32>, %arg1: tensor<i32>) -> tensor<2x8x4x4xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, %c_2, sizes = [1, 2, 8, 4, 4] : (tensor<3x2x8x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8x4x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
    return %1 : tensor<2x8x4x4xf32>
  }
  func.func private @closed_call_4(%arg0: tensor<2x8x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<2x8x16xf32>, %arg3: tensor<16x16xf32>, %arg4: tensor<16x16xf32>, %arg5: tensor<2x8x4x4xf32>, %arg6: tensor<2x8x4x4xf32>, %arg7: tensor<2x8x4x4xf32>) -> (tensor<2x8x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x8x16xf32>) -> tensor<2x8x4x4xf32>
    %1:4 = stablehlo.optimization_barrier %arg5, %arg6, %arg7, %0 : tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>
    %2 = stablehlo.reshape %1#0 : (tensor<2x8x4x4xf32>) -> tensor<2x8x4x1x4xf32>
    %3 = stablehlo.dot_general %2, %1#1, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x4x1x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x4x8x1x8xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x8x1x8xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<2x4x8x1x8xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<2x4x8x8xi1>
    %c_0 = stablehlo.constant dense<true> : tensor<i1>
    %7 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<8x8xi1>
    %8 = call @tril_5(%7) : (tensor<8x8xi1>) -> tensor<8x8xi1>
    %9 = stablehlo.broadcast_in_dim %8, dims = [2, 3] : (tensor<8x8xi1>) -> tensor<1x1x8x8xi1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<1x1x8x8xi1>) -> tensor<2x4x8x8xi1>
    %11 = stablehlo.and %6, %10 : tensor<2x4x8x8xi1>
    %cst_1 = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>
    %12:2 = call @_where_6(%11, %5, %cst_1) : (tensor<2x4x8x8xi1>, tensor<2x4x8x1x8xf32>, tensor<f32>) -> (tensor<1x2x4x8x8xf32>, tensor<1x2x4x8x8xi1>)
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %13 = stablehlo.reduce(%12#0 init: %cst_2) applies stablehlo.maximum across dimensions = [4] : (tensor<1x2x4x8x8xf32>, tensor<f32>) -> tensor<1x2x4x8xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x2x4x8xf32>
    %15 = stablehlo.maximum %14, %13 : tensor<1x2x4x8xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8x1xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3, 4] : (tensor<1x2x4x8x1xf32>) -> tensor<1x2x4x8x8xf32>
    %18 = stablehlo.subtract %12#0, %17 : tensor<1x2x4x8x8xf32>
    %19 = stablehlo.exponential %18 : tensor<1x2x4x8x8xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_4) applies stablehlo.add across dimensions = [4] : (tensor<1x2x4x8x8xf32>, tensor<f32>) -> tensor<1x2x4x8xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8x1xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3, 4] : (tensor<1x2x4x8x1xf32>) -> tensor<1x2x4x8x8xf32>
    %23 = stablehlo.divide %19, %22 : tensor<1x2x4x8x8xf32>
    %24 = stablehlo.multiply %21, %21 : tensor<1x2x4x8x1xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x2x4x8x1xf32>
    %26 = stablehlo.divide %25, %24 : tensor<1x2x4x8x1xf32>
    %27 = stablehlo.reshape %1#3 : (tensor<2x8x4x4xf32>) -> tensor<2x8x4x1x4xf32>
    %28 = stablehlo.transpose %27, dims = [3, 0, 1, 2, 4] : (tensor<2x8x4x1x4xf32>) -> tensor<1x2x8x4x4xf32>
    %29 = stablehlo.transpose %28, dims = [1, 3, 4, 0, 2] : (tensor<1x2x8x4x4xf32>) -> tensor<2x4x4x1x8xf32>
    %30 = stablehlo.dot_general %29, %1#2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x4x4x1x8xf32>, tensor<2x8x4x4xf32>) -> tensor<2x4x1x8x8xf32>
    %31 = stablehlo.transpose %30, dims = [2, 0, 1, 3, 4] : (tensor<2x4x1x8x8xf32>) -> tensor<1x2x4x8x8xf32>
    %32 = stablehlo.dot_general %29, %23, batching_dims = [0, 1] x [1, 2], contracting_dims = [3, 4] x [0, 3], precision = [DEFAULT, DEFAULT] : (tensor<2x4x4x1x8xf32>, tensor<1x2x4x8x8xf32>) -> tensor<2x4x4x8xf32>
    %33 = stablehlo.transpose %32, dims = [0, 3, 1, 2] : (tensor<2x4x4x8xf32>) -> tensor<2x8x4x4xf32>
    %34 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3, 4] : (tensor<1x2x4x8x1xf32>) -> tensor<1x2x4x8x8xf32>
    %35 = stablehlo.multiply %31, %34 : tensor<1x2x4x8x8xf32>
    %36 = stablehlo.multiply %35, %19 : tensor<1x2x4x8x8xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.reduce(%36 init: %cst_6) applies stablehlo.add across dimensions = [4] : (tensor<1x2x4x8x8xf32>, tensor<f32>) -> tensor<1x2x4x8xf32>
    %38 = stablehlo.reshape %37 : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8x1xf32>
    %39 = stablehlo.negate %38 : tensor<1x2x4x8x1xf32>
    %40 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3, 4] : (tensor<1x2x4x8x1xf32>) -> tensor<1x2x4x8x8xf32>
    %41 = stablehlo.divide %31, %40 : tensor<1x2x4x8x8xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.reduce(%39 init: %cst_7) applies stablehlo.add across dimensions = [0, 4] : (tensor<1x2x4x8x1xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [1, 2, 3] : (tensor<2x4x8xf32>) -> tensor<1x2x4x8xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2, 3] : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8x8xf32>
    %45 = stablehlo.add %41, %44 : tensor<1x2x4x8x8xf32>
    %46 = stablehlo.multiply %45, %19 : tensor<1x2x4x8x8xf32>
    %47 = call @_where_7(%12#1, %46) : (tensor<1x2x4x8x8xi1>, tensor<1x2x4x8x8xf32>) -> tensor<2x4x8x1x8xf32>
    %cst_8 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x4x8x1x8xf32>
    %49 = stablehlo.multiply %47, %48 : tensor<2x4x8x1x8xf32>
    %50 = stablehlo.dot_general %49, %2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2, 3] x [1, 3], precision = [DEFAULT, DEFAULT] : (tensor<2x4x8x1x8xf32>, tensor<2x8x4x1x4xf32>) -> tensor<2x4x8x4xf32>
    %51 = stablehlo.transpose %50, dims = [0, 2, 1, 3] : (tensor<2x4x8x4xf32>) -> tensor<2x8x4x4xf32>
    %52 = stablehlo.dot_general %49, %1#1, batching_dims = [0, 1] x [0, 2], contracting_dims = [4] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x4x8x1x8xf32>, tensor<2x8x4x4xf32>) -> tensor<2x4x8x1x4xf32>
    %53 = stablehlo.transpose %52, dims = [0, 2, 1, 3, 4] : (tensor<2x4x8x1x4xf32>) -> tensor<2x8x4x1x4xf32>
    %54 = stablehlo.reshape %53 : (tensor<2x8x4x1x4xf32>) -> tensor<2x8x4x4xf32>
    %55 = stablehlo.reshape %33 : (tensor<2x8x4x4xf32>) -> tensor<2x8x16xf32>
    %56 = stablehlo.dot_general %55, %arg2, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<16x16xf32>
    %57 = stablehlo.transpose %56, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %58 = stablehlo.dot_general %55, %arg4, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %59 = stablehlo.add %arg0, %58 : tensor<2x8x16xf32>
    %60 = stablehlo.reshape %51 : (tensor<2x8x4x4xf32>) -> tensor<2x8x16xf32>
    %61 = stablehlo.dot_general %60, %arg2, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<16x16xf32>
    %62 = stablehlo.transpose %61, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %63 = stablehlo.dot_general %60, %arg3, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %64 = stablehlo.add %59, %63 : tensor<2x8x16xf32>
    %65 = stablehlo.reshape %54 : (tensor<2x8x4x4xf32>) -> tensor<2x8x16xf32>
    %66 = stablehlo.dot_general %65, %arg2, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<16x16xf32>
    %67 = stablehlo.transpose %66, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %68 = stablehlo.dot_general %65, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %69 = stablehlo.add %64, %68 : tensor<2x8x16xf32>
    return %69, %67, %62, %57 : tensor<2x8x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  }
  func.func private @tril_5(%arg0: tensor<8x8xi1>) -> tensor<8x8xi1> {
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
  func.func private @_where_6(%arg0: tensor<2x4x8x8xi1>, %arg1: tensor<2x4x8x1x8xf32>, %arg2: tensor<f32>) -> (tensor<1x2x4x8x8xf32>, tensor<1x2x4x8x8xi1>) {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x4x8x8xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2, 3, 4] : (tensor<2x4x8x8xi1>) -> tensor<1x2x4x8x8xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [1, 2, 3, 4] : (tensor<2x4x8x8xf32>) -> tensor<1x2x4x8x8xf32>
    %3 = stablehlo.transpose %arg1, dims = [3, 0, 1, 2, 4] : (tensor<2x4x8x1x8xf32>) -> tensor<1x2x4x8x8xf32>
    %4 = stablehlo.select %1, %3, %2 : tensor<1x2x4x8x8xi1>, tensor<1x2x4x8x8xf32>
    return %4, %1 : tensor<1x2x4x8x8xf32>, tensor<1x2x4x8x8xi1>
  }
  func.func private @_where_7(%arg0: tensor<1x2x4x8x8xi1>, %arg1: tensor<1x2x4x8x8xf32>) -> tensor<2x4x8x1x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x2x4x8x8xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<1x2x4x8x8xi1>, tensor<1x2x4x8x8xf32>
    %2 = stablehlo.transpose %1, dims = [1, 2, 3, 0, 4] : (tensor<1x2x4x8x8xf32>) -> tensor<2x4x8x1x8xf32>
    return %2 : tensor<2x4x8x1x8xf32>
  }
  func.func private @dynamic_update_index_in_dim_8(%arg0: tensor<3x16x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<i32>) -> tensor<3x16x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<16x16xf32>) -> tensor<1x16x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<3x16x16xf32>, tensor<1x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x16x16xf32>
    return %1 : tensor<3x16x16xf32>
  }
}
