// Two layers and a loss, as a framework prints them.
#loc1 = loc("x")
#loc2 = loc("params['w1']")
#loc3 = loc("model.py":12:7)
#loc4 = loc("dense"(#loc3))
module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x128xf32> loc("x"), %arg1: tensor<128x512xf32> loc("params['w1']"), %arg2: tensor<512xf32> {tf.aliasing_output = 1 : i32} loc("params['b1']"), %arg3: tensor<512x128xf32>) -> (tensor<64xf32> {jax.result_info = "loss"}, tensor<512xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32> loc(#loc)
    %cst_0 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x128xf32>, tensor<128x512xf32>) -> tensor<64x512xf32> loc(#loc4)
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<512xf32>) -> tensor<64x512xf32> loc(#loc4)
    %2 = stablehlo.add %0, %1 : tensor<64x512xf32> loc(#loc4)
    %3:2 = call @relu(%2) : (tensor<64x512xf32>) -> (tensor<64x512xf32>, tensor<64x512xi1>) loc(#loc4)
    %4 = stablehlo.dot_general %3#0, %arg3, contracting_dims = [1] x [0] : (tensor<64x512xf32>, tensor<512x128xf32>) -> tensor<64x128xf32>
    %5 = stablehlo.custom_call @Sharding(%4) {backend_config = ""} : (tensor<64x128xf32>) -> tensor<64x128xf32>
    %6 = stablehlo.reduce(%5 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<64x128xf32>, tensor<f32>) -> tensor<64xf32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %8 = stablehlo.multiply %arg2, %7 : tensor<512xf32>
    %9 = stablehlo.subtract %arg2, %8 : tensor<512xf32>
    return %6, %9 : tensor<64xf32>, tensor<512xf32> loc(#loc)
  } loc(#loc)
  func.func private @relu(%arg0: tensor<64x512xf32> loc(unknown)) -> (tensor<64x512xf32>, tensor<64x512xi1>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x512xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<64x512xf32>
    %2 = stablehlo.compare  GT, %arg0, %0,  FLOAT : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xi1>
    return %1, %2 : tensor<64x512xf32>, tensor<64x512xi1>
  }
} loc(#loc)
#loc = loc(unknown)
