/* Checkpoints around loops, folded back: random programs of whole numbers in which a later loop makes again what a loop
 * of an earlier one has made, and more, as jax.checkpoint around a scan writes it; and near misses, in which it makes
 * something else. Folded, and with what each policy makes again, they give the same bits. */
#include "check.h"

#include "shardwright/exec.h"
#include "shardwright/program.h"
#include "shardwright/schedule.h"
#include "shardwright/validate.h"

#define SCALAR "tensor<i32>"
enum { MOST_SLOTS = 16, SIDE = 3, MOST_OPS = 9, GIVEN = 5, MOST_CARRIED = 2 };

/* --- text --------------------------------------------------------------------------------------------------------- */

typedef struct name {
  char at[24];
} name;

/* What a loop carries, or only reads: then `next` is as it came. */
typedef struct slot {
  name init, next;
  int lead[3], n_lead; /* dims before those of a square; -1: the counter */
} slot;

typedef struct loop {
  char id[8];
  int first, end, n;
  slot at[MOST_SLOTS];
} loop;

static name named(const char *format, const char *id, int k) {
  name s;
  assert_true(snprintf(s.at, sizeof s.at, format, id, k) < (int)sizeof s.at);
  return s;
}
#define ID(id, k) named("%%%s_%d", id, k)

static void put_type(sw_text *t, const int *lead, int n) {
  sw_text_puts(t, n < 0 ? SCALAR : "tensor<");
  for (int k = 0; k < n; k++) sw_text_printf(t, "%dx", lead[k]);
  if (n >= 0) sw_text_printf(t, "%dx%dxi32>", SIDE, SIDE);
}

static void put_square(sw_text *t) { put_type(t, NULL, 0); }

static name add_slot(loop *l, name init, const int *lead, int n) {
  slot *s = &l->at[l->n];
  assert_true(l->n < MOST_SLOTS);
  *s = (slot){.init = init, .n_lead = n};
  for (int k = 0; k < n; k++) s->lead[k] = lead[k];
  return s->next = ID(l->id, l->n++);
}
static name result(const loop *l, int k) { return named("%%%s#%d", l->id, k); }

static void put_slot_types(sw_text *t, const loop *l) {
  sw_text_puts(t, " : ");
  for (int k = 0; k < l->n; k++) {
    sw_text_puts(t, k ? ", " : "");
    put_type(t, l->at[k].lead, l->at[k].n_lead);
  }
}

static void put_number(sw_text *t, name to, int x) {
  sw_text_printf(t, "%s = stablehlo.constant dense<%d> : " SCALAR "\n", to.at, x);
}

static name zero_of(const char *id) { return named("%%%s_zero%d", id, 0); }

/* Slot 0 is the counter, whose first value is put before. */
static void put_head(sw_text *t, loop *l) {
  put_number(t, l->at[0].init, l->first);
  sw_text_printf(t, "%%%s:%d = stablehlo.while(", l->id, l->n);
  for (int k = 0; k < l->n; k++) sw_text_printf(t, "%s%s = %s", k ? ", " : "", ID(l->id, k).at, l->at[k].init.at);
  sw_text_puts(t, ")");
  put_slot_types(t, l);
  sw_text_printf(t,
                 "\ncond {\n%%%s_n = stablehlo.constant dense<%d> : " SCALAR
                 "\n%%%s_c = stablehlo.compare LT, %%%s_0, %%%s_n : (" SCALAR ", " SCALAR
                 ") -> tensor<i1>\nstablehlo.return %%%s_c : tensor<i1>\n} do {\n",
                 l->id, l->end, l->id, l->id, l->id, l->id);
  put_number(t, zero_of(l->id), 0);
}

static void put_tail(sw_text *t, loop *l) {
  l->at[0].next = ID(l->id, 99);
  sw_text_printf(t,
                 "%%%s_one = stablehlo.constant dense<1> : " SCALAR "\n%s = stablehlo.add %%%s_0, %%%s_one : " SCALAR
                 "\nstablehlo.return ",
                 l->id, l->at[0].next.at, l->id, l->id);
  for (int k = 0; k < l->n; k++) sw_text_printf(t, "%s%s", k ? ", " : "", l->at[k].next.at);
  put_slot_types(t, l);
  sw_text_puts(t, "\n}\n");
}

static loop open_loop(const char *id, int trips) {
  loop l = {.end = trips};
  (void)snprintf(l.id, sizeof l.id, "%s", id);
  add_slot(&l, named("%%%s_first%d", id, 0), NULL, -1);
  return l;
}

