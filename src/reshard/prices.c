/* Prices asked pair by pair: the first ones of a shape are searched for, then paths from a source to all states are
 * followed, and prices looked up. Shapes that differ by the order of their dimensions or by types of one size share
 * what is found:
 *
 *   f32[1,8,7,128] -> [[],[x],[],[y]]    asked as    4 bytes [128,8,7,1] -> [[y],[x],[],[]]
 *
 * Dimensions of one element stay: by cutting one, a value is reduced to one device or leaves all others.
 */
#include <math.h>
#include <string.h>

#include "reshard/closure.h"
#include "reshard/request.h"
#include "base/array.h"
#include "base/hash.h"

/* Of pairs of whole values, and of such where something is partial. */
typedef struct shelf {
  int n_asked;
  int n_left[RS_NET_STATES]; /* by source, states that searches went on from */
  rs_closure closure;
} shelf;

/* What is known of elements of one size. */
typedef struct form {
  int64_t dims[SW_MAX_RANK];
  shelf shelf[2];
} form;

/* A shape, and which of its dimensions comes where in its form. */
typedef struct shape {
  int rank;
  sw_dtype dtype;
  int64_t dims[SW_MAX_RANK];
  int8_t dim[SW_MAX_RANK];
  form *form;
} shape;

struct sw_route_prices {
  const sw_machine *machine;
  SW_ARRAY(shape) shapes;
  SW_ARRAY(form *) forms;
  sw_dict by_form;
};

sw_rc sw_route_prices_make(const sw_machine *machine, sw_route_prices **out, sw_diag *d) {
  SW_MEM_NEW(*out, 1, d);
  (*out)->machine = machine;
  return SW_OK;
}

void sw_route_prices_destroy(sw_route_prices *p) {
  if (!p) return;
  for (size_t k = 0; k < p->forms.n; k++) {
    for (int i = 0; i < 2; i++) rs_closure_deinit(&p->forms.at[k]->shelf[i].closure);
    sw_mem_free(p->forms.at[k]);
  }
  sw_array_free(&p->forms);
  sw_array_free(&p->shapes);
  sw_dict_deinit(&p->by_form);
  sw_mem_free(p);
}

/* --- shapes and forms -------------------------------------------------------------------------------------------- */

/* The longest dimensions first. */
static void sort_dims(shape *s) {
  for (int i = 0; i < s->rank; i++) {
    int at = i;
    for (; at > 0 && s->dims[s->dim[at - 1]] < s->dims[i]; at--) s->dim[at] = s->dim[at - 1];
    s->dim[at] = (int8_t)i;
  }
}

static sw_rc new_form(sw_route_prices *p, const int64_t *dims, int rank, sw_diag *d) {
  form *f;
  SW_MEM_NEW(f, 1, d);
  memcpy(f->dims, dims, (size_t)rank * sizeof *dims);
  sw_rc rc = sw_array_push(&p->forms, f, d);
  if (rc) sw_mem_free(f);
  return rc;
}

static sw_dtype held_in_parts(sw_dtype t) { return sw_sharding_held_as(&(sw_sharding){.n_partial = 1}, t); }

static sw_rc find_form(sw_route_prices *p, shape *s, sw_diag *d) {
  struct {
    double elem_bytes;
    int64_t part_bytes, dims[SW_MAX_RANK];
  } key = {.elem_bytes = sw_dtype_bytes(s->dtype), .part_bytes = sw_dtype_bytes(held_in_parts(s->dtype))};
  int64_t *slot;
  for (int i = 0; i < s->rank; i++) key.dims[i] = s->dims[s->dim[i]];
  const size_t n = sizeof key.elem_bytes + sizeof key.part_bytes + (size_t)s->rank * sizeof key.dims[0];
  SW_TRY(sw_dict_put(&p->by_form, &key, n, (int64_t)p->forms.n, &slot, NULL, d));
  if (*slot == (int64_t)p->forms.n) SW_TRY(new_form(p, key.dims, s->rank, d));
  s->form = p->forms.at[*slot];
  return SW_OK;
}

