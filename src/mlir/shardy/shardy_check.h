/* What the checks of a text share (verify.c). */
#ifndef MLIR_SHARDY_SHARDY_CHECK_H_
#define MLIR_SHARDY_SHARDY_CHECK_H_

#include "mlir/import/types.h"
#include "mlir/text/values.h"
#include "mlir/shardy/shardy.h"

/* A computation around the op at hand whose body sees nothing else: named, or manual over some axes. */
typedef struct sw_sdy_frame {
  uint32_t op;
  size_t n_bound; /* axes that were bound before it */
} sw_sdy_frame;

/* How many devices the shardings of a function are over, and where the first of them stands; at.end 0: it has none. */
typedef struct sw_sdy_devices {
  uint32_t function;
  int64_t n;
  sw_ir_span at;
} sw_sdy_devices;

typedef struct sw_sdy_checker {
  sw_sdy_text x;
  const sw_ir_tree *t;
  sw_ir_values values;
  uint32_t *home; /* by value: the op that gives it, or that it is an argument of a region of */
  SW_ARRAY(sw_sdy_frame) around;
  SW_ARRAY(sw_ir_span) bound;  /* names of axes that manual computations around have */
  SW_ARRAY(sw_ir_span) listed; /* types of results or operands of an op */
  uint32_t listed_of;          /* of which, that cannot be 0 */
  SW_ARRAY(sw_ir_span) types;  /* of the values of a list of shardings */
  sw_sdy_alike alike;
  sw_sdy_devices over; /* of the function at hand */
  SW_ARRAY(sw_sdy_devices) functions;
  sw_dict held; /* shardings and types of results that are right: most ops are like others */
  sw_text key;  /* of one of them */
  sw_arena arena;
} sw_sdy_checker;

/* A type, as far as shardings are concerned. */
typedef enum sw_sdy_kind {
  SW_SDY_UNKNOWN,  /* nothing is compared */
  SW_SDY_SCALAR,   /* a token, or what else has no shape */
  SW_SDY_UNRANKED, /* tensor<*xf32> */
  SW_SDY_TENSOR,
  SW_SDY_TUPLE
} sw_sdy_kind;
typedef struct sw_sdy_shape {
  sw_sdy_kind kind;
  int rank; /* of a tensor; of a tuple the number of its elements */
  int64_t dims[SW_MAX_RANK];
  sw_ir_span element; /* what stands behind the sizes, or in the tuple */
} sw_sdy_shape;
sw_sdy_shape sw_sdy_shape_of(const sw_ir_tree *t, sw_ir_span type);
/* Type of a value; empty: not known. */
sw_ir_span sw_sdy_type_of(sw_sdy_checker *c, uint32_t value);

/* A sharding of a value of that type. */
SW_CHECKED sw_rc sw_sdy_check_sharding(sw_sdy_checker *c, sw_ir_span text, sw_ir_span type, sw_open_sharding *out);
/* A list of shardings, for values of `types` (of the checker); in custom forms also without its prefix. `what`: of the
 * values, for messages. */
SW_CHECKED sw_rc sw_sdy_check_list(sw_sdy_checker *c, sw_ir_span text, bool stripped, const char *what);
/* Fill `types` of the checker. */
SW_CHECKED sw_rc sw_sdy_take_types(sw_sdy_checker *c, sw_ir_types_cursor from);
/* What the text says of a value: its sharding, of which `manual` axes (SW_IR_NONE: none), those of this op, are left
 * out. Empty: nothing. *known = false: nobody can tell. */
sw_ir_span sw_sdy_said_of(const sw_sdy_checker *c, uint32_t value, uint32_t *manual, bool *known);

/* sdy.manual_computation and sdy.named_computation (regions.c). */
SW_CHECKED sw_rc sw_sdy_check_manual(sw_sdy_checker *c, uint32_t op);
SW_CHECKED sw_rc sw_sdy_check_named(sw_sdy_checker *c, uint32_t op);

/* Collectives of whole tensors (collectives.c); *is = false: the op is another one. */
SW_CHECKED sw_rc sw_sdy_check_collective(sw_sdy_checker *c, uint32_t op, bool *is);

#define SW_SDY_WRONG(c, at, ...) SW_SDY_FAIL(&(c)->x, at, __VA_ARGS__)

#endif
