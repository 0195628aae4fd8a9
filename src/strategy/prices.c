#include "strategy/prices.h"

#include <math.h>

#include "shardwright/checked.h"
#include "shardwright/selection.h"

int64_t sw_cost_units(double seconds) {
  double u = ceil(seconds * SW_COST_UNITS_PER_S);
  return u >= (double)SW_FORBIDDEN ? SW_FORBIDDEN : u > 0 ? (int64_t)u : 0;
}

void sw_prices_deinit(sw_prices *p) {
  for (size_t i = 0; i < p->classes.n; i++) {
    sw_array_free(&p->classes.at[i].shardings);
    sw_dict_deinit(&p->classes.at[i].ids);
    sw_mem_free(p->classes.at[i].units);
    sw_route_prices_destroy(p->classes.at[i].routes);
  }
  sw_array_free(&p->classes);
  sw_dict_deinit(&p->by_shape);
}

sw_rc sw_prices_class(sw_prices *p, const sw_type *type, int32_t *out, sw_diag *d) {
  int64_t key[SW_MAX_RANK + 1] = {(int64_t)type->dtype};
  for (int i = 0; i < type->rank; i++) key[i + 1] = type->dims[i];
  int64_t *slot;
  bool fresh;
  SW_TRY(
      sw_dict_put(&p->by_shape, key, (size_t)(type->rank + 1) * sizeof *key, (int64_t)p->classes.n, &slot, &fresh, d));
  *out = (int32_t)*slot;
  return fresh ? sw_array_push(&p->classes, ((sw_shape_class){.type = *type}), d) : SW_OK;
}

sw_rc sw_prices_id(sw_prices *p, int32_t shape_class, const sw_sharding *s, int32_t *out, sw_diag *d) {
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
static sw_rc widen(sw_shape_class *c, sw_diag *d) {
  size_t side = c->shardings.n;
  int64_t *units;
  SW_MEM_NEW(units, side * side, d);
  for (size_t i = 0; i < side * side; i++) units[i] = -1;
  for (size_t i = 0; i < c->side; i++) {
    for (size_t j = 0; j < c->side; j++) units[i * side + j] = c->units[i * c->side + j];
  }
  sw_mem_free(c->units);
  c->units = units;
  c->side = side;
  return SW_OK;
}

sw_rc sw_prices_get(sw_prices *p, int32_t shape_class, int32_t from, int32_t to, int64_t *out, sw_diag *d) {
  sw_shape_class *c = &p->classes.at[shape_class];
  *out = 0;
  if (from == to) return SW_OK;
  if (c->side < c->shardings.n) SW_TRY(widen(c, d));
  int64_t *u = &c->units[(size_t)from * c->side + (size_t)to];
  if (*u < 0) {
    double s;
    if (!c->routes) {
      SW_TRY(sw_route_prices_make(p->machine, c->type.rank, c->type.dims, c->type.dtype, &c->routes, d));
    }
    SW_TRY(sw_route_prices_get(c->routes, &c->shardings.at[from], &c->shardings.at[to], &s, d));
    *u = isfinite(s) ? sw_cost_add(sw_cost_units(s), 1) : SW_FORBIDDEN; /* one more for being a step */
  }
  *out = *u;
  return SW_OK;
}
