module @q {
  func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x6x!quant.uniform<i8<-127:127>:f32:1, {0.1, 0.2:3, 0.05, 0.4, 0.3, 0.25}>>, %b: tensor<6x!quant.uniform<i32:f32, 0.01>>) -> (tensor<4x6xf32>, tensor<4x6x!quant.uniform<i8:f32, 0.5:-2>>) {
    %0 = stablehlo.uniform_quantize %x : (tensor<4x8xf32>) -> tensor<4x8x!quant.uniform<i8:f32, 0.02:-5>>
    %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<4x8x!quant.uniform<i8:f32, 0.02:-5>>, tensor<8x6x!quant.uniform<i8<-127:127>:f32:1, {0.1, 0.2:3, 0.05, 0.4, 0.3, 0.25}>>) -> tensor<4x6x!quant.uniform<i32:f32, 0.001>>
    %2 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<6x!quant.uniform<i32:f32, 0.01>>) -> tensor<4x6x!quant.uniform<i32:f32, 0.01>>
    %3 = stablehlo.add %1, %2 : (tensor<4x6x!quant.uniform<i32:f32, 0.001>>, tensor<4x6x!quant.uniform<i32:f32, 0.01>>) -> tensor<4x6x!quant.uniform<i8:f32, 0.5:-2>>
    %4 = "stablehlo.uniform_dequantize"(%3) : (tensor<4x6x!quant.uniform<i8:f32, 0.5:-2>>) -> tensor<4x6xf32>
    %5 = stablehlo.maximum %4, %4 : tensor<4x6xf32>
    return %5, %3 : tensor<4x6xf32>, tensor<4x6x!quant.uniform<i8:f32, 0.5:-2>>
  }
}