/* The index of the trip, from the other end of `n` if it is turned. */
static name put_index(sw_text *t, const loop *l, bool turned, int n, int number) {
  const name at = named("%%%s_at%d", l->id, number), last = named("%%%s_last%d", l->id, number);
  if (!turned) return ID(l->id, 0);
  put_number(t, last, n - 1);
  sw_text_printf(t, "%s = stablehlo.subtract %s, %%%s_0 : " SCALAR "\n", at.at, last.at, l->id);
  return at;
}

static void put_indices(sw_text *t, name at, const char *id, int n) {
  sw_text_printf(t, ", %s", at.at);
  for (int k = 0; k < n; k++) sw_text_printf(t, ", %s", zero_of(id).at);
}

static void put_index_types(sw_text *t, int n) {
  for (int k = 0; k <= n; k++) sw_text_puts(t, ", " SCALAR);
}

/* lead: of what is stacked. */
static name put_taken(sw_text *t, const char *id, int number, name from, name at, const int *lead, int n) {
  const name to = named("%%%s_t%d", id, number);
  int one[3] = {1};
  for (int k = 1; k < n; k++) one[k] = lead[k];
  sw_text_printf(t, "%s_ = stablehlo.dynamic_slice %s", to.at, from.at);
  put_indices(t, at, id, n + 1);
  sw_text_puts(t, ", sizes = [1");
  for (int k = 1; k < n; k++) sw_text_printf(t, ", %d", lead[k]);
  sw_text_printf(t, ", %d, %d] : (", SIDE, SIDE);
  put_type(t, lead, n);
  put_index_types(t, n + 1);
  sw_text_puts(t, ") -> ");
  put_type(t, one, n);
  sw_text_printf(t, "\n%s = stablehlo.reshape %s_ : (", to.at, to.at);
  put_type(t, one, n);
  sw_text_puts(t, ") -> ");
  put_type(t, lead + 1, n - 1);
  sw_text_puts(t, "\n");
  return to;
}

static name put_stacked(sw_text *t, const char *id, int number, name stack, name x, name at, const int *lead, int n) {
  const name to = named("%%%s_u%d", id, number);
  int one[3] = {1};
  for (int k = 1; k < n; k++) one[k] = lead[k];
  sw_text_printf(t, "%s_ = stablehlo.reshape %s : (", to.at, x.at);
  put_type(t, lead + 1, n - 1);
  sw_text_puts(t, ") -> ");
  put_type(t, one, n);
  sw_text_printf(t, "\n%s = stablehlo.dynamic_update_slice %s, %s_", to.at, stack.at, to.at);
  put_indices(t, at, id, n + 1);
  sw_text_puts(t, " : (");
  put_type(t, lead, n);
  sw_text_puts(t, ", ");
  put_type(t, one, n);
  put_index_types(t, n + 1);
  sw_text_puts(t, ") -> ");
  put_type(t, lead, n);
  sw_text_puts(t, "\n");
  return to;
}

/* Of one number, in all elements. */
static name put_splat(sw_text *t, name to, int x, const int *lead, int n) {
  sw_text_printf(t,
                 "%s_ = stablehlo.constant dense<%d> : " SCALAR
                 "\n%s = stablehlo.broadcast_in_dim %s_, dims = [] : (" SCALAR ") -> ",
                 to.at, x, to.at, to.at);
  put_type(t, lead, n);
  sw_text_puts(t, "\n");
  return to;
}

static name put_two(sw_text *t, name to, const char *code, name a, name b) {
  const bool dot = strcmp(code, "dot_general") == 0;
  sw_text_printf(t, "%s = stablehlo.%s %s, %s", to.at, code, a.at, b.at);
  sw_text_puts(t, dot ? ", contracting_dims = [1] x [0] : (" : " : ");
  put_square(t);
  if (dot) sw_text_puts(t, ", ");
  if (dot) put_square(t);
  if (dot) sw_text_puts(t, ") -> ");
  if (dot) put_square(t);
  sw_text_puts(t, "\n");
  return to;
}

/* --- what is made --------------------------------------------------------------------------------------------------
 */

/* How what is made again differs from what was made; of these WHERE_SAME are the same in other words. */
typedef enum miss {
  NO_MISS,
  OTHER_READER, /* what the first loop gave is read later, too */
  OTHER_ORDER,  /* of what the loop carries */
  WHERE_SAME,
  OTHER_OP = WHERE_SAME,
  OTHER_OPERAND,
  OTHER_CONSTANT,
  OTHER_YIELD,
  OTHER_START,
  OTHER_TRIPS,
  OTHER_FIRST,  /* trip */
  OTHER_SLICE,  /* of the weights, in each trip */
  OTHER_INSIDE, /* of the loop in the loop, if there is one */
  OTHER_BEFORE, /* what stands before the loop does something else */
  OTHER_TRIP_OF_WEIGHTS,
  OTHER_TRIP_OF_KEPT,
  OTHER_PLACE, /* the earlier loop puts what it hands on where others look for another trip's */
  FEWER_TRIPS, /* of the loop around the earlier one: the later one reads what nobody has put there */
  UPDATED,     /* the weights, before they are read again */
  DRAWN,       /* of random numbers */
  MISSES
} miss;

