/* What Shardy's language must not say is refused at its place, in both forms of the text, and alike by all who read
 * programs: propagation, plans and passes. What it may say is read. */
#include "check.h"

#include "shardwright/program.h"

#define T "tensor<8x16xf32>"
#define MESHES                                                                 \
  "sdy.mesh @m = <[\"x\"=2, \"y\"=4]>\nsdy.mesh @one = <[], device_ids=[3]>\n" \
  "sdy.mesh @r = <[\"x\"=2, \"y\"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>\nsdy.mesh @e = <[]>\n"
#define WITH(arguments, body) MESHES "func.func @main(" arguments ") -> " T " {\n" body "\nreturn %a : " T "\n}\n"
#define IN(body) WITH("%a: " T, body)

typedef struct row {
  const char *name, *text;
  const char *want; /* "LINE:COL: words of the message"; NULL: it is read */
} row;

/* Of a constraint. */
static const row kShardings[] = {
    {"an unknown mesh", "<@n, [{}, {}]>", "6:34: there is no mesh '@n'"},
    {"no mesh", "<[{\"x\"}, {}]>", "6:34: expected a mesh"},
    {"a mesh in quotes", "<\"m\", [{}, {}]>", "6:34: expected a mesh"},
    {"no dimensions", "<@m>", "6:33: expected dimensions"},
    {"dimensions without brackets", "<@m, {\"x\"}, {}>", "6:38: expected dimensions"},
    {"a rank too few", "<@m, [{\"x\"}]>", "6:33: has 1 dimensions; expected 2"},
    {"a rank too many", "<@m, [{}, {}, {}]>", "6:33: has 3 dimensions; expected 2"},
    {"an unknown axis", "<@m, [{}, {\"z\"}]>",
     "6:44: axis \"z\" is not in the mesh; expected one of its axes, \"x\", \"y\""},
    {"an unknown axis of a mesh that is written out", "<mesh<[\"u\"=2]>, [{}, {\"x\"}]>",
     "6:55: axis \"x\" is not in the mesh"},
    {"an axis by its number", "<@m, [{}, {\"0\"}]>", "6:44: axis \"0\" is not in the mesh"},
    {"an axis without quotes", "<@m, [{x}, {}]>", "6:40: expected an axis in quotes"},
    {"no comma between axes", "<@m, [{\"x\" \"y\"}, {}]>", "6:40: expected an axis \"x\", or a part of it"},
    {"a comma behind axes", "<@m, [{\"x\",}, {}]>", "6:43: the list of axes ends in a comma"},
    {"a comma behind dimensions", "<@m, [{\"x\"}, {},]>", "6:48: the list of dimensions ends in a comma"},
    {"a comma behind all", "<@m, [{\"x\"}, {}],>", "6:49: the sharding ends in a comma"},
    {"what is open first", "<@m, [{?, \"x\"}, {}]>", "6:40: expected an axis in quotes"},
    {"an axis twice in a dimension", "<@m, [{\"x\", \"x\"}, {}]>", "6:33: axis \"x\" is used twice"},
    {"an axis in two dimensions", "<@m, [{\"x\"}, {\"x\"}]>", "6:33: axis \"x\" is used twice"},
    {"an axis cut by and replicated", "<@m, [{\"x\"}, {}], replicated={\"x\"}>", "6:33: axis \"x\" is used twice"},
    {"an axis cut by and unreduced", "<@m, [{\"x\"}, {}], unreduced={\"x\"}>", "6:33: axis \"x\" is used twice"},
    {"an axis replicated and unreduced", "<@m, [{}, {}], replicated={\"y\"}, unreduced={\"y\"}>",
     "6:33: axis \"y\" is used twice"},
    {"a part twice", "<@m, [{\"y\":(2)2}, {}], replicated={\"y\":(2)2}>", "6:33: axis \"y\":(2)2 is used twice"},
    {"an axis and a part of it", "<@m, [{\"y\"}, {}], replicated={\"y\":(1)2}>",
     "6:33: axis \"y\" is used whole and in part"},
    {"parts that overlap", "<mesh<[\"u\"=8]>, [{\"u\":(1)4}, {\"u\":(2)2}]>",
     "6:33: parts (1)4 and (2)2 of axis \"u\" overlap"},
    {"parts that are one", "<@m, [{\"y\":(1)2, \"y\":(2)2}, {}]>",
     "6:50: follows part (1)2 of the axis; expected both as one"},
    {"replicated parts that are one", "<@m, [{}, {}], replicated={\"y\":(1)2, \"y\":(2)2}>",
     "6:70: expected both as one"},
    {"unreduced parts that are one", "<@m, [{}, {}], unreduced={\"y\":(1)2, \"y\":(2)2}>",
     "6:69: expected both as one"},
    {"a pre-size of 0", "<@m, [{\"y\":(0)2}, {}]>", "6:40: the pre-size"},
    {"a part of size 1", "<@m, [{\"y\":(2)1}, {}]>", "6:40: expected more than 1"},
    {"a part that is no divisor", "<@m, [{\"y\":(1)3}, {}]>", "6:40: does not divide the axis, of 4"},
    {"a part beyond the axis", "<@m, [{\"y\":(4)2}, {}]>", "6:40: does not divide the axis, of 4"},
    {"a part that is all", "<@m, [{\"y\":(1)4}, {}]>", "6:40: expected the axis itself"},
    {"half a part", "<@m, [{\"y\":(1)}, {}]>", "6:40: or a part of it \"x\":(1)2"},
    {"replicated axes in another order", "<@m, [{}, {}], replicated={\"y\", \"x\"}>",
     "6:59: replicated axes are not ordered"},
    {"unreduced axes in another order", "<@m, [{}, {}], unreduced={\"y\", \"x\"}>",
     "6:58: unreduced axes are not ordered"},
    {"parts in another order", "<mesh<[\"u\"=8]>, [{}, {}], replicated={\"u\":(4)2, \"u\":(1)2}>", "6:70: not ordered"},
    {"a list without axes", "<@m, [{}, {}], replicated={}>", "6:59: the list of axes is empty"},
    {"a list without its sign", "<@m, [{}, {}], replicated{\"x\"}>",
     "6:48: expected a list of axes, replicated={\"x\"}"},
    {"a list without its brace", "<@m, [{}, {}], unreduced=\"x\">", "6:48: expected a list of axes, unreduced={\"x\"}"},
    {"another reduction", "<@m, [{}, {}], unreduced=mean{\"x\"}>", "6:48: expected a list of axes, unreduced={\"x\"}"},
    {"another list", "<@m, [{}, {}], spare={\"x\"}>", "6:48: expected replicated={...} or unreduced={...}"},
    {"a list twice", "<@m, [{}, {}], unreduced={\"x\"}, unreduced={\"y\"}>", "6:65: each once"},
    {"a priority of words", "<@m, [{\"x\"}phi, {}]>", "6:44: expected a priority"},
    {"a priority of more digits than it needs", "<@m, [{\"x\"}p01, {}]>", "6:44: expected a priority"},
    {"a priority beyond all", "<@m, [{\"x\"}p99999999999999999999, {}]>", "6:44: expected a priority"},
    {"a priority of nothing", "<@m, [{\"x\"}, {}p1]>", "6:46: dimension 1 is empty and closed but has a priority"},
    {"one device, and dimensions", "<@one, [{}, {}]>",
     "6:33: a maximal sharding, on one device, has dimensions or axes"},
    {"one device, and replicated", "<@one, [], replicated={\"x\"}>", "6:33: a maximal sharding"},
    {"one device, and unreduced", "<@one, [], unreduced={\"x\"}>", "6:33: a maximal sharding"},
    {"no mesh yet, and an axis", "<@e, [{\"x\"}, {}]>", "6:40: of which there are none"},
    {"open, with a priority", "<@m, [{\"y\":(2)2, ?}p3, {?}], replicated={\"x\"}, unreduced=max{\"y\":(1)2}>", NULL},
    {"one device", "<@one, []>", NULL},
    {"no mesh yet", "<@e, [{?}, {}]>", NULL},
    {"blanks", "<@m,[ { \"y\" : (1)2 } p1 ,{}]>", NULL},
};

