/* The state of a search for one attention (region.c), and the rules of ops that read what is inside (rules.c, dots.c).
 */
#ifndef GRAPH_FUSE_FINDER_H_
#define GRAPH_FUSE_FINDER_H_

#include "graph/fuse/region.h"

typedef struct sw_finder {
  sw_fuse_region *r;
  sw_fuse_space *s;
  sw_diag *d;
  sw_rc rc;
} sw_finder;

typedef enum sw_fuse_verdict {
  SW_FUSE_NO,    /* an attention has no such op */
  SW_FUSE_YES,   /* it is inside, or what it gives leaves */
  SW_FUSE_LATER, /* after ops that have been found to be inside meanwhile */
} sw_fuse_verdict;

static inline const sw_type *sw_finder_type(const sw_finder *f, sw_id v) { return &f->r->g->values[v].type; }
static inline sw_id sw_finder_id(const sw_finder *f, const sw_op *op) { return (sw_id)(op - f->r->g->ops); }
/* NULL: the value is outside. */
static inline const sw_fuse_value *sw_finder_inside(const sw_finder *f, sw_id v) {
  return f->s->value[v] ? &f->r->values.at[f->s->value[v] - 1] : NULL;
}

/* The op's result is inside: what reads it has to be understood. False: it is returned, or there is no memory. */
bool sw_finder_take(sw_finder *f, const sw_op *op, sw_fuse_value *v);

/* Any op of which an operand is inside. */
sw_fuse_verdict sw_fuse_rule(sw_finder *f, const sw_op *op);
sw_fuse_verdict sw_fuse_dot_rule(sw_finder *f, const sw_op *op);
/* Is *x a bool as a number, times *by? It is that bool then. */
bool sw_fuse_is_kept(const sw_finder *f, sw_fuse_operand *x, double *by);
/* Is a value from outside, whose dims are these, made of the product of the gradient of the output and v? Then that is
 * inside from now on. */
bool sw_fuse_finds_gradient(sw_finder *f, sw_id value, const sw_fuse_dims *dims);
/* The softmax is over this dim of the scores: which operand of their dot is k, and what its dims and those of q are. */
bool sw_fuse_finds_keys(sw_finder *f, int key);

#endif