typedef struct body_op {
  int code, a, b;
} body_op;
static const char *const kCodes[] = {"add", "subtract", "xor", "dot_general", "maximum", "multiply"};
enum { CODES = 6, DOT = 3 };

/* Ops on values: GIVEN ones, then the results of ops. */
typedef struct body {
  int n_ops, n_carried, constant, yields[MOST_CARRIED];
  body_op op[MOST_OPS];
  bool turned, draws, stacks_first; /* the slice of the weights is taken from the other end */
  int n_layers, first, end;         /* of a loop */
  int n_inside, inside, trips;      /* of a loop in it: what is stacked of it, its op, its trips; 0: none */
} body;

static int random_value(sw_rng *r, int below) { return (int)sw_rng_below(r, below); }

static body random_body(sw_rng *r, int most_ops) {
  body b = {.n_ops = 2 + (int)sw_rng_below(r, most_ops - 1), .n_carried = 1 + (int)sw_rng_below(r, MOST_CARRIED)};
  b.constant = 3 + (int)sw_rng_below(r, 50);
  for (int k = 0; k < b.n_ops; k++)
    b.op[k] = (body_op){(int)sw_rng_below(r, CODES), random_value(r, GIVEN + k), random_value(r, GIVEN + k)};
  b.op[0] = (body_op){DOT, 0, 2};
  b.op[b.n_ops - 1].a = GIVEN + (int)sw_rng_below(r, b.n_ops - 1); /* the last op is of others */
  b.yields[0] = GIVEN + b.n_ops - 1;
  b.yields[1] = sw_rng_below(r, 4) ? GIVEN + random_value(r, b.n_ops - 1) : random_value(r, 2);
  return b;
}

static void put_body_ops(sw_text *t, const char *id, const body *b, name *v) {
  for (int k = 0; k < b->n_ops; k++) {
    const name to = named("%%%s_v%d", id, GIVEN + k);
    v[GIVEN + k] = put_two(t, to, kCodes[b->op[k].code], v[b->op[k].a], v[b->op[k].b]);
  }
}

static name put_drawn(sw_text *t, const char *id, name x) {
  const name u = named("%%%s_drawn%d", id, 0), limit = named("%%%s_limit%d", id, 0), to = named("%%%s_drawn%d", id, 1);
  put_number(t, limit, 1000);
  sw_text_printf(t,
                 "%s_shape = stablehlo.constant dense<%d> : tensor<2xi64>\n%s = stablehlo.rng %s, %s, %s_shape, "
                 "distribution = UNIFORM : (" SCALAR ", " SCALAR ", tensor<2xi64>) -> ",
                 u.at, SIDE, u.at, zero_of(id).at, limit.at, u.at);
  put_square(t);
  sw_text_puts(t, "\n");
  return put_two(t, to, "add", u, x);
}

/* What a loop over layers begins with, and which values of its body it stacks. */
typedef struct layers_of {
  name weights, read, start[MOST_CARRIED];
  int n_stacked, stacked[MOST_OPS];
} layers_of;

/* A loop in the loop, on what is carried. */
static loop put_inside(sw_text *t, const char *id, const body *b, name x, name read, bool stacked) {
  loop l = open_loop(id, b->trips);
  add_slot(&l, x, NULL, 0);
  add_slot(&l, read, NULL, 0);
  if (stacked) add_slot(&l, put_splat(t, named("%%%s_e%d", id, 0), 0, &b->n_inside, 1), &b->n_inside, 1);
  put_head(t, &l);
  const name y = put_two(t, named("%%%s_v%d", id, 0), kCodes[DOT], ID(id, 1), ID(id, 2));
  l.at[1].next = put_two(t, named("%%%s_v%d", id, 1), kCodes[b->inside], y, ID(id, 2));
  if (stacked) l.at[3].next = put_stacked(t, id, 0, ID(id, 3), y, ID(id, 0), &b->n_inside, 1);
  put_tail(t, &l);
  return l;
}

