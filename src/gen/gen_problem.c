/* Made-up selection problems (gen_problem.h).
 *
 * Example of the choices of a matrix on a 2 x 4 mesh: axis 0 cuts rows, columns or nothing, and so does axis 1: nine.
 * Going from "axis 0 cuts rows" to "axis 0 cuts nothing" gathers; the other way is a slice and free; from rows to
 * columns is an exchange.
 */
#include "gen/gen_problem.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/checked.h"
#include "shardwright/iopddl.h"

enum { AXES = 2, MOST_RANK = 3 };

typedef struct family {
  const char *name;
  int32_t tensors[2];   /* that decide: least and most */
  int32_t followers[2]; /* per tensor that decides, in a hundredth */
  int32_t weights;      /* of a hundred tensors */
} family;

static const family kFamilies[] = {
    {"small", {450, 650}, {20, 60}, 12},
    {"tied", {200, 700}, {4000, 14000}, 15},
    {"large", {30000, 60000}, {0, 0}, 4},
};

typedef struct tensor {
  int32_t rank;
  int64_t bytes;
  bool weight;
  int32_t mirror; /* the forward tensor that this backward one goes with; -1 */
  int64_t begin, end;
} tensor;

typedef struct maker {
  const family *f;
  sw_rng rng;
  sw_arena *arena;
  int32_t mesh[AXES];
  tensor *tensors;
  int32_t n; /* tensors that decide */
  SW_ARRAY(sw_node) nodes;
  SW_ARRAY(sw_edge) edges;
  SW_ARRAY(sw_usage) uses; /* one per node */
  sw_diag *d;
} maker;

static int64_t random_between(maker *m, int64_t lo, int64_t hi) { return lo + sw_rng_below(&m->rng, hi - lo + 1); }

static int32_t count_cut_choices(int32_t rank) { return (rank + 1) * (rank + 1); }
/* The dimension that the axis cuts; `rank` stands for none. */
static int32_t dim_of_cut(int32_t choice, int32_t rank, int axis) {
  return axis ? choice % (rank + 1) : choice / (rank + 1);
}

static int64_t count_shards(const maker *m, int32_t choice, int32_t rank) {
  int64_t n = 1;
  for (int a = 0; a < AXES; a++)
    if (dim_of_cut(choice, rank, a) < rank) n *= m->mesh[a];
  return n;
}

static void make_tensors(maker *m) {
  int32_t half = m->n / 2;
  for (int32_t i = 0; i < m->n; i++) {
    tensor *t = &m->tensors[i];
    *t = (tensor){.rank = (int32_t)random_between(m, 1, MOST_RANK), .mirror = -1, .begin = i, .end = i + 1};
    t->bytes = (int64_t)1 << random_between(m, 10, 22);
    t->bytes += (t->bytes >> 2) * random_between(m, 0, 2);
    if (i >= half && sw_rng_below(&m->rng, 3) == 0 &&
        i != m->n - 1 - i) { /* of a shape and cut with what the forward half made */
      t->mirror = m->n - 1 - i;
      t->rank = m->tensors[t->mirror].rank;
      t->bytes = m->tensors[t->mirror].bytes;
    }
    t->weight = i < half && sw_rng_below(&m->rng, 100) < m->f->weights;
    if (t->weight) t->bytes *= 4;
  }
}

/* Nanoseconds to go from a cut to another. `turn` renames the dimensions on the way, as a transpose does. */
static int64_t move_cost(const maker *m, const tensor *from, int32_t a, int32_t rank_b, int32_t b, int32_t turn) {
  int64_t sum = 0;
  for (int axis = 0; axis < AXES; axis++) {
    int32_t was = dim_of_cut(a, from->rank, axis), is = dim_of_cut(b, rank_b, axis), n = m->mesh[axis];
    if (was >= from->rank) continue;
    int32_t kept = (was + turn) % from->rank;
    if (kept == is) continue;
    int64_t part = from->bytes / count_shards(m, a, from->rank);
    sum += 2000 + (is >= rank_b ? part * (n - 1) : part * (n - 1) / n) / 20;
  }
  return sum;
}

static sw_rc connect_tensors(maker *m, int32_t i, int32_t j) {
  const tensor *from = &m->tensors[i];
  int32_t rank_b = m->tensors[j].rank, turn = (int32_t)random_between(m, 0, 3) == 0;
  int32_t rows = count_cut_choices(from->rank), cols = count_cut_choices(rank_b);
  int64_t *v;
  SW_ARENA_NEW(v, m->arena, rows * cols, m->d);
  for (int32_t a = 0; a < rows; a++)
    for (int32_t b = 0; b < cols; b++) v[a * cols + b] = move_cost(m, from, a, rank_b, b, turn);
  tensor *t = &m->tensors[i];
  if (t->end <= j) t->end = j + 1;
  return sw_array_push(&m->edges, ((sw_edge){i, j, v}), m->d);
}

