/* Programs that are partitioned already: each collective among each kind of groups, with numbers that were found by
 * hand; the programs of random plans, written, read again, run, and compared with the whole; what is refused. */
#include <math.h>

#include "check.h"

#include "shardwright/emit.h"
#include "shardwright/model_json.h"
#include "shardwright/profile_json.h"
#include "shardwright/program.h"
#include "shardwright/validate.h"
#include "support/random_plan.h"
#include "support/job.h"

/* --- by hand ------------------------------------------------------------------------------------------------------ */

typedef struct row {
  const char *name;
  int replicas, partitions; /* 0: the text does not say it; GRID: a shard.grid does */
  int part;                 /* elements of the result on a device */
  const char *body;         /* from %x to %r */
  const char *want;         /* what devices have, one behind the other; or words of the message */
} row;

#define CHANNEL ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
#define GLOBAL CHANNEL ", use_global_device_ids"
#define GROUPS(op, groups, shape, more) \
  "%r = \"stablehlo." op "\"(%x) <{replica_groups = dense<" groups "> : tensor<" shape "xi64>" more "}> "
#define REGION(by)                                                  \
  "({\n^bb0(%p: tensor<f32>, %q: tensor<f32>):\n%s = stablehlo." by \
  " %p, %q : tensor<f32>\nstablehlo.return %s : tensor<f32>\n}) "
#define TO(n) ": (tensor<2xf32>) -> tensor<" n "xf32>\n"
#define PAIRS(pairs, n, more)                                                                                     \
  "%r = \"stablehlo.collective_permute\"(%x) <{source_target_pairs = dense<" pairs "> : tensor<" n "x2xi64>" more \
  "}> " TO("2")
#define NUMBER(op)                                                               \
  "%i = stablehlo." op                                                           \
  " : tensor<ui32>\n%f = stablehlo.convert %i : (tensor<ui32>) -> tensor<f32>\n" \
  "%r = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2xf32>\n"

/* On a grid of 2x2. */
#define GRID (-1)
#define ON_GRID(op, rest) "%r = shard." op " %x on @g grid_axes = " rest
#define BECOMES(n) " : tensor<2xf32> -> tensor<" n "xf32>\n"
#define OTHER_ROW                                             \
  "%i = shard.process_multi_index on @g axes = [0] : index\n" \
  "%c = arith.constant 1 : index\n%o = arith.subi %c, %i : index\n"
#define SEND "%s = shard.send %x on @g grid_axes = [0] destination = [%o] : (tensor<2xf32>, index) -> tensor<2xf32>\n"
#define SPREAD                                                                                             \
  "%t = tensor.from_elements %k : tensor<i64>\n%f = stablehlo.convert %t : (tensor<i64>) -> tensor<f32>\n" \
  "%r = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2xf32>\n"

#define AS_IT_IS "%r = stablehlo.negate %x : tensor<2xf32>\n"
#define BOTH "%a, %b = shard.process_multi_index on @g : index, index\n"