static loop put_layers(sw_text *t, const char *id, const body *b, const layers_of *of) {
  loop l = open_loop(id, b->end);
  name v[GIVEN + MOST_OPS], entered[GIVEN], stacks[MOST_OPS];
  const int all[2] = {b->n_layers, b->n_inside};
  l.first = b->first;
  if (b->stacks_first)
    for (int k = 0; k < of->n_stacked; k++)
      stacks[k] = add_slot(&l, put_splat(t, named("%%%s_e%d", id, k), 0, all, 1), all, 1);
  entered[2] = add_slot(&l, of->weights, all, 1);
  entered[3] = add_slot(&l, of->read, NULL, 0);
  const int carried = l.n;
  for (int k = 0; k < b->n_carried; k++) entered[k] = add_slot(&l, of->start[k], NULL, 0);
  const int stacked = b->stacks_first ? 1 : l.n;
  if (!b->stacks_first)
    for (int k = 0; k < of->n_stacked; k++)
      stacks[k] = add_slot(&l, put_splat(t, named("%%%s_e%d", id, k), 0, all, 1), all, 1);
  const name deep = b->n_inside ? put_splat(t, named("%%%s_e%d", id, MOST_OPS), 0, all, 2) : l.at[0].init;
  const name deeper = b->n_inside && of->n_stacked ? add_slot(&l, deep, all, 2) : deep;
  put_head(t, &l);
  const name at = put_index(t, &l, false, all[0], 0), slice = b->turned ? put_index(t, &l, true, all[0], 1) : at;
  v[4] = put_splat(t, named("%%%s_k%d", id, 0), b->constant, NULL, 0);
  v[0] = entered[0];
  v[1] = b->n_carried > 1 ? entered[1] : v[4];
  v[2] = put_taken(t, id, 0, entered[2], slice, all, 1);
  v[3] = b->draws ? put_drawn(t, id, entered[3]) : entered[3];
  put_body_ops(t, id, b, v);
  for (int k = 0; k < b->n_carried; k++) l.at[carried + k].next = v[b->yields[k]];
  for (int k = 0; k < of->n_stacked; k++)
    l.at[stacked + k].next = put_stacked(t, id, k, stacks[k], v[of->stacked[k]], at, all, 1);
  if (b->n_inside) {
    const loop in = put_inside(t, of->n_stacked ? "ai" : "oi", b, l.at[carried].next, v[3], of->n_stacked > 0);
    l.at[carried].next = result(&in, 1);
    if (of->n_stacked) l.at[l.n - 1].next = put_stacked(t, id, MOST_OPS, deeper, result(&in, 3), at, all, 2);
  }
  put_tail(t, &l);
  return l;
}

/* --- a program -----------------------------------------------------------------------------------------------------
 */

typedef struct program {
  sw_text *t;
  miss miss;
  bool turned;         /* the loop around the later loop goes backward */
  int n_around, order; /* so many loops around each; of what these hand on */
  int n_outer, n_groups, n_layers, start[MOST_CARRIED], read, n_stacked, stacked[MOST_OPS];
  int kept; /* a value before the loop that is handed on, too; < 0: none */
  body before, again_before, once, again;
} program;

static void differ(program *p, sw_rng *r) {
  body *b = &p->again, *before = &p->again_before;
  body_op *op = &b->op[sw_rng_below(r, b->n_ops)];
  const int by = 1 + (int)sw_rng_below(r, CODES - 1);
  if (p->miss == OTHER_ORDER) b->stacks_first = true;
  if (p->miss == OTHER_OP) op->code = (op->code + by) % CODES;
  if (p->miss == OTHER_OPERAND) op->b = (int)sw_rng_below(r, GIVEN + (op - b->op));
  if (p->miss == OTHER_CONSTANT) b->constant++;
  if (p->miss == OTHER_YIELD) b->yields[sw_rng_below(r, b->n_carried)] = (int)sw_rng_below(r, GIVEN + b->n_ops);
  if (p->miss == OTHER_TRIPS) b->end--;
  if (p->miss == OTHER_FIRST) b->first++;
  if (p->miss == OTHER_SLICE) b->turned = true;
  if (p->miss == OTHER_INSIDE && sw_rng_below(r, 2))
    b->trips--;
  else if (p->miss == OTHER_INSIDE)
    b->inside = (b->inside + by) % CODES;
  if (p->miss == OTHER_BEFORE && sw_rng_below(r, 2))
    before->constant++;
  else if (p->miss == OTHER_BEFORE)
    before->op[0].code = (DOT + by) % CODES;
  if (p->miss == DRAWN) b->draws = p->once.draws = true;
}

