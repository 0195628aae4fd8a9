// Spellings that rarely meet: aliases, regions behind types, resources, several modules.
!t = tensor<4x6xf32>
#layout = dense<[0, 1]> : tensor<2xindex>
module {
  sdy.mesh @mesh = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
  func.func @main(%arg0: !t {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {}]>}, %i: tensor<i32>) -> !t attributes {a.b = [1, 2.5e-3, -4 : i8]} {
    %c = stablehlo.constant dense<[[1.0, 2.0, 3.0, -4.0, 0xFF800000, 6.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]> : !t
    %r = stablehlo.constant dense_resource<blob> : tensor<2xf32>
    %z = stablehlo.constant dense<false> : tensor<i1>
    %0 = stablehlo.compare LT, %arg0, %c : (!t, !t) -> tensor<4x6xi1>
    %1 = stablehlo.reduce(%0 init: %z) across dimensions = [1] : (tensor<4x6xi1>, tensor<i1>) -> tensor<4xi1>
     reducer(%a: tensor<i1>, %b: tensor<i1>)  {
      %9 = stablehlo.or %a, %b : tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }
    %2 = sdy.sharding_constraint %c <@mesh, [{}, {"y"}]> : !t
    %3 = "my.op"(%2, %i) {layout = #layout, s = "a \" } {", d = {e, f = @g}} : (!t, tensor<i32>) -> !t
    %4 = stablehlo.slice %3 [0:4, 1:6:2] : (!t) -> tensor<4x3xf32>
    %5:2 = chlo.top_k(%4, k = 2) : tensor<4x3xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
    %6 = stablehlo.composite "my.twice" %3 {decomposition = @twice} : (!t) -> !t
    func.return %6 : !t
  }
  func.func private @twice(%x: !t) -> !t {
    %0 = stablehlo.add %x, %x : !t loc(callsite("f"("a.py":1:2) at fused["b", unknown]))
    return %0 : !t
  }
}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x040000000000803F00000040"
    }
  }
#-}
// -----
module @second {
}