/* 0 1 | 2 3 | 4 5 | 6 7 on four devices. */
static const row kRows[] = {
    {"sum of devices", 1, 4, 2, GROUPS("all_reduce", "[[0, 3], [2, 1]]", "2x2", GLOBAL) REGION("add") TO("2"),
     "6 8 6 8 6 8 6 8"},
    {"least of three and one alone", 1, 4, 2,
     GROUPS("all_reduce", "[[0, 1, 3], [2, -1, -1]]", "2x3", GLOBAL) REGION("minimum") TO("2"), "0 1 0 1 4 5 0 1"},
    {"of nobody said: of all", 1, 4, 2, GROUPS("all_reduce", "", "0x0", GLOBAL) REGION("maximum") TO("2"),
     "6 7 6 7 6 7 6 7"},
    {"replicas of one partition", 2, 2, 2, GROUPS("all_reduce", "[[0, 1]]", "1x2", "") REGION("add") TO("2"),
     "4 6 8 10 4 6 8 10"},
    {"replicas with their partitions", 2, 2, 2,
     GROUPS("all_reduce", "[[0], [1]]", "2x1", CHANNEL) REGION("add") TO("2"), "2 4 2 4 10 12 10 12"},
    {"one replica: each partition alone", 1, 4, 2, GROUPS("all_reduce", "[[0]]", "1x1", "") REGION("add") TO("2"),
     "0 1 2 3 4 5 6 7"},
    {"counted by its groups", 0, 0, 2, GROUPS("all_reduce", "[[0, 1], [2, 3]]", "2x2", "") REGION("add") TO("2"),
     "2 4 2 4 10 12 10 12"},
    {"gathered in another order", 1, 4, 4,
     GROUPS("all_gather", "[[2, 0], [1, 3]]", "2x2", ", all_gather_dim = 0 : i64" GLOBAL) TO("4"),
     "4 5 0 1 2 3 6 7 4 5 0 1 2 3 6 7"},
    {"sums in parts", 1, 4, 1,
     GROUPS("reduce_scatter", "[[0, 2], [3, 1]]", "2x2", ", scatter_dimension = 0 : i64" GLOBAL) REGION("add") TO("1"),
     "4 10 6 8"},
    {"parts for each other", 1, 4, 2,
     GROUPS("all_to_all", "[[0, 1], [2, 3]]", "2x2",
            ", split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64" CHANNEL) TO("2"),
     "0 2 1 3 4 6 5 7"},
    {"from the first", 1, 4, 2, GROUPS("collective_broadcast", "[[3, 1]]", "1x2", CHANNEL) TO("2"), "0 0 6 7 0 0 6 7"},
    {"from a root that is a value", 1, 4, 2,
     "%k = stablehlo.constant dense<1> : tensor<1xi32>\n%r = \"stablehlo.collective_broadcast\"(%x, %k) "
     "<{replica_groups = dense<[[3, 1], [0, 2]]> : tensor<2x2xi64>, has_dynamic_root" CHANNEL
     "}> : (tensor<2xf32>, tensor<1xi32>) -> tensor<2xf32>\n",
     "4 5 2 3 4 5 2 3"},
    {"two at once", 1, 4, 4,
     "%y = stablehlo.negate %x : tensor<2xf32>\n%s:2 = \"stablehlo.all_gather\"(%x, %y) <{all_gather_dim = 0 : i64, "
     "replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>" GLOBAL
     "}> : (tensor<2xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>)\n"
     "%r = stablehlo.subtract %s#0, %s#1 : tensor<4xf32>\n",
     "0 2 8 10 4 6 12 14 0 2 8 10 4 6 12 14"},
    {"two at once, one of another size", 1, 4, 4,
     "%s:2 = \"stablehlo.all_gather\"(%x, %x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : "
     "tensor<1x4xi64>" GLOBAL "}> : (tensor<2xf32>, tensor<2xf32>) -> (tensor<8xf32>, tensor<4xf32>)\n"
     "%r = stablehlo.negate %s#1 : tensor<4xf32>\n",
     "makes f32[8] of its operand, its result is f32[4]"},
#define WIDE(op, more, to)                                                                                 \
  "%w = \"stablehlo." op "\"(%x) <{replica_groups = dense<[[0, 2], [3, 1]]> : tensor<2x2xi64>" more GLOBAL \
  "}> ({\n^bb0(%p: tensor<f64>, %q: tensor<f64>):\n%s = stablehlo.add %p, %q : tensor<f64>\n"              \
  "stablehlo.return %s : tensor<f64>\n}) : (tensor<2xf32>) -> tensor<" to                                  \
  "xf64>\n"                                                                                                \
  "%r = stablehlo.convert %w : (tensor<" to "xf64>) -> tensor<" to "xf32>\n"
    {"a sum in a wider type", 1, 4, 2, WIDE("all_reduce", "", "2"), "4 6 8 10 4 6 8 10"},
    {"sums in parts in a wider type", 1, 4, 1, WIDE("reduce_scatter", ", scatter_dimension = 0 : i64", "1"),
     "4 10 6 8"},
    {"the sum at the first", 1, 4, 2,
     GROUPS("collective_reduce", "[[3, 1], [0, 2]]", "2x2", CHANNEL) REGION("add") TO("2"), "4 6 0 0 0 0 8 10"},
    {"the greatest at a root that is a value", 1, 4, 2,
     "%k = stablehlo.constant dense<1> : tensor<1xi32>\n%r = \"stablehlo.collective_reduce\"(%x, %k) "
     "<{replica_groups = dense<[[3, 1], [0, 2]]> : tensor<2x2xi64>, has_dynamic_root" CHANNEL
     "}> " REGION("maximum") ": (tensor<2xf32>, tensor<1xi32>) -> tensor<2xf32>\n",
     "0 0 6 7 4 5 0 0"},
    {"in a ring", 1, 4, 2, PAIRS("[[0, 1], [1, 2], [2, 3], [3, 0]]", "4", CHANNEL), "6 7 0 1 2 3 4 5"},
    {"to itself and another one", 1, 4, 2, PAIRS("[[0, 0], [1, 3]]", "2", CHANNEL), "0 1 0 0 0 0 2 3"},
    {"replicas swap", 2, 2, 2, PAIRS("[[0, 1], [1, 0]]", "2", ""), "4 5 6 7 0 1 2 3"},
    {"who am I", 2, 2, 2, NUMBER("partition_id"), "0 0 1 1 0 0 1 1"},
    {"which replica", 2, 2, 2, NUMBER("replica_id"), "0 0 0 0 1 1 1 1"},
    {"loops of different lengths", 1, 4, 2,
     "%i = stablehlo.partition_id : tensor<ui32>\n%z = stablehlo.constant dense<0> : tensor<ui32>\n"
     "%w:2 = stablehlo.while(%k = %z, %v = %x) : tensor<ui32>, tensor<2xf32>\n cond {\n"
     "%t = stablehlo.compare LT, %k, %i : (tensor<ui32>, tensor<ui32>) -> tensor<i1>\nstablehlo.return %t : "
     "tensor<i1>\n"
     "} do {\n%o = stablehlo.constant dense<1> : tensor<ui32>\n%k1 = stablehlo.add %k, %o : tensor<ui32>\n"
     "%h = stablehlo.add %v, %v : tensor<2xf32>\nstablehlo.return %k1, %h : tensor<ui32>, tensor<2xf32>\n}\n"
     "%r = stablehlo.negate %w#1 : tensor<2xf32>\n",
     "0 -1 -4 -6 -16 -20 -48 -56"},
    {"a device twice", 1, 4, 2, GROUPS("all_reduce", "[[0, 1], [1, 2]]", "2x2", GLOBAL) REGION("add") TO("2"),
     "device 1 is in two groups"},
    {"a device nowhere", 1, 4, 2, GROUPS("all_reduce", "[[0, 1]]", "1x2", GLOBAL) REGION("add") TO("2"),
     "device 2 is in no group"},
    {"a device that is not", 1, 4, 2, GROUPS("all_reduce", "[[0, 9]]", "1x2", GLOBAL) REGION("add") TO("2"),
     "number 9; expected 0 to 3"},
    {"a target twice", 1, 4, 2, PAIRS("[[0, 1], [2, 1]]", "2", CHANNEL), "device 1 receives twice"},
    {"another result", 1, 4, 2,
     GROUPS("all_gather", "[[0, 1], [2, 3]]", "2x2", ", all_gather_dim = 0 : i64" GLOBAL) TO("2"),
     "of its operand, its result is f32["},
    {"a dim that is not", 1, 4, 4,
     GROUPS("all_gather", "[[0, 1], [2, 3]]", "2x2", ", all_gather_dim = 1 : i64" GLOBAL) TO("4"),
     "expected a dim of the operand"},
    {"a region of its own", 1, 4, 2,
     GROUPS("all_reduce", "[[0, 1], [2, 3]]", "2x2",
            GLOBAL) "({\n^bb0(%p: tensor<f32>, %q: tensor<f32>):\n%s = stablehlo.subtract %p, %q : tensor<f32>\n"
                    "stablehlo.return %s : tensor<f32>\n}) " TO("2"),
     "by a region of its own"},
    {"too many devices", 70000, 70000, 2, NUMBER("partition_id"), "expected 1 to 65536 devices"},
    {"along the minor axis", GRID, 0, 4, ON_GRID("all_gather", "[1] gather_axis = 0") BECOMES("4"),
     "0 1 2 3 0 1 2 3 4 5 6 7 4 5 6 7"},
    {"along both, the second outermost", GRID, 0, 8, ON_GRID("all_gather", "[1, 0] gather_axis = 0") BECOMES("8"),
     "0 1 4 5 2 3 6 7 0 1 4 5 2 3 6 7 0 1 4 5 2 3 6 7 0 1 4 5 2 3 6 7"},
    {"a sum unless said", GRID, 0, 2, ON_GRID("all_reduce", "[0]") BECOMES("2"), "4 6 8 10 4 6 8 10"},
    {"the greatest of all", GRID, 0, 2, ON_GRID("all_reduce", "[0, 1] reduction = <max>") BECOMES("2"),
     "6 7 6 7 6 7 6 7"},
    {"in generic form", GRID, 0, 2,
     "%r = \"shard.all_reduce\"(%x) <{grid = @g, grid_axes = array<i16: 1>, reduction = #shard.partial<min>}> " TO("2"),
     "0 1 0 1 4 5 4 5"},
    {"alone: a group of one", GRID, 0, 2, "%r = shard.all_reduce %x on @g" BECOMES("2"), "0 1 2 3 4 5 6 7"},
    {"parts of one's own", GRID, 0, 1, ON_GRID("all_slice", "[1] slice_axis = 0") BECOMES("1"), "0 3 4 7"},
    {"parts for each other on a grid", GRID, 0, 2,
     ON_GRID("all_to_all", "[0] split_axis = 0 concat_axis = 0") BECOMES("2"), "0 4 2 6 1 5 3 7"},
    {"sums in parts on a grid", GRID, 0, 1, ON_GRID("reduce_scatter", "[0] scatter_axis = 0") BECOMES("1"), "4 8 6 10"},
    {"from a root", GRID, 0, 2, ON_GRID("broadcast", "[0] root = [1]") TO("2"), "4 5 6 7 4 5 6 7"},
    {"to a root", GRID, 0, 4, ON_GRID("gather", "[1] gather_axis = 0 root = [1]") TO("4"),
     "nan nan nan nan 0 1 2 3 nan nan nan nan 4 5 6 7"},
    {"parts from a root", GRID, 0, 1, ON_GRID("scatter", "[0] scatter_axis = 0 root = [1]") TO("1"), "4 6 5 7"},
    {"the greatest at a root", GRID, 0, 2, ON_GRID("reduce", "[1] reduction = max root = [0]") TO("2"),
     "2 3 nan nan 6 7 nan nan"},
    {"to the next", GRID, 0, 2, ON_GRID("shift", "[1] shift_axis = 1 offset = 1") BECOMES("2"),
     "nan nan 0 1 nan nan 4 5"},
    {"round", GRID, 0, 2, ON_GRID("shift", "[1, 0] shift_axis = 0 offset = -3 rotate") BECOMES("2"), "4 5 6 7 0 1 2 3"},
    {"a root of each group's own", GRID, 0, 2,
     "%i = shard.process_multi_index on @g axes = [1] : index\n" ON_GRID(
         "broadcast", "[0] root = [%i]") ": "
                                         "(tensor<2xf32>, index) -> tensor<2xf32>\n",
     "0 1 6 7 0 1 6 7"},
    {"messages", GRID, 0, 2,
     OTHER_ROW SEND
     "%r = shard.recv %x on @g grid_axes = [0] source = [%o] : (tensor<2xf32>, index) -> tensor<2xf32>\n",
     "4 5 6 7 0 1 2 3"},
    {"messages from whoever sends", GRID, 0, 2,
     OTHER_ROW SEND "%r = shard.recv %s on @g grid_axes = [0] : (tensor<2xf32>) -> tensor<2xf32>\n", "4 5 6 7 0 1 2 3"},
    {"edges of neighbours", GRID, 0, 2,
     "%r = shard.update_halo %x on @g split_axes = [[0]] halo_sizes = [1, 0] : tensor<2xf32>\n", "0 1 2 3 1 5 3 7"},
    {"where one stands", GRID, 0, 2,
     "%i = shard.process_linear_index on @g : index\n%k = arith.index_cast %i : index to i64\n" SPREAD,
     "0 0 1 1 2 2 3 3"},
    {"how large the grid is", GRID, 0, 2,
     "%a, %b = shard.grid_shape @g : index, index\n%m = arith.muli %a, %b : index\n%k = arith.index_cast %m : index to "
     "i64\n" SPREAD,
     "4 4 4 4 4 4 4 4"},
    {"who is below", GRID, 0, 2,
     BOTH "%d, %u = shard.neighbors_linear_indices on @g[%a, %b] split_axes = [0] : index, index\n"
          "%k = arith.index_cast %d : index to i64\n" SPREAD,
     "-1 -1 -1 -1 0 0 1 1"},
    {"who is above, in generic form", GRID, 0, 2,
     BOTH
     "%d, %u = \"shard.neighbors_linear_indices\"(%a, %b) <{grid = @g, split_axes = array<i16: 1>}> : (index, index) "
     "-> (index, index)\n%k = arith.index_cast %u : index to i64\n" SPREAD,
     "1 1 -1 -1 3 3 -1 -1"},
    {"who is below along both axes, the second outermost", GRID, 0, 2,
     BOTH "%d, %u = shard.neighbors_linear_indices on @g[%a, %b] split_axes = [1, 0] : index, index\n"
          "%k = arith.index_cast %d : index to i64\n" SPREAD,
     "-1 -1 2 2 0 0 1 1"},
    {"who is above along both axes", GRID, 0, 2,
     BOTH "%d, %u = shard.neighbors_linear_indices on @g[%a, %b] split_axes = [0, 1] : index, index\n"
          "%k = arith.index_cast %u : index to i64\n" SPREAD,
     "1 1 2 2 3 3 -1 -1"},
    {"sizes of blocks, the later ones short", GRID, 0, 2,
     BOTH
     "%s = shard.sharding @g split_axes = [[0, 1], []] : !shard.sharding\n"
     "%p, %q, %n = shard.shard_shape dims = [10, 5, 3] sharding = %s device = [%a, %b] : index, index, index\n"
     "%y = arith.muli %p, %q : index\n%z = arith.muli %y, %n : index\n%k = arith.index_cast %z : index to i64\n" SPREAD,
     "45 45 45 45 45 45 15 15"},
    {"sizes of blocks, the last one empty", GRID, 0, 2,
     BOTH "%s = shard.sharding @g split_axes = [[1, 0]] : !shard.sharding\n"
          "%p = shard.shard_shape dims = [5] sharding = %s device = [%a, %b] : index\n"
          "%k = arith.index_cast %p : index to i64\n" SPREAD,
     "2 2 1 1 2 2 0 0"},
    {"sizes of blocks with halos", GRID, 0, 2,
     BOTH "%h = arith.constant 2 : i64\n"
          "%s = shard.sharding @g split_axes = [[], [0, 1]] halo_sizes = [1, %h] : !shard.sharding\n"
          "%p, %q = shard.shard_shape dims = [1, 10] sharding = %s device = [%a, %b] : index, index\n"
          "%k = arith.index_cast %q : index to i64\n" SPREAD,
     "6 6 6 6 6 6 4 4"},
    {"sizes of blocks that the program computes", GRID, 0, 2,
     BOTH "%l = shard.process_linear_index on @g : index\n%o = arith.index_cast %l : index to i64\n"
          "%s = shard.sharding @g split_axes = [[0]] sharded_dims_offsets = [0, %o, 9] : !shard.sharding\n"
          "%p = shard.shard_shape dims = [9] sharding = %s device = [%a, %b] : index\n"
          "%k = arith.index_cast %p : index to i64\n" SPREAD,
     "0 0 1 1 7 7 6 6"},
    {"the same of unknown sizes, in generic form", GRID, 0, 2,
     BOTH
     "%l = shard.process_linear_index on @g : index\n"
     "%s = \"shard.sharding\"(%l) <{grid = @g, split_axes = #shard.axisarray<[[1]]>, static_halo_sizes = array<i64: "
     "-9223372036854775808, 0>, static_sharded_dims_offsets = array<i64>, operandSegmentSizes = array<i32: 0, 1>}> : "
     "(index) -> !shard.sharding\n"
     "%p = \"shard.shard_shape\"(%l, %s, %a, %b) <{dims = array<i64: -9223372036854775808>, device = array<i64: "
     "-9223372036854775808, -9223372036854775808>, operandSegmentSizes = array<i32: 1, 1, 2>}> : (index, "
     "!shard.sharding, index, index) -> index\n"
     "%k = arith.index_cast %p : index to i64\n" SPREAD,
     "0 0 1 1 3 3 4 4"},
    {"sizes of a device that is not", GRID, 0, 2,
     BOTH "%s = shard.sharding @g split_axes = [[0]] : !shard.sharding\n"
          "%p = shard.shard_shape dims = [4] sharding = %s device = [2, %b] : index\n" AS_IT_IS,
     "coordinate 0 of the device is 2; expected 0 to 1"},
    {"offsets that decrease", GRID, 0, 2,
     BOTH "%s = shard.sharding @g split_axes = [[0]] sharded_dims_offsets = [0, 5, 4] : !shard.sharding\n"
          "%p = shard.shard_shape dims = [4] sharding = %s device = [%a, %b] : index\n" AS_IT_IS,
     "offset 2 of dimension 0 is 4"},
    {"halos that nobody gives", GRID, 0, 2,
     BOTH "%s = shard.sharding @g split_axes = [[0]] halo_sizes = [?, 1] : !shard.sharding\n"
          "%p = shard.shard_shape dims = [4] sharding = %s device = [%a, %b] : index\n" AS_IT_IS,
     "no operand gives it"},
    {"a sharding with an axis twice", GRID, 0, 2,
     BOTH "%s = shard.sharding @g split_axes = [[0, 1], [], [1]] : !shard.sharding\n" AS_IT_IS, "uses axis 1 twice"},
    {"a sharding on another grid", GRID, 0, 2, "%s = shard.sharding @h split_axes = [[0]] : !shard.sharding\n" AS_IT_IS,
     "there is no shard.grid '@h'"},
    {"sizes of blocks by their offsets", GRID, 0, 2,
     BOTH "%s = shard.sharding @g split_axes = [[0], [1]] sharded_dims_offsets = [0, 7, 8, 0, 2, 9] : !shard.sharding\n"
          "%p, %q = shard.shard_shape dims = [8, 9] sharding = %s device = [%a, 1] : index, index\n"
          "%y = arith.muli %p, %q : index\n%k = arith.index_cast %y : index to i64\n" SPREAD,
     "49 49 49 49 7 7 7 7"},
    {"edges by constants", GRID, 0, 2,
     "%h = arith.constant 1 : index\n"
     "%r = shard.update_halo %x on @g split_axes = [[0]] halo_sizes = [%h, 0] : tensor<2xf32>\n",
     "0 1 2 3 1 5 3 7"},
    {"edges of unknown size", GRID, 0, 2,
     "%h = shard.process_linear_index on @g : index\n"
     "%r = shard.update_halo %x on @g split_axes = [[0]] halo_sizes = [%h, 0] : tensor<2xf32>\n",
     "halo size 0 is not known"},
    {"neighbours along no axis", GRID, 0, 2,
     BOTH "%d, %u = shard.neighbors_linear_indices on @g[%a, %b] split_axes = [2] : index, index\n"
          "%k = arith.index_cast %d : index to i64\n" SPREAD,
     "there is no axis 2 in the grid"},
    {"in the spelling of the mesh dialect", GRID, 0, 4,
     "%r = mesh.all_gather %x on @g mesh_axes = [1] gather_axis = 0 : tensor<2xf32> -> tensor<4xf32>\n",
     "0 1 2 3 0 1 2 3 4 5 6 7 4 5 6 7"},
    {"the same in generic form", GRID, 0, 2,
     "%r = \"mesh.all_reduce\"(%x) {mesh = @g, mesh_axes = array<i16: 1>, reduction = #mesh.partial<min>} " TO("2"),
     "0 1 0 1 4 5 4 5"},
    {"a value whose sharding is taken", GRID, 0, 2,
     BOTH "%s = shard.sharding @g split_axes = [[1]] : !shard.sharding\n%c = shard.shard %x to %s : tensor<2xf32>\n"
          "%e = shard.get_sharding %c : tensor<2xf32> -> !shard.sharding\n"
          "%p = shard.shard_shape dims = [5] sharding = %e device = [%a, %b] : index\n"
          "%k = arith.index_cast %p : index to i64\n" SPREAD,
     "3 3 2 2 3 3 2 2"},
    {"one of which nothing is said", GRID, 0, 2,
     BOTH "%e = shard.get_sharding %x : tensor<2xf32> -> !shard.sharding\n"
          "%p = shard.shard_shape dims = [5] sharding = %e device = [%a, %b] : index\n" AS_IT_IS,
     "nothing says how the value is cut"},
    {"where one stands, as the older dialect says it", GRID, 0, 2,
     "%i = mesh.idx {axis = 1 : index} : index\n%j = mesh.size {axis = 0 : index} : index\n"
     "%c, %d = mesh.mesh_shape @g : index, index\n%m = arith.addi %i, %j : index\n%n = arith.muli %m, %d : index\n"
     "%k = arith.index_cast %n : index to i64\n" SPREAD,
     "4 4 6 6 4 4 6 6"},
#define COMPUTED(what)                                                                                            \
  "%i = shard.process_linear_index on @g : index\n%o = arith.constant 1 : index\n%h = arith.constant 2 : index\n" \
  "%s = arith.subi %i, %h : index\n" what "%k = arith.index_cast %n : index to i64\n" SPREAD
    {"numbers beside tensors: what remains", GRID, 0, 2, COMPUTED("%n = arith.remui %i, %h : index\n"),
     "0 0 1 1 0 0 1 1"},
    {"what remains of less than nothing", GRID, 0, 2, COMPUTED("%n = arith.remsi %s, %h : index\n"),
     "0 0 -1 -1 0 0 1 1"},
    {"parts, rounded up", GRID, 0, 2, COMPUTED("%n = arith.ceildivsi %s, %h : index\n"), "-1 -1 0 0 0 0 1 1"},
    {"rounded up without a sign", GRID, 0, 2, COMPUTED("%n = arith.ceildivui %i, %h : index\n"), "0 0 1 1 1 1 2 2"},
    {"rounded down", GRID, 0, 2, COMPUTED("%n = arith.floordivsi %s, %h : index\n"), "-1 -1 -1 -1 0 0 0 0"},
    {"-2 is large without a sign", GRID, 0, 2,
     COMPUTED("%a = arith.divui %s, %h : index\n%c = arith.constant 62 : index\n%n = arith.shrui %a, %c : index\n"),
     "1 1 1 1 0 0 0 0"},
    {"and the greatest", GRID, 0, 2,
     COMPUTED("%a = arith.maxui %s, %i : index\n%c = arith.minui %s, %i : index\n%n = arith.subi %c, %a : index\n"),
     "2 2 2 2 -2 -2 -2 -2"},
    {"bits", GRID, 0, 2,
     COMPUTED("%a = arith.andi %i, %o : index\n%b = arith.ori %a, %h : index\n%c = arith.xori %b, %o : index\n"
              "%d = arith.shli %c, %h : index\n%n = arith.addi %d, %s : index\n"),
     "10 10 7 7 12 12 9 9"},
    {"bits to the right", GRID, 0, 2, COMPUTED("%n = arith.shrsi %s, %o : index\n"), "-1 -1 -1 -1 0 0 0 0"},
    {"the lesser by a choice", GRID, 0, 2,
     COMPUTED("%p = arith.cmpi slt, %i, %h : index\n%n = arith.select %p, %i, %h : index\n"), "0 0 1 1 2 2 2 2"},
    {"a comparison without a sign", GRID, 0, 2,
     COMPUTED("%p = \"arith.cmpi\"(%s, %h) <{predicate = 6 : i64}> : (index, index) -> i1\n"
              "%q = arith.cmpi eq, %i, %h : index\n%u = arith.ori %p, %q : i1\n%n = arith.select %u, %i, %s : index\n"),
     "-2 -2 -1 -1 2 2 3 3"},
    {"an unknown comparison", GRID, 0, 2,
     COMPUTED("%p = arith.cmpi oeq, %s, %h : index\n%n = arith.select %p, %i, %s : index\n"),
     "does not say how it compares"},
    {"a dim before the first", GRID, 0, 2, ON_GRID("all_gather", "[0] gather_axis = -1") BECOMES("4"),
     "gather_axis -1 is outside [0, 1)"},
    {"a root before the first", GRID, 0, 2, ON_GRID("broadcast", "[0] root = [-1]") TO("2"),
     "coordinate 0 of the root is -1, outside [0, 2)"},
    {"memrefs", GRID, 0, 2, "%r = shard.all_reduce %x on @g grid_axes = [0] : memref<2xf32> -> memref<2xf32>\n",
     "4 6 8 10 4 6 8 10"},
    {"a memref that is written into", GRID, 0, 2,
     "%u = shard.update_halo %x on @g split_axes = [[0]] halo_sizes = [1, 0] : memref<2xf32, strided<[1]>>\n"
     "%r = stablehlo.add %x, %x : tensor<2xf32>\n",
     "0 2 4 6 2 10 6 14"},
    {"an axis that is not", GRID, 0, 2, ON_GRID("all_reduce", "[2]") BECOMES("2"), "there is no axis 2 in the grid"},
    {"a grid that is not", GRID, 0, 2, "%r = shard.all_reduce %x on @h grid_axes = [0]" BECOMES("2"),
     "there is no shard.grid '@h'"},
    {"another result on a grid", GRID, 0, 3, ON_GRID("all_gather", "[1] gather_axis = 0") BECOMES("3"),
     "of its operand, its result is f32["},
    {"a root outside", GRID, 0, 2, ON_GRID("broadcast", "[0] root = [2]") TO("2"),
     "coordinate 0 of the root is 2, outside [0, 2)"},
    {"a root without coordinates", GRID, 0, 2, ON_GRID("broadcast", "[0]") TO("2"), "has 0 coordinates; expected 1"},
    {"a shift across", GRID, 0, 2, ON_GRID("shift", "[1] shift_axis = 0 offset = 1") BECOMES("2"),
     "not among the grid_axes"},
    {"halos without dims", GRID, 0, 2,
     "%r = shard.update_halo %x on @g split_axes = [[]] halo_sizes = [1, 0] : tensor<2xf32>\n", "more halos than dims"},
    {"fewer halos than dims", GRID, 0, 2,
     "%r = shard.update_halo %x on @g split_axes = [[0]] halo_sizes = [1] : tensor<2xf32>\n", "fewer halos than dims"},
    {"halos along an axis twice", GRID, 0, 2,
     "%r = shard.update_halo %x on @g split_axes = [[0, 0]] halo_sizes = [1, 0] : tensor<2xf32>\n",
     "uses axis 0 twice"},
    {"on no grid", GRID, 0, 2, "%r = shard.all_reduce %x grid_axes = [0] : tensor<2xf32> -> tensor<2xf32>\n",
     "expected the name of a grid"},
    {"devices of a grid by their numbers", GRID, 0, 2,
     GROUPS("all_reduce", "[[0, 1, 2, 3]]", "1x4", GLOBAL) REGION("add") TO("2"), "12 16 12 16 12 16 12 16"},
    {"both dialects", GRID, 0, 2,
     "%r = shard.all_reduce %x on @g grid_axes = [0] : tensor<2xf32> -> tensor<2xf32>\n"
     "%k = stablehlo.partition_id : tensor<ui32>\n",
     "4 6 8 10 4 6 8 10"},
};

