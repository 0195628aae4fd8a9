module attributes {mhlo.num_partitions = 8 : i32} {
func.func @main(%a: tensor<8x16xf32> {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"}, %b: tensor<8x16xf32> {mhlo.sharding = "{devices=[4,2]<=[2,4]T(1,0)}"}, %c: tensor<8x16xf32> {mhlo.sharding = "{devices=[4,2]0,4,1,5,2,6,3,7}"}, %d: tensor<8x16xf32> {mhlo.sharding = "{devices=[1,8]<=[8]}"}, %e: tensor<8x16xf32> {mhlo.sharding = "{devices=[3,2]<=[6]}"}) -> tensor<8x16xf32> {
 %0 = stablehlo.add %a, %b : tensor<8x16xf32>
 %1 = stablehlo.add %c, %d : tensor<8x16xf32>
 %3 = stablehlo.add %1, %e : tensor<8x16xf32>
 %2 = stablehlo.add %0, %3 : tensor<8x16xf32>
 return %2 : tensor<8x16xf32>
}
}