static const row kMeshes[] = {
    {"a size of 0", "<[\"x\"=0]>", "1:21: axis \"x\" has size '0'; expected 1"},
    {"an axis twice", "<[\"x\"=2, \"x\"=4]>", "1:15: stands in the mesh twice"},
    {"ids in order", "<[\"x\"=2, \"y\"=2], device_ids=[0, 1, 2, 3]>", "1:43: device ids are 0, 1, 2, ..."},
    {"an id below 0", "<[\"x\"=2], device_ids=[1, -1]>", "1:36: device id -1; expected 0 or more"},
    {"an id twice", "<[\"x\"=2], device_ids=[1, 1]>", "1:36: device id 1 stands twice"},
    {"too few ids", "<[\"x\"=4], device_ids=[1, 0]>", "1:36: there are 2 device ids; expected 4"},
    {"two devices of no axis", "<[], device_ids=[1, 2]>", "1:31: there are 2 device ids; expected 1"},
    {"another word", "<[\"x\"=2], devices=[1, 0]>", "1:25: expected device_ids=[...]"},
    {"no list", "<\"x\"=2>", "1:15: expected a mesh"},
    {"nothing", "<>", "1:15: expected a mesh"},
    {"an axis without quotes", "<[x=2]>", "1:17: found 'x=2'; expected an axis with its size"},
    {"an axis without a size", "<[\"x\"]>", "1:20: axis \"x\" has size ''"},
    {"a size that is not whole", "<[\"x\"=2.5]>", "1:21: axis \"x\" has size '2.5'"},
    {"no comma", "<[\"x\"=2 \"y\"=2]>", "1:21: axis \"x\" has size"},
    {"a comma behind axes", "<[\"x\"=2,]>", "1:22: a list ends in a comma"},
    {"a comma behind all", "<[\"x\"=2], device_ids=[1, 0],>", "1:42: a list ends in a comma"},
    {"an id that is a word", "<[\"x\"=2], device_ids=[1, a]>", "1:40: found 'a'; expected a device id"},
    {"another order", "<[\"x\"=2, \"y\"=2], device_ids=[3, 2, 1, 0]>", NULL},
};

/* Of a custom call. */
static const row kRules[] = {
    {"no rule", "7", "6:56: expected a rule"},
    {"an operand too many", "#sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=16}, custom>",
     "6:56: the rule has 2 operands and 1 results; expected 1 and 1"},
    {"no result", "#sdy.op_sharding_rule<([i, j])->() {i=8, j=16}, custom>",
     "6:56: the rule has 1 operands and 0 results"},
    {"another rank", "#sdy.op_sharding_rule<([i])->([i, j]) {i=8, j=16}, custom>",
     "6:56: the rule has 1 dimensions for operand 0; expected 2"},
    {"factors that do not divide", "#sdy.op_sharding_rule<([ij, k])->([i, k]) {i=3, j=2, k=16}, custom>",
     "6:56: the factors of a dimension of size 8 do not divide it"},
    {"a factor longer than its dimensions", "#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=32}, custom>",
     "6:56: factor 1 of the rule has size 32; expected at most 16"},
    {"a factor twice in a tensor", "#sdy.op_sharding_rule<([i, i])->([i, j]) {i=8, j=16}, custom>",
     "6:84: a tensor has a factor twice"},
    {"a factor of size 1 beside another", "#sdy.op_sharding_rule<([ik, j])->([i, j]) {i=8, j=16, k=1}, custom>",
     "6:114: one of size 1"},
    {"a factor without a size", "#sdy.op_sharding_rule<([i, j])->([i, k]) {i=8, j=16}, custom>", "6:108: has no size"},
    {"a factor of no tensor", "#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=16, k=2}, custom>",
     "6:110: is of no tensor"},
    {"factors in another order", "#sdy.op_sharding_rule<([j, i])->([j, i]) {j=8, i=16}, custom>", "6:99: not in order"},
    {"no factor", "#sdy.op_sharding_rule<([b, j])->([b, j]) {b=8, j=16}, custom>", "6:80: expected a factor, i to z"},
    {"a reduction in a result", "#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=16} reduction={i}, custom>",
     "6:121: a factor of a reduction is in a result"},
    {"a factor of two kinds",
     "#sdy.op_sharding_rule<([i, j])->([i, k]) {i=8, j=16, k=16} reduction={j} need_replication={j}, custom>",
     "6:148: a factor is of two kinds"},
    {"a list in another order",
     "#sdy.op_sharding_rule<([i, j])->([k, l]) {i=8, j=16, k=8, l=16} reduction={j, i}, custom>",
     "6:135: not in order"},
    {"a factor of a list without a size",
     "#sdy.op_sharding_rule<([i, j])->([i, k]) {i=8, j=16, k=16} permutation={m}, custom>", "6:129: has no size"},
    {"lists in another order",
     "#sdy.op_sharding_rule<([i, j])->([i, k]) {i=8, j=16, k=16} permutation={i} reduction={j}, custom>",
     "6:131: in its place"},
    {"another list", "#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=16} spread={i}, custom>", "6:109: in its place"},
    {"none at all", "#sdy.op_sharding_rule<()->() {}, custom>", "6:84: the rule has no tensor"},
    {"a factor z_0", "#sdy.op_sharding_rule<([z_0, j])->([z_0, j]) {j=8}, custom>", "6:80: expected a factor"},
    {"a size beyond all", "#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=99999999999999999999}, custom>",
     "6:105: expected the size of the factor"},
    {"a dimension of no factor", "#sdy.op_sharding_rule<([*, i])->([j, *]) {i=16, j=8}, custom>", NULL},
    {"all lists",
     "#sdy.op_sharding_rule<([i, jk])->([i, l]) {i=8, j=4, k=4, l=16} reduction={j} need_replication={k} "
     "permutation={l} blocked_propagation={i, k}, custom>",
     NULL},
};