static void print_row(const row *r, sw_text *t) {
  sw_text_puts(t, "module @m");
  if (r->replicas > 0) {
    sw_text_printf(t, " attributes {mhlo.num_replicas = %d : i32, mhlo.num_partitions = %d : i32}", r->replicas,
                   r->partitions);
  }
  sw_text_puts(t, " {\n");
  if (r->replicas == GRID) sw_text_puts(t, "shard.grid @g(shape = 2x2)\n");
  sw_text_printf(t,
                 "  func.func @main(%%x: tensor<2xf32> {mhlo.sharding = \"{devices=[4]<=[4]}\"}) -> (tensor<%dxf32> "
                 "{mhlo.sharding = \"{devices=[4]<=[4]}\"})%s {\n%sreturn %%r : tensor<%dxf32>\n}\n}\n",
                 r->part, r->replicas == GRID ? " attributes {mesh_cluster = @g}" : "", r->body, r->part);
}

static sw_rc read_text(const sw_text *t, sw_program **p, sw_diag *d) {
  return sw_program_parse("t.mlir", t->at, t->n, &(sw_program_options){.by_device = true}, p, d);
}

static void expect_numbers(const row *r, const sw_buffer *got) {
  const char *at = r->want;
  for (int64_t i = 0; i < sw_buffer_elements(got); i++) {
    char *end;
    double want = strtod(at, &end), have = sw_element_load(got->dtype, (const float *)got->data + i);
    if (end == at || isnan(want) != isnan(have) || want < have || want > have)
      fail_msg("%s: %g at %d of %s", r->name, have, (int)i, r->want);
    at = end;
  }
}

