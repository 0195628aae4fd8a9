module attributes {shardwright.form = "spmd"} {
  shard.grid @mesh(shape = 2x2) {shardwright.axes = ["x:(1)2", "x:(2)2"]}
  func.func @main(%x: tensor<3x6xf32> {shardwright.sharding = "[[x],[]]", shardwright.tensor = tensor<10x6xf32>}) -> (tensor<10x2xf32> {shardwright.sharding = "[[],[x]]", shardwright.tensor = tensor<10x6xf32>}) {
    %y = call @shardwright.exchange_0(%x) : (tensor<3x6xf32>) -> tensor<10x2xf32>
    return %y : tensor<10x2xf32>
  }
  func.func private @shardwright.exchange_0(tensor<3x6xf32>) -> tensor<10x2xf32> attributes {shardwright.collective = "exchange", shardwright.fill = dense<0.0> : tensor<f32>, shardwright.source = {apart = array<i64>, dims = [{axes = array<i64: 0, 1>, base = 0 : i64, length = 3 : i64, size = 10 : i64, step = 3 : i64}, {axes = array<i64>, base = 0 : i64, length = 6 : i64, size = 6 : i64, step = 6 : i64}]}, shardwright.target = {apart = array<i64>, dims = [{axes = array<i64>, base = 0 : i64, length = 10 : i64, size = 10 : i64, step = 10 : i64}, {axes = array<i64: 0, 1>, base = 0 : i64, length = 2 : i64, size = 6 : i64, starts = array<i64: 0, 2, 4, 6, 6>, step = 2 : i64}]}}
}
