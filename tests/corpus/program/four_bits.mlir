func.func @main() -> (tensor<4xi4>, tensor<2xui8>, tensor<4x2xui2>) {
  %a = stablehlo.constant dense<"0x0F020807"> : tensor<4xi4>
  %r = stablehlo.reshape %a : (tensor<4xi4>) -> tensor<2x2xi4>
  %b = stablehlo.bitcast_convert %r : (tensor<2x2xi4>) -> tensor<2xui8>
  %h = stablehlo.bitcast_convert %a : (tensor<4xi4>) -> tensor<4x2xui2>
  return %a, %b, %h : tensor<4xi4>, tensor<2xui8>, tensor<4x2xui2>
}
