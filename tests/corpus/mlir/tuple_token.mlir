
func.func @main(%arg0: tensor<8x16xf32>, %tok: !stablehlo.token) -> (tensor<8x16xf32>, !stablehlo.token) {
  %0 = stablehlo.tuple %arg0, %arg0 : tuple<tensor<8x16xf32>, tensor<8x16xf32>>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<8x16xf32>, tensor<8x16xf32>>) -> tensor<8x16xf32>
  %2 = stablehlo.after_all %tok, %tok : !stablehlo.token
  %3 = "stablehlo.outfeed"(%1, %2) <{outfeed_config = ""}> : (tensor<8x16xf32>, !stablehlo.token) -> !stablehlo.token
  %4:2 = "stablehlo.infeed"(%3) <{infeed_config = "x", layout = [[0, 1]]}> : (!stablehlo.token) -> (tensor<8x16xf32>, !stablehlo.token)
  %5 = stablehlo.add %4#0, %1 : tensor<8x16xf32>
  return %5, %4#1 : tensor<8x16xf32>, !stablehlo.token
}
