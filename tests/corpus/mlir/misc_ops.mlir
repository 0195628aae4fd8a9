
#loc = loc("x.py":0:0)
#map = affine_map<(d0) -> (d0)>
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32, jax.uses_shape_polymorphism = false} {
  func.func public @main(%arg0: tensor<8x16xf32> {jax.buffer_donor = true} loc("a"), %arg1: tensor<16xf32> loc(fused<"z">["q", "b":1:2])) -> (tensor<8x16xf32> {jax.result_info = "result"}) {
    %0 = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg1, %arg1, %arg1) <{epsilon = 1.0e-5 : f32, feature_index = 1 : i64}> : (tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<8x16xf32> loc(#loc)
    %1:3 = "stablehlo.batch_norm_training"(%0, %arg1, %arg1) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>)
    %2:3 = "stablehlo.batch_norm_grad"(%0, %arg1, %1#1, %1#2, %arg0) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>)
    %3 = "stablehlo.map"(%2#0, %0) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.multiply %a, %b : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %c0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %sh = stablehlo.constant dense<[8, 16]> : tensor<2xi64>
    %6 = stablehlo.rng %c0, %c1, %sh, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<8x16xf32>
    %7 = stablehlo.add %3, %6 : tensor<8x16xf32> loc(callsite("f"("a.py":1:1) at "b"))
    return %7 : tensor<8x16xf32> loc(unknown)
  } loc(#loc)
} loc(#loc)
