sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%tokens: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p0, {?}]>},
                %up: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y"}p1]>},
                %down: tensor<256x64xf32>, %p: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p1, {?}]>},
                %q: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x"}]>}) -> (tensor<4x4x64xf32>, tensor<8x8xf32>) {
  %5 = stablehlo.add %p, %q : tensor<8x8xf32>
  %0 = stablehlo.dot_general %tokens, %up, contracting_dims = [1] x [0] : (tensor<16x64xf32>, tensor<64x256xf32>) -> tensor<16x256xf32>
  %1 = stablehlo.tanh %0 : tensor<16x256xf32>
  %2 = sdy.propagation_barrier %1 allowed_direction=FORWARD : tensor<16x256xf32>
  %3 = stablehlo.dot_general %2, %down, contracting_dims = [1] x [0] : (tensor<16x256xf32>, tensor<256x64xf32>) -> tensor<16x64xf32>
  %4 = stablehlo.reshape %3 : (tensor<16x64xf32>) -> tensor<4x4x64xf32>
  return %4, %5 : tensor<4x4x64xf32>, tensor<8x8xf32>
}