sw_rc sw_route_prices_shape(sw_route_prices *p, int rank, const int64_t *dims, sw_dtype t, int32_t *out, sw_diag *d) {
  shape s = {.rank = rank, .dtype = t};
  memcpy(s.dims, dims, (size_t)rank * sizeof *dims);
  sort_dims(&s);
  SW_TRY(find_form(p, &s, d));
  *out = (int32_t)p->shapes.n;
  return sw_array_push(&p->shapes, s, d);
}

/* A sharding of a shape as one of its form. */
static sw_sharding in_form(const shape *s, const sw_sharding *x) {
  sw_sharding out = *x;
  int n = 0;
  for (int i = 0; i < s->rank; i++) {
    for (int k = 0; k < x->n_refs; k++) {
      if (x->dim_of[k] != s->dim[i]) continue;
      out.dim_of[n] = (int8_t)i;
      out.refs[n++] = x->refs[k];
    }
  }
  return out;
}

/* --- prices ------------------------------------------------------------------------------------------------------ */

/* Sums, products, least and largest values take the same steps at the same prices. */
static bool holds(const rs_closure *c, const rs_query *q) { return c->net && rs_space_equal(&c->q.space, &q->space); }

/* All paths of every source pay when a price was asked for every other state; with steps that were counted to share,
 * for every eighth. */
enum { SHARES_PRICES = 2, SHARES_STEPS = 8 };

/* Between two states, from what costs least now that so much was asked: all paths of a source, where steps are kept and
 * other sources share them; those that lead to what is asked for, where searches from that source took as long; else a
 * search. */
static sw_rc between_s(shelf *s, rs_request *r, int from, int to, double *cost_s, sw_diag *d) {
  rs_closure *c = &s->closure;
  const int n = c->net->n_states;
  const double *row;
  rs_path path;
  if (c->keeps && s->n_asked > n / (c->uneven ? SHARES_STEPS : SHARES_PRICES)) {
    SW_TRY(rs_closure_row(c, from, &row, d));
    *cost_s = row[to];
    return SW_OK;
  }
  if (s->n_left[from] > n) return rs_closure_s(c, from, to, cost_s, d);
  SW_TRY(rs_request_search(r, &path, d));
  s->n_left[from] += path.n_left;
  *cost_s = path.cost_s;
  return SW_OK;
}

static sw_rc in_net_s(form *f, rs_request *r, double *cost_s, sw_diag *d) {
  const rs_query *q = &r->query;
  const bool partial = rs_net_has_partial(q);
  shelf *s = &f->shelf[partial];
  rs_closure *c = &s->closure;
  s->n_asked++;
  if (!c->net) SW_TRY(rs_closure_init(c, q, partial, d));
  if (!holds(c, q) || r->makes_last) return rs_request_s(r, cost_s, d);
  const int from = rs_net_find(c->net, &q->source), to = rs_net_find(c->net, &q->target);
  return between_s(s, r, from, to, cost_s, d);
}

sw_rc sw_route_prices_get(sw_route_prices *p, int32_t shape_at, const sw_sharding *from, const sw_sharding *to,
                          double *cost_s, sw_diag *d) {
  const shape *s = &p->shapes.at[shape_at];
  const sw_dtype moved = sw_sharding_moved_as(from, to, s->dtype);
  const sw_reshard asked = {p->machine, from, to, s->rank, s->dims, moved, {0}};
  if (from->offsets || from->halos || to->offsets || to->halos) {
    *cost_s = sw_route_cost_s(&asked);
    return SW_OK;
  }
  const sw_sharding x = in_form(s, from), y = in_form(s, to);
  const sw_reshard wanted = {p->machine, &x, &y, s->rank, s->form->dims, moved, {0}};
  rs_request r;
  *cost_s = HUGE_VAL;
  if (rs_request_init(&r, &wanted, NULL)) return SW_OK;
  *cost_s = 0;
  if (r.nothing_to_do) return SW_OK;
  if (r.in_net && !r.is_far) return in_net_s(s->form, &r, cost_s, d);
  *cost_s = sw_route_cost_s(&asked);
  return SW_OK;
}
