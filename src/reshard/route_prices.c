/* Prices asked pair by pair: each is searched for once per shape. */
#include <string.h>

#include "shardwright/reshard.h"
#include "base/array.h"
#include "base/hash.h"

typedef struct shape {
  int rank;
  sw_dtype dtype;
  int64_t dims[SW_MAX_RANK];
} shape;

struct sw_route_prices {
  const sw_machine *machine;
  SW_ARRAY(shape) shapes;
  SW_ARRAY(double) costs_s;
  sw_dict by_shape, by_pair; /* numbers of shapes; places in costs_s */
};

sw_rc sw_route_prices_make(const sw_machine *machine, sw_route_prices **out, sw_diag *d) {
  SW_MEM_NEW(*out, 1, d);
  (*out)->machine = machine;
  return SW_OK;
}

void sw_route_prices_destroy(sw_route_prices *p) {
  if (!p) return;
  sw_array_free(&p->shapes);
  sw_array_free(&p->costs_s);
  sw_dict_deinit(&p->by_shape);
  sw_dict_deinit(&p->by_pair);
  sw_mem_free(p);
}

sw_rc sw_route_prices_shape(sw_route_prices *p, int rank, const int64_t *dims, sw_dtype t, int32_t *out, sw_diag *d) {
  shape s = {.rank = rank, .dtype = t};
  int64_t *number;
  memcpy(s.dims, dims, (size_t)rank * sizeof *dims);
  SW_TRY(sw_dict_put(&p->by_shape, &s, sizeof s, -1, &number, NULL, d));
  if (*number < 0) {
    SW_TRY(sw_array_push(&p->shapes, s, d));
    *number = (int64_t)p->shapes.n - 1;
  }
  *out = (int32_t)*number;
  return SW_OK;
}

sw_rc sw_route_prices_get(sw_route_prices *p, int32_t shape_at, const sw_sharding *from, const sw_sharding *to,
                          double *cost_s, sw_diag *d) {
  const shape *s = &p->shapes.at[shape_at];
  const sw_reshard wanted = {p->machine, from, to, s->rank, s->dims, sw_sharding_moved_as(from, to, s->dtype), {0}};
  sw_text key = {0};
  int64_t *place;
  sw_text_printf(&key, "%d:", (int)shape_at);
  sw_sharding_key(from, &key);
  sw_sharding_key(to, &key);
  sw_rc rc = key.rc ? SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory")
                    : sw_dict_put(&p->by_pair, key.at, key.n, -1, &place, NULL, d);
  sw_text_free(&key);
  if (!rc && *place < 0) {
    rc = sw_array_push(&p->costs_s, sw_route_cost_s(&wanted), d);
    if (!rc) *place = (int64_t)p->costs_s.n - 1;
  }
  if (!rc) *cost_s = p->costs_s.at[*place];
  return rc;
}