static program random_program(sw_rng *r, sw_text *t) {
  program p = {.t = t, .turned = sw_rng_below(r, 2)};
  static const int kAround[] = {0, 1, 1, 1, 2, 2};
  p.n_around = kAround[sw_rng_below(r, 6)];
  p.order = (int)sw_rng_below(r, 3);
  p.n_outer = 2 + (int)sw_rng_below(r, 2);
  p.n_groups = 2 + (int)sw_rng_below(r, 2);
  p.n_layers = 2 + (int)sw_rng_below(r, 3);
  p.miss = sw_rng_below(r, 3) ? (miss)sw_rng_below(r, MISSES) : NO_MISS;
  p.before = random_body(r, 4);
  p.once = random_body(r, MOST_OPS);
  p.once.n_layers = p.once.end = p.n_layers;
  p.once.n_inside = p.once.trips = sw_rng_below(r, 3) ? 0 : 2 + (int)sw_rng_below(r, 2);
  p.once.inside = (int)sw_rng_below(r, CODES);
  p.start[0] = GIVEN * (int)sw_rng_below(r, 2); /* of what is handed on */
  p.start[1] = random_value(r, GIVEN + p.before.n_ops);
  p.read = random_value(r, GIVEN + p.before.n_ops);
  p.kept = sw_rng_below(r, 2) ? random_value(r, GIVEN + p.before.n_ops) : -1;
  for (int k = 0; k < GIVEN + p.once.n_ops && p.n_stacked < MOST_CARRIED + 2; k++)
    if (sw_rng_below(r, 3) == 0 || k == GIVEN + p.once.n_ops - 1) p.stacked[p.n_stacked++] = k;
  p.again = p.once;
  p.again_before = p.before;
  differ(&p, r);
  return p;
}

/* What stands before the loop. */
static void put_before(program *p, const char *id, const body *b, name x, name bias, name *v) {
  v[0] = v[2] = x;
  v[1] = v[3] = bias;
  v[4] = put_splat(p->t, named("%%%s_k%d", id, 0), b->constant, NULL, 0);
  put_body_ops(p->t, id, b, v);
}

/* What is handed on: values of before, and what the loop gave. */
typedef struct handed {
  name x, kept, made;
} handed;

static name put_group(program *p, const char *id, name x, name bias, name weights, handed *out) {
  name v[GIVEN + MOST_OPS];
  put_before(p, id, &p->before, x, bias, v);
  const layers_of of = {.weights = weights, .read = v[p->read], .start = {v[p->start[0]], v[p->start[1]]}};
  const loop l = put_layers(p->t, "o", &p->once, &of);
  *out = (handed){x, p->kept < 0 ? x : v[p->kept], result(&l, l.n - p->once.n_carried)};
  const name y = put_two(p->t, named("%%%s_y%d", id, 0), "add", out->made, v[GIVEN]);
  return put_two(p->t, named("%%%s_y%d", id, 1), "xor", y, result(&l, l.n - 1));
}

static layers_of put_barrier(program *p, const char *id, const layers_of *of) {
  layers_of out = *of;
  name *const at[] = {&out.read, &out.start[0], &out.start[1]};
  sw_text_printf(p->t, "%%%s_b:4 = stablehlo.optimization_barrier %s", id, of->weights.at);
  for (int k = 0; k < 3; k++) {
    sw_text_printf(p->t, ", %s", at[k]->at);
    *at[k] = named("%%%s_b#%d", id, k + 1);
  }
  out.weights = named("%%%s_b#%d", id, 0);
  sw_text_puts(p->t, " : ");
  put_type(p->t, &p->n_layers, 1);
  for (int k = 0; k < 3; k++) {
    sw_text_puts(p->t, ", ");
    put_square(p->t);
  }
  sw_text_puts(p->t, "\n");
  return out;
}

static name put_inside_back(sw_text *t, const body *b, name g, name stack) {
  loop l = open_loop("di", b->trips);
  add_slot(&l, g, NULL, 0);
  add_slot(&l, stack, &b->n_inside, 1);
  put_head(t, &l);
  const name at = put_index(t, &l, true, b->trips, 0);
  l.at[1].next = put_two(t, named("%%%s_v%d", "di", 0), "xor", ID("di", 1),
                         put_taken(t, "di", 0, ID("di", 2), at, &b->n_inside, 1));
  put_tail(t, &l);
  return result(&l, 1);
}

