!t = tensor<8x8xf32>
#s = #sdy.sharding<@mesh, [{"x"}, {}]>
#strides = array<i64: 1, 1>
module @m attributes {dlti.x = {a = 1}} { sdy.mesh @mesh = <["x"=2, "y"=4], device_ids=[0, 2, 4, 6, 1, 3, 5, 7]>
func.func @main(%a: !t {sdy.sharding = #s}) -> (!t {sdy.sharding = #s}) { %0 = "stablehlo.slice"(%a) {limit_indices = array<i64: 8, 8>, start_indices = array<i64: 0, 0>, strides = #strides} : (!t) -> !t
 return %0 : !t } }