/* Whole texts. */
static const row kTexts[] = {
    {"a mesh twice", "sdy.mesh @m = <[\"x\"=2]>\nsdy.mesh @m = <[\"x\"=2]>\n", "2:11: mesh '@m' is declared twice"},
    {"a mesh in a function", IN("sdy.mesh @k = <[\"x\"=2]>"), "6:1: a mesh is declared in a function"},
    {"an op that is none", IN("%0 = \"sdy.scatter\"(%a) : (" T ") -> " T), "6:1: there is no op 'sdy.scatter'"},
    {"one sharding in place of a list",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {}]>} : " T),
     "6:39: expected a list of shardings"},
    {"a list in place of a sharding",
     WITH("%a: " T " {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>}", ""),
     "5:54: expected a sharding"},
    {"a sharding of a function",
     MESHES "func.func @main(%a: " T ") -> " T
            " attributes {sdy.sharding = #sdy.sharding<@m, [{}, {}]>} {\nreturn %a : " T "\n}\n",
     "5:86: expected a list of shardings"},
    {"a sharding too many",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>, <@m, [{}, {}]>]>} : " T),
     "6:39: there are 2 shardings of 1 results"},
    {"the same in generic form",
     IN("%0 = \"stablehlo.abs\"(%a) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>, <@m, [{}, {}]>]>} : "
        "(" T ") -> " T),
     "6:42: there are 2 shardings of 1 results"},
    {"a rank of the second result",
     IN("%0:2 = \"some.op\"(%a) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>, <@m, [{}]>]>} : (" T
        ") -> (" T ", " T ")"),
     "6:82: has 1 dimensions; expected 2"},
    {"a rank of the first result, in a list without an arrow",
     IN("%0:2 = some.op %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}]>, <@m, [{}, {}]>]>} : "
        "tensor<f32>, " T),
     "6:60: the sharding has 2 dimensions; expected 0, the rank of tensor<f32>"},
    {"an argument", WITH("%a: " T " {sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {\"x\"}]>}", ""),
     "5:67: axis \"x\" is used twice"},
    {"an argument of a function that is declared",
     MESHES "func.func private @f(" T ", " T " {sdy.sharding = #sdy.sharding<@m, [{\"z\"}, {}]>}) -> " T "\n",
     "5:93: axis \"z\" is not in the mesh"},
    {"a result",
     MESHES "func.func @main(%a: " T ") -> (" T " {sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>}) {\nreturn %a : " T
            "\n}\n",
     "5:76: has 1 dimensions; expected 2"},
    {"an argument in generic form",
     MESHES "\"func.func\"() <{sym_name = \"main\", function_type = (" T ") -> " T
            ", arg_attrs = [{sdy.sharding = #sdy.sharding<@k, [{}, {}]>}]}> ({\n^bb0(%a: " T
            "):\n\"func.return\"(%a) : (" T ") -> ()\n}) : () -> ()\n",
     "5:135: there is no mesh '@k'"},
    {"a token", WITH("%a: " T ", %t: !stablehlo.token {sdy.sharding = #sdy.sharding<@m, [{}]>}", ""),
     "5:76: !stablehlo.token has no shape"},
    {"a replicated token",
     WITH("%a: " T ", %t: !stablehlo.token {sdy.sharding = #sdy.sharding<@m, [], replicated={\"x\"}>}", ""),
     "5:76: !stablehlo.token has no shape"},
    {"a tensor of no rank", WITH("%a: " T ", %u: tensor<*xf32> {sdy.sharding = #sdy.sharding<@m, []>}", ""),
     "5:73: expected a tensor with a rank"},
    {"a tensor of open sizes", WITH("%a: " T ", %u: tensor<?x4xf32> {sdy.sharding = #sdy.sharding<@m, [{}]>}", ""),
     "5:75: has 1 dimensions; expected 2"},
    {"a tuple of two",
     IN("%0 = stablehlo.custom_call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}]>]>} : (" T
        ") -> tuple<" T ", " T ">"),
     "6:76: a sharding of a tuple of 2"},
    {"a tuple of one of another rank",
     IN("%0 = stablehlo.custom_call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}]>]>} : (" T ") -> tuple<" T
        ">"),
     "6:76: has 1 dimensions; expected 2"},
    {"a sharding of an op without results",
     IN("stablehlo.custom_call @f(%a) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@m, [{}]>]>} : "
        "(" T ") -> ()"),
     "6:70: there are 1 shardings of 0 results"},
    {"the device of an op without results",
     IN("stablehlo.custom_call @f(%a) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : "
        "(" T ") -> ()"),
     NULL},
    {"a constraint of a second result",
     IN("%0:2 = \"some.op\"(%a) : (" T ") -> (" T ", " T ")\n%1 = sdy.sharding_constraint %0#1 <@m, [{\"x\"}]> : " T),
     "7:35: has 1 dimensions; expected 2"},
    {"a constraint of another type",
     IN("%0 = \"sdy.sharding_constraint\"(%a) <{sharding = #sdy.sharding<@m, [{}, {}]>}> : (" T
        ") -> tensor<8x16xbf16>"),
     "6:1: expected one type"},
    {"a reshard without its sharding", IN("%0 = \"sdy.reshard\"(%a) : (" T ") -> " T), "6:1: expected a sharding"},
    {"a reshard in generic form",
     IN("%0 = \"sdy.reshard\"(%a) <{sharding = #sdy.sharding<@m, [{}, {\"z\"}]>}> : (" T ") -> " T),
     "6:61: axis \"z\" is not in the mesh"},
    {"a group without a number", IN("sdy.sharding_group %a group_id=\"g\" : " T),
     "6:32: expected group_id = a whole number"},
    {"a barrier that lets both pass", IN("%0 = sdy.propagation_barrier %a allowed_direction=BOTH : " T),
     "6:51: expected NONE, FORWARD or BACKWARD"},
    {"the same in generic form",
     IN("%0 = \"sdy.propagation_barrier\"(%a) <{allowed_direction = 3 : i32}> : (" T ") -> " T),
     "6:58: expected NONE, FORWARD or BACKWARD"},
    {"an edge on an argument with other users", IN("%0 = sdy.data_flow_edge %a : " T), "6:1: expected the edge alone"},
    {"an edge on an edge",
     IN("%0 = stablehlo.abs %a : " T "\n%1 = sdy.data_flow_edge %0 : " T "\n%2 = sdy.data_flow_edge %1 : " T),
     "8:1: expected one of an op of another dialect"},
    {"an edge on open sizes",
     WITH("%a: " T ", %u: tensor<?xf32>",
          "%0 = stablehlo.abs %u : tensor<?xf32>\n%1 = sdy.data_flow_edge %0 : tensor<?xf32>"),
     "7:1: expected a tensor of known sizes"},
    {"an edge with a sharding",
     IN("%0 = stablehlo.abs %a : " T "\n%1 = sdy.data_flow_edge %0 sharding=<@m, [{\"x\"}, {\"x\"}]> : " T),
     "7:37: axis \"x\" is used twice"},
    {"an edge between functions on an op", IN("%0 = stablehlo.abs %a : " T "\n%1 = sdy.func_data_flow_edge %0 : " T),
     "7:1: expected an argument of a function or the result of a call"},
    {"an edge between functions with other users", IN("%0 = sdy.func_data_flow_edge %a : " T),
     "6:1: expected the edge alone"},
    {"a rule of open sizes",
     WITH("%a: " T ", %u: tensor<?xf32>",
          "%0 = stablehlo.custom_call @f(%u) {sdy.sharding_rule = "
          "#sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>} : (tensor<?xf32>) -> "
          "tensor<?xf32>"),
     "6:56: a rule of operand 0, which is tensor<?xf32>; expected a tensor of known sizes"},
    {"a barrier of a token",
     WITH("%a: " T ", %t: !stablehlo.token",
          "%0 = sdy.propagation_barrier %t allowed_direction=NONE : !stablehlo.token"),
     "6:1: expected a tensor with a rank"},
    {"a group of a scalar", WITH("%a: " T ", %s: f32", "sdy.sharding_group %s group_id=1 : f32"),
     "6:1: expected a tensor with a rank"},
    {"a group of another number", IN("\"sdy.sharding_group\"(%a) <{group_id = 1 : i32}> : (" T ") -> ()"),
     "6:39: expected group_id = a whole number"},
    {"a return elsewhere",
     IN("%i = stablehlo.constant dense<0> : tensor<i32>\n%0 = \"stablehlo.case\"(%i) ({\nsdy.return %a : " T
        "\n}) : (tensor<i32>) -> " T),
     "8:1: 'sdy.return' stands elsewhere"},
    {"a sharding said twice",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}]>]>, sdy.sharding = "
        "#sdy.sharding_per_value<[<@m, [{}, {}]>]>} : " T),
     "6:82: 'sdy.sharding' is said twice"},
    {"a list that ends in a comma",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}]>,]>} : " T),
     "6:78: the list of shardings ends in a comma"},
    {"a rule of a barrier",
     IN("%0 = sdy.propagation_barrier %a allowed_direction=NONE {sdy.sharding_rule = #sdy.op_sharding_rule<([i, "
        "j])->([i, j]) {i=8, j=16}, custom>} : " T),
     "6:77: 'sdy.propagation_barrier' has no sharding rule"},
    {"a rule of an op in generic form",
     IN("%0 = \"stablehlo.abs\"(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>} : (" T
        ") -> " T),
     "6:47: the rule has 1 dimensions for operand 0"},
    {"a gather of nothing that is cut",
     IN("%0 = stablehlo.abs %a : " T "\n%1 = sdy.all_gather [{\"x\"}, {}] %0 out_sharding=<@m, [{}, {}]> : " T),
     "7:1: of a value without a sharding"},
    {"a gather over another mesh",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@r, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.all_gather [{\"x\"}, {}] %0 out_sharding=<@m, [{}, {}]> : " T),
     "7:1: over another mesh"},
    {"a gather with lists too few",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.all_gather [{\"x\"}] %0 out_sharding=<@m, [{}, {}]> : " T),
     "7:21: for 1 dimensions; expected 2"},
    {"a gather along an axis twice",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {\"y\"}]>]>} : " T
        "\n%1 = sdy.all_gather [{\"x\"}, {\"y\", \"x\"}] %0 out_sharding=<@m, [{}, {}]> : " T),
     "7:21: axis \"x\" is used twice"},
    {"a gather along an unknown axis",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.all_gather [{\"z\"}, {}] %0 out_sharding=<@m, [{}, {}]> : " T),
     "7:23: axis \"z\" is not in the mesh"},
    {"a gather of parts that are one",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"y\"}, {}]>]>} : " T
        "\n%1 = sdy.all_gather [{\"y\":(1)2, \"y\":(2)2}, {}] %0 out_sharding=<@m, [{}, {}]> : " T),
     "7:33: expected both as one"},
    {"a gather along what is not last",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\", \"y\"}, {}]>]>} : " T
        "\n%1 = sdy.all_gather [{\"x\"}, {}] %0 out_sharding=<@m, [{\"y\"}, {}]> : " T),
     "7:21: gathering axis \"x\" is not among the last axes of dimension 0"},
    {"a gather along the major part",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"y\"}, {}]>]>} : " T
        "\n%1 = sdy.all_gather [{\"y\":(1)2}, {}] %0 out_sharding=<@m, [{\"y\":(2)2}, {}]> : " T),
     "7:21: gathering axis \"y\":(1)2 is not among"},
    {"a gather to another sharding",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"y\"}, {\"x\"}]>]>} : " T
        "\n%1 = sdy.all_gather [{\"y\":(2)2}, {}] %0 out_sharding=<@m, [{}, {\"x\"}]> : " T),
     "7:1: differs in dimension 0; expected {\"y\":(1)2}"},
    {"a gather to a sharding with a fault",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.all_gather [{\"x\"}, {}] %0 out_sharding=<@m, [{}, {\"y\", \"y\"}]> : " T),
     "7:49: axis \"y\" is used twice"},
    {"a gather",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\", \"y\"}, {}]>]>} : " T
        "\n%1 = sdy.all_gather [{\"y\":(2)2}, {}] %0 out_sharding=<@m, [{\"x\", \"y\":(1)2}, {}]> : " T),
     NULL},
    {"a slice to another sharding",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.all_slice [{}, {\"y\"}] %0 out_sharding=<@m, [{\"x\", \"y\"}, {}]> : " T),
     "7:1: differs in dimension 0; expected {\"x\"}"},
    {"a slice by an axis that cuts already",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.all_slice [{}, {\"x\"}] %0 out_sharding=<@m, [{}, {\"x\"}]> : " T),
     "7:1: differs in dimension 0; expected {\"x\"}"},
    {"a slice",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"y\":(1)2}, {}]>]>} : " T
        "\n%1 = sdy.all_slice [{\"y\":(2)2}, {\"x\"}] %0 out_sharding=<@m, [{\"y\"}, {\"x\"}]> : " T),
     NULL},
    {"moves of nothing",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.all_to_all [] %0 out_sharding=<@m, [{\"x\"}, {}]> : " T),
     "7:21: is empty"},
    {"a move of no axis",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.all_to_all [{}: 0->1] %0 out_sharding=<@m, [{\"x\"}, {}]> : " T),
     "7:22: is empty"},
    {"a move from no dimension",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.all_to_all [{\"x\"}: 2->1] %0 out_sharding=<@m, [{}, {\"x\"}]> : " T),
     "7:22: source dimension 2; expected 0 to 1"},
    {"a move to no dimension",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.all_to_all [{\"x\"}: 0->-1] %0 out_sharding=<@m, [{}, {\"x\"}]> : " T),
     "7:22: target dimension -1; expected 0 to 1"},
    {"a move to where it is",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.all_to_all [{\"x\"}: 0->0] %0 out_sharding=<@m, [{\"x\"}, {}]> : " T),
     "7:22: dimension 0 is source or target twice"},
    {"moves there and back",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {\"y\"}]>]>} : " T
        "\n%1 = sdy.all_to_all [{\"x\"}: 0->1, {\"y\"}: 1->0] %0 out_sharding=<@m, [{\"y\"}, {\"x\"}]> : " T),
     "7:35: dimension 1 is source or target twice"},
    {"a move without its dimensions",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.all_to_all [{\"x\"}] %0 out_sharding=<@m, [{}, {\"x\"}]> : " T),
     "7:22: expected axes and dimensions"},
    {"a move of another axis",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.all_to_all [{\"y\"}: 0->1] %0 out_sharding=<@m, [{\"x\"}, {\"y\"}]> : " T),
     "7:21: all-to-all axis \"y\" is not among"},
    {"a move to another sharding",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\", \"y\"}, {}]>]>} : " T
        "\n%1 = sdy.all_to_all [{\"y\"}: 0->1] %0 out_sharding=<@m, [{\"x\"}, {}]> : " T),
     "7:1: differs in dimension 1; expected {\"y\"}"},
    {"a move",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\", \"y\"}, {}]>]>} : " T
        "\n%1 = sdy.all_to_all [{\"y\"}: 0->1] %0 out_sharding=<@m, [{\"x\"}, {\"y\"}]> : " T),
     NULL},
    {"a reduction along what cuts",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.all_reduce {\"x\"} %0 out_sharding=<@m, [{\"x\"}, {}]> : " T),
     "7:21: reduction axis \"x\" overlaps with the operand"},
    {"a reduction along what is replicated",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}], replicated={\"y\"}>]>} : " T
        "\n%1 = sdy.all_reduce {\"y\":(2)2} %0 out_sharding=<@m, [{}, {}]> : " T),
     "7:21: reduction axis \"y\":(2)2 overlaps with the operand"},
    {"a reduction along what stays unreduced",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}], unreduced={\"y\"}>]>} : " T
        "\n%1 = sdy.all_reduce {\"y\"} %0 out_sharding=<@m, [{}, {}], unreduced={\"y\"}> : " T),
     "7:21: overlaps with the result's unreduced axes"},
    {"a reduction along axes in another order",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}]>]>} : " T
        "\n%1 = sdy.all_reduce {\"y\", \"x\"} %0 out_sharding=<@m, [{}, {}]> : " T),
     "7:21: reduction axes are not ordered"},
    {"a reduction to another sharding",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.all_reduce {\"y\"} %0 out_sharding=<@m, [{}, {}]> : " T),
     "7:1: differs in dimension 0; expected {\"x\"}"},
    {"a sum of what is unreduced by max",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}], unreduced=max{\"y\"}>]>} : " T
        "\n%1 = sdy.all_reduce {\"y\"} %0 out_sharding=<@m, [{}, {}]> : " T),
     "7:1: 'sum' reduces what is unreduced by 'max'"},
    {"a reduction that leaves more unreduced",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}]>]>} : " T
        "\n%1 = sdy.all_reduce {\"y\"} %0 out_sharding=<@m, [{}, {}], unreduced={\"x\"}> : " T),
     "7:1: unreduced over axis \"x\", over which the operand is not"},
    {"a reduction",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}], unreduced=max{\"y\"}>]>} "
        ": " T
        "\n%1 = sdy.all_reduce max {\"y\":(1)2} %0 out_sharding=<@m, [{\"x\"}, {}], unreduced=max{\"y\":(2)2}> : " T),
     NULL},
    {"a reduction that is none",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.all_reduce mean {\"y\"} %0 out_sharding=<@m, [{\"x\"}, {}]> : " T),
     "7:21: expected a reduction, sum, max or min"},
    {"a scatter to another sharding",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.reduce_scatter [{\"y\"}, {}] %0 out_sharding=<@m, [{\"x\"}, {\"y\"}]> : " T),
     "7:1: differs in dimension 0; expected {\"x\", \"y\"}"},
    {"a scatter by min of what is unreduced by sum",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}], unreduced={\"y\"}>]>} : " T
        "\n%1 = sdy.reduce_scatter min [{\"y\"}, {}] %0 out_sharding=<@m, [{\"x\", \"y\"}, {}]> : " T),
     "7:1: 'min' reduces what is unreduced by 'sum'"},
    {"a scatter",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}], unreduced={\"y\"}>]>} : " T
        "\n%1 = sdy.reduce_scatter [{}, {\"y\"}] %0 out_sharding=<@m, [{\"x\"}, {\"y\"}]> : " T),
     NULL},
    {"a permutation into more parts",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.collective_permute %0 out_sharding=<@m, [{\"y\"}, {}]> : " T),
     "7:1: dimension 0 of the result is cut in 4; expected 2"},
    {"a permutation over other axes",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<mesh<[\"u\"=8]>, [{\"u\":(1)2}, {}]>]>} : " T
        "\n%1 = sdy.collective_permute %0 out_sharding=<@m, [{\"x\"}, {}]> : " T),
     "7:1: has other axes than the operand's"},
    {"a permutation over the same mesh by another name",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<mesh<[\"x\"=2, \"y\"=4]>, [{\"x\"}, {}]>]>} "
        ": " T "\n%1 = sdy.collective_permute %0 out_sharding=<@m, [{\"x\"}, {}]> : " T),
     "7:1: has another name"},
    {"a permutation to another order of devices",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@r, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.collective_permute %0 out_sharding=<@m, [{\"y\":(1)2}, {}]> : " T),
     NULL},
    {"what is cut unreduced, along another axis",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.sharded_to_unreduced [{\"y\"}, {}] %0 out_sharding=<@m, [{\"x\"}, {}], unreduced={\"y\"}> : " T),
     "7:31: sharded-to-unreduced axis \"y\" is not among"},
    {"what is cut unreduced, and not said",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}], unreduced={\"y\"}>]>} : " T
        "\n%1 = sdy.sharded_to_unreduced [{\"x\"}, {}] %0 out_sharding=<@m, [{}, {}], unreduced={\"y\"}> : " T),
     "7:1: unreduced axes differ; expected those of the operand and of the op, {\"x\", \"y\"}"},
    {"what is cut unreduced by max",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.sharded_to_unreduced [{\"x\"}, {}] %0 out_sharding=<@m, [{}, {}], unreduced=max{\"x\"}> : " T),
     "7:1: unreduced by max; expected a sum"},
    {"what is cut unreduced",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}], unreduced={\"y\":(1)2}>]>} "
        ": " T "\n%1 = sdy.sharded_to_unreduced [{\"x\"}, {}] %0 out_sharding=<@m, [{}, {}], unreduced={\"x\", "
        "\"y\":(1)2}> : " T),
     NULL},
    {"nothing unreduced",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.replicated_to_unreduced {} %0 out_sharding=<@m, [{\"x\"}, {}]> : " T),
     "7:34: the list of axes is empty"},
    {"what is replicated unreduced, along what cuts",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.replicated_to_unreduced {\"x\"} %0 out_sharding=<@m, [{\"x\"}, {}]> : " T),
     "7:34: overlaps with the operand's dimensions"},
    {"what is replicated unreduced, along what is so",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}], unreduced={\"y\"}>]>} : " T
        "\n%1 = sdy.replicated_to_unreduced {\"y\":(1)2} %0 out_sharding=<@m, [{}, {}], unreduced={\"y\"}> : " T),
     "7:34: overlaps with the operand's unreduced axes"},
    {"what is replicated unreduced, and cut otherwise",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = sdy.replicated_to_unreduced {\"y\"} %0 out_sharding=<@m, [{}, {\"x\"}], unreduced={\"y\"}> : " T),
     "7:1: differs in dimension 0; expected {\"x\"}"},
    {"what is replicated unreduced, and more said",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}]>]>} : " T
        "\n%1 = sdy.replicated_to_unreduced {\"y\"} %0 out_sharding=<@m, [{}, {}], unreduced={\"x\", \"y\"}> : " T),
     "7:1: unreduced axes differ"},
    {"what is replicated unreduced",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}], replicated={\"y\"}>]>} : " T
        "\n%1 = sdy.replicated_to_unreduced {\"y\"} %0 out_sharding=<@m, [{\"x\"}, {}], unreduced={\"y\"}> : " T),
     NULL},
    {"a gather in generic form",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\", \"y\"}, {}]>]>} : " T
        "\n%1 = \"sdy.all_gather\"(%0) <{gathering_axes = #sdy<list_of_axis_ref_lists[{\"x\"}, {}]>, out_sharding = "
        "#sdy.sharding<@m, [{\"y\"}, {}]>}> : (" T ") -> " T),
     "7:73: gathering axis \"x\" is not among"},
    {"a move in generic form",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = \"sdy.all_to_all\"(%0) <{params = #sdy<all_to_all_param_list[{\"x\"}: 0->2]>, out_sharding = "
        "#sdy.sharding<@m, [{}, {\"x\"}]>}> : (" T ") -> " T),
     "7:65: target dimension 2"},
    {"a reduction in generic form",
     IN("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>} : " T
        "\n%1 = \"sdy.all_reduce\"(%0) <{reduction_axes = #sdy<axis_ref_list{\"x\"}>, out_sharding = #sdy.sharding<@m, "
        "[{\"x\"}, {}]>}> : (" T ") -> " T),
     "7:64: reduction axis \"x\" overlaps"},
    {"a gather of what a constraint cuts",
     IN("%0 = sdy.sharding_constraint %a <@m, [{\"x\"}, {}]> : " T
        "\n%1 = sdy.all_gather [{\"y\"}, {}] %0 out_sharding=<@m, [{}, {}]> : " T),
     "7:21: gathering axis \"y\" is not among"},
    {"a gather of what a gather leaves",
     IN("%0 = sdy.sharding_constraint %a <@m, [{\"x\"}, {\"y\"}]> : " T
        "\n%1 = sdy.all_gather [{\"x\"}, {}] %0 out_sharding=<@m, [{}, {\"y\"}]> : " T
        "\n%2 = sdy.all_gather [{\"x\"}, {}] %1 out_sharding=<@m, [{}, {\"y\"}]> : " T),
     "8:21: gathering axis \"x\" is not among"},
    {"a gather of an argument",
     WITH("%a: " T " {sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {}]>}",
          "%0 = sdy.all_gather [{\"y\"}, {}] %a out_sharding=<@m, [{}, {}]> : " T),
     "6:21: gathering axis \"y\" is not among"},
    {"manual over an unknown axis",
     IN("%0 = sdy.manual_computation(%a) in_shardings=[<@m, [{}, {}]>] out_shardings=[<@m, [{}, {}]>] "
        "manual_axes={\"z\"} (%z: " T ") {\nsdy.return %z : " T "\n} : (" T ") -> " T),
     "6:107: manual axis \"z\" is not in the mesh"},
    {"manual over two meshes",
     IN("%0 = sdy.manual_computation(%a) in_shardings=[<@m, [{}, {}]>] out_shardings=[<@r, [{}, {}]>] "
        "manual_axes={\"x\"} (%z: " T ") {\nsdy.return %z : " T "\n} : (" T ") -> " T),
     "6:78: of another mesh than the others"},
    {"manual, a sharding too many",
     IN("%0 = sdy.manual_computation(%a) in_shardings=[<@m, [{}, {}]>, <@m, [{}, {}]>] out_shardings=[<@m, [{}, {}]>] "
        "manual_axes={\"x\"} (%z: " T ") {\nsdy.return %z : " T "\n} : (" T ") -> " T),
     "6:46: there are 2 shardings of 1 operands"},
    {"manual, no sharding of a result",
     IN("%0 = sdy.manual_computation(%a) in_shardings=[<@m, [{}, {}]>] out_shardings=[] manual_axes={\"x\"} (%z: " T
        ") {\nsdy.return %z : " T "\n} : (" T ") -> " T),
     "6:77: there are 0 shardings of 1 results"},
    {"manual, another rank",
     IN("%0 = sdy.manual_computation(%a) in_shardings=[<@m, [{}]>] out_shardings=[<@m, [{}, {}]>] manual_axes={\"x\"} "
        "(%z: " T ") {\nsdy.return %z : " T "\n} : (" T ") -> " T),
     "6:47: has 1 dimensions; expected 2"},
    {"manual, what is not a multiple",
     IN("%0 = sdy.manual_computation(%a) in_shardings=[<mesh<[\"u\"=3]>, [{}, {\"u\"}]>] "
        "out_shardings=[<mesh<[\"u\"=3]>, [{}, {}]>] manual_axes={\"u\"} (%z: " T ") {\nsdy.return %z : " T "\n} : (" T
        ") -> " T),
     "6:47: dimension 1 of the operand has size 16; expected a multiple of 3"},
    {"manual, another operand inside",
     IN("%0 = sdy.manual_computation(%a) in_shardings=[<@m, [{\"x\"}, {}]>] out_shardings=[<@m, [{}, {}]>] "
        "manual_axes={\"x\"} (%z: " T ") {\nsdy.return %z : " T "\n} : (" T ") -> " T),
     "6:47: operand 0 is tensor<8x16xf32> in the body; expected tensor<4x16xf32>"},
    {"manual, cut by free axes alone",
     IN("%0 = sdy.manual_computation(%a) in_shardings=[<@m, [{\"y\"}, {}]>] out_shardings=[<@m, [{}, {}]>] "
        "manual_axes={\"x\"} (%z: tensor<2x16xf32>) {\nsdy.return %z : tensor<2x16xf32>\n} : (" T ") -> " T),
     "6:47: expected tensor<8x16xf32>"},
    {"manual, another result inside",
     IN("%0 = sdy.manual_computation(%a) in_shardings=[<@m, [{}, {}]>] out_shardings=[<@m, [{\"x\"}, {}]>] "
        "manual_axes={\"x\"} (%z: " T ") {\nsdy.return %z : " T "\n} : (" T ") -> " T),
     "6:78: result 0 is tensor<8x16xf32> in the body; expected tensor<4x16xf32>"},
    {"manual, more returned",
     IN("%0 = sdy.manual_computation(%a) in_shardings=[<@m, [{}, {}]>] out_shardings=[<@m, [{}, {}]>] "
        "manual_axes={\"x\"} (%z: " T ") {\nsdy.return %z, %z : " T ", " T "\n} : (" T ") -> " T),
     "6:1: has 1 results, and its body returns 2 values"},
    {"manual, more arguments",
     IN("%0 = sdy.manual_computation(%a) in_shardings=[<@m, [{}, {}]>] out_shardings=[<@m, [{}, {}]>] "
        "manual_axes={\"x\"} (%z: " T ", %w: " T ") {\nsdy.return %z : " T "\n} : (" T ") -> " T),
     "6:1: has 1 operands, and its body 2 arguments"},
    {"manual, what is outside",
     IN("%0 = sdy.manual_computation(%a) in_shardings=[<@m, [{}, {}]>] out_shardings=[<@m, [{}, {}]>] "
        "manual_axes={\"x\"} (%z: " T ") {\n%1 = stablehlo.add %z, %a : " T "\nsdy.return %1 : " T "\n} : (" T
        ") -> " T),
     "7:24: '%a' is defined outside of 'sdy.manual_computation'"},
    {"manual, free axes first",
     IN("%0 = sdy.manual_computation(%a) in_shardings=[<@m, [{\"y\", \"x\"}, {}]>] out_shardings=[<@m, [{}, {}]>] "
        "manual_axes={\"x\"} (%z: tensor<4x16xf32>) {\nsdy.return %z : tensor<4x16xf32>\n} : (" T ") -> " T),
     "6:47: manual axis \"x\" behind free axis \"y\""},
    {"manual, a manual axis inside",
     IN("%0 = sdy.manual_computation(%a) in_shardings=[<@m, [{\"x\"}, {}]>] out_shardings=[<@m, [{\"x\"}, {}]>] "
        "manual_axes={\"x\"} (%z: tensor<4x16xf32>) {\n%1 = stablehlo.abs %z {sdy.sharding = "
        "#sdy.sharding_per_value<[<@m, [{}, {\"x\"}]>]>} : tensor<4x16xf32>\nsdy.return %1 : tensor<4x16xf32>\n} : (" T
        ") -> " T),
     "7:64: axis \"x\" is bound by a manual computation around (line 6)"},
    {"manual, a manual axis replicated inside",
     IN("%0 = sdy.manual_computation(%a) in_shardings=[<@m, [{\"x\"}, {}]>] out_shardings=[<@m, [{\"x\"}, {}]>] "
        "manual_axes={\"x\"} (%z: tensor<4x16xf32>) {\n%1 = sdy.sharding_constraint %z <@m, [{}, {}], "
        "replicated={\"x\"}> : tensor<4x16xf32>\nsdy.return %1 : tensor<4x16xf32>\n} : (" T ") -> " T),
     "7:33: axis \"x\" is bound by"},
    {"manual twice over an axis",
     IN("%0 = sdy.manual_computation(%a) in_shardings=[<@m, [{\"x\"}, {}]>] out_shardings=[<@m, [{\"x\"}, {}]>] "
        "manual_axes={\"x\"} (%z: tensor<4x16xf32>) {\n%1 = sdy.manual_computation(%z) in_shardings=[<@m, [{}, {}]>] "
        "out_shardings=[<@m, [{}, {}]>] manual_axes={\"x\"} (%w: tensor<4x16xf32>) {\nsdy.return %w : "
        "tensor<4x16xf32>\n} : (tensor<4x16xf32>) -> tensor<4x16xf32>\nsdy.return %1 : tensor<4x16xf32>\n} : (" T
        ") -> " T),
     "7:107: axis \"x\" is bound by"},
    {"manual over what a computation around is not",
     IN("%0 = sdy.manual_computation(%a) in_shardings=[<@m, [{\"x\"}, {}]>] out_shardings=[<@m, [{\"x\"}, {}]>] "
        "manual_axes={\"x\"} (%z: tensor<4x16xf32>) {\n%1 = sdy.manual_computation(%z) in_shardings=[<@m, [{}, {}]>] "
        "out_shardings=[<@m, [{}, {}]>] manual_axes={\"y\"} (%w: tensor<4x16xf32>) {\nsdy.return %w : "
        "tensor<4x16xf32>\n} : (tensor<4x16xf32>) -> tensor<4x16xf32>\nsdy.return %1 : tensor<4x16xf32>\n} : (" T
        ") -> " T),
     NULL},
    {"manual, a free axis inside",
     IN("%0 = sdy.manual_computation(%a) in_shardings=[<@m, [{\"x\"}, {}]>] out_shardings=[<@m, [{\"x\"}, {}]>] "
        "manual_axes={\"x\"} (%z: tensor<4x16xf32>) {\n%1 = sdy.sharding_constraint %z <@m, [{\"y\"}, {}]> : "
        "tensor<4x16xf32>\nsdy.return %1 : tensor<4x16xf32>\n} : (" T ") -> " T),
     NULL},
    {"manual in generic form",
     IN("%0 = \"sdy.manual_computation\"(%a) <{in_shardings = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>, "
        "manual_axes = #sdy<manual_axes{\"x\"}>, out_shardings = #sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>}> "
        "({\n^bb0(%z: " T "):\n\"sdy.return\"(%z) : (" T ") -> ()\n}) : (" T ") -> " T),
     "6:77: operand 0 is tensor<8x16xf32> in the body"},
    {"named, a fault of an operand",
     IN("%0 = sdy.named_computation<\"f\">(%a) in_shardings=[<@m, [{\"x\"}, {\"x\"}]>] (%z: " T
        ") {\nsdy.return %z : " T "\n} : (" T ") -> " T),
     "6:51: axis \"x\" is used twice"},
    {"named, a fault of a result",
     IN("%0 = sdy.named_computation<\"f\">(%a) out_shardings=[<@m, [{\"x\"}]>] (%z: " T ") {\nsdy.return %z : " T
        "\n} : (" T ") -> " T),
     "6:52: has 1 dimensions; expected 2"},
    {"named, no sharding of an operand",
     IN("%0 = sdy.named_computation<\"f\">(%a) in_shardings=[] (%z: " T ") {\nsdy.return %z : " T "\n} : (" T
        ") -> " T),
     "6:50: there are 0 shardings of 1 operands"},
    {"named, another type inside",
     IN("%0 = sdy.named_computation<\"f\">(%a) (%z: tensor<4x16xf32>) {\nsdy.return %z : tensor<4x16xf32>\n} : (" T
        ") -> " T),
     "6:1: operand 0 is tensor<4x16xf32> in the body"},
    {"named, more arguments",
     IN("%0 = sdy.named_computation<\"f\">(%a) (%z: " T ", %w: " T ") {\nsdy.return %z : " T "\n} : (" T ") -> " T),
     "6:1: has 1 operands, and its body 2 arguments"},
    {"named, what is outside",
     IN("%0 = sdy.named_computation<\"f\">(%a) (%z: " T ") {\n%1 = stablehlo.abs %a : " T "\nsdy.return %1 : " T
        "\n} : (" T ") -> " T),
     "7:20: is defined outside of 'sdy.named_computation'"},
};