static void one_row(void **state) {
  const row *r = *state;
  diag = (sw_diag){0};
  sw_text t = {0};
  sw_program *p;
  sw_local_stats stats;
  sw_tensor x, blocks[4], out;
  int64_t torn;
  print_row(r, &t);
  sw_rc rc = read_text(&t, &p, &diag);
  if (strncmp(r->want, "nan", 3) != 0 && r->want[0] != '-' && (r->want[0] < '0' || r->want[0] > '9')) {
    assert_int_equal(rc, SW_E_INPUT);
    if (!strstr(diag.text, r->want)) fail_msg("%s: %s", r->name, diag.text);
    sw_text_free(&t);
    return;
  }
  assert_ok(rc);
  const sw_local_program *l = sw_program_local(p);
  assert_non_null(l);
  assert_int_equal(l->devices, 4);
  assert_ok(sw_tensor_init(&x, SW_F32, 1, (int64_t[]){8}, &diag));
  for (int i = 0; i < 8; i++) ((float *)x.data)[i] = (float)i;
  assert_ok(sw_local_run(l, &x, &(sw_parallel_options){.jitter_seed = 3}, blocks, &stats, &diag));
  assert_ok(sw_local_join(l, blocks, &out, &torn, &diag));
  expect_numbers(r, &out);
  assert_int_equal(torn, 0);
  for (int i = 0; i < 4; i++) sw_tensor_deinit(&blocks[i]);
  sw_tensor_deinit(&x);
  sw_tensor_deinit(&out);
  sw_program_destroy(p);
  sw_text_free(&t);
}

