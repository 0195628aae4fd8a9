// A training step of four layers, as JAX writes jax.lax.scan of jax.checkpoint: what a layer makes is made again in the loop
// of the backward pass.
module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x128x128xf32>, %arg1: tensor<4x128x128xf32>, %arg2: tensor<64x128xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4x128x128xf32> {jax.result_info = "result[1][0]"}, tensor<4x128x128xf32> {jax.result_info = "result[1][1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x64x128xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:5 = stablehlo.while(%iterArg = %arg0, %iterArg_8 = %arg1, %iterArg_9 = %c, %iterArg_10 = %arg2, %iterArg_11 = %0) : tensor<4x128x128xf32>, tensor<4x128x128xf32>, tensor<i32>, tensor<64x128xf32>, tensor<4x64x128xf32>
    cond {
      %c_12 = stablehlo.constant dense<4> : tensor<i32>
      %13 = stablehlo.compare LT, %iterArg_9, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %13 : tensor<i1>
    } do {
      %13 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_9) : (tensor<4x128x128xf32>, tensor<i32>) -> tensor<128x128xf32>
      %14 = func.call @dynamic_index_in_dim(%iterArg_8, %iterArg_9) : (tensor<4x128x128xf32>, tensor<i32>) -> tensor<128x128xf32>
      %15:2 = func.call @closed_call(%iterArg_10, %13, %14) : (tensor<64x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>) -> (tensor<64x128xf32>, tensor<64x128xf32>)
      %16 = func.call @dynamic_update_index_in_dim(%iterArg_11, %15#1, %iterArg_9) : (tensor<4x64x128xf32>, tensor<64x128xf32>, tensor<i32>) -> tensor<4x64x128xf32>
      %c_12 = stablehlo.constant dense<1> : tensor<i32>
      %17 = stablehlo.add %iterArg_9, %c_12 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_8, %17, %15#0, %16 : tensor<4x128x128xf32>, tensor<4x128x128xf32>, tensor<i32>, tensor<64x128xf32>, tensor<4x64x128xf32>
    }
    %2 = stablehlo.multiply %1#3, %1#3 : tensor<64x128xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %4 = stablehlo.multiply %3, %1#3 : tensor<64x128xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.reduce(%2 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x128xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<8.192000e+03> : tensor<f32>
    %6 = stablehlo.divide %5, %cst_2 : tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_4 = stablehlo.constant dense<8.192000e+03> : tensor<f32>
    %7 = stablehlo.divide %cst_3, %cst_4 : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %9 = stablehlo.multiply %8, %4 : tensor<64x128xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x128x128xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x128x128xf32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %12:7 = stablehlo.while(%iterArg = %1#4, %iterArg_8 = %arg0, %iterArg_9 = %arg1, %iterArg_10 = %c_7, %iterArg_11 = %9, %iterArg_12 = %10, %iterArg_13 = %11) : tensor<4x64x128xf32>, tensor<4x128x128xf32>, tensor<4x128x128xf32>, tensor<i32>, tensor<64x128xf32>, tensor<4x128x128xf32>, tensor<4x128x128xf32>
    cond {
      %c_14 = stablehlo.constant dense<4> : tensor<i32>
      %13 = stablehlo.compare LT, %iterArg_10, %c_14, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %13 : tensor<i1>
    } do {
      %c_14 = stablehlo.constant dense<4> : tensor<i32>
      %13 = stablehlo.subtract %c_14, %iterArg_10 : tensor<i32>
      %c_15 = stablehlo.constant dense<1> : tensor<i32>
      %14 = stablehlo.subtract %13, %c_15 : tensor<i32>
      %15 = func.call @dynamic_index_in_dim_0(%iterArg, %14) : (tensor<4x64x128xf32>, tensor<i32>) -> tensor<64x128xf32>
      %16 = func.call @dynamic_index_in_dim(%iterArg_8, %14) : (tensor<4x128x128xf32>, tensor<i32>) -> tensor<128x128xf32>
      %17 = func.call @dynamic_index_in_dim(%iterArg_9, %14) : (tensor<4x128x128xf32>, tensor<i32>) -> tensor<128x128xf32>
      %18:3 = func.call @closed_call_1(%iterArg_11, %15, %16, %17) : (tensor<64x128xf32>, tensor<64x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>) -> (tensor<64x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>)
      %19 = func.call @dynamic_update_index_in_dim_2(%iterArg_12, %18#1, %14) : (tensor<4x128x128xf32>, tensor<128x128xf32>, tensor<i32>) -> tensor<4x128x128xf32>
      %20 = func.call @dynamic_update_index_in_dim_2(%iterArg_13, %18#2, %14) : (tensor<4x128x128xf32>, tensor<128x128xf32>, tensor<i32>) -> tensor<4x128x128xf32>
      %c_16 = stablehlo.constant dense<1> : tensor<i32>
      %21 = stablehlo.add %iterArg_10, %c_16 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_8, %iterArg_9, %21, %18#0, %19, %20 : tensor<4x64x128xf32>, tensor<4x128x128xf32>, tensor<4x128x128xf32>, tensor<i32>, tensor<64x128xf32>, tensor<4x128x128xf32>, tensor<4x128x128xf32>
    }
    return %6, %12#5, %12#6 : tensor<f32>, tensor<4x128x128xf32>, tensor<4x128x128xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<4x128x128xf32>, %arg1: tensor<i32>) -> tensor<128x128xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 128, 128] : (tensor<4x128x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x128x128xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x128x128xf32>) -> tensor<128x128xf32>
    return %1 : tensor<128x128xf32>
  }
  func.func private @closed_call(%arg0: tensor<64x128xf32>, %arg1: tensor<128x128xf32>, %arg2: tensor<128x128xf32>) -> (tensor<64x128xf32>, tensor<64x128xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
    %1 = stablehlo.tanh %0 : tensor<64x128xf32>
    %2 = stablehlo.dot_general %1, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
    %3 = stablehlo.add %arg0, %2 : tensor<64x128xf32>
    return %3, %arg0 : tensor<64x128xf32>, tensor<64x128xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<4x64x128xf32>, %arg1: tensor<64x128xf32>, %arg2: tensor<i32>) -> tensor<4x64x128xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<64x128xf32>) -> tensor<1x64x128xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x64x128xf32>, tensor<1x64x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x64x128xf32>
    return %1 : tensor<4x64x128xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<4x64x128xf32>, %arg1: tensor<i32>) -> tensor<64x128xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 64, 128] : (tensor<4x64x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x128xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64x128xf32>) -> tensor<64x128xf32>
    return %1 : tensor<64x128xf32>
  }
  func.func private @closed_call_1(%arg0: tensor<64x128xf32>, %arg1: tensor<64x128xf32>, %arg2: tensor<128x128xf32>, %arg3: tensor<128x128xf32>) -> (tensor<64x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>) {
    %0:4 = stablehlo.optimization_barrier %arg1, %arg2, %arg3, %arg0 : tensor<64x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<64x128xf32>
    %1 = stablehlo.dot_general %0#0, %0#1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
    %2 = stablehlo.tanh %1 : tensor<64x128xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %4 = stablehlo.subtract %3, %2 : tensor<64x128xf32>
    %5 = stablehlo.dot_general %0#3, %2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<128x128xf32>
    %6 = stablehlo.transpose %5, dims = [1, 0] : (tensor<128x128xf32>) -> tensor<128x128xf32>
    %7 = stablehlo.dot_general %0#3, %0#2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
    %8 = stablehlo.multiply %7, %4 : tensor<64x128xf32>
    %9 = stablehlo.multiply %8, %2 : tensor<64x128xf32>
    %10 = stablehlo.add %8, %9 : tensor<64x128xf32>
    %11 = stablehlo.dot_general %10, %0#0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<128x128xf32>
    %12 = stablehlo.transpose %11, dims = [1, 0] : (tensor<128x128xf32>) -> tensor<128x128xf32>
    %13 = stablehlo.dot_general %10, %0#1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
    %14 = stablehlo.add %0#3, %13 : tensor<64x128xf32>
    return %14, %12, %6 : tensor<64x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>
  }
  func.func private @dynamic_update_index_in_dim_2(%arg0: tensor<4x128x128xf32>, %arg1: tensor<128x128xf32>, %arg2: tensor<i32>) -> tensor<4x128x128xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<128x128xf32>) -> tensor<1x128x128xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x128x128xf32>, tensor<1x128x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x128x128xf32>
    return %1 : tensor<4x128x128xf32>
  }
}