/* A program may be refused for what is not of the language: there is no plan of some. */
static void expect(const row *r, const char *reader, sw_rc rc, const sw_diag *d) {
  char place[40];
  snprintf(place, sizeof place, "%d:%d: ", d->line, d->col);
  if (!r->want) {
    if (rc) fail_msg("%s: refused by %s: %s%s", r->name, reader, place, d->text);
    return;
  }
  if (rc != SW_E_INPUT) fail_msg("%s: was read by %s; expected %s", r->name, reader, r->want);
  const char *words = strchr(r->want, ' ') + 1;
  if (strncmp(place, r->want, strlen(place)) != 0 || !strstr(d->text, words))
    fail_msg("%s: by %s: %s%s; expected %s", r->name, reader, place, d->text, r->want);
}

static void check(const row *r, const char *text) {
  const size_t n = strlen(text);
  sw_text out = {0};
  diag = (sw_diag){0};
  sw_program *p;
  print_message("%s\n", r->name);
  expect(r, "propagation", sw_program_propagate("t.mlir", text, n, &(sw_propagation){0}, &out, &diag), &diag);
  diag = (sw_diag){0};
  expect(r, "a pass", sw_program_run_passes("t.mlir", text, n, "close-shardings", NULL, &out, &diag), &diag);
  diag = (sw_diag){0};
  sw_rc rc = sw_program_parse("t.mlir", text, n, NULL, &p, &diag);
  if (r->want) expect(r, "import", rc, &diag);
  if (!rc) sw_program_destroy(p);
  sw_text_free(&out);
}