/* --- what devices do at odds -------------------------------------------------------------------------------------- */

/* A program of two devices, whose result of 2 elements is said to be the same on both. */
static sw_program *pair_program(const char *body) {
  sw_text t = {0};
  sw_program *p;
  sw_text_printf(&t,
                 "module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {\n"
                 "func.func @main(%%x: tensor<2xf32>) -> tensor<2xf32> {\n%%i = stablehlo.partition_id : tensor<ui32>\n"
                 "%sreturn %%r : tensor<2xf32>\n}\n}\n",
                 body);
  assert_ok(read_text(&t, &p, &diag));
  sw_text_free(&t);
  return p;
}

static void torn_results_are_counted(void **state) {
  (void)state;
  sw_program *p = pair_program(
      "%f = stablehlo.convert %i : (tensor<ui32>) -> tensor<f32>\n"
      "%b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2xf32>\n"
      "%r = stablehlo.add %x, %b : tensor<2xf32>\n");
  sw_tensor x, blocks[2], out;
  sw_local_stats stats;
  int64_t torn;
  assert_ok(sw_tensor_init(&x, SW_F32, 1, (int64_t[]){2}, &diag));
  assert_ok(sw_local_run(sw_program_local(p), &x, NULL, blocks, &stats, &diag));
  assert_ok(sw_local_join(sw_program_local(p), blocks, &out, &torn, &diag));
  assert_int_equal(torn, 2);
  for (int i = 0; i < 2; i++) sw_tensor_deinit(&blocks[i]);
  sw_tensor_deinit(&x);
  sw_tensor_deinit(&out);
  sw_program_destroy(p);
}

