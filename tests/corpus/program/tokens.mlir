func.func @main() -> (tensor<2xi32>, tensor<i32>) {
  %x = stablehlo.constant dense<[-3, 4]> : tensor<2xi32>
  %t = stablehlo.create_token : !stablehlo.token
  %u = "stablehlo.outfeed"(%x, %t) <{outfeed_config = ""}> : (tensor<2xi32>, !stablehlo.token) -> !stablehlo.token
  %v = stablehlo.after_all %t, %u : !stablehlo.token
  %f = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<2xi32>):
    %y = stablehlo.abs %a : tensor<2xi32>
    stablehlo.return %y : tensor<2xi32>
  }) : (tensor<2xi32>) -> !stablehlo.future<tensor<2xi32>>
  %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2xi32>>) -> tensor<2xi32>
  %s = "shape.shape_of"(%x) : (tensor<2xi32>) -> tensor<1xindex>
  %i = stablehlo.convert %s : (tensor<1xindex>) -> tensor<1xi32>
  %n = stablehlo.reshape %i : (tensor<1xi32>) -> tensor<i32>
  return %r, %n : tensor<2xi32>, tensor<i32>
}
