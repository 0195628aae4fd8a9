// Loops, choices, calls, and manual computations whose names are those of others beside them.
sdy.mesh @m = <["a"=2, "b"=2]>
func.func @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {"b"}]>}, %n: tensor<i32>)
    -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {"b"}]>},
        tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {"b"}]>},
        tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {"b"}]>}) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1:2 = stablehlo.while(%k = %0, %y = %x) : tensor<i32>, tensor<4x4xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@m, []>, <@m, [{"a"}, {"b"}]>]>}
  cond {
    %2 = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %2 = stablehlo.add %k, %one : tensor<i32>
    %3 = sdy.all_gather [{"a"}, {}] %y out_sharding=<@m, [{}, {"b"}]> : tensor<4x4xf32>
    %4 = sdy.all_slice [{"a"}, {}] %3 out_sharding=<@m, [{"a"}, {"b"}]> : tensor<4x4xf32>
    %5 = func.call @twice(%4) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"a"}, {"b"}]>]>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    stablehlo.return %2, %5 : tensor<i32>, tensor<4x4xf32>
  }
  %6 = "stablehlo.case"(%n) ({
    %7 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"a"}, {"b"}]>]>} : tensor<4x4xf32>
    stablehlo.return %7 : tensor<4x4xf32>
  }, {
    stablehlo.return %x : tensor<4x4xf32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"a"}, {"b"}]>]>} : (tensor<i32>) -> tensor<4x4xf32>
  %8 = sdy.manual_computation(%1#1) in_shardings=[<@m, [{"a"}, {"b"}]>] out_shardings=[<@m, [{"a"}, {"b"}]>] manual_axes={"a"} (%z: tensor<2x4xf32>) {
    %9 = stablehlo.add %z, %z {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {"b"}]>]>} : tensor<2x4xf32>
    %10 = stablehlo.iota dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {"b"}]>]>} : tensor<2x4xf32>
    %11 = stablehlo.add %9, %10 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {"b"}]>]>} : tensor<2x4xf32>
    sdy.return %11 : tensor<2x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %12 = sdy.manual_computation(%8) in_shardings=[<@m, [{"a"}, {"b"}]>] out_shardings=[<@m, [{"a"}, {"b"}]>] manual_axes={"a", "b"} (%z: tensor<2x2xf32>) {
    %9 = stablehlo.multiply %z, %z : tensor<2x2xf32>
    sdy.return %9 : tensor<2x2xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1#1, %6, %12 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
func.func private @twice(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {"b"}]>}) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {"b"}]>}) {
  %0 = stablehlo.add %x, %x {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"a"}, {"b"}]>]>} : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