/* Device 1 takes part twice, device 0 once: ends with a message, on no account never. */
static void devices_at_odds_end(void **state) {
  (void)state;
  diag = (sw_diag){0};
  sw_program *p = pair_program(
      "%w:2 = stablehlo.while(%k = %i, %v = %x) : tensor<ui32>, tensor<2xf32>\n cond {\n"
      "%n = stablehlo.constant dense<2> : tensor<ui32>\n"
      "%t = stablehlo.compare LT, %k, %n : (tensor<ui32>, tensor<ui32>) -> tensor<i1>\nstablehlo.return %t : tensor<i1>\n"
      "} do {\n%o = stablehlo.constant dense<1> : tensor<ui32>\n%k1 = stablehlo.add %k, %o : tensor<ui32>\n"
      "%h = \"stablehlo.all_reduce\"(%v) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>" GLOBAL "}> " REGION(
          "add") TO("2") "stablehlo.return %k1, %h : tensor<ui32>, tensor<2xf32>\n}\n"
                         "%r = stablehlo.negate %w#1 : tensor<2xf32>\n");
  sw_tensor x, blocks[2];
  sw_local_stats stats;
  assert_ok(sw_tensor_init(&x, SW_F32, 1, (int64_t[]){2}, &diag));
  assert_int_equal(sw_local_run(sw_program_local(p), &x, NULL, blocks, &stats, &diag), SW_E_RESOURCE);
  assert_non_null(strstr(diag.text, "all_reduce"));
  sw_tensor_deinit(&x);
  sw_program_destroy(p);
}

