// pass resolve-single-device-sharding
sdy.mesh @one = <[], device_ids=[2]>
func.func @main(%x: tensor<8x4xf32>, %n: tensor<8xi32>) -> (tensor<8x4xf32>, tensor<8xi1>) {
  %0:2 = "stablehlo.optimization_barrier"(%x, %n) {sdy.sharding = #sdy.sharding_per_value<[<@one, []>, <@one, []>]>} : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<8x4xf32>, tensor<8xi32>)
  stablehlo.custom_call @tell(%0#1) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : (tensor<8xi32>) -> ()
  %1 = stablehlo.compare LT, %0#1, %n {sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
  %2 = stablehlo.negate %0#0 : tensor<8x4xf32>
  return %2, %1 : tensor<8x4xf32>, tensor<8xi1>
}
// gives
sdy.mesh @one = <[], device_ids=[2]>
func.func @main(%x: tensor<8x4xf32>, %n: tensor<8xi32>) -> (tensor<8x4xf32>, tensor<8xi1>) {
  %3 = stablehlo.partition_id : tensor<ui32>
  %4 = stablehlo.convert %3 : (tensor<ui32>) -> tensor<i64>
  %5 = stablehlo.constant dense<2> : tensor<i64>
  %6 = stablehlo.compare EQ, %4, %5 : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %0:2 = "stablehlo.if"(%6) ({
    %7:2 = "stablehlo.optimization_barrier"(%x, %n) {} : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<8x4xf32>, tensor<8xi32>)
    stablehlo.return %7#0, %7#1 : tensor<8x4xf32>, tensor<8xi32>
  }, {
    %8 = stablehlo.constant dense<0.0> : tensor<8x4xf32>
    %9 = stablehlo.constant dense<0> : tensor<8xi32>
    stablehlo.return %8, %9 : tensor<8x4xf32>, tensor<8xi32>
  }) : (tensor<i1>) -> (tensor<8x4xf32>, tensor<8xi32>)
  %10 = stablehlo.partition_id : tensor<ui32>
  %11 = stablehlo.convert %10 : (tensor<ui32>) -> tensor<i64>
  %12 = stablehlo.constant dense<2> : tensor<i64>
  %13 = stablehlo.compare EQ, %11, %12 : (tensor<i64>, tensor<i64>) -> tensor<i1>
  "stablehlo.if"(%13) ({
    stablehlo.custom_call @tell(%0#1) {has_side_effect = true} : (tensor<8xi32>) -> ()
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> ()
  %15 = stablehlo.partition_id : tensor<ui32>
  %16 = stablehlo.convert %15 : (tensor<ui32>) -> tensor<i64>
  %17 = stablehlo.constant dense<2> : tensor<i64>
  %18 = stablehlo.compare EQ, %16, %17 : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %1 = "stablehlo.if"(%18) ({
    %19 = stablehlo.compare LT, %0#1, %n {} : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    stablehlo.return %19 : tensor<8xi1>
  }, {
    %20 = stablehlo.constant dense<false> : tensor<8xi1>
    stablehlo.return %20 : tensor<8xi1>
  }) : (tensor<i1>) -> tensor<8xi1>
  %2 = stablehlo.negate %0#0 : tensor<8x4xf32>
  return %2, %1 : tensor<8x4xf32>, tensor<8xi1>
}
// pass resolve-single-device-sharding{replica-count=2 partition-count=2}
sdy.mesh @one = <[], device_ids=[3]>
func.func @main(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : tensor<8xcomplex<f32>>
  return %0 : tensor<8xcomplex<f32>>
}
// gives
sdy.mesh @one = <[], device_ids=[3]>
func.func @main(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  %1 = stablehlo.replica_id : tensor<ui32>
  %2 = stablehlo.convert %1 : (tensor<ui32>) -> tensor<i64>
  %3 = stablehlo.partition_id : tensor<ui32>
  %4 = stablehlo.convert %3 : (tensor<ui32>) -> tensor<i64>
  %5 = stablehlo.constant dense<2> : tensor<i64>
  %6 = stablehlo.multiply %2, %5 : tensor<i64>
  %7 = stablehlo.add %6, %4 : tensor<i64>
  %8 = stablehlo.constant dense<3> : tensor<i64>
  %9 = stablehlo.compare EQ, %7, %8 : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %0 = "stablehlo.if"(%9) ({
    %10 = stablehlo.negate %x {} : tensor<8xcomplex<f32>>
    stablehlo.return %10 : tensor<8xcomplex<f32>>
  }, {
    %11 = stablehlo.constant dense<(0.0, 0.0)> : tensor<8xcomplex<f32>>
    stablehlo.return %11 : tensor<8xcomplex<f32>>
  }) : (tensor<i1>) -> tensor<8xcomplex<f32>>
  return %0 : tensor<8xcomplex<f32>>
}
// pass resolve-single-device-sharding{replica-count=4}
sdy.mesh @one = <[], device_ids=[3]>
func.func @main(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : tensor<8xcomplex<f32>>
  return %0 : tensor<8xcomplex<f32>>
}
// gives
sdy.mesh @one = <[], device_ids=[3]>
func.func @main(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  %1 = stablehlo.replica_id : tensor<ui32>
  %2 = stablehlo.convert %1 : (tensor<ui32>) -> tensor<i64>
  %3 = stablehlo.constant dense<3> : tensor<i64>
  %4 = stablehlo.compare EQ, %2, %3 : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %0 = "stablehlo.if"(%4) ({
    %5 = stablehlo.negate %x {} : tensor<8xcomplex<f32>>
    stablehlo.return %5 : tensor<8xcomplex<f32>>
  }, {
    %6 = stablehlo.constant dense<(0.0, 0.0)> : tensor<8xcomplex<f32>>
    stablehlo.return %6 : tensor<8xcomplex<f32>>
  }) : (tensor<i1>) -> tensor<8xcomplex<f32>>
  return %0 : tensor<8xcomplex<f32>>
}
// pass resolve-single-device-sharding{partition-count=2}
sdy.mesh @one = <[], device_ids=[3]>
func.func @main(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : tensor<8xcomplex<f32>>
  return %0 : tensor<8xcomplex<f32>>
}
// refused device 3 of 1 replicas of 2 partitions; expected one of 0 to 1
// pass resolve-single-device-sharding
sdy.mesh @one = <[], device_ids=[1]>
sdy.mesh @other = <[], device_ids=[0]>
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0:2 = stablehlo.optimization_barrier %x, %y {sdy.sharding = #sdy.sharding_per_value<[<@one, []>, <@other, []>]>} : tensor<8xf32>, tensor<8xf32>
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}
// refused not all results of 'stablehlo.optimization_barrier' are on device 1