/* The loop that goes backward through what `again` stacked. */
static name put_layers_back(program *p, name g, name weights, const loop *again) {
  loop l = open_loop("d", p->again.end);
  name stacks[MOST_OPS];
  const int deep[2] = {p->n_layers, p->again.n_inside}, last = again->n - 1;
  const int first = p->again.stacks_first ? 1 : again->n - p->n_stacked - (deep[1] > 0);
  const name w = add_slot(&l, weights, &p->n_layers, 1), x = add_slot(&l, g, NULL, 0);
  for (int k = 0; k < p->n_stacked; k++) stacks[k] = add_slot(&l, result(again, first + k), &p->n_layers, 1);
  const name deeper = deep[1] ? add_slot(&l, result(again, last), deep, 2) : g;
  put_head(p->t, &l);
  const name at = put_index(p->t, &l, true, p->again.end, 0);
  name y = put_two(p->t, named("%%%s_g%d", "d", 0), kCodes[DOT], x, put_taken(p->t, "d", 0, w, at, &p->n_layers, 1));
  for (int k = 0; k < p->n_stacked; k++)
    y = put_two(p->t, named("%%%s_g%d", "d", k + 1), kCodes[k % 4], y,
                put_taken(p->t, "d", k + 1, stacks[k], at, &p->n_layers, 1));
  if (deep[1]) y = put_inside_back(p->t, &p->again, y, put_taken(p->t, "d", MOST_OPS, deeper, at, deep, 2));
  l.at[2].next = put_two(p->t, named("%%%s_h%d", "d", 0), "add", y, x);
  put_tail(p->t, &l);
  return result(&l, 2);
}

static name put_group_back(program *p, const char *id, name g, name bias, name weights, const handed *had) {
  name v[GIVEN + MOST_OPS];
  put_before(p, id, &p->again_before, had->x, bias, v);
  if (p->kept >= 0) v[p->kept] = had->kept;
  if (p->miss == UPDATED) weights = put_stacked(p->t, id, 9, weights, v[GIVEN], zero_of(id), &p->n_layers, 1);
  const int other = p->miss == OTHER_START;
  const layers_of of = {.weights = weights, .read = v[p->read], .start = {v[p->start[other]], v[p->start[1]]}};
  layers_of behind = put_barrier(p, id, &of);
  behind.n_stacked = p->n_stacked;
  memcpy(behind.stacked, p->stacked, sizeof p->stacked);
  const loop l = put_layers(p->t, "a", &p->again, &behind);
  const name y = put_layers_back(p, g, behind.weights, &l);
  return put_two(p->t, named("%%%s_z%d", id, 0), "add", y, g);
}

enum { HANDED = 3 };

static loop put_forward(program *p, name x, name bias, name weights) {
  const int shape[2] = {p->n_groups, p->n_layers};
  sw_text *t = p->t;
  loop l = open_loop("f", p->n_groups - (p->miss == FEWER_TRIPS));
  handed had;
  name stacks[HANDED];
  const name w = add_slot(&l, weights, shape, 2), bias_in = add_slot(&l, bias, NULL, 0),
             x_in = add_slot(&l, x, NULL, 0);
  for (int k = 0; k < HANDED; k++) stacks[k] = add_slot(&l, put_splat(t, ID("e", k), 0, shape, 1), shape, 1);
  put_head(t, &l);
  const name early = put_two(t, named("%%%s_early%d", "f", 0), kCodes[DOT], bias_in, bias_in);
  const name at = put_index(t, &l, false, p->n_groups, 0);
  const name place = put_index(t, &l, p->miss == OTHER_PLACE, p->n_groups, 1);
  const name y = put_group(p, "f", x_in, bias_in, put_taken(t, "f", 0, w, at, shape, 2), &had);
  l.at[3].next = put_two(t, named("%%%s_early%d", "f", 1), "xor", y, early);
  const name hands_on[HANDED] = {had.x, had.kept, had.made};
  for (int k = 0; k < HANDED; k++)
    l.at[4 + k].next = put_stacked(t, "f", k, stacks[k], hands_on[(k + p->order) % HANDED], place, shape, 1);
  put_tail(t, &l);
  return l;
}

static loop put_backward(program *p, name g, name bias, name weights, const name *from) {
  const int shape[2] = {p->n_groups, p->n_layers};
  sw_text *t = p->t;
  loop l = open_loop("b", p->n_groups);
  name stacks[HANDED];
  const name w = add_slot(&l, weights, shape, 2), bias_in = add_slot(&l, bias, NULL, 0),
             g_in = add_slot(&l, g, NULL, 0),
             grads = add_slot(&l, put_splat(t, ID("e", HANDED), 0, shape, 1), shape, 1);
  for (int k = 0; k < HANDED; k++) stacks[(k + p->order) % HANDED] = add_slot(&l, from[k], shape, 1);
  put_head(t, &l);
  const name early = put_two(t, named("%%%s_early%d", "b", 0), kCodes[DOT], bias_in, bias_in);
  const name at = put_index(t, &l, p->turned, p->n_groups, 0), other = put_index(t, &l, !p->turned, p->n_groups, 1);
  handed had;
  had.x = put_taken(t, "b", 0, stacks[0], p->miss == OTHER_TRIP_OF_KEPT ? other : at, shape, 1);
  had.kept = put_taken(t, "b", 1, stacks[1], at, shape, 1);
  const name slice = put_taken(t, "b", 3, w, p->miss == OTHER_TRIP_OF_WEIGHTS ? other : at, shape, 2);
  const name y =
      put_two(t, named("%%%s_early%d", "b", 1), "xor", put_group_back(p, "b", g_in, bias_in, slice, &had), early);
  const name late = put_index(t, &l, p->turned, p->n_groups, 2);
  had.made = put_taken(t, "b", 2, stacks[2], late, shape, 1);
  l.at[3].next = p->miss == OTHER_READER ? put_two(t, named("%%%s_z%d", "b", 1), "xor", y, had.made) : y;
  l.at[4].next = put_stacked(t, "b", 8, grads, l.at[3].next, at, shape, 1);
  put_tail(t, &l);
  return l;
}

