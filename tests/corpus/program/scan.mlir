func.func @main(%x: tensor<5x4xf32>, %c: tensor<4xf32>, %k: tensor<4xf32>) -> (tensor<5x4xf32>, tensor<4xf32>) {
  %0:2 = chlo.scan(%x) inits (%c) dimension=0 attributes {is_reverse = true} {
    ^bb0(%input: tensor<4xf32>, %carry: tensor<4xf32>):
      %1 = stablehlo.multiply %carry, %k : tensor<4xf32>
      %2 = stablehlo.add %input, %1 : tensor<4xf32>
      stablehlo.return %2, %2 : tensor<4xf32>, tensor<4xf32>
  } : (tensor<5x4xf32>, tensor<4xf32>) -> (tensor<5x4xf32>, tensor<4xf32>)
  %n = "stablehlo.custom_call"() <{api_version = 4 : i32, backend_config = {seed = 7 : i64, distribution = "uniform", low_value = 0.0 : f64, high_value = 1.0 : f64, global = array<i64: 5, 4>}, call_target_name = "shardwright.rng"}> : () -> tensor<5x4xf32>
  %g = "stablehlo.custom_call"(%n) <{api_version = 4 : i32, backend_config = {body = "x0 * x0", loops = [{kind = "parallel", size = 5 : i64}, {kind = "reduction", size = 4 : i64, combiner = "sum"}], maps = [affine_map<(d0, d1) -> (d0 * 1, d1 * 1)>, affine_map<(d0, d1) -> (d0 * 1)>]}, call_target_name = "shardwright.generic"}> : (tensor<5x4xf32>) -> tensor<5xf32>
  return %0#0, %0#1 : tensor<5x4xf32>, tensor<4xf32>
}
