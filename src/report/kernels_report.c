/* Which ops run together, for people and as JSON. */
#include <string.h>

#include "base/columns.h"
#include "base/hash.h"
#include "io/json_write.h"
#include "shardwright/report.h"

/* Ops of every kernel: those of kernel k are member[first[k] .. first[k + 1]), in the order of the program. */
typedef struct listing {
  const sw_graph *g;
  const sw_kernels *k;
  int32_t *first;
  sw_id *member;
} listing;

static sw_rc list_kernels(const sw_graph *g, const sw_kernels *k, sw_arena *arena, listing *out, sw_diag *d) {
  *out = (listing){.g = g, .k = k};
  SW_ARENA_NEW(out->first, arena, k->n + 2, d);
  SW_ARENA_NEW(out->member, arena, g->n_ops + 1, d);
  for (sw_id i = 0; i < g->n_ops; i++) out->first[k->of[i] + 2]++;
  for (int32_t i = 0; i < k->n; i++) out->first[i + 2] += out->first[i + 1];
  for (sw_id i = 0; i < g->n_ops; i++) out->member[out->first[k->of[i] + 1]++] = i;
  return SW_OK;
}

/* Bytes that a kernel of the whole program on one device reads and writes. */
typedef struct traffic {
  double read, written;
} traffic;

static traffic traffic_of(const listing *l, int32_t kernel) {
  traffic t = {0};
  for (int32_t m = l->first[kernel]; m < l->first[kernel + 1]; m++) {
    const sw_op *op = &l->g->ops[l->member[m]];
    double read, written;
    sw_kernels_traffic(l->g, l->k, op, NULL, &read, &written);
    t.read += read;
    t.written += written;
  }
  return t;
}

static sw_id first_op(const listing *l, int32_t kernel) { return l->member[l->first[kernel]]; }
static int32_t count_kernel_ops(const listing *l, int32_t kernel) { return l->first[kernel + 1] - l->first[kernel]; }

static bool launches(const listing *l, int32_t kernel) {
  for (int32_t m = l->first[kernel]; m < l->first[kernel + 1]; m++)
    if (l->k->launches[l->member[m]]) return true;
  return false;
}

/* "exponential reduce divide", repeats in a row told once. */
static void put_opcodes(const listing *l, int32_t kernel, sw_text *out) {
  enum { MOST = 12 };
  sw_opcode last = SW_OP_COUNT;
  int shown = 0;
  for (int32_t m = l->first[kernel]; m < l->first[kernel + 1]; m++) {
    const sw_opcode code = l->g->ops[l->member[m]].code;
    if (code == last) continue;
    last = code;
    if (shown++ == MOST) sw_text_puts(out, " ...");
    if (shown <= MOST) sw_text_printf(out, shown > 1 ? " %s" : "%s", sw_opcode_text(code));
  }
}

/* Kernels that are told in one row. */
typedef struct alike {
  int32_t first, count;
} alike;

static sw_rc gather_alike(const listing *l, sw_dict *rows, alike *at, int32_t *n, sw_diag *d) {
  sw_text key = {0};
  sw_rc rc = SW_OK;
  for (int32_t i = 0; i < l->k->n && !rc; i++) {
    const traffic t = traffic_of(l, i);
    int64_t *slot;
    bool fresh;
    key.n = 0;
    put_opcodes(l, i, &key);
    sw_text_printf(&key, " %d %d %.17g %.17g", count_kernel_ops(l, i), l->k->why[first_op(l, i)], t.read, t.written);
    rc = key.rc ? SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory")
                : sw_dict_put(rows, key.at, key.n, *n, &slot, &fresh, d);
    if (rc) break;
    if (fresh) at[(*n)++] = (alike){i, 0};
    at[*slot].count++;
  }
  sw_text_free(&key);
  return rc;
}

