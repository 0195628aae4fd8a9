module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32, shardwright.form = "spmd", shardwright.model = "mlp.mlir", shardwright.mesh = "x=2,y=2"} {
  func.func @main(%x: tensor<16x128xf32> {shardwright.name = "x", shardwright.kind = "input", shardwright.sharding = "[[x,y],[]]", shardwright.tensor = tensor<64x128xf32>},
      %_params__w1__$1: tensor<128x512xf32> {shardwright.name = "params['w1']", shardwright.kind = "parameter", shardwright.sharding = "[[],[]]", shardwright.tensor = tensor<128x512xf32>},
      %_params__b1__$2: tensor<512xf32> {shardwright.name = "params['b1']", shardwright.kind = "state", shardwright.sharding = "[[]]", shardwright.tensor = tensor<512xf32>},
      %arg3: tensor<512x128xf32> {shardwright.name = "arg3", shardwright.kind = "parameter", shardwright.sharding = "[[],[]]", shardwright.tensor = tensor<512x128xf32>})
      -> (tensor<16xf32> {shardwright.name = "loss", shardwright.sharding = "[[x,y]]", shardwright.tensor = tensor<64xf32>},
          tensor<512xf32> {shardwright.name = "result1", shardwright.becomes = 2 : i64, shardwright.sharding = "[[]]", shardwright.tensor = tensor<512xf32>}) {
    %cst.constant.0 = "stablehlo.constant"() <{value = dense<0.0e+00> : tensor<f32>}> : () -> tensor<f32>
    %cst_0.constant.1 = "stablehlo.constant"() <{value = dense<1.0e-02> : tensor<f32>}> : () -> tensor<f32>
    %_0.dot_general.2$6 = "stablehlo.dot_general"(%x, %_params__w1__$1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<16x128xf32>, tensor<128x512xf32>) -> tensor<16x512xf32> loc("model.py":12:7)
    %_1.broadcast_in_dim.3$7 = "stablehlo.broadcast_in_dim"(%_params__b1__$2) <{broadcast_dimensions = array<i64: 1>}> : (tensor<512xf32>) -> tensor<16x512xf32> loc("model.py":12:7)
    %_2.add.4$8 = "stablehlo.add"(%_0.dot_general.2$6, %_1.broadcast_in_dim.3$7) : (tensor<16x512xf32>, tensor<16x512xf32>) -> tensor<16x512xf32> loc("model.py":12:7)
    %_3_cst.constant.5$9 = "stablehlo.constant"() <{value = dense<0.0e+00> : tensor<f32>}> : () -> tensor<f32>
    %_3_0.broadcast_in_dim.6$10 = "stablehlo.broadcast_in_dim"(%_3_cst.constant.5$9) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x512xf32>
    %_3_1.maximum.7$11 = "stablehlo.maximum"(%_2.add.4$8, %_3_0.broadcast_in_dim.6$10) : (tensor<16x512xf32>, tensor<16x512xf32>) -> tensor<16x512xf32>
    %_3_2.compare.8$12 = "stablehlo.compare"(%_2.add.4$8, %_3_0.broadcast_in_dim.6$10) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<16x512xf32>, tensor<16x512xf32>) -> tensor<16x512xi1>
    %_4.dot_general.9$13 = "stablehlo.dot_general"(%_3_1.maximum.7$11, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<16x512xf32>, tensor<512x128xf32>) -> tensor<16x128xf32>
    %t$0 = "stablehlo.constant"() <{value = dense<-0.0e+00> : tensor<f32>}> : () -> tensor<f32>
    %_6.reduce.10$14 = "stablehlo.reduce"(%_4.dot_general.9$13, %t$0) <{dimensions = array<i64: 1>}> ({
    ^bb0(%l$: tensor<f32>, %r$: tensor<f32>):
      %c$ = "stablehlo.add"(%l$, %r$) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c$) : (tensor<f32>) -> ()
    }) : (tensor<16x128xf32>, tensor<f32>) -> tensor<16xf32>
    %_7.broadcast_in_dim.11$15 = "stablehlo.broadcast_in_dim"(%cst_0.constant.1) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<512xf32>
    %_8.multiply.12$16 = "stablehlo.multiply"(%_params__b1__$2, %_7.broadcast_in_dim.11$15) : (tensor<512xf32>, tensor<512xf32>) -> tensor<512xf32>
    %_9.subtract.13$17 = "stablehlo.subtract"(%_params__b1__$2, %_8.multiply.12$16) : (tensor<512xf32>, tensor<512xf32>) -> tensor<512xf32>
    return %_6.reduce.10$14, %_9.subtract.13$17 : tensor<16xf32>, tensor<512xf32>
  }
}