/* Inputs: what came just before, sometimes something older, in the backward half also what the forward half made. */
static sw_rc connect(maker *m) {
  for (int32_t j = 1; j < m->n; j++) {
    if (m->tensors[j].weight) continue;
    if (sw_rng_below(&m->rng, 100) < 80) SW_TRY(connect_tensors(m, j - 1, j));
    if (sw_rng_below(&m->rng, 100) < 35) {
      int32_t back = (int32_t)random_between(m, 2, 2 + sw_min_i64(60, j));
      if (back <= j) SW_TRY(connect_tensors(m, j - back, j));
    }
    if (m->tensors[j].mirror >= 0) SW_TRY(connect_tensors(m, m->tensors[j].mirror, j));
  }
  return SW_OK;
}

static sw_rc add_problem_node(maker *m, int32_t n, const int64_t *cost, const int64_t *amount, int64_t begin,
                              int64_t end) {
  SW_TRY(sw_array_push(&m->nodes, ((sw_node){n, begin < end, cost, NULL}), m->d));
  return sw_array_push(&m->uses, ((sw_usage){begin, end, amount}), m->d);
}

static sw_rc add_tensor(maker *m, int32_t i) {
  const tensor *t = &m->tensors[i];
  int32_t n = count_cut_choices(t->rank), heavy = sw_rng_below(&m->rng, 4) == 0;
  int64_t *cost, *amount, work = heavy ? t->bytes * random_between(m, 1, 30) / 10 : 0;
  SW_ARENA_NEW_EACH(m->arena, n, m->d, cost, amount);
  int32_t summed = (int32_t)random_between(m, 0, t->rank - 1); /* cutting this dimension costs a sum over the axis */
  for (int32_t s = 0; s < n; s++) {
    int64_t shards = count_shards(m, s, t->rank);
    amount[s] = t->bytes / shards;
    cost[s] = work / shards;
    for (int a = 0; a < AXES; a++)
      if (heavy && dim_of_cut(s, t->rank, a) == summed) cost[s] += 3000 + t->bytes / shards * (m->mesh[a] - 1) / 10;
  }
  return add_problem_node(m, n, cost, amount, t->weight ? 0 : t->begin, t->weight ? m->n : t->end);
}

/* A node whose choice follows that of tensor i: fewer or as many choices, one allowed for each of the tensor's. */
static sw_rc add_follower(maker *m, int32_t i) {
  const tensor *t = &m->tensors[i];
  int32_t rows = count_cut_choices(t->rank), n = (int32_t)random_between(m, 1, rows);
  int64_t *cost, *amount, *v, bytes = t->bytes >> random_between(m, 0, 4), begin = random_between(m, 0, m->n - 1);
  SW_ARENA_NEW_EACH(m->arena, n, m->d, cost, amount);
  SW_ARENA_NEW(v, m->arena, rows * n, m->d);
  for (int32_t s = 0; s < rows; s++) {
    for (int32_t f = 0; f < n; f++) v[s * n + f] = f == s % n ? 0 : SW_FORBIDDEN;
    amount[s % n] = sw_max_i64(amount[s % n], bytes / count_shards(m, s, t->rank));
    if (sw_rng_below(&m->rng, 5) == 0) cost[s % n] = bytes / count_shards(m, s, t->rank) / 50;
  }
  int32_t me = (int32_t)m->nodes.n;
  SW_TRY(add_problem_node(m, n, cost, amount, begin, sw_min_i64(m->n, begin + random_between(m, 0, 12))));
  return sw_array_push(&m->edges, ((sw_edge){i, me, v}), m->d);
}

static sw_rc add_followers(maker *m) {
  for (int32_t i = 0; i < m->n; i++) {
    int64_t hundredths = random_between(m, m->f->followers[0], m->f->followers[1]), n = hundredths / 100;
    n += sw_rng_below(&m->rng, 100) < hundredths % 100;
    for (int64_t k = 0; k < n; k++) SW_TRY(add_follower(m, i));
  }
  return SW_OK;
}