static void put_kernel_summary(const listing *l, sw_text *out) {
  traffic all = {0};
  int32_t n_launches = 0, inside = 0, again = 0;
  for (int32_t i = 0; i < l->k->n; i++) {
    const traffic t = traffic_of(l, i);
    all.read += t.read;
    all.written += t.written;
    n_launches += launches(l, i);
  }
  for (sw_id v = 0; v < l->g->n_values; v++) {
    inside += l->k->keeping[v] == SW_KEPT_INSIDE;
    again += l->k->keeping[v] == SW_KEPT_AGAIN;
  }
  sw_text_printf(out, "%s: %d ops in %d kernels under '%s', %d launches; ", l->g->name, l->g->n_ops, l->k->n,
                 l->k->compiler, n_launches);
  sw_text_bytes(out, all.read);
  sw_text_puts(out, " read, ");
  sw_text_bytes(out, all.written);
  sw_text_printf(out, " written by one device alone; of %d values %d stay inside, %d are made again\n\n",
                 l->g->n_values, inside, again);
}

static void put_kernel_rows(const listing *l, const alike *at, int32_t n, sw_text *out) {
  sw_columns c = {.n = 7, .right = {false, true, true, true, true, false, false}};
  static const char *const kHeads[] = {"first op", "kernels", "ops", "reads", "writes", "what", "why alone"};
  for (size_t i = 0; i < sizeof kHeads / sizeof *kHeads; i++) sw_columns_add(&c, "%s", kHeads[i]);
  for (int32_t i = 0; i < n; i++) {
    const int32_t kernel = at[i].first;
    const traffic t = traffic_of(l, kernel);
    sw_text what = {0};
    put_opcodes(l, kernel, &what);
    sw_columns_add(&c, "%s", l->g->ops[first_op(l, kernel)].name);
    sw_columns_add(&c, "%d", at[i].count);
    sw_columns_add(&c, "%d", count_kernel_ops(l, kernel));
    sw_columns_add_bytes(&c, t.read);
    sw_columns_add_bytes(&c, t.written);
    sw_columns_add(&c, "%s", sw_text_str(&what));
    sw_columns_add(&c, "%s", sw_apart_text((sw_apart)l->k->why[first_op(l, kernel)]));
    sw_text_free(&what);
  }
  sw_columns_print(&c, 0, out);
}

sw_rc sw_kernels_table(const sw_graph *g, const sw_kernels *k, sw_arena *arena, sw_text *out, sw_diag *d) {
  listing l;
  alike *at;
  int32_t n = 0;
  sw_dict rows = {0};
  SW_TRY(list_kernels(g, k, arena, &l, d));
  SW_ARENA_NEW(at, arena, k->n + 1, d);
  sw_rc rc = gather_alike(&l, &rows, at, &n, d);
  sw_dict_deinit(&rows);
  if (rc) return rc;
  put_kernel_summary(&l, out);
  put_kernel_rows(&l, at, n, out);
  return SW_OK;
}

sw_rc sw_kernels_json(const sw_graph *g, const sw_kernels *k, sw_arena *arena, sw_text *out, sw_diag *d) {
  listing l;
  SW_TRY(list_kernels(g, k, arena, &l, d));
  sw_json_out o;
  sw_json_out_init(&o, out);
  sw_jw_format(&o, "kernels", 1);
  sw_jw_string(&o, "model", g->name);
  sw_jw_string(&o, "compiler", k->compiler);
  sw_jw_array(&o, "kernels");
  for (int32_t i = 0; i < k->n; i++) {
    const traffic t = traffic_of(&l, i);
    sw_jw_object_row(&o, NULL);
    sw_jw_bool(&o, "launch", launches(&l, i));
    sw_jw_f64(&o, "read_bytes", t.read);
    sw_jw_f64(&o, "written_bytes", t.written);
    const char *why = sw_apart_text((sw_apart)k->why[first_op(&l, i)]);
    if (*why) sw_jw_string(&o, "why_alone", why);
    sw_jw_array(&o, "ops");
    for (int32_t m = l.first[i]; m < l.first[i + 1]; m++) sw_jw_string(&o, NULL, g->ops[l.member[m]].name);
    sw_jw_end(&o);
    sw_jw_end(&o);
  }
  sw_jw_end(&o);
  sw_jw_end(&o);
  return SW_OK;
}