static void check_in(const row *r, const char *before, const char *behind) {
  sw_text t = {0};
  sw_text_printf(&t, "%s%s%s", before, r->text, behind);
  check(r, sw_text_str(&t));
  sw_text_free(&t);
}

#define ROWS(rows, i) for (size_t i = 0; i < sizeof(rows) / sizeof *(rows); i++)

static void shardings(void **state) {
  (void)state;
  const char *before = MESHES "func.func @main(%a: " T ") -> " T " {\n%0 = sdy.sharding_constraint %a ";
  ROWS(kShardings, i) check_in(&kShardings[i], before, " : " T "\nreturn %a : " T "\n}\n");
}

static void meshes(void **state) {
  (void)state;
  ROWS(kMeshes, i) check_in(&kMeshes[i], "sdy.mesh @m = ", "\n");
}

static void rules(void **state) {
  (void)state;
  const char *before =
      MESHES "func.func @main(%a: " T ") -> " T " {\n%0 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = ";
  check(&(row){"a custom rule of what is none", "", "2:47: a custom rule of 'stablehlo.negate'"},
        "func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {\n%0 = stablehlo.negate %a {sdy.sharding_rule = "
        "#sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>} : tensor<8xf32>\nreturn %0 : tensor<8xf32>\n}\n");
  ROWS(kRules, i) check_in(&kRules[i], before, "} : (" T ") -> " T "\nreturn %a : " T "\n}\n");
}

