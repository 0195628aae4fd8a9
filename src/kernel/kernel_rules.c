#include "kernel/kernel_rules.h"

#include <string.h>

#define K(k) SW_KIND_BIT(k)
/* What every compiler with kernels of its own reads through. */
#define LAYOUT (K(VIEW) | K(SPREAD) | K(SOURCE))
#define POINTWISE (K(CHEAP) | K(DEAR) | K(CAST) | LAYOUT)
#define READS (K(TURN) | K(SLICE) | K(MOVE))

/* Clocks fall under load, and caches hold what others left: docs/cost-model.md, "Training runs". */
#define IN_STEP 1.14
/* Of an interpreter that dispatches each op, and each of autograd's: likewise. */
#define EAGER_HOST 24e-6

/* Where each number and set is from: docs/kernels.md. */
static const sw_fusion_rules kRules[] = {
    {.name = "none", .software = {NULL, 1}},
    {.name = "eager",
     .again = LAYOUT | K(TURN) | K(SLICE),
     .into_loop = POINTWISE | K(RANDOM) | K(TURN) | K(SLICE),
     .into_heavy = LAYOUT | K(TURN) | K(SLICE),
     .into_call = K(VIEW),
     .row = 1 << 20,
     .several = true,
     .by_function = true,
     .scales = true,
     .in_place = true,
     .one_update = true,
     .overlaps = true,
     .combine = 25 << 20,
     .software = {"flash", IN_STEP, EAGER_HOST, .unpacks = true, .free_convolutions = true}},
    {.name = "xla",
     .again = LAYOUT | K(CHEAP) | K(CAST) | K(TURN) | K(SLICE),
     .into_loop = POINTWISE | READS | K(GATHER),
     .into_heavy = LAYOUT | K(CAST) | K(TURN) | K(SLICE),
     .into_call = K(VIEW),
     .epilogue = K(CHEAP) | K(CAST) | LAYOUT,
     .row = 1 << 17,
     .several = true,
     .scales = true,
     .in_place = true,
     .one_update = true,
     .overlaps = true,
     .combine = 30 << 20,
     .lowering = {.rounds = true},
     .software = {"cudnn", IN_STEP, .free_products = true, .free_convolutions = true}},
    {.name = "xla-cpu",
     .again = LAYOUT | K(CHEAP) | K(CAST) | K(TURN) | K(SLICE),
     .into_loop = POINTWISE | READS | K(GATHER),
     .into_heavy = LAYOUT,
     .into_call = K(VIEW),
     .row = 0,
     .in_place = true,
     .widens = true,
     .lowering = {.wide_floats = true, .whole_scatters = true, .rounds = true, .early_sums = true},
     .software = {NULL, 1}},
    {.name = "inductor",
     .again = POINTWISE | K(RANDOM) | K(TURN) | K(SLICE),
     .into_loop = POINTWISE | READS | K(RANDOM) | K(GATHER),
     .into_heavy = LAYOUT | K(TURN) | K(SLICE),
     .into_call = K(VIEW),
     .row = 1 << 20,
     .several = true,
     .scales = true,
     .in_place = true,
     .one_update = true,
     .overlaps = true,
     .combine = 25 << 20,
     .software = {"flash", IN_STEP, .unpacks = true, .free_convolutions = true}},
    {.name = "ideal",
     .again = POINTWISE | READS | K(RANDOM),
     .into_loop = POINTWISE | READS | K(RANDOM) | K(GATHER),
     .into_heavy = POINTWISE | READS | K(RANDOM) | K(GATHER),
     .into_call = POINTWISE | READS | K(RANDOM) | K(GATHER),
     .epilogue = POINTWISE | READS | K(RANDOM),
     .row = INT64_MAX,
     .several = true,
     .in_place = true,
     .one_update = true,
     .overlaps = true,
     .combine = 30 << 20,
     .software = {NULL, 1, .free_products = true, .free_convolutions = true}},
};

const sw_fusion_rules *sw_fusion_rules_of(const char *compiler) {
  for (size_t i = 0; i < sizeof kRules / sizeof *kRules; i++)
    if (strcmp(kRules[i].name, compiler) == 0) return &kRules[i];
  return NULL;
}

bool sw_compiler_is_known(const char *name) { return sw_fusion_rules_of(name) != NULL; }

bool sw_compiler_overlaps(const char *name) {
  const sw_fusion_rules *r = sw_fusion_rules_of(name);
  return r && r->overlaps;
}

