// A training step of four layers, as JAX writes jax.lax.scan: three stacks, of which two follow from the third and the weights.
module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x16x64xf32>, %arg1: tensor<4x64x16xf32>, %arg2: tensor<64x16xf32>, %arg3: tensor<64x16xf32>) -> (tensor<4x16x64xf32> {jax.result_info = "result[0]['a']"}, tensor<4x64x16xf32> {jax.result_info = "result[0]['b']"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x64x16xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x64x64xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x64x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3:7 = stablehlo.while(%iterArg = %arg0, %iterArg_12 = %arg1, %iterArg_13 = %c, %iterArg_14 = %arg2, %iterArg_15 = %0, %iterArg_16 = %1, %iterArg_17 = %2) : tensor<4x16x64xf32>, tensor<4x64x16xf32>, tensor<i32>, tensor<64x16xf32>, tensor<4x64x16xf32>, tensor<4x64x64xf32>, tensor<4x64x64xf32>
    cond {
      %c_18 = stablehlo.constant dense<4> : tensor<i32>
      %22 = stablehlo.compare LT, %iterArg_13, %c_18, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %22 : tensor<i1>
    } do {
      %22 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_13) : (tensor<4x16x64xf32>, tensor<i32>) -> tensor<16x64xf32>
      %23 = func.call @dynamic_index_in_dim_0(%iterArg_12, %iterArg_13) : (tensor<4x64x16xf32>, tensor<i32>) -> tensor<64x16xf32>
      %24:4 = func.call @closed_call(%iterArg_14, %22, %23) : (tensor<64x16xf32>, tensor<16x64xf32>, tensor<64x16xf32>) -> (tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x64xf32>, tensor<64x64xf32>)
      %25 = func.call @dynamic_update_index_in_dim(%iterArg_15, %24#1, %iterArg_13) : (tensor<4x64x16xf32>, tensor<64x16xf32>, tensor<i32>) -> tensor<4x64x16xf32>
      %26 = func.call @dynamic_update_index_in_dim_1(%iterArg_16, %24#2, %iterArg_13) : (tensor<4x64x64xf32>, tensor<64x64xf32>, tensor<i32>) -> tensor<4x64x64xf32>
      %27 = func.call @dynamic_update_index_in_dim_1(%iterArg_17, %24#3, %iterArg_13) : (tensor<4x64x64xf32>, tensor<64x64xf32>, tensor<i32>) -> tensor<4x64x64xf32>
      %c_18 = stablehlo.constant dense<1> : tensor<i32>
      %28 = stablehlo.add %iterArg_13, %c_18 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_12, %28, %24#0, %25, %26, %27 : tensor<4x16x64xf32>, tensor<4x64x16xf32>, tensor<i32>, tensor<64x16xf32>, tensor<4x64x16xf32>, tensor<4x64x64xf32>, tensor<4x64x64xf32>
    }
    %4 = stablehlo.subtract %3#3, %arg3 : tensor<64x16xf32>
    %5 = stablehlo.multiply %4, %4 : tensor<64x16xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<64x16xf32>
    %7 = stablehlo.multiply %6, %4 : tensor<64x16xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%5 init: %cst_3) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x16xf32>, tensor<f32>) -> tensor<f32>
    %cst_4 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %9 = stablehlo.divide %8, %cst_4 : tensor<f32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_6 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %10 = stablehlo.divide %cst_5, %cst_6 : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<64x16xf32>
    %12 = stablehlo.multiply %11, %7 : tensor<64x16xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x16x64xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x64x16xf32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %15:9 = stablehlo.while(%iterArg = %arg0, %iterArg_12 = %3#4, %iterArg_13 = %3#5, %iterArg_14 = %3#6, %iterArg_15 = %arg1, %iterArg_16 = %c_9, %iterArg_17 = %12, %iterArg_18 = %13, %iterArg_19 = %14) : tensor<4x16x64xf32>, tensor<4x64x16xf32>, tensor<4x64x64xf32>, tensor<4x64x64xf32>, tensor<4x64x16xf32>, tensor<i32>, tensor<64x16xf32>, tensor<4x16x64xf32>, tensor<4x64x16xf32>
    cond {
      %c_20 = stablehlo.constant dense<4> : tensor<i32>
      %22 = stablehlo.compare LT, %iterArg_16, %c_20, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %22 : tensor<i1>
    } do {
      %c_20 = stablehlo.constant dense<4> : tensor<i32>
      %22 = stablehlo.subtract %c_20, %iterArg_16 : tensor<i32>
      %c_21 = stablehlo.constant dense<1> : tensor<i32>
      %23 = stablehlo.subtract %22, %c_21 : tensor<i32>
      %24 = func.call @dynamic_index_in_dim(%iterArg, %23) : (tensor<4x16x64xf32>, tensor<i32>) -> tensor<16x64xf32>
      %25 = func.call @dynamic_index_in_dim_0(%iterArg_12, %23) : (tensor<4x64x16xf32>, tensor<i32>) -> tensor<64x16xf32>
      %26 = func.call @dynamic_index_in_dim_2(%iterArg_13, %23) : (tensor<4x64x64xf32>, tensor<i32>) -> tensor<64x64xf32>
      %27 = func.call @dynamic_index_in_dim_2(%iterArg_14, %23) : (tensor<4x64x64xf32>, tensor<i32>) -> tensor<64x64xf32>
      %28 = func.call @dynamic_index_in_dim_0(%iterArg_15, %23) : (tensor<4x64x16xf32>, tensor<i32>) -> tensor<64x16xf32>
      %29:3 = func.call @closed_call_3(%iterArg_17, %24, %25, %26, %27, %28) : (tensor<64x16xf32>, tensor<16x64xf32>, tensor<64x16xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x16xf32>) -> (tensor<64x16xf32>, tensor<16x64xf32>, tensor<64x16xf32>)
      %30 = func.call @dynamic_update_index_in_dim_4(%iterArg_18, %29#1, %23) : (tensor<4x16x64xf32>, tensor<16x64xf32>, tensor<i32>) -> tensor<4x16x64xf32>
      %31 = func.call @dynamic_update_index_in_dim(%iterArg_19, %29#2, %23) : (tensor<4x64x16xf32>, tensor<64x16xf32>, tensor<i32>) -> tensor<4x64x16xf32>
      %c_22 = stablehlo.constant dense<1> : tensor<i32>
      %32 = stablehlo.add %iterArg_16, %c_22 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_12, %iterArg_13, %iterArg_14, %iterArg_15, %32, %29#0, %30, %31 : tensor<4x16x64xf32>, tensor<4x64x16xf32>, tensor<4x64x64xf32>, tensor<4x64x64xf32>, tensor<4x64x16xf32>, tensor<i32>, tensor<64x16xf32>, tensor<4x16x64xf32>, tensor<4x64x16xf32>
    }
    %cst_10 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x16x64xf32>
    %17 = stablehlo.multiply %16, %15#7 : tensor<4x16x64xf32>
    %18 = stablehlo.subtract %arg0, %17 : tensor<4x16x64xf32>
    %cst_11 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x64x16xf32>
    %20 = stablehlo.multiply %19, %15#8 : tensor<4x64x16xf32>
    %21 = stablehlo.subtract %arg1, %20 : tensor<4x64x16xf32>
    return %18, %21, %9 : tensor<4x16x64xf32>, tensor<4x64x16xf32>, tensor<f32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<4x16x64xf32>, %arg1: tensor<i32>) -> tensor<16x64xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 16, 64] : (tensor<4x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x64xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x16x64xf32>) -> tensor<16x64xf32>
    return %1 : tensor<16x64xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<4x64x16xf32>, %arg1: tensor<i32>) -> tensor<64x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 64, 16] : (tensor<4x64x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64x16xf32>) -> tensor<64x16xf32>
    return %1 : tensor<64x16xf32>
  }
  func.func private @closed_call(%arg0: tensor<64x16xf32>, %arg1: tensor<16x64xf32>, %arg2: tensor<64x16xf32>) -> (tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x16xf32>, tensor<16x64xf32>) -> tensor<64x64xf32>
    %1 = stablehlo.tanh %0 : tensor<64x64xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %3 = stablehlo.subtract %2, %1 : tensor<64x64xf32>
    %4 = stablehlo.dot_general %1, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
    %5 = stablehlo.add %arg0, %4 : tensor<64x16xf32>
    return %5, %arg0, %1, %3 : tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<4x64x16xf32>, %arg1: tensor<64x16xf32>, %arg2: tensor<i32>) -> tensor<4x64x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<64x16xf32>) -> tensor<1x64x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x64x16xf32>, tensor<1x64x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x64x16xf32>
    return %1 : tensor<4x64x16xf32>
  }
  func.func private @dynamic_update_index_in_dim_1(%arg0: tensor<4x64x64xf32>, %arg1: tensor<64x64xf32>, %arg2: tensor<i32>) -> tensor<4x64x64xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<64x64xf32>) -> tensor<1x64x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x64x64xf32>, tensor<1x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x64x64xf32>
    return %1 : tensor<4x64x64xf32>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<4x64x64xf32>, %arg1: tensor<i32>) -> tensor<64x64xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 64, 64] : (tensor<4x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x64xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    return %1 : tensor<64x64xf32>
  }
  func.func private @closed_call_3(%arg0: tensor<64x16xf32>, %arg1: tensor<16x64xf32>, %arg2: tensor<64x16xf32>, %arg3: tensor<64x64xf32>, %arg4: tensor<64x64xf32>, %arg5: tensor<64x16xf32>) -> (tensor<64x16xf32>, tensor<16x64xf32>, tensor<64x16xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg3, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x16xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %2 = stablehlo.dot_general %arg0, %arg5, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x16xf32>, tensor<64x16xf32>) -> tensor<64x64xf32>
    %3 = stablehlo.multiply %2, %arg4 : tensor<64x64xf32>
    %4 = stablehlo.multiply %3, %arg3 : tensor<64x64xf32>
    %5 = stablehlo.add %3, %4 : tensor<64x64xf32>
    %6 = stablehlo.dot_general %5, %arg2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
    %7 = stablehlo.transpose %6, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %8 = stablehlo.dot_general %5, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<16x64xf32>) -> tensor<64x16xf32>
    %9 = stablehlo.add %arg0, %8 : tensor<64x16xf32>
    return %9, %7, %1 : tensor<64x16xf32>, tensor<16x64xf32>, tensor<64x16xf32>
  }
  func.func private @dynamic_update_index_in_dim_4(%arg0: tensor<4x16x64xf32>, %arg1: tensor<16x64xf32>, %arg2: tensor<i32>) -> tensor<4x16x64xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<16x64xf32>) -> tensor<1x16x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x16x64xf32>, tensor<1x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x16x64xf32>
    return %1 : tensor<4x16x64xf32>
  }
}