/* Each device waits for the next one, in a group of its own: found at once. */
static void devices_that_wait_in_a_ring_end(void **state) {
  (void)state;
  static const char *const kGroups[3] = {"[[0, 1], [2, -1]]", "[[1, 2], [0, -1]]", "[[2, 0], [1, -1]]"};
  diag = (sw_diag){0};
  sw_text t = {0};
  sw_program *p;
  sw_tensor x, blocks[3];
  sw_local_stats stats;
  sw_text_puts(&t,
               "module attributes {mhlo.num_partitions = 3 : i32, mhlo.num_replicas = 1 : i32} {\n"
               "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n%i = stablehlo.partition_id : tensor<ui32>\n"
               "%k = stablehlo.convert %i : (tensor<ui32>) -> tensor<i32>\n%r = \"stablehlo.case\"(%k) (");
  for (int i = 0; i < 3;
       i++) { /* device i calls first in the group with the next one, then in that of the one before */
    sw_text_printf(&t, "%s{\n", i ? ", " : "");
    for (int k = 0; k < 2; k++) {
      sw_text_printf(&t, "%%v%d = \"stablehlo.all_reduce\"(%%%s) <{replica_groups = dense<%s> : tensor<2x2xi64>", k,
                     k ? "v0" : "x", kGroups[(i + 2 * k) % 3]);
      sw_text_puts(&t, GLOBAL "}> " REGION("add") TO("2"));
    }
    sw_text_puts(&t, "stablehlo.return %v1 : tensor<2xf32>\n}");
  }
  sw_text_puts(&t, ") : (tensor<i32>) -> tensor<2xf32>\nreturn %r : tensor<2xf32>\n}\n}\n");
  if (read_text(&t, &p, &diag)) fail_msg("%s in line %d of\n%s", diag.text, diag.line, sw_text_str(&t));
  assert_ok(sw_tensor_init(&x, SW_F32, 1, (int64_t[]){2}, &diag));
  double start = sw_now_s();
  assert_int_equal(sw_local_run(sw_program_local(p), &x, NULL, blocks, &stats, &diag), SW_E_RESOURCE);
  assert_non_null(strstr(diag.text, "deadlock"));
  assert_true(sw_now_s() - start < 20);
  sw_tensor_deinit(&x);
  sw_program_destroy(p);
  sw_text_free(&t);
}

/* --- written, read, run ------------------------------------------------------------------------------------------- */

typedef struct model {
  sw_program *program; /* or NULL */
  sw_graph *graph;
} model;

static model open_model(const char *path, const sw_mesh *mesh) {
  sw_program_options o = {.keep = SW_KEEP_NONE, .mesh = mesh};
  model m = {0};
  if (strstr(path, ".mlir")) {
    assert_ok(sw_program_read(path, &o, &m.program, &diag));
    m.graph = sw_program_graph(m.program);
  } else {
    assert_ok(sw_model_read(path, &m.graph, &diag));
  }
  return m;
}

static void close_model(model *m) {
  if (!m->program) sw_graph_destroy(m->graph);
  sw_program_destroy(m->program);
}