/* Ops whose class does not say it; what is in neither is a library call. */
static const uint8_t kKinds[SW_OP_COUNT] = {
    [SW_OP_EXP] = SW_KIND_DEAR,
    [SW_OP_EXPM1] = SW_KIND_DEAR,
    [SW_OP_LOG] = SW_KIND_DEAR,
    [SW_OP_LOG1P] = SW_KIND_DEAR,
    [SW_OP_CBRT] = SW_KIND_DEAR,
    [SW_OP_TANH] = SW_KIND_DEAR,
    [SW_OP_LOGISTIC] = SW_KIND_DEAR,
    [SW_OP_SQRT] = SW_KIND_DEAR,
    [SW_OP_RSQRT] = SW_KIND_DEAR,
    [SW_OP_DIVIDE] = SW_KIND_DEAR,
    [SW_OP_ACOS] = SW_KIND_DEAR,
    [SW_OP_ACOSH] = SW_KIND_DEAR,
    [SW_OP_ASIN] = SW_KIND_DEAR,
    [SW_OP_ASINH] = SW_KIND_DEAR,
    [SW_OP_ATANH] = SW_KIND_DEAR,
    [SW_OP_COSH] = SW_KIND_DEAR,
    [SW_OP_ERF] = SW_KIND_DEAR,
    [SW_OP_ERFC] = SW_KIND_DEAR,
    [SW_OP_ERF_INV] = SW_KIND_DEAR,
    [SW_OP_LGAMMA] = SW_KIND_DEAR,
    [SW_OP_DIGAMMA] = SW_KIND_DEAR,
    [SW_OP_BESSEL_I1E] = SW_KIND_DEAR,
    [SW_OP_POWER] = SW_KIND_DEAR,
    [SW_OP_ATAN2] = SW_KIND_DEAR,
    [SW_OP_REMAINDER] = SW_KIND_DEAR,
    [SW_OP_ZETA] = SW_KIND_DEAR,
    [SW_OP_POLYGAMMA] = SW_KIND_DEAR,
    [SW_OP_COMPARE] = SW_KIND_CHEAP,
    [SW_OP_SELECT] = SW_KIND_CHEAP,
    [SW_OP_CLAMP] = SW_KIND_CHEAP,
    [SW_OP_COMPLEX] = SW_KIND_CHEAP,
    [SW_OP_REDUCE_PRECISION] = SW_KIND_CHEAP,
    [SW_OP_CONVERT] = SW_KIND_CAST,
    [SW_OP_BITCAST] = SW_KIND_VIEW,
    [SW_OP_RESHAPE] = SW_KIND_VIEW,
    [SW_OP_KEEP] = SW_KIND_VIEW,
    [SW_OP_OFFLOAD] = SW_KIND_HOST,
    [SW_OP_FETCH] = SW_KIND_HOST,
    [SW_OP_BROADCAST] = SW_KIND_SPREAD,
    [SW_OP_IOTA] = SW_KIND_SOURCE,
    [SW_OP_RNG] = SW_KIND_RANDOM,
    [SW_OP_RNG_BITS] = SW_KIND_RANDOM,
    [SW_OP_TRANSPOSE] = SW_KIND_TURN,
    [SW_OP_SLICE] = SW_KIND_SLICE,
    [SW_OP_DYNAMIC_SLICE] = SW_KIND_SLICE,
    [SW_OP_PAD] = SW_KIND_MOVE,
    [SW_OP_CONCATENATE] = SW_KIND_MOVE,
    [SW_OP_REVERSE] = SW_KIND_MOVE,
    [SW_OP_REDUCE] = SW_KIND_REDUCE,
    [SW_OP_GATHER] = SW_KIND_GATHER,
    [SW_OP_SCATTER] = SW_KIND_UPDATE,
    [SW_OP_DYNAMIC_UPDATE_SLICE] = SW_KIND_UPDATE,
};

static const uint8_t kKindOfClass[] = {
    [SW_OPS_UNARY] = SW_KIND_CHEAP,     [SW_OPS_BINARY] = SW_KIND_CHEAP,   [SW_OPS_CONTRACTION] = SW_KIND_CONTRACT,
    [SW_OPS_OTHER] = SW_KIND_LIBRARY,   [SW_OPS_GIVEN] = SW_KIND_LIBRARY,  [SW_OPS_SUGAR] = SW_KIND_LIBRARY,
    [SW_OPS_CONTROL] = SW_KIND_CONTROL, [SW_OPS_DEVICE] = SW_KIND_LIBRARY,
};

sw_kind sw_kind_of(const sw_graph *g, const sw_op *op) {
  if (sw_op_is_on_host(g, op)) return SW_KIND_HOST;
  if (op->code == SW_OP_CONSTANT) {
    const sw_attr *value = sw_op_attr(op, SW_ATTR_VALUE);
    return value && value->u.data.splat ? SW_KIND_SOURCE : SW_KIND_LITERAL;
  }
  if (kKinds[op->code]) return (sw_kind)kKinds[op->code];
  return (sw_kind)kKindOfClass[sw_op_class_of(op->code)];
}
