#include "strategy/prices.h"

#include <assert.h>
#include <math.h>

#include "shardwright/profile.h"
#include "shardwright/selection.h"

double sw_cost_units_per_s(const sw_machine *machine) {
  enum { BASE = 41, MOST = 5 }; /* powers of two: of bytes per second, and above these of a memory that is real */
  const double kBase = 16e12, bytes_per_s = sw_machine_profile(machine)->memory_bytes_per_s;
  if (!(bytes_per_s >= 1) || bytes_per_s >= ldexp(1, BASE + MOST)) return kBase;
  return ldexp(kBase, ilogb(bytes_per_s) - BASE);
}

int64_t sw_cost_units(const sw_machine *machine, double seconds) {
  const double u = ceil(seconds * sw_cost_units_per_s(machine));
  return u >= (double)SW_FORBIDDEN ? SW_FORBIDDEN : u > 0 ? (int64_t)u : 0;
}

sw_rc sw_prices_init(sw_prices *p, const sw_machine *machine, sw_route_prices *routes, sw_diag *d) {
  *p = (sw_prices){.machine = machine, .routes = routes};
  for (int a = 0, n = sw_machine_mesh(machine)->n_axes; a < n; a++) {
    int first = 0;
    while (!sw_machine_axes_symmetric(machine, first, a)) first++;
    p->first_symmetric[a] = (int8_t)first;
    p->any_symmetric = p->any_symmetric || first < a;
  }
  if (!routes) SW_TRY(sw_route_prices_make(machine, &p->own_routes, d));
  if (!routes) p->routes = p->own_routes;
  return SW_OK;
}

void sw_prices_deinit(sw_prices *p) {
  for (size_t i = 0; i < p->classes.n; i++) {
    sw_dict_deinit(&p->classes.at[i].relabelled);
    sw_array_free(&p->classes.at[i].shardings);
    sw_dict_deinit(&p->classes.at[i].ids);
    sw_mem_free(p->classes.at[i].price);
    sw_mem_free(p->classes.at[i].end);
  }
  sw_route_prices_destroy(p->own_routes);
  sw_array_free(&p->classes);
  sw_dict_deinit(&p->by_shape);
}

sw_rc sw_prices_class(sw_prices *p, const sw_type *type, bool combines, int32_t *out, sw_diag *d) {
  int64_t key[SW_MAX_RANK + 1] = {(int64_t)type->dtype << 1 | combines};
  for (int i = 0; i < type->rank; i++) key[i + 1] = type->dims[i];
  int64_t *slot;
  bool fresh;
  SW_TRY(
      sw_dict_put(&p->by_shape, key, (size_t)(type->rank + 1) * sizeof *key, (int64_t)p->classes.n, &slot, &fresh, d));
  *out = (int32_t)*slot;
  return fresh ? sw_array_push(&p->classes, ((sw_shape_class){.type = *type, .combines = combines}), d) : SW_OK;
}

sw_rc sw_prices_id(sw_prices *p, int32_t shape_class, const sw_sharding *s, int32_t *out, sw_diag *d) {
  assert(shape_class >= 0 && (size_t)shape_class < p->classes.n && s->rank == p->classes.at[shape_class].type.rank);
  sw_shape_class *c = &p->classes.at[shape_class];
  sw_text key = {0};
  sw_sharding_key(s, &key);
  int64_t *slot;
  bool fresh;
  sw_rc rc = key.rc ? SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory")
                    : sw_dict_put(&c->ids, key.at, key.n, (int64_t)c->shardings.n, &slot, &fresh, d);
  sw_text_free(&key);
  if (rc) return rc;
  *out = (int32_t)*slot;
  return fresh ? sw_array_push(&c->shardings, *s, d) : SW_OK;
}

/* Make the table as wide as the list of shardings is now, keeping what is known. */
static sw_rc widen(const sw_prices *p, sw_shape_class *c, sw_diag *d) {
  const size_t side = c->shardings.n;
  sw_price *price;
  sw_route_end *end;
  SW_MEM_NEW(price, side * side, d);
  for (size_t i = 0; i < side * side; i++) price[i].units = -1;
  for (size_t i = 0; i < c->side; i++) {
    for (size_t j = 0; j < c->side; j++) price[i * side + j] = c->price[i * c->side + j];
  }
  sw_mem_free(c->price);
  c->price = price;
  c->side = side;
  SW_MEM_NEW(end, side, d);
  for (size_t i = 0; i < side; i++)
    sw_route_end_make(sw_route_prices_floors(p->routes, c->combines), &c->shardings.at[i], c->type.rank, c->type.dims,
                      c->type.dtype, &end[i]);
  sw_mem_free(c->end);
  c->end = end;
  return SW_OK;
}

sw_rc sw_prices_in_time(const sw_prices *p, sw_diag *d) {
  const bool late = p->deadline_s > 0 && sw_now_s() >= p->deadline_s;
  if (!late && !sw_cancelled(p->cancel)) return SW_OK;
  return SW_FAIL(d, SW_E_CANCELLED, SW_NOWHERE, "time was up while strategies were being enumerated");
}

