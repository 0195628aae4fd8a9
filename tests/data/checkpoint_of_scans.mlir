// The gradient of three groups of four layers, as JAX writes a scan of checkpoints of scans: in the backward pass each group is made
// again by a loop of its own.
module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4x16x16xf32>, %arg1: tensor<64x16xf32>) -> (tensor<3x4x16x16xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x64x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:4 = stablehlo.while(%iterArg = %arg0, %iterArg_3 = %c, %iterArg_4 = %arg1, %iterArg_5 = %0) : tensor<3x4x16x16xf32>, tensor<i32>, tensor<64x16xf32>, tensor<3x64x16xf32>
    cond {
      %c_6 = stablehlo.constant dense<3> : tensor<i32>
      %5 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    } do {
      %5 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_3) : (tensor<3x4x16x16xf32>, tensor<i32>) -> tensor<4x16x16xf32>
      %6:2 = func.call @closed_call(%iterArg_4, %5) : (tensor<64x16xf32>, tensor<4x16x16xf32>) -> (tensor<64x16xf32>, tensor<64x16xf32>)
      %7 = func.call @dynamic_update_index_in_dim(%iterArg_5, %6#1, %iterArg_3) : (tensor<3x64x16xf32>, tensor<64x16xf32>, tensor<i32>) -> tensor<3x64x16xf32>
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %8 = stablehlo.add %iterArg_3, %c_6 : tensor<i32>
      stablehlo.return %iterArg, %8, %6#0, %7 : tensor<3x4x16x16xf32>, tensor<i32>, tensor<64x16xf32>, tensor<3x64x16xf32>
    }
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<64x16xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3x4x16x16xf32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %4:5 = stablehlo.while(%iterArg = %1#3, %iterArg_3 = %arg0, %iterArg_4 = %c_2, %iterArg_5 = %2, %iterArg_6 = %3) : tensor<3x64x16xf32>, tensor<3x4x16x16xf32>, tensor<i32>, tensor<64x16xf32>, tensor<3x4x16x16xf32>
    cond {
      %c_7 = stablehlo.constant dense<3> : tensor<i32>
      %5 = stablehlo.compare LT, %iterArg_4, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    } do {
      %c_7 = stablehlo.constant dense<3> : tensor<i32>
      %5 = stablehlo.subtract %c_7, %iterArg_4 : tensor<i32>
      %c_8 = stablehlo.constant dense<1> : tensor<i32>
      %6 = stablehlo.subtract %5, %c_8 : tensor<i32>
      %7 = func.call @dynamic_index_in_dim_3(%iterArg, %6) : (tensor<3x64x16xf32>, tensor<i32>) -> tensor<64x16xf32>
      %8 = func.call @dynamic_index_in_dim(%iterArg_3, %6) : (tensor<3x4x16x16xf32>, tensor<i32>) -> tensor<4x16x16xf32>
      %9:2 = func.call @closed_call_4(%iterArg_5, %7, %8) : (tensor<64x16xf32>, tensor<64x16xf32>, tensor<4x16x16xf32>) -> (tensor<64x16xf32>, tensor<4x16x16xf32>)
      %10 = func.call @dynamic_update_index_in_dim_10(%iterArg_6, %9#1, %6) : (tensor<3x4x16x16xf32>, tensor<4x16x16xf32>, tensor<i32>) -> tensor<3x4x16x16xf32>
      %c_9 = stablehlo.constant dense<1> : tensor<i32>
      %11 = stablehlo.add %iterArg_4, %c_9 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_3, %11, %9#0, %10 : tensor<3x64x16xf32>, tensor<3x4x16x16xf32>, tensor<i32>, tensor<64x16xf32>, tensor<3x4x16x16xf32>
    }
    return %4#4 : tensor<3x4x16x16xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<3x4x16x16xf32>, %arg1: tensor<i32>) -> tensor<4x16x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 4, 16, 16] : (tensor<3x4x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x16x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x4x16x16xf32>) -> tensor<4x16x16xf32>
    return %1 : tensor<4x16x16xf32>
  }
  func.func private @closed_call(%arg0: tensor<64x16xf32>, %arg1: tensor<4x16x16xf32>) -> (tensor<64x16xf32>, tensor<64x16xf32>) {
    %0 = call @closed_call_0(%arg0, %arg1) : (tensor<64x16xf32>, tensor<4x16x16xf32>) -> tensor<64x16xf32>
    return %0, %arg0 : tensor<64x16xf32>, tensor<64x16xf32>
  }
  func.func private @closed_call_0(%arg0: tensor<64x16xf32>, %arg1: tensor<4x16x16xf32>) -> tensor<64x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%iterArg = %arg1, %iterArg_0 = %c, %iterArg_1 = %arg0) : tensor<4x16x16xf32>, tensor<i32>, tensor<64x16xf32>
    cond {
      %c_2 = stablehlo.constant dense<4> : tensor<i32>
      %1 = stablehlo.compare LT, %iterArg_0, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = func.call @dynamic_index_in_dim_1(%iterArg, %iterArg_0) : (tensor<4x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %2 = func.call @closed_call_2(%iterArg_1, %1) : (tensor<64x16xf32>, tensor<16x16xf32>) -> tensor<64x16xf32>
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %3 = stablehlo.add %iterArg_0, %c_2 : tensor<i32>
      stablehlo.return %iterArg, %3, %2 : tensor<4x16x16xf32>, tensor<i32>, tensor<64x16xf32>
    }
    return %0#2 : tensor<64x16xf32>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<4x16x16xf32>, %arg1: tensor<i32>) -> tensor<16x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 16, 16] : (tensor<4x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
    return %1 : tensor<16x16xf32>
  }
  func.func private @closed_call_2(%arg0: tensor<64x16xf32>, %arg1: tensor<16x16xf32>) -> tensor<64x16xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x16xf32>, tensor<16x16xf32>) -> tensor<64x16xf32>
    %1 = stablehlo.tanh %0 : tensor<64x16xf32>
    return %1 : tensor<64x16xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<3x64x16xf32>, %arg1: tensor<64x16xf32>, %arg2: tensor<i32>) -> tensor<3x64x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<64x16xf32>) -> tensor<1x64x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<3x64x16xf32>, tensor<1x64x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x64x16xf32>
    return %1 : tensor<3x64x16xf32>
  }
  func.func private @dynamic_index_in_dim_3(%arg0: tensor<3x64x16xf32>, %arg1: tensor<i32>) -> tensor<64x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 64, 16] : (tensor<3x64x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64x16xf32>) -> tensor<64x16xf32>
    return %1 : tensor<64x16xf32>
  }
  func.func private @closed_call_4(%arg0: tensor<64x16xf32>, %arg1: tensor<64x16xf32>, %arg2: tensor<4x16x16xf32>) -> (tensor<64x16xf32>, tensor<4x16x16xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x64x16xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x64x16xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x64x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3:6 = stablehlo.while(%iterArg = %arg2, %iterArg_4 = %c, %iterArg_5 = %arg1, %iterArg_6 = %0, %iterArg_7 = %1, %iterArg_8 = %2) : tensor<4x16x16xf32>, tensor<i32>, tensor<64x16xf32>, tensor<4x64x16xf32>, tensor<4x64x16xf32>, tensor<4x64x16xf32>
    cond {
      %c_9 = stablehlo.constant dense<4> : tensor<i32>
      %6 = stablehlo.compare LT, %iterArg_4, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    } do {
      %6 = func.call @dynamic_index_in_dim_1(%iterArg, %iterArg_4) : (tensor<4x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %7:4 = func.call @closed_call_5(%iterArg_5, %6) : (tensor<64x16xf32>, tensor<16x16xf32>) -> (tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>)
      %8 = func.call @dynamic_update_index_in_dim_6(%iterArg_6, %7#1, %iterArg_4) : (tensor<4x64x16xf32>, tensor<64x16xf32>, tensor<i32>) -> tensor<4x64x16xf32>
      %9 = func.call @dynamic_update_index_in_dim_6(%iterArg_7, %7#2, %iterArg_4) : (tensor<4x64x16xf32>, tensor<64x16xf32>, tensor<i32>) -> tensor<4x64x16xf32>
      %10 = func.call @dynamic_update_index_in_dim_6(%iterArg_8, %7#3, %iterArg_4) : (tensor<4x64x16xf32>, tensor<64x16xf32>, tensor<i32>) -> tensor<4x64x16xf32>
      %c_9 = stablehlo.constant dense<1> : tensor<i32>
      %11 = stablehlo.add %iterArg_4, %c_9 : tensor<i32>
      stablehlo.return %iterArg, %11, %7#0, %8, %9, %10 : tensor<4x16x16xf32>, tensor<i32>, tensor<64x16xf32>, tensor<4x64x16xf32>, tensor<4x64x16xf32>, tensor<4x64x16xf32>
    }
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x16x16xf32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %5:7 = stablehlo.while(%iterArg = %arg2, %iterArg_4 = %3#3, %iterArg_5 = %3#4, %iterArg_6 = %3#5, %iterArg_7 = %c_3, %iterArg_8 = %arg0, %iterArg_9 = %4) : tensor<4x16x16xf32>, tensor<4x64x16xf32>, tensor<4x64x16xf32>, tensor<4x64x16xf32>, tensor<i32>, tensor<64x16xf32>, tensor<4x16x16xf32>
    cond {
      %c_10 = stablehlo.constant dense<4> : tensor<i32>
      %6 = stablehlo.compare LT, %iterArg_7, %c_10, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    } do {
      %c_10 = stablehlo.constant dense<4> : tensor<i32>
      %6 = stablehlo.subtract %c_10, %iterArg_7 : tensor<i32>
      %c_11 = stablehlo.constant dense<1> : tensor<i32>
      %7 = stablehlo.subtract %6, %c_11 : tensor<i32>
      %8 = func.call @dynamic_index_in_dim_1(%iterArg, %7) : (tensor<4x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %9 = func.call @dynamic_index_in_dim_7(%iterArg_4, %7) : (tensor<4x64x16xf32>, tensor<i32>) -> tensor<64x16xf32>
      %10 = func.call @dynamic_index_in_dim_7(%iterArg_5, %7) : (tensor<4x64x16xf32>, tensor<i32>) -> tensor<64x16xf32>
      %11 = func.call @dynamic_index_in_dim_7(%iterArg_6, %7) : (tensor<4x64x16xf32>, tensor<i32>) -> tensor<64x16xf32>
      %12:2 = func.call @closed_call_8(%iterArg_8, %8, %9, %10, %11) : (tensor<64x16xf32>, tensor<16x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>) -> (tensor<64x16xf32>, tensor<16x16xf32>)
      %13 = func.call @dynamic_update_index_in_dim_9(%iterArg_9, %12#1, %7) : (tensor<4x16x16xf32>, tensor<16x16xf32>, tensor<i32>) -> tensor<4x16x16xf32>
      %c_12 = stablehlo.constant dense<1> : tensor<i32>
      %14 = stablehlo.add %iterArg_7, %c_12 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_4, %iterArg_5, %iterArg_6, %14, %12#0, %13 : tensor<4x16x16xf32>, tensor<4x64x16xf32>, tensor<4x64x16xf32>, tensor<4x64x16xf32>, tensor<i32>, tensor<64x16xf32>, tensor<4x16x16xf32>
    }
    return %5#5, %5#6 : tensor<64x16xf32>, tensor<4x16x16xf32>
  }
  func.func private @closed_call_5(%arg0: tensor<64x16xf32>, %arg1: tensor<16x16xf32>) -> (tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x16xf32>, tensor<16x16xf32>) -> tensor<64x16xf32>
    %1 = stablehlo.tanh %0 : tensor<64x16xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x16xf32>
    %3 = stablehlo.subtract %2, %1 : tensor<64x16xf32>
    return %1, %arg0, %1, %3 : tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>
  }
  func.func private @dynamic_update_index_in_dim_6(%arg0: tensor<4x64x16xf32>, %arg1: tensor<64x16xf32>, %arg2: tensor<i32>) -> tensor<4x64x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<64x16xf32>) -> tensor<1x64x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x64x16xf32>, tensor<1x64x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x64x16xf32>
    return %1 : tensor<4x64x16xf32>
  }
  func.func private @dynamic_index_in_dim_7(%arg0: tensor<4x64x16xf32>, %arg1: tensor<i32>) -> tensor<64x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 64, 16] : (tensor<4x64x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64x16xf32>) -> tensor<64x16xf32>
    return %1 : tensor<64x16xf32>
  }
  func.func private @closed_call_8(%arg0: tensor<64x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<64x16xf32>, %arg3: tensor<64x16xf32>, %arg4: tensor<64x16xf32>) -> (tensor<64x16xf32>, tensor<16x16xf32>) {
    %0 = stablehlo.multiply %arg0, %arg4 : tensor<64x16xf32>
    %1 = stablehlo.multiply %0, %arg3 : tensor<64x16xf32>
    %2 = stablehlo.add %0, %1 : tensor<64x16xf32>
    %3 = stablehlo.dot_general %2, %arg2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x16xf32>, tensor<64x16xf32>) -> tensor<16x16xf32>
    %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %5 = stablehlo.dot_general %2, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x16xf32>, tensor<16x16xf32>) -> tensor<64x16xf32>
    return %5, %4 : tensor<64x16xf32>, tensor<16x16xf32>
  }
  func.func private @dynamic_update_index_in_dim_9(%arg0: tensor<4x16x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<i32>) -> tensor<4x16x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<16x16xf32>) -> tensor<1x16x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x16x16xf32>, tensor<1x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x16x16xf32>
    return %1 : tensor<4x16x16xf32>
  }
  func.func private @dynamic_update_index_in_dim_10(%arg0: tensor<3x4x16x16xf32>, %arg1: tensor<4x16x16xf32>, %arg2: tensor<i32>) -> tensor<3x4x16x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<4x16x16xf32>) -> tensor<1x4x16x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<3x4x16x16xf32>, tensor<1x4x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x16x16xf32>
    return %1 : tensor<3x4x16x16xf32>
  }
}
