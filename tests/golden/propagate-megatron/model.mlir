sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%x: tensor<tokensxwidthxf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>},
                %wq: tensor<widthxheadsxf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}, {}]>},
                %wk: tensor<widthxheadsxf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}, {}]>},
                %wv: tensor<widthxheadsxf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}, {}]>},
                %wo: tensor<headsxwidthxf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}, {}]>},
                %w1: tensor<widthxhiddenxf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>},
                %w2: tensor<hiddenxwidthxf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<f32>, tensor<headsxwidthxf32>, tensor<widthxhiddenxf32>, tensor<hiddenxwidthxf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  // attention
  %q = stablehlo.dot_general %x, %wq, contracting_dims = [2] x [0] : (tensor<tokensxwidthxf32>, tensor<widthxheadsxf32>) -> tensor<tokensxheadsxf32>
  %k = stablehlo.dot_general %x, %wk, contracting_dims = [2] x [0] : (tensor<tokensxwidthxf32>, tensor<widthxheadsxf32>) -> tensor<tokensxheadsxf32>
  %v = stablehlo.dot_general %x, %wv, contracting_dims = [2] x [0] : (tensor<tokensxwidthxf32>, tensor<widthxheadsxf32>) -> tensor<tokensxheadsxf32>
  %scores = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<tokensxheadsxf32>, tensor<tokensxheadsxf32>) -> tensor<scoresxf32>
  %most = stablehlo.reduce(%scores init: %least) applies stablehlo.maximum across dimensions = [3] : (tensor<scoresxf32>, tensor<f32>) -> tensor<sumsxf32>
  %most_of_row = stablehlo.broadcast_in_dim %most, dims = [0, 1, 2] : (tensor<sumsxf32>) -> tensor<scoresxf32>
  %below = stablehlo.subtract %scores, %most_of_row : tensor<scoresxf32>
  %e = stablehlo.exponential %below : tensor<scoresxf32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<scoresxf32>, tensor<f32>) -> tensor<sumsxf32>
  %sum_of_row = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<sumsxf32>) -> tensor<scoresxf32>
  %shares = stablehlo.divide %e, %sum_of_row : tensor<scoresxf32>
  %o = stablehlo.dot_general %shares, %v, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<scoresxf32>, tensor<tokensxheadsxf32>) -> tensor<eachxf32>
  %attended = stablehlo.dot_general %o, %wo, contracting_dims = [1, 3] x [0, 1] : (tensor<eachxf32>, tensor<headsxwidthxf32>) -> tensor<tokensxwidthxf32>
  %y = stablehlo.add %x, %attended : tensor<tokensxwidthxf32>
  // the MLP, and half of the sum of squares of what it gives
  %h = stablehlo.dot_general %y, %w1, contracting_dims = [2] x [0] : (tensor<tokensxwidthxf32>, tensor<widthxhiddenxf32>) -> tensor<tokensxhiddenxf32>
  %a = stablehlo.tanh %h : tensor<tokensxhiddenxf32>
  %m = stablehlo.dot_general %a, %w2, contracting_dims = [2] x [0] : (tensor<tokensxhiddenxf32>, tensor<hiddenxwidthxf32>) -> tensor<tokensxwidthxf32>
  %z = stablehlo.add %y, %m : tensor<tokensxwidthxf32>
  %squares = stablehlo.multiply %z, %z : tensor<tokensxwidthxf32>
  %loss = stablehlo.reduce(%squares init: %zero) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<tokensxwidthxf32>, tensor<f32>) -> tensor<f32>
  // gradients
  %dw2 = stablehlo.dot_general %a, %z, contracting_dims = [0, 1] x [0, 1] : (tensor<tokensxhiddenxf32>, tensor<tokensxwidthxf32>) -> tensor<hiddenxwidthxf32>
  %da = stablehlo.dot_general %z, %w2, contracting_dims = [2] x [1] : (tensor<tokensxwidthxf32>, tensor<hiddenxwidthxf32>) -> tensor<tokensxhiddenxf32>
  %aa = stablehlo.multiply %a, %a : tensor<tokensxhiddenxf32>
  %daa = stablehlo.multiply %da, %aa : tensor<tokensxhiddenxf32>
  %dh = stablehlo.subtract %da, %daa : tensor<tokensxhiddenxf32>
  %dw1 = stablehlo.dot_general %y, %dh, contracting_dims = [0, 1] x [0, 1] : (tensor<tokensxwidthxf32>, tensor<tokensxhiddenxf32>) -> tensor<widthxhiddenxf32>
  %dm = stablehlo.dot_general %dh, %w1, contracting_dims = [2] x [1] : (tensor<tokensxhiddenxf32>, tensor<widthxhiddenxf32>) -> tensor<tokensxwidthxf32>
  %dy = stablehlo.add %z, %dm : tensor<tokensxwidthxf32>
  %dwo = stablehlo.dot_general %o, %dy, contracting_dims = [0, 2] x [0, 1] : (tensor<eachxf32>, tensor<tokensxwidthxf32>) -> tensor<headsxwidthxf32>
  // a step
  %new_wo = stablehlo.subtract %wo, %dwo : tensor<headsxwidthxf32>
  %new_w1 = stablehlo.subtract %w1, %dw1 : tensor<widthxhiddenxf32>
  %new_w2 = stablehlo.subtract %w2, %dw2 : tensor<hiddenxwidthxf32>
  return %loss, %new_wo, %new_w1, %new_w2 : tensor<f32>, tensor<headsxwidthxf32>, tensor<widthxhiddenxf32>, tensor<hiddenxwidthxf32>
}