/* New names of axes in the order in which they are first met, each from those that are symmetric. */
typedef struct relabelling {
  const sw_prices *prices;
  int8_t name[SW_MAX_AXES];  /* 1 more than the axis; 0: not met yet */
  int8_t taken[SW_MAX_AXES]; /* by first of those symmetric: how many are */
} relabelling;

/* The axis that is number `k` of those symmetric to `first`. */
static int nth_symmetric(const sw_prices *p, int first, int k) {
  int a = first;
  while (p->first_symmetric[a] != first || k-- > 0) a++;
  return a;
}

static sw_axis_ref renamed(relabelling *r, sw_axis_ref ref) {
  int8_t *name = &r->name[ref.axis];
  const int first = r->prices->first_symmetric[ref.axis];
  if (!*name) *name = (int8_t)(1 + nth_symmetric(r->prices, first, r->taken[first]++));
  ref.axis = *name - 1;
  return ref;
}

static void relabel(relabelling *r, const sw_sharding *s, sw_sharding *out) {
  *out = *s;
  out->n_partial = 0; /* a set, kept in the order of axes */
  for (int i = 0; i < s->n_refs; i++) out->refs[i] = renamed(r, s->refs[i]);
  for (int i = 0; i < s->n_partial; i++)
    (void)sw_sharding_push_partial(out, (sw_reduction)s->partial_kind, renamed(r, sw_sharding_partial(s)[i]));
}

/* For being a step; where a scatter is an all_reduce and a slice, these are two. */
static int64_t step_units(const sw_prices *p, const sw_sharding *from, const sw_sharding *to) {
  const bool two =
      sw_machine_lowering(p->machine).whole_scatters && from->n_partial > to->n_partial && to->n_refs > from->n_refs;
  return two ? 2 : 1;
}

static sw_rc price_route(sw_prices *p, sw_shape_class *c, const sw_sharding *from, const sw_sharding *to, int64_t *out,
                         sw_diag *d) {
  double s;
  if (!c->routes) {
    SW_TRY(sw_route_prices_shape(p->routes, c->combines, c->type.rank, c->type.dims, c->type.dtype, &c->routes, d));
    c->routes++;
  }
  SW_TRY(sw_route_prices_get(p->routes, c->routes - 1, from, to, HUGE_VAL, &s, d));
  *out = isfinite(s) ? sw_cost_add(sw_cost_units(p->machine, s), step_units(p, from, to)) : SW_FORBIDDEN;
  return SW_OK;
}

/* Of all pairs that differ by names of symmetric axes, one is priced. */
static sw_rc price_symmetric(sw_prices *p, sw_shape_class *c, const sw_sharding *from, const sw_sharding *to,
                             int64_t *out, sw_diag *d) {
  relabelling r = {.prices = p};
  sw_sharding x, y;
  sw_text key = {0};
  int64_t *slot;
  bool fresh;
  relabel(&r, from, &x);
  relabel(&r, to, &y);
  sw_sharding_key(&x, &key);
  sw_sharding_key(&y, &key);
  sw_rc rc = key.rc ? SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory")
                    : sw_dict_put(&c->relabelled, key.at, key.n, -1, &slot, &fresh, d);
  sw_text_free(&key);
  if (!rc && *slot < 0) rc = price_route(p, c, &x, &y, slot, d);
  if (!rc) *out = *slot;
  return rc;
}

/* One unit more for being a step; not above the price by rounding. */
static int64_t least_units(const sw_prices *p, const sw_shape_class *c, int32_t from, int32_t to) {
  const double kRounding = 1e-9;
  return sw_cost_add(sw_cost_units(p->machine, sw_route_least_s(sw_route_prices_floors(p->routes, c->combines),
                                                                &c->end[from], &c->end[to]) *
                                                   (1 - kRounding)),
                     1);
}

sw_rc sw_prices_get(sw_prices *p, int32_t shape_class, int32_t from, int32_t to, int64_t *out, sw_diag *d) {
  sw_shape_class *c = &p->classes.at[shape_class];
  *out = 0;
  if (from == to) return SW_OK;
  if (c->side < c->shardings.n) SW_TRY(widen(p, c, d));
  sw_price *price = &c->price[(size_t)from * c->side + (size_t)to];
  if (price->units < 0) price->units = least_units(p, c, from, to);
  *out = price->units;
  return SW_OK;
}

sw_rc sw_prices_settle(sw_prices *p, int32_t shape_class, int32_t from, int32_t to, bool *raised, sw_diag *d) {
  sw_shape_class *c = &p->classes.at[shape_class];
  int64_t before;
  if (from == to) return SW_OK;
  SW_TRY(sw_prices_get(p, shape_class, from, to, &before, d));
  sw_price *price = &c->price[(size_t)from * c->side + (size_t)to];
  if (price->exact) return SW_OK;
  SW_TRY((p->any_symmetric ? price_symmetric : price_route)(p, c, &c->shardings.at[from], &c->shardings.at[to],
                                                            &price->units, d));
  price->exact = true;
  *raised = *raised || price->units > before;
  return SW_OK;
}
