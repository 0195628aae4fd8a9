"builtin.module"() <{sym_name = "generic"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["data"=2, "model"=4]>, sym_name = "m"}> : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@m, [{"data"}, {?}]>}, {}], function_type = (tensor<8x16xbf16>, tensor<4x16x32xbf16>) -> tensor<4x8x32xf32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<8x16xbf16>, %arg1: tensor<4x16x32xbf16>):
    %0 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<8x16xbf16>) -> tensor<4x8x16xbf16>
    %1 = "stablehlo.dot_general"(%0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<4x8x16xbf16>, tensor<4x16x32xbf16>) -> tensor<4x8x32xf32>
    %2 = "stablehlo.constant"() <{value = dense<"0x0000803F"> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.pad"(%1, %2) <{edge_padding_high = array<i64: 0, 0, 1>, edge_padding_low = array<i64: 0, 0, 1>, interior_padding = array<i64: 0, 0, 0>}> : (tensor<4x8x32xf32>, tensor<f32>) -> tensor<4x8x34xf32>
    %4 = "stablehlo.reduce_window"(%3, %2) <{window_dimensions = array<i64: 1, 1, 3>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %5 = "stablehlo.multiply"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%5) : (tensor<f32>) -> ()
    }) {tag = "p"} : (tensor<4x8x34xf32>, tensor<f32>) -> tensor<4x8x32xf32>
    "func.return"(%4) : (tensor<4x8x32xf32>) -> ()
  }) : () -> ()
}) : () -> ()