/* Functions that do an exchange lose their bodies: what they say of themselves is enough. */
static void drop_bodies(sw_text *t) {
  static const char kHead[] = "func.func private @shardwright.exchange_";
  char *text = t->at, *at = text ? strstr(text, kHead) : NULL;
  for (; at; at = strstr(at + 1, kHead)) {
    char *arg = strstr(at, "(%x: "), *line = strchr(at, '\n');
    if (!arg || !line || arg > line) continue;
    char *body = line - 2, *end = strstr(line, "\n  }\n"); /* " {" */
    assert_non_null(end);
    memmove(body, end + 4, strlen(end + 4) + 1);
    memmove(arg + 1, arg + 5, strlen(arg + 5) + 1);
  }
  t->n = text ? strlen(text) : 0;
}

static void expect_match(const sw_validation *v, const char *what, const char *form) {
  for (int32_t i = 0; i < v->n_outputs; i++) {
    if (!v->outputs[i].worst.differing) continue;
    sw_text why = {0};
    sw_difference_print(&v->outputs[i].worst, v->outputs[i].rank, &why);
    fail_msg("%s, %s: %s on device %d: %s", what, form, v->outputs[i].name, (int)v->outputs[i].device,
             sw_text_str(&why));
  }
  if (v->first_bad_op) fail_msg("%s, %s: the first op that differs is %s", what, form, v->first_bad_op);
  assert_true(v->matches);
}

/* The program of a plan as text, and what a run of that text finds: of outputs by the shardings that it says, and of
 * values in between by the plan. */
static void write_and_run(const model *m, const sw_plan *plan, const char *form, bool bodies, const char *what) {
  diag = (sw_diag){0};
  sw_arena arena = {0};
  sw_text t = {0};
  sw_program *p;
  sw_local_program planned;
  sw_validation v;
  const sw_validate_options o = {.intermediates = true, .seed = 5};
  assert_ok(sw_emit_plan(plan, form, &t, &diag));
  if (!bodies) drop_bodies(&t);
  if (read_text(&t, &p, &diag))
    fail_msg("%s, %s: %s in line %d of\n%s", what, form, diag.text, diag.line, sw_text_str(&t));
  assert_non_null(sw_program_local(p));
  assert_ok(sw_local_validate(sw_program_local(p), m->graph, &o, &arena, &v, &diag));
  expect_match(&v, what, form);
  assert_int_equal(v.values_compared, 0);
  assert_ok(sw_program_local_of_plan(p, plan, &arena, &planned, &diag));
  assert_ok(sw_local_validate(&planned, m->graph, &o, &arena, &v, &diag));
  expect_match(&v, what, form);
  assert_true(v.values_compared > 0);
  sw_program_destroy(p);
  sw_text_free(&t);
  sw_arena_deinit(&arena);
}

/* Draws plans until one can be carried out (a partial maximum wanted as a partial sum cannot). */
static void random_programs(const char *path, const char *mesh_text, int n, sw_rng *draw) {
  sw_arena arena = {0};
  const sw_profile *hw;
  sw_machine *machine;
  sw_mesh mesh;
  assert_ok(sw_mesh_parse(mesh_text, &arena, &mesh, &diag));
  assert_ok(sw_profile_read(SW_SOURCE_DIR "/hwprofiles/local.json", &arena, &hw, &diag));
  assert_ok(sw_machine_build(&arena, hw, &mesh, &machine, &diag));
  model m = open_model(path, &mesh);
  int i = 0;
  for (int tries = 0; i < n && tries < 20 * n; tries++) {
    sw_plan plan;
    sw_text name = {0};
    if (random_plan(JOB(m.graph, machine), draw, &arena, &plan, &diag)) continue;
    sw_text_printf(&name, "%s on %s, plan %d", path, mesh_text, tries);
    write_and_run(&m, &plan, "spmd-stablehlo", true, sw_text_str(&name));
    write_and_run(&m, &plan, "spmd", true, sw_text_str(&name));
    write_and_run(&m, &plan, "spmd", false, sw_text_str(&name));
    sw_text_free(&name);
    i++;
  }
  assert_true(i > 0);
  close_model(&m);
  sw_arena_deinit(&arena);
}

static void random_plans_as_text(void **state) {
  (void)state;
  static const char *const kModels[] = {"tests/data/mlp.mlir",      "tests/data/control.mlir",
                                        "tests/data/norm.mlir",     "tests/data/program_values.mlir",
                                        "models/small/mlp.json",    "models/small/mlp-train.json",
                                        "models/small/gpt2.json",   "models/small/mixtral.json",
                                        "models/small/resnet.json", "tests/data/noise.json"};
  static const char *const kMeshes[] = {"x=2,y=2", "x=3", "x=4", "x=2,y=3"};
  sw_rng draw;
  const uint64_t seed = check_seed(11);
  sw_rng_seed(&draw, seed);
  for (size_t i = 0; i < sizeof kModels / sizeof *kModels; i++) {
    char path[512];
    if (!check_turn(seed, (int)i)) continue;
    snprintf(path, sizeof path, SW_SOURCE_DIR "/%s", kModels[i]);
    random_programs(path, kMeshes[i % 4], check_scale(1), &draw);
  }
}

int main(void) {
  enum { N = sizeof kRows / sizeof *kRows, MORE = 4 };
  struct CMUnitTest tests[N + MORE] = {[N] = cmocka_unit_test(torn_results_are_counted),
                                       [N + 1] = cmocka_unit_test(devices_at_odds_end),
                                       [N + 2] = cmocka_unit_test(random_plans_as_text),
                                       [N + 3] = cmocka_unit_test(devices_that_wait_in_a_ring_end)};
  for (int i = 0; i < N; i++) {
    tests[i] = (struct CMUnitTest){kRows[i].name, one_row, NULL, NULL, (void *)(uintptr_t)&kRows[i]};
  }
  return cmocka_run_group_tests_name("local", tests, NULL, NULL);
}