static void put_outputs(program *p, name y, name g, name grads) {
  sw_text_printf(p->t, "return %s, %s, %s : ", y.at, g.at, grads.at);
  for (int k = 0; k < 3; k++) {
    sw_text_puts(p->t, k ? ", " : "");
    put_type(p->t, &p->n_groups, k / 2);
  }
  sw_text_puts(p->t, "\n}\n");
}

static void put_in_loops(program *p, name x, name bias, name w) {
  name stacks[HANDED];
  const loop f = put_forward(p, x, bias, w);
  for (int k = 0; k < HANDED; k++) stacks[k] = result(&f, 4 + k);
  const loop b = put_backward(p, result(&f, 3), bias, w, stacks);
  put_outputs(p, result(&f, 3), result(&b, 3), result(&b, 4));
}

/* Each of the two in a loop of its own. */
static void put_in_two_loops(program *p, name x, name bias, name w) {
  const int shape[3] = {p->n_outer, p->n_groups, p->n_layers};
  sw_text *t = p->t;
  loop f = open_loop("ff", p->n_outer), b = open_loop("bb", p->n_outer);
  name stacks[HANDED], in[HANDED];
  name w_in = add_slot(&f, w, shape, 3), bias_in = add_slot(&f, bias, NULL, 0);
  const name x_in = add_slot(&f, x, NULL, 0);
  for (int k = 0; k < HANDED; k++) stacks[k] = add_slot(&f, put_splat(t, ID("ee", k), 0, shape, 2), shape, 2);
  put_head(t, &f);
  name at = put_index(t, &f, false, p->n_outer, 0);
  const loop forward = put_forward(p, x_in, bias_in, put_taken(t, "ff", 0, w_in, at, shape, 3));
  f.at[3].next = result(&forward, 3);
  for (int k = 0; k < HANDED; k++)
    f.at[4 + k].next = put_stacked(t, "ff", k, stacks[k], result(&forward, 4 + k), at, shape, 2);
  put_tail(t, &f);

  w_in = add_slot(&b, w, shape, 3);
  bias_in = add_slot(&b, bias, NULL, 0);
  const name g_in = add_slot(&b, result(&f, 3), NULL, 0);
  add_slot(&b, put_splat(t, ID("ee", HANDED), 0, shape + 1, 1), shape + 1, 1);
  for (int k = 0; k < HANDED; k++) stacks[k] = add_slot(&b, result(&f, 4 + k), shape, 2);
  put_head(t, &b);
  at = put_index(t, &b, true, p->n_outer, 0);
  for (int k = 0; k < HANDED; k++) in[k] = put_taken(t, "bb", k, stacks[k], at, shape, 2);
  const loop backward = put_backward(p, g_in, bias_in, put_taken(t, "bb", HANDED, w_in, at, shape, 3), in);
  for (int k = 3; k < 5; k++) b.at[k].next = result(&backward, k);
  put_tail(t, &b);
  put_outputs(p, result(&f, 3), result(&b, 3), result(&b, 4));
}

/* Both loops stand in none. */
static void put_alone(program *p, name x, name bias, name w) {
  handed had;
  put_number(p->t, zero_of("f"), 0);
  put_number(p->t, zero_of("b"), 0);
  const name y = put_group(p, "f", x, bias, w, &had), z = put_group_back(p, "b", y, bias, w, &had);
  const name both =
      put_stacked(p->t, "b", 8, put_splat(p->t, ID("e", HANDED), 0, &p->n_groups, 1), z, zero_of("b"), &p->n_groups, 1);
  put_outputs(p, y, z, both);
}