/* 1.1 times the peak when every tensor takes its smallest cut and the others follow. */
static sw_rc set_limit(maker *m, sw_problem *out) {
  int64_t *change, now = 0, peak = 0;
  int32_t *chosen;
  SW_ARENA_NEW(change, m->arena, m->n + 2, m->d);
  SW_ARENA_NEW(chosen, m->arena, out->n_nodes, m->d);
  for (int32_t i = 0; i < m->n; i++)
    for (int32_t s = 0; s < out->nodes[i].n_choices; s++)
      if (out->nodes[i].uses->amount[s] < out->nodes[i].uses->amount[chosen[i]]) chosen[i] = s;
  for (int32_t e = 0; e < out->n_edges; e++)
    if (out->edges[e].j >= m->n)
      chosen[out->edges[e].j] = chosen[out->edges[e].i] % out->nodes[out->edges[e].j].n_choices;
  for (int32_t i = 0; i < out->n_nodes; i++) {
    const sw_usage *u = out->nodes[i].uses;
    if (out->nodes[i].n_uses == 0) continue;
    change[u->begin] += u->amount[chosen[i]];
    change[u->end] -= u->amount[chosen[i]];
  }
  for (int32_t t = 0; t <= m->n; t++) peak = sw_max_i64(peak, now += change[t]);
  out->limit = peak + peak / 10;
  return SW_OK;
}

static sw_rc finish_problem(maker *m, sw_problem *out) {
  sw_usage *uses = sw_arena_copy(m->arena, m->uses.at, m->uses.n, sizeof *uses, m->d);
  sw_node *nodes = sw_arena_copy(m->arena, m->nodes.at, m->nodes.n, sizeof *nodes, m->d);
  const sw_edge *edges = sw_arena_copy(m->arena, m->edges.at, m->edges.n, sizeof *edges, m->d);
  if (!uses || !nodes || !edges) return SW_E_RESOURCE;
  for (size_t i = 0; i < m->nodes.n; i++) nodes[i].uses = &uses[i];
  out->n_nodes = (int32_t)m->nodes.n;
  out->n_edges = (int32_t)m->edges.n;
  out->nodes = nodes;
  out->edges = edges;
  return set_limit(m, out);
}

static sw_rc make_random_problem(maker *m, sw_problem *out) {
  static const int32_t kMeshes[][AXES] = {{2, 16}, {4, 8}, {8, 8}, {2, 4}};
  memcpy(m->mesh, kMeshes[sw_rng_below(&m->rng, 4)], sizeof m->mesh);
  m->n = (int32_t)random_between(m, m->f->tensors[0], m->f->tensors[1]);
  SW_ARENA_NEW(m->tensors, m->arena, m->n, m->d);
  make_tensors(m);
  SW_TRY(connect(m));
  for (int32_t i = 0; i < m->n; i++) SW_TRY(add_tensor(m, i));
  SW_TRY(add_followers(m));
  return finish_problem(m, out);
}

bool sw_problem_family(const char *name, const char **family_out, uint64_t *seed) {
  for (size_t k = 0; k < sizeof kFamilies / sizeof kFamilies[0]; k++) {
    size_t n = strlen(kFamilies[k].name);
    char *end;
    if (strncmp(name, kFamilies[k].name, n) != 0 || name[n] != ':' || name[n + 1] < '0' || name[n + 1] > '9') continue;
    *family_out = kFamilies[k].name;
    *seed = strtoull(name + n + 1, &end, 10);
    return *end == 0;
  }
  return false;
}

sw_rc sw_problem_generate(const char *name, uint64_t seed, sw_arena *arena, sw_problem *out, sw_diag *d) {
  const family *f = NULL;
  for (size_t k = 0; k < sizeof kFamilies / sizeof kFamilies[0]; k++)
    if (strcmp(kFamilies[k].name, name) == 0) f = &kFamilies[k];
  if (!f) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "no family of problems '%s'; expected small, tied or large", name);
  maker m = {.f = f, .arena = arena, .d = d};
  sw_rng_seed(&m.rng, seed);
  *out = (sw_problem){.name = sw_arena_printf(arena, d, "%s:%llu", name, (unsigned long long)seed)};
  sw_rc rc = out->name ? make_random_problem(&m, out) : SW_E_RESOURCE;
  sw_array_free(&m.nodes);
  sw_array_free(&m.edges);
  sw_array_free(&m.uses);
  return rc;
}

sw_rc sw_problem_load(const char *name, sw_arena *arena, sw_problem *out, sw_diag *d) {
  const char *family_of;
  uint64_t seed;
  if (sw_problem_family(name, &family_of, &seed)) return sw_problem_generate(family_of, seed, arena, out, d);
  return sw_iopddl_read(name, arena, out, d);
}
