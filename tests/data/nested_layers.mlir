module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x16x32xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<2x3x32x16xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<4x8x16xf32>) -> (tensor<2x3x16x32xf32> {jax.result_info = "result['a']"}, tensor<2x3x32x16xf32> {jax.result_info = "result['b']"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x8x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:5 = stablehlo.while(%iterArg = %arg0, %iterArg_7 = %arg1, %iterArg_8 = %c, %iterArg_9 = %arg2, %iterArg_10 = %0) : tensor<2x3x16x32xf32>, tensor<2x3x32x16xf32>, tensor<i32>, tensor<4x8x16xf32>, tensor<2x4x8x16xf32>
    cond {
      %c_11 = stablehlo.constant dense<2> : tensor<i32>
      %15 = stablehlo.compare LT, %iterArg_8, %c_11, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %15 : tensor<i1>
    } do {
      %15 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_8) : (tensor<2x3x16x32xf32>, tensor<i32>) -> tensor<3x16x32xf32>
      %16 = func.call @dynamic_index_in_dim_0(%iterArg_7, %iterArg_8) : (tensor<2x3x32x16xf32>, tensor<i32>) -> tensor<3x32x16xf32>
      %17:2 = func.call @closed_call(%iterArg_9, %15, %16) : (tensor<4x8x16xf32>, tensor<3x16x32xf32>, tensor<3x32x16xf32>) -> (tensor<4x8x16xf32>, tensor<4x8x16xf32>)
      %18 = func.call @dynamic_update_index_in_dim(%iterArg_10, %17#1, %iterArg_8) : (tensor<2x4x8x16xf32>, tensor<4x8x16xf32>, tensor<i32>) -> tensor<2x4x8x16xf32>
      %c_11 = stablehlo.constant dense<1> : tensor<i32>
      %19 = stablehlo.add %iterArg_8, %c_11 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_7, %19, %17#0, %18 : tensor<2x3x16x32xf32>, tensor<2x3x32x16xf32>, tensor<i32>, tensor<4x8x16xf32>, tensor<2x4x8x16xf32>
    }
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x8x16xf32>
    %3 = stablehlo.multiply %2, %1#3 : tensor<4x8x16xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x8x16xf32>
    %5 = stablehlo.multiply %4, %3 : tensor<4x8x16xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x3x16x32xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x3x32x16xf32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %8:7 = stablehlo.while(%iterArg = %1#4, %iterArg_7 = %arg0, %iterArg_8 = %arg1, %iterArg_9 = %c_4, %iterArg_10 = %5, %iterArg_11 = %6, %iterArg_12 = %7) : tensor<2x4x8x16xf32>, tensor<2x3x16x32xf32>, tensor<2x3x32x16xf32>, tensor<i32>, tensor<4x8x16xf32>, tensor<2x3x16x32xf32>, tensor<2x3x32x16xf32>
    cond {
      %c_13 = stablehlo.constant dense<2> : tensor<i32>
      %15 = stablehlo.compare LT, %iterArg_9, %c_13, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %15 : tensor<i1>
    } do {
      %c_13 = stablehlo.constant dense<2> : tensor<i32>
      %15 = stablehlo.subtract %c_13, %iterArg_9 : tensor<i32>
      %c_14 = stablehlo.constant dense<1> : tensor<i32>
      %16 = stablehlo.subtract %15, %c_14 : tensor<i32>
      %17 = func.call @dynamic_index_in_dim_5(%iterArg, %16) : (tensor<2x4x8x16xf32>, tensor<i32>) -> tensor<4x8x16xf32>
      %18 = func.call @dynamic_index_in_dim(%iterArg_7, %16) : (tensor<2x3x16x32xf32>, tensor<i32>) -> tensor<3x16x32xf32>
      %19 = func.call @dynamic_index_in_dim_0(%iterArg_8, %16) : (tensor<2x3x32x16xf32>, tensor<i32>) -> tensor<3x32x16xf32>
      %20:3 = func.call @closed_call_6(%iterArg_10, %17, %18, %19) : (tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<3x16x32xf32>, tensor<3x32x16xf32>) -> (tensor<4x8x16xf32>, tensor<3x16x32xf32>, tensor<3x32x16xf32>)
      %21 = func.call @dynamic_update_index_in_dim_13(%iterArg_11, %20#1, %16) : (tensor<2x3x16x32xf32>, tensor<3x16x32xf32>, tensor<i32>) -> tensor<2x3x16x32xf32>
      %22 = func.call @dynamic_update_index_in_dim_14(%iterArg_12, %20#2, %16) : (tensor<2x3x32x16xf32>, tensor<3x32x16xf32>, tensor<i32>) -> tensor<2x3x32x16xf32>
      %c_15 = stablehlo.constant dense<1> : tensor<i32>
      %23 = stablehlo.add %iterArg_9, %c_15 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_7, %iterArg_8, %23, %20#0, %21, %22 : tensor<2x4x8x16xf32>, tensor<2x3x16x32xf32>, tensor<2x3x32x16xf32>, tensor<i32>, tensor<4x8x16xf32>, tensor<2x3x16x32xf32>, tensor<2x3x32x16xf32>
    }
    %cst_5 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x3x16x32xf32>
    %10 = stablehlo.multiply %9, %8#5 : tensor<2x3x16x32xf32>
    %11 = stablehlo.subtract %arg0, %10 : tensor<2x3x16x32xf32>
    %cst_6 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x3x32x16xf32>
    %13 = stablehlo.multiply %12, %8#6 : tensor<2x3x32x16xf32>
    %14 = stablehlo.subtract %arg1, %13 : tensor<2x3x32x16xf32>
    return %11, %14 : tensor<2x3x16x32xf32>, tensor<2x3x32x16xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<2x3x16x32xf32>, %arg1: tensor<i32>) -> tensor<3x16x32xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 3, 16, 32] : (tensor<2x3x16x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x16x32xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x3x16x32xf32>) -> tensor<3x16x32xf32>
    return %1 : tensor<3x16x32xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<2x3x32x16xf32>, %arg1: tensor<i32>) -> tensor<3x32x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 3, 32, 16] : (tensor<2x3x32x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x32x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x3x32x16xf32>) -> tensor<3x32x16xf32>
    return %1 : tensor<3x32x16xf32>
  }
  func.func private @closed_call(%arg0: tensor<4x8x16xf32>, %arg1: tensor<3x16x32xf32>, %arg2: tensor<3x32x16xf32>) -> (tensor<4x8x16xf32>, tensor<4x8x16xf32>) {
    %0 = call @closed_call_1(%arg0, %arg1, %arg2) : (tensor<4x8x16xf32>, tensor<3x16x32xf32>, tensor<3x32x16xf32>) -> tensor<4x8x16xf32>
    return %0, %arg0 : tensor<4x8x16xf32>, tensor<4x8x16xf32>
  }
  func.func private @closed_call_1(%arg0: tensor<4x8x16xf32>, %arg1: tensor<3x16x32xf32>, %arg2: tensor<3x32x16xf32>) -> tensor<4x8x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:4 = stablehlo.while(%iterArg = %arg1, %iterArg_0 = %arg2, %iterArg_1 = %c, %iterArg_2 = %arg0) : tensor<3x16x32xf32>, tensor<3x32x16xf32>, tensor<i32>, tensor<4x8x16xf32>
    cond {
      %c_3 = stablehlo.constant dense<3> : tensor<i32>
      %1 = stablehlo.compare LT, %iterArg_1, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = func.call @dynamic_index_in_dim_2(%iterArg, %iterArg_1) : (tensor<3x16x32xf32>, tensor<i32>) -> tensor<16x32xf32>
      %2 = func.call @dynamic_index_in_dim_3(%iterArg_0, %iterArg_1) : (tensor<3x32x16xf32>, tensor<i32>) -> tensor<32x16xf32>
      %3 = func.call @closed_call_4(%iterArg_2, %1, %2) : (tensor<4x8x16xf32>, tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<4x8x16xf32>
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %4 = stablehlo.add %iterArg_1, %c_3 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_0, %4, %3 : tensor<3x16x32xf32>, tensor<3x32x16xf32>, tensor<i32>, tensor<4x8x16xf32>
    }
    return %0#3 : tensor<4x8x16xf32>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<3x16x32xf32>, %arg1: tensor<i32>) -> tensor<16x32xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 16, 32] : (tensor<3x16x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x32xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x16x32xf32>) -> tensor<16x32xf32>
    return %1 : tensor<16x32xf32>
  }
  func.func private @dynamic_index_in_dim_3(%arg0: tensor<3x32x16xf32>, %arg1: tensor<i32>) -> tensor<32x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 32, 16] : (tensor<3x32x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x32x16xf32>) -> tensor<32x16xf32>
    return %1 : tensor<32x16xf32>
  }
  func.func private @closed_call_4(%arg0: tensor<4x8x16xf32>, %arg1: tensor<16x32xf32>, %arg2: tensor<32x16xf32>) -> tensor<4x8x16xf32> {
    %0:3 = stablehlo.optimization_barrier %arg0, %arg1, %arg2 : tensor<4x8x16xf32>, tensor<16x32xf32>, tensor<32x16xf32>
    %1 = stablehlo.dot_general %0#0, %0#1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8x16xf32>, tensor<16x32xf32>) -> tensor<4x8x32xf32>
    %2 = stablehlo.tanh %1 : tensor<4x8x32xf32>
    %3 = stablehlo.dot_general %2, %0#2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8x32xf32>, tensor<32x16xf32>) -> tensor<4x8x16xf32>
    %4 = stablehlo.add %0#0, %3 : tensor<4x8x16xf32>
    return %4 : tensor<4x8x16xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<2x4x8x16xf32>, %arg1: tensor<4x8x16xf32>, %arg2: tensor<i32>) -> tensor<2x4x8x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<4x8x16xf32>) -> tensor<1x4x8x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<2x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x4x8x16xf32>
    return %1 : tensor<2x4x8x16xf32>
  }
  func.func private @dynamic_index_in_dim_5(%arg0: tensor<2x4x8x16xf32>, %arg1: tensor<i32>) -> tensor<4x8x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 4, 8, 16] : (tensor<2x4x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x4x8x16xf32>) -> tensor<4x8x16xf32>
    return %1 : tensor<4x8x16xf32>
  }
  func.func private @closed_call_6(%arg0: tensor<4x8x16xf32>, %arg1: tensor<4x8x16xf32>, %arg2: tensor<3x16x32xf32>, %arg3: tensor<3x32x16xf32>) -> (tensor<4x8x16xf32>, tensor<3x16x32xf32>, tensor<3x32x16xf32>) {
    %0:4 = stablehlo.optimization_barrier %arg1, %arg2, %arg3, %arg0 : tensor<4x8x16xf32>, tensor<3x16x32xf32>, tensor<3x32x16xf32>, tensor<4x8x16xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x4x8x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2:5 = stablehlo.while(%iterArg = %0#1, %iterArg_3 = %0#2, %iterArg_4 = %c, %iterArg_5 = %0#0, %iterArg_6 = %1) : tensor<3x16x32xf32>, tensor<3x32x16xf32>, tensor<i32>, tensor<4x8x16xf32>, tensor<3x4x8x16xf32>
    cond {
      %c_7 = stablehlo.constant dense<3> : tensor<i32>
      %6 = stablehlo.compare LT, %iterArg_4, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    } do {
      %6 = func.call @dynamic_index_in_dim_2(%iterArg, %iterArg_4) : (tensor<3x16x32xf32>, tensor<i32>) -> tensor<16x32xf32>
      %7 = func.call @dynamic_index_in_dim_3(%iterArg_3, %iterArg_4) : (tensor<3x32x16xf32>, tensor<i32>) -> tensor<32x16xf32>
      %8:2 = func.call @closed_call_7(%iterArg_5, %6, %7) : (tensor<4x8x16xf32>, tensor<16x32xf32>, tensor<32x16xf32>) -> (tensor<4x8x16xf32>, tensor<4x8x16xf32>)
      %9 = func.call @dynamic_update_index_in_dim_8(%iterArg_6, %8#1, %iterArg_4) : (tensor<3x4x8x16xf32>, tensor<4x8x16xf32>, tensor<i32>) -> tensor<3x4x8x16xf32>
      %c_7 = stablehlo.constant dense<1> : tensor<i32>
      %10 = stablehlo.add %iterArg_4, %c_7 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_3, %10, %8#0, %9 : tensor<3x16x32xf32>, tensor<3x32x16xf32>, tensor<i32>, tensor<4x8x16xf32>, tensor<3x4x8x16xf32>
    }
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x16x32xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3x32x16xf32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %5:7 = stablehlo.while(%iterArg = %2#4, %iterArg_3 = %0#1, %iterArg_4 = %0#2, %iterArg_5 = %c_2, %iterArg_6 = %0#3, %iterArg_7 = %3, %iterArg_8 = %4) : tensor<3x4x8x16xf32>, tensor<3x16x32xf32>, tensor<3x32x16xf32>, tensor<i32>, tensor<4x8x16xf32>, tensor<3x16x32xf32>, tensor<3x32x16xf32>
    cond {
      %c_9 = stablehlo.constant dense<3> : tensor<i32>
      %6 = stablehlo.compare LT, %iterArg_5, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    } do {
      %c_9 = stablehlo.constant dense<3> : tensor<i32>
      %6 = stablehlo.subtract %c_9, %iterArg_5 : tensor<i32>
      %c_10 = stablehlo.constant dense<1> : tensor<i32>
      %7 = stablehlo.subtract %6, %c_10 : tensor<i32>
      %8 = func.call @dynamic_index_in_dim_9(%iterArg, %7) : (tensor<3x4x8x16xf32>, tensor<i32>) -> tensor<4x8x16xf32>
      %9 = func.call @dynamic_index_in_dim_2(%iterArg_3, %7) : (tensor<3x16x32xf32>, tensor<i32>) -> tensor<16x32xf32>
      %10 = func.call @dynamic_index_in_dim_3(%iterArg_4, %7) : (tensor<3x32x16xf32>, tensor<i32>) -> tensor<32x16xf32>
      %11:3 = func.call @closed_call_10(%iterArg_6, %8, %9, %10) : (tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<16x32xf32>, tensor<32x16xf32>) -> (tensor<4x8x16xf32>, tensor<16x32xf32>, tensor<32x16xf32>)
      %12 = func.call @dynamic_update_index_in_dim_11(%iterArg_7, %11#1, %7) : (tensor<3x16x32xf32>, tensor<16x32xf32>, tensor<i32>) -> tensor<3x16x32xf32>
      %13 = func.call @dynamic_update_index_in_dim_12(%iterArg_8, %11#2, %7) : (tensor<3x32x16xf32>, tensor<32x16xf32>, tensor<i32>) -> tensor<3x32x16xf32>
      %c_11 = stablehlo.constant dense<1> : tensor<i32>
      %14 = stablehlo.add %iterArg_5, %c_11 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_3, %iterArg_4, %14, %11#0, %12, %13 : tensor<3x4x8x16xf32>, tensor<3x16x32xf32>, tensor<3x32x16xf32>, tensor<i32>, tensor<4x8x16xf32>, tensor<3x16x32xf32>, tensor<3x32x16xf32>
    }
    return %5#4, %5#5, %5#6 : tensor<4x8x16xf32>, tensor<3x16x32xf32>, tensor<3x32x16xf32>
  }
  func.func private @closed_call_7(%arg0: tensor<4x8x16xf32>, %arg1: tensor<16x32xf32>, %arg2: tensor<32x16xf32>) -> (tensor<4x8x16xf32>, tensor<4x8x16xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8x16xf32>, tensor<16x32xf32>) -> tensor<4x8x32xf32>
    %1 = stablehlo.tanh %0 : tensor<4x8x32xf32>
    %2 = stablehlo.dot_general %1, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8x32xf32>, tensor<32x16xf32>) -> tensor<4x8x16xf32>
    %3 = stablehlo.add %arg0, %2 : tensor<4x8x16xf32>
    return %3, %arg0 : tensor<4x8x16xf32>, tensor<4x8x16xf32>
  }
  func.func private @dynamic_update_index_in_dim_8(%arg0: tensor<3x4x8x16xf32>, %arg1: tensor<4x8x16xf32>, %arg2: tensor<i32>) -> tensor<3x4x8x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<4x8x16xf32>) -> tensor<1x4x8x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<3x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x8x16xf32>
    return %1 : tensor<3x4x8x16xf32>
  }
  func.func private @dynamic_index_in_dim_9(%arg0: tensor<3x4x8x16xf32>, %arg1: tensor<i32>) -> tensor<4x8x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 4, 8, 16] : (tensor<3x4x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x4x8x16xf32>) -> tensor<4x8x16xf32>
    return %1 : tensor<4x8x16xf32>
  }
  func.func private @closed_call_10(%arg0: tensor<4x8x16xf32>, %arg1: tensor<4x8x16xf32>, %arg2: tensor<16x32xf32>, %arg3: tensor<32x16xf32>) -> (tensor<4x8x16xf32>, tensor<16x32xf32>, tensor<32x16xf32>) {
    %0:4 = stablehlo.optimization_barrier %arg1, %arg2, %arg3, %arg0 : tensor<4x8x16xf32>, tensor<16x32xf32>, tensor<32x16xf32>, tensor<4x8x16xf32>
    %1 = stablehlo.dot_general %0#0, %0#1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8x16xf32>, tensor<16x32xf32>) -> tensor<4x8x32xf32>
    %2 = stablehlo.tanh %1 : tensor<4x8x32xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8x32xf32>
    %4 = stablehlo.subtract %3, %2 : tensor<4x8x32xf32>
    %5 = stablehlo.dot_general %0#3, %2, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x16xf32>, tensor<4x8x32xf32>) -> tensor<16x32xf32>
    %6 = stablehlo.transpose %5, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %7 = stablehlo.dot_general %0#3, %0#2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x16xf32>, tensor<32x16xf32>) -> tensor<4x8x32xf32>
    %8 = stablehlo.multiply %7, %4 : tensor<4x8x32xf32>
    %9 = stablehlo.multiply %8, %2 : tensor<4x8x32xf32>
    %10 = stablehlo.add %8, %9 : tensor<4x8x32xf32>
    %11 = stablehlo.dot_general %10, %0#0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x32xf32>, tensor<4x8x16xf32>) -> tensor<32x16xf32>
    %12 = stablehlo.transpose %11, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %13 = stablehlo.dot_general %10, %0#1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x32xf32>, tensor<16x32xf32>) -> tensor<4x8x16xf32>
    %14 = stablehlo.add %0#3, %13 : tensor<4x8x16xf32>
    return %14, %12, %6 : tensor<4x8x16xf32>, tensor<16x32xf32>, tensor<32x16xf32>
  }
  func.func private @dynamic_update_index_in_dim_11(%arg0: tensor<3x16x32xf32>, %arg1: tensor<16x32xf32>, %arg2: tensor<i32>) -> tensor<3x16x32xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<16x32xf32>) -> tensor<1x16x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<3x16x32xf32>, tensor<1x16x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x16x32xf32>
    return %1 : tensor<3x16x32xf32>
  }
  func.func private @dynamic_update_index_in_dim_12(%arg0: tensor<3x32x16xf32>, %arg1: tensor<32x16xf32>, %arg2: tensor<i32>) -> tensor<3x32x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<32x16xf32>) -> tensor<1x32x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<3x32x16xf32>, tensor<1x32x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x32x16xf32>
    return %1 : tensor<3x32x16xf32>
  }
  func.func private @dynamic_update_index_in_dim_13(%arg0: tensor<2x3x16x32xf32>, %arg1: tensor<3x16x32xf32>, %arg2: tensor<i32>) -> tensor<2x3x16x32xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<3x16x32xf32>) -> tensor<1x3x16x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<2x3x16x32xf32>, tensor<1x3x16x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x16x32xf32>
    return %1 : tensor<2x3x16x32xf32>
  }
  func.func private @dynamic_update_index_in_dim_14(%arg0: tensor<2x3x32x16xf32>, %arg1: tensor<3x32x16xf32>, %arg2: tensor<i32>) -> tensor<2x3x32x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<3x32x16xf32>) -> tensor<1x3x32x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<2x3x32x16xf32>, tensor<1x3x32x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x32x16xf32>
    return %1 : tensor<2x3x32x16xf32>
  }
}