static void texts(void **state) {
  (void)state;
  ROWS(kTexts, i) check(&kTexts[i], kTexts[i].text);
}

#define MESHES_OF_TWO "sdy.mesh @m = <[\"x\"=2]>\nsdy.mesh @n = <[\"x\"=4]>\nsdy.mesh @spare = <[\"x\"=8]>\n"
#define OVER(function, mesh, op)                                                                                     \
  "func.func @" function "(%a: " T " {sdy.sharding = #sdy.sharding<@" mesh ", [{\"x\"}, {}]>}) -> " T " {\n%0 = " op \
  "\nreturn %0 : " T "\n}\n"

/* A function is over one number of devices, a plan with what it calls; another function may be over others. */
static void numbers_of_devices(void **state) {
  (void)state;
  static const struct {
    row row;
    bool of_plan; /* propagation goes function by function */
  } kCases[] = {
      {{"in one function", MESHES_OF_TWO OVER("main", "m", "sdy.sharding_constraint %a <@n, [{}, {\"x\"}]> : " T),
        "5:33: a sharding over a mesh of 4 devices; expected 2, as in line 4"}},
      {{"in two", MESHES_OF_TWO OVER("main", "m", "stablehlo.abs %a : " T) OVER("other", "n", "stablehlo.abs %a : " T),
        NULL}},
      {{"in one that is called",
        MESHES_OF_TWO OVER("main", "m", "func.call @other(%a) : (" T ") -> " T)
            OVER("other", "n", "stablehlo.abs %a : " T),
        "8:55: a sharding over a mesh of 4 devices; expected 2, as in line 4"},
       true}};
  ROWS(kCases, i) {
    const row *r = &kCases[i].row;
    sw_text out = {0};
    diag = (sw_diag){0};
    sw_program *p = NULL;
    sw_rc rc = sw_program_propagate("t.mlir", r->text, strlen(r->text), &(sw_propagation){0}, &out, &diag);
    const row propagated = {r->name, r->text, kCases[i].of_plan ? NULL : r->want};
    expect(&propagated, "propagation", rc, &diag);
    diag = (sw_diag){0};
    expect(r, "import", sw_program_parse("t.mlir", r->text, strlen(r->text), NULL, &p, &diag), &diag);
    sw_text_free(&out);
    sw_program_destroy(p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(shardings), cmocka_unit_test(meshes), cmocka_unit_test(rules),
                                     cmocka_unit_test(texts), cmocka_unit_test(numbers_of_devices)};
  return cmocka_run_group_tests_name("shardy", tests, NULL, NULL);
}