static void put_program(program *p) {
  const int shape[3] = {p->n_outer, p->n_groups, p->n_layers};
  const name x = named("%%x%s%d", "", 0), bias = named("%%x%s%d", "", 1), w = named("%%w%s%d", "", 0);
  sw_text *t = p->t;
  sw_text_puts(t, "func.func @main(%x0: ");
  put_square(t);
  sw_text_puts(t, ", %x1: ");
  put_square(t);
  sw_text_puts(t, ", %w0: ");
  put_type(t, shape + 2 - p->n_around, 1 + p->n_around);
  sw_text_puts(t, ") -> (");
  for (int k = 0; k < 3; k++) {
    sw_text_puts(t, k ? ", " : "");
    put_type(t, &p->n_groups, k / 2);
  }
  sw_text_puts(t, ") {\n");
  if (p->n_around == 0) put_alone(p, x, bias, w);
  if (p->n_around == 1) put_in_loops(p, x, bias, w);
  if (p->n_around == 2) put_in_two_loops(p, x, bias, w);
}

/* --- run -----------------------------------------------------------------------------------------------------------
 */

enum { ARGS = 3, MOST_OUTPUTS = 3 };

static void run(const sw_graph *g, const sw_tensor *args, sw_tensor *out) {
  const sw_buffer *at[ARGS];
  for (int k = 0; k < ARGS; k++) at[k] = &args[k];
  assert_ok(sw_exec_run(g, at, &(sw_exec_options){.poison = true}, out, &diag));
}

static bool gives(const sw_graph *g, const sw_tensor *args, const sw_tensor *want) {
  sw_tensor got[MOST_OUTPUTS] = {0};
  bool same = true;
  run(g, args, got);
  for (int32_t i = 0; i < g->n_outputs; i++) {
    same = same && memcmp(got[i].data, want[i].data, (size_t)sw_buffer_elements(&want[i]) * sizeof(int32_t)) == 0;
    sw_tensor_deinit(&got[i]);
  }
  return same;
}

/* However long. */
static void print_text(const sw_text *t) { (void)fwrite(t->at, 1, t->n, stderr); }

static void judge(const program *p, const sw_graph *g, int *moved) {
  static const sw_recompute kHow[] = {SW_RECOMPUTE_NONE, SW_RECOMPUTE_FULL, SW_RECOMPUTE_TORCHTITAN,
                                      SW_RECOMPUTE_MEGATRON, SW_RECOMPUTE_SEARCH};
  sw_tensor args[ARGS] = {0}, want[MOST_OUTPUTS] = {0};
  sw_graph *folded;
  assert_ok(sw_make_arguments(g, 5, true, args, &diag));
  run(g, args, want);
  assert_ok(sw_schedule_fold(g->written, &folded, &diag));
  const int32_t n_loops = folded ? folded->n_frames : g->n_frames;
  bool right = !folded || gives(folded, args, want);
  sw_graph_destroy(folded);
  for (size_t k = 0; right && k < sizeof kHow / sizeof *kHow; k++) {
    sw_arena arena = {0};
    sw_schedule_spec spec;
    sw_schedule s;
    assert_ok(sw_recompute_spec(g, kHow[k], true, &arena, &spec, &diag));
    assert_ok(sw_schedule_make(g->written, &spec, &arena, &s, &diag));
    right = gives(s.stages[0].graph, args, want);
    if (!right) print_message("--recompute %s\n", sw_recompute_text(kHow[k]));
    sw_schedule_deinit(&s);
    sw_arena_deinit(&arena);
  }
  for (int k = 0; k < ARGS; k++) sw_tensor_deinit(&args[k]);
  for (int k = 0; k < MOST_OUTPUTS; k++) sw_tensor_deinit(&want[k]);
  *moved += n_loops < g->n_frames;
  const bool missed = p->miss < WHERE_SAME && n_loops == g->n_frames;
  if (!right || missed) print_text(p->t);
  if (!right) fail_msg("of kind %d this is folded to something else", p->miss);
  if (missed) fail_msg("of kind %d this is not folded", p->miss);
}

static void folded_programs_give_the_same(void **state) {
  (void)state;
  sw_rng r;
  int tried[MISSES] = {0}, moved[MISSES] = {0};
  sw_rng_seed(&r, check_seed(1));
  for (int k = 0; k < check_scale(400); k++) {
    sw_text t = {0};
    sw_program *read;
    program p = random_program(&r, &t);
    put_program(&p);
    const sw_rc rc = sw_program_parse("t.mlir", sw_text_str(&t), t.n, NULL, &read, &diag);
    if (rc) print_text(&t);
    assert_ok(rc);
    judge(&p, sw_program_graph(read), &moved[p.miss]);
    tried[p.miss]++;
    sw_program_destroy(read);
    sw_text_free(&t);
  }
  for (int k = 0; k < MISSES; k++) print_message("kind %d: %d programs, %d folded\n", k, tried[k], moved[k]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(folded_programs_give_the_same)};
  return cmocka_run_group_tests_name("folded_loops", tests, NULL, NULL);
}
