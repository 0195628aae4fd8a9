sdy.mesh @mesh = <["rows"=4, "cols"=2, "deep"=8]>
// an MLP with a residual: cut by its arguments, by a constraint, and by what it gives
func.func @main(%x: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"rows", ?}, {?}]>},
                %up: tensor<32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"rows", "cols"}]>},
                %down: tensor<128x32xf32>)
    -> (tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"deep":(1)2, ?}]>}) {
  %h = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x128xf32>) -> tensor<64x128xf32>
  %a = stablehlo.tanh %h : tensor<64x128xf32>
  %y = stablehlo.dot_general %a, %down, contracting_dims = [1] x [0] : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  %k = sdy.sharding_constraint %y <@mesh, [{?}, {"deep", ?}]> : tensor<64x32xf32>
  %r = stablehlo.add %k, %x : tensor<64x32xf32>
  sdy.sharding_group %r group_id=5 : tensor<64x32xf32>
  %two = call @twice(%r) : (tensor<64x32xf32>) -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}
func.func private @twice(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %s = stablehlo.add %x, %x : tensor<64x32xf32>
  sdy.sharding_group %s group_id=5 : tensor<64x32xf32>
  return %s : tensor<64x32xf32>
}
