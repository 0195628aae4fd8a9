/* Prices asked pair by pair: each is searched for once per shape. */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "reshard/least.h"
#include "shardwright/reshard.h"

typedef struct shape {
  bool combines;
  int rank;
  sw_dtype dtype;
  int64_t dims[SW_MAX_RANK];
} shape;

struct sw_route_prices {
  const sw_machine *machine[2]; /* by whether collectives are parts of calls, as the next */
  const sw_route_floors *floors[2];
  SW_ARRAY(shape) shapes;
  SW_ARRAY(double) costs_s;
  sw_dict by_shape, by_pair; /* numbers of shapes; places in costs_s, -1: not searched for yet */
  sw_text key;
  sw_arena mem;
};

sw_rc sw_route_prices_make(const sw_machine *machine, sw_route_prices **out, sw_diag *d) {
  sw_route_prices *p;
  SW_MEM_NEW(p, 1, d);
  p->machine[0] = machine;
  p->machine[1] = sw_machine_combining(machine);
  sw_rc rc = SW_OK;
  for (int i = 0; i < 2 && !rc; i++) rc = sw_route_floors_make(p->machine[i], &p->mem, &p->floors[i], d);
  if (rc) sw_route_prices_destroy(p);
  if (!rc) *out = p;
  return rc;
}

void sw_route_prices_destroy(sw_route_prices *p) {
  if (!p) return;
  sw_array_free(&p->shapes);
  sw_array_free(&p->costs_s);
  sw_dict_deinit(&p->by_shape);
  sw_dict_deinit(&p->by_pair);
  sw_text_free(&p->key);
  sw_arena_deinit(&p->mem);
  sw_mem_free(p);
}

const sw_route_floors *sw_route_prices_floors(const sw_route_prices *p, bool combines) { return p->floors[combines]; }

sw_rc sw_route_prices_shape(sw_route_prices *p, bool combines, int rank, const int64_t *dims, sw_dtype t, int32_t *out,
                            sw_diag *d) {
  shape s;
  int64_t *number;
  memset(&s, 0, sizeof s); /* it is a key, padding included */
  s.combines = combines;
  s.rank = rank;
  s.dtype = t;
  memcpy(s.dims, dims, (size_t)rank * sizeof *dims);
  SW_TRY(sw_dict_put(&p->by_shape, &s, sizeof s, -1, &number, NULL, d));
  if (*number < 0) {
    SW_TRY(sw_array_push(&p->shapes, s, d));
    *number = (int64_t)p->shapes.n - 1;
  }
  *out = (int32_t)*number;
  return SW_OK;
}

static bool is_more_than(const sw_route_prices *p, const shape *s, const sw_sharding *from, const sw_sharding *to,
                         double enough) {
  const double kRounding = 1e-9;
  return enough < HUGE_VAL &&
         sw_route_least_between_s(p->floors[s->combines], from, to, s->rank, s->dims, s->dtype) * (1 - kRounding) >
             enough;
}

sw_rc sw_route_prices_get(sw_route_prices *p, int32_t shape_at, const sw_sharding *from, const sw_sharding *to,
                          double enough, double *cost_s, sw_diag *d) {
  const shape *s = &p->shapes.at[shape_at];
  int64_t *place;
  *cost_s = 0;
  if (sw_sharding_equal(from, to)) return SW_OK;
  p->key.n = 0;
  sw_text_append(&p->key, (const char *)&shape_at, sizeof shape_at);
  sw_sharding_key(from, &p->key);
  sw_sharding_key(to, &p->key);
  if (p->key.rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  SW_TRY(sw_dict_put(&p->by_pair, p->key.at, p->key.n, -1, &place, NULL, d));
  *cost_s = HUGE_VAL;
  if (*place < 0 && is_more_than(p, s, from, to, enough)) return SW_OK;
  if (*place < 0) {
    const sw_reshard wanted = {
        p->machine[s->combines], from, to, s->rank, s->dims, sw_sharding_moved_as(from, to, s->dtype), {0}};
    SW_TRY(sw_array_push(&p->costs_s, sw_route_cost_s(&wanted), d));
    *place = (int64_t)p->costs_s.n - 1;
  }
  *cost_s = p->costs_s.at[*place];
  return SW_OK;
}
