/* Collectives as data, and the oracle and the threads on the shard dialect's own pictures. */
#include "check.h"

#include <math.h>

#include "shardwright/comm.h"

enum { MAX_DEVICES = 64, MAX_ELEMS = 256 };

/* One picture. Buffers are written row-major, devices separated by '|'; '*' is poison (or ignored, in an input), '.' is
 * padding. Valid extents of an input follow from `full`: the extent of the tensor along `dim` over the group, 0 when
 * every position is valid. */
typedef struct picture {
  const char *name, *mesh;
  sw_coll_op op;
  const char *axes; /* "[1,0]" */
  sw_collective c;  /* the other fields */
  sw_dtype from, to;
  const char *in_dims, *out_dims; /* "2x2", "" for rank 0 */
  const char *in, *out;
} picture;

static const picture kPictures[] = {
    {"all_gather",
     "2x2",
     SW_COLL_ALL_GATHER,
     "[1]",
     {.dim = 1},
     SW_I8,
     SW_I8,
     "2x2",
     "2x4",
     "1 2 3 4 | 5 6 7 8 | 9 10 11 12 | 13 14 15 16",
     "1 2 5 6 3 4 7 8 | 1 2 5 6 3 4 7 8 | 9 10 13 14 11 12 15 16 | 9 10 13 14 11 12 15 16"},
    {"all_slice",
     "2x2",
     SW_COLL_ALL_SLICE,
     "[1]",
     {.dim = 1},
     SW_I8,
     SW_I8,
     "2x4",
     "2x2",
     "1 2 5 6 3 4 7 8 | 1 2 5 6 3 4 7 8 | 9 10 13 14 11 12 15 16 | 9 10 13 14 11 12 15 16",
     "1 2 3 4 | 5 6 7 8 | 9 10 11 12 | 13 14 15 16"},
    {"all_to_all",
     "3",
     SW_COLL_ALL_TO_ALL,
     "[0]",
     {.dim = 0, .concat_dim = 0},
     SW_I8,
     SW_I8,
     "3x2",
     "3x2",
     "11 12 13 14 15 16 | 21 22 23 24 25 26 | 31 32 33 34 35 36",
     "11 12 21 22 31 32 | 13 14 23 24 33 34 | 15 16 25 26 35 36"},
    {"broadcast",
     "2x2",
     SW_COLL_BROADCAST,
     "[0]",
     {.n_root = 1, .root = {0}},
     SW_I8,
     SW_I8,
     "2",
     "2",
     "1 2 | 3 4 | * * | * *",
     "1 2 | 3 4 | 1 2 | 3 4"},
    {"gather",
     "2x2",
     SW_COLL_GATHER,
     "[1]",
     {.dim = 1, .n_root = 1, .root = {1}},
     SW_I8,
     SW_I8,
     "2x2",
     "2x4",
     "1 2 3 4 | 5 6 7 8 | 9 10 11 12 | 13 14 15 16",
     "* * * * * * * * | 1 2 5 6 3 4 7 8 | * * * * * * * * | 9 10 13 14 11 12 15 16"},
    {"reduce_scatter max",
     "2x2",
     SW_COLL_REDUCE_SCATTER,
     "[1]",
     {.dim = 0, .reduction = SW_REDUCE_MAX},
     SW_F32,
     SW_F64,
     "2x2",
     "1x2",
     "1 2 3 4 | 5 6 7 8 | 9 10 11 12 | 13 14 15 16",
     "5 6 | 7 8 | 13 14 | 15 16"},
    {"scatter",
     "2x2",
     SW_COLL_SCATTER,
     "[0]",
     {.dim = 0, .n_root = 1, .root = {1}},
     SW_I8,
     SW_I8,
     "2x2",
     "1x2",
     "* * * * | * * * * | 1 2 3 4 | 5 6 7 8",
     "1 2 | 5 6 | 3 4 | 7 8"},
    {"shift rotate",
     "2x4",
     SW_COLL_SHIFT,
     "[1]",
     {.offset = 2, .rotate = true},
     SW_I8,
     SW_I8,
     "1",
     "1",
     "1 | 2 | 3 | 4 | 5 | 6 | 7 | 8",
     "3 | 4 | 1 | 2 | 7 | 8 | 5 | 6"},
    {"shift", "4", SW_COLL_SHIFT, "[0]", {.offset = 1}, SW_I8, SW_I8, "1", "1", "1 | 2 | 3 | 4", "* | 1 | 2 | 3"},
    {"shift back", "4", SW_COLL_SHIFT, "[0]", {.offset = -3}, SW_I8, SW_I8, "1", "1", "1 | 2 | 3 | 4", "4 | * | * | *"},
    {"shift back, rotate, more than once round",
     "4",
     SW_COLL_SHIFT,
     "[0]",
     {.offset = -5, .rotate = true},
     SW_I8,
     SW_I8,
     "1",
     "1",
     "1 | 2 | 3 | 4",
     "2 | 3 | 4 | 1"},
    {"shift along the major of two axes",
     "2x2",
     SW_COLL_SHIFT,
     "[1,0]",
     {.dim = 0, .offset = 1},
     SW_I8,
     SW_I8,
     "1",
     "1",
     "1 | 2 | 3 | 4",
     "* | 1 | * | 3"},
    {"all_reduce of a scalar over everything",
     "2x2",
     SW_COLL_ALL_REDUCE,
     "[1,0]",
     {.reduction = SW_REDUCE_SUM},
     SW_F32,
     SW_F64,
     "",
     "",
     "1 | 2 | 4 | 8",
     "15 | 15 | 15 | 15"},
    {"all_gather in the order of the axis list",
     "2x2",
     SW_COLL_ALL_GATHER,
     "[1,0]",
     {.dim = 0},
     SW_I8,
     SW_I8,
     "1",
     "4",
     "1 | 2 | 3 | 4",
     "1 3 2 4 | 1 3 2 4 | 1 3 2 4 | 1 3 2 4"},
    {"sub-axis group",
     "4",
     SW_COLL_ALL_GATHER,
     "[0:(1)2]",
     {.dim = 0},
     SW_I8,
     SW_I8,
     "1",
     "2",
     "1 | 2 | 3 | 4",
     "1 3 | 2 4 | 1 3 | 2 4"},
    {"group of one", "2", SW_COLL_ALL_GATHER, "[]", {.dim = 0}, SW_I8, SW_I8, "2", "2", "1 2 | 3 4", "1 2 | 3 4"},
    {"all_gather of 4 rows over 3",
     "3",
     SW_COLL_ALL_GATHER,
     "[0]",
     {.dim = 0},
     SW_I8,
     SW_I8,
     "2",
     "4",
     "1 2 | 3 4 | . .",
     "1 2 3 4 | 1 2 3 4 | 1 2 3 4"},
    {"all_gather of 3 rows over 2",
     "2",
     SW_COLL_ALL_GATHER,
     "[0]",
     {.dim = 0},
     SW_I8,
     SW_I8,
     "2",
     "4",
     "1 2 | 3 .",
     "1 2 3 . | 1 2 3 ."},
    {"all_slice of 5 over 4",
     "4",
     SW_COLL_ALL_SLICE,
     "[0]",
     {.dim = 0},
     SW_I8,
     SW_I8,
     "5",
     "2",
     "1 2 3 4 5 | 1 2 3 4 5 | 1 2 3 4 5 | 1 2 3 4 5",
     "1 2 | 3 4 | 5 . | . ."},
    {"reduce_scatter of 3 over 2",
     "2",
     SW_COLL_REDUCE_SCATTER,
     "[0]",
     {.dim = 0, .reduction = SW_REDUCE_SUM},
     SW_I8,
     SW_I8,
     "3",
     "2",
     "1 2 3 | 10 20 30",
     "11 22 | 33 ."},
    {"all_to_all from columns to rows, 3x3 over 2",
     "2",
     SW_COLL_ALL_TO_ALL,
     "[0]",
     {.dim = 0, .concat_dim = 1},
     SW_I8,
     SW_I8,
     "3x2",
     "2x4",
     "1 2 4 5 7 8 | 3 . 6 . 9 .",
     "1 2 3 . 4 5 6 . | 7 8 9 . . . . ."},
    {"reduce",
     "2",
     SW_COLL_REDUCE,
     "[0]",
     {.reduction = SW_REDUCE_PRODUCT, .n_root = 1, .root = {1}},
     SW_I8,
     SW_I32,
     "2",
     "2",
     "100 2 | 100 5",
     "* * | 10000 10"},
    {"average truncates",
     "2",
     SW_COLL_ALL_REDUCE,
     "[0]",
     {.reduction = SW_REDUCE_AVERAGE},
     SW_I8,
     SW_I8,
     "2",
     "2",
     "1 -1 | 2 -2",
     "1 -1 | 1 -1"},
    {"to_partial",
     "2",
     SW_COLL_TO_PARTIAL,
     "[0]",
     {.reduction = SW_REDUCE_PRODUCT},
     SW_I8,
     SW_I8,
     "2",
     "2",
     "3 4 | 3 4",
     "3 4 | 1 1"},
};

static int parse_dims(const char *text, int64_t *dims) {
  int rank = 0;
  for (const char *p = text; *p; p += *p == 'x') dims[rank++] = strtoll(p, (char **)&p, 10);
  return rank;
}

static void parse_axes(const sw_mesh *m, const char *text, sw_collective *c) {
  const char *at = text + 1, *end = text + strlen(text);
  while (*at != ']') {
    assert_ok(sw_axis_ref_parse(m, &at, end, &c->axes[c->n_axes++], &diag));
    if (*at == ',') at++;
  }
}

typedef struct cells {
  char kind[MAX_ELEMS]; /* 'v' value, '*' or '.' */
  double value[MAX_ELEMS];
  int n;
} cells;

/* Reads one device's cells up to '|'; returns what follows. */
static const char *parse_cells(const char *p, cells *out) {
  out->n = 0;
  while (*p && *p != '|') {
    if (*p == ' ') {
      p++;
      continue;
    }
    bool value = *p != '*' && *p != '.';
    out->kind[out->n] = value ? 'v' : *p;
    out->value[out->n++] = value ? strtod(p, (char **)&p) : 0;
    if (!value) p++;
  }
  return *p ? p + 1 : p;
}

static void make_buffer(sw_buffer *b, sw_dtype t, const char *dims, void *data) {
  *b = (sw_buffer){.data = data, .dtype = t};
  b->rank = parse_dims(dims, b->dims);
  memcpy(b->valid, b->dims, sizeof b->valid);
  sw_buffer_poison(b);
}

/* Stores the cells; padding shrinks the valid extents to the box that the values span. */
static void fill_buffer(sw_buffer *b, const cells *c) {
  int64_t extent[SW_MAX_RANK] = {0};
  bool padded = false;
  for (int i = 0; i < c->n; i++) {
    padded = padded || c->kind[i] == '.';
    if (c->kind[i] != 'v') continue;
    sw_element_store(b->dtype, c->value[i], (char *)b->data + i * sw_dtype_bytes(b->dtype));
    for (int64_t d = b->rank - 1, rest = i; d >= 0; rest /= b->dims[d], d--)
      if (rest % b->dims[d] >= extent[d]) extent[d] = rest % b->dims[d] + 1;
  }
  if (padded) memcpy(b->valid, extent, sizeof extent);
}

static bool is_poison(const sw_buffer *b, int i) {
  char want[16];
  size_t size = (size_t)sw_dtype_bytes(b->dtype);
  sw_element_poison(b->dtype, want);
  return memcmp(want, (const char *)b->data + (size_t)i * size, size) == 0;
}

static void check_buffer(const sw_buffer *b, const cells *want) {
  for (int i = 0; i < want->n; i++) {
    double got = sw_element_load(b->dtype, (const char *)b->data + i * sw_dtype_bytes(b->dtype));
    bool right = want->kind[i] == 'v' ? got == want->value[i] : is_poison(b, i);
    if (!right) fail_msg("element %d is %g, expected %c %g", i, got, want->kind[i], want->value[i]);
  }
}

/* What the devices of a picture call. */
typedef struct picture_run {
  const sw_collective *coll;
  sw_buffer *in, *out;
} picture_run;

static sw_rc call_on_device(sw_comm *comm, int64_t device, void *user, sw_diag *d) {
  picture_run *r = user;
  sw_comm_call call = {.coll = r->coll, .in = &r->in[device], .out = &r->out[device]};
  return sw_comm_run(comm, device, &call, d);
}

static void run_on_threads(const sw_mesh *mesh, const sw_collective *c, sw_buffer *in, sw_buffer *out) {
  sw_comm *comm;
  assert_ok(sw_comm_create_threads(mesh, NULL, &comm, &diag));
  assert_ok(sw_comm_launch(comm, call_on_device, &(picture_run){c, in, out}, NULL, &diag));
  sw_comm_destroy(comm);
}

static void check_results(const picture *p, const sw_buffer *out, int64_t devices) {
  cells cell;
  const char *at = p->out;
  for (int64_t v = 0; v < devices; v++) {
    at = parse_cells(at, &cell);
    check_buffer(&out[v], &cell);
  }
}

static void check_picture(void **state) {
  const picture *p = *state;
  sw_arena arena = {0};
  sw_mesh mesh;
  assert_ok(sw_mesh_parse(p->mesh, &arena, &mesh, &diag));
  sw_collective c = p->c;
  c.op = p->op;
  parse_axes(&mesh, p->axes, &c);
  static char store[2][MAX_DEVICES][MAX_ELEMS * 16];
  sw_buffer in[MAX_DEVICES], out[MAX_DEVICES];
  cells cell;
  const char *at = p->in;
  int64_t devices = sw_mesh_devices(&mesh);
  for (int64_t v = 0; v < devices; v++) {
    make_buffer(&in[v], p->from, p->in_dims, store[0][v]);
    make_buffer(&out[v], p->to, p->out_dims, store[1][v]);
    at = parse_cells(at, &cell);
    fill_buffer(&in[v], &cell);
  }
  assert_ok(sw_collective_oracle(&mesh, &c, in, out, &diag));
  check_results(p, out, devices);
  for (int64_t v = 0; v < devices; v++) make_buffer(&out[v], p->to, p->out_dims, store[1][v]);
  run_on_threads(&mesh, &c, in, out);
  check_results(p, out, devices);
  int64_t dims[SW_MAX_RANK];
  assert_ok(sw_collective_result_dims(&mesh, &c, in[0].rank, in[0].dims, dims, &diag));
  for (int i = 0; i < out[0].rank; i++) assert_true(out[0].dims[i] <= dims[i]);
  sw_arena_deinit(&arena);
}

/* What a bad collective is told. */
static const struct bad_row {
  const char *name, *mesh;
  sw_coll_op op;
  const char *axes;
  sw_collective c;
  int rank;
  const char *message;
} kBad[] = {
    {"dimension", "2", SW_COLL_ALL_GATHER, "[0]", {.dim = 2}, 2, "all_gather: dimension 2 is outside [0, 2)"},
    {"axis twice", "4", SW_COLL_ALL_REDUCE, "[0:(1)2,0]", {.dim = 0}, 1, "all_reduce uses axis 'a0' twice"},
    {"root range",
     "2",
     SW_COLL_BROADCAST,
     "[0]",
     {.n_root = 1, .root = {2}},
     1,
     "broadcast: root coordinate 2 is outside [0, 2)"},
    {"root length",
     "2x2",
     SW_COLL_SCATTER,
     "[0,1]",
     {.n_root = 1},
     1,
     "scatter: the root has 1 coordinates; expected 2, one per axis"},
    {"no tiling", "2", SW_COLL_EXCHANGE, "[]", {.dim = 0}, 1, "exchange lacks its source tiling"},
    {"shift axis", "2", SW_COLL_SHIFT, "[0]", {.dim = 1}, 1, "shift: shift axis 1 is outside [0, 1)"},
    {"no identity",
     "2",
     SW_COLL_TO_PARTIAL,
     "[0]",
     {.reduction = SW_REDUCE_GENERIC},
     1,
     "to_partial: reduction 'generic' has no neutral element"},
};

static void check_bad(void **state) {
  const struct bad_row *row = *state;
  diag = (sw_diag){0};
  sw_arena arena = {0};
  sw_mesh mesh;
  assert_ok(sw_mesh_parse(row->mesh, &arena, &mesh, &diag));
  sw_collective c = row->c;
  c.op = row->op;
  parse_axes(&mesh, row->axes, &c);
  assert_int_equal(sw_collective_verify(&mesh, &c, row->rank, &diag), SW_E_INPUT);
  assert_string_equal(diag.text, row->message);
  sw_arena_deinit(&arena);
}

/* Rows 0..K-1 in blocks of B over n devices, halos (lo, hi): each device must see its window's rows, from whoever owns
 * them, and keep what lies outside of the tensor. */
static void check_halo(int64_t k, int64_t n, int64_t lo, int64_t hi) {
  sw_mesh mesh = {.n_axes = 1};
  strcpy(mesh.axis[0].name, "x");
  mesh.axis[0].size = n;
  int64_t block = (k + n - 1) / n, len = block + lo + hi;
  sw_sharding s = sw_sharding_replicated(1);
  assert_true(sw_sharding_push(&s, 0, sw_axis_whole(&mesh, 0)));
  int64_t halos[2] = {lo, hi};
  s.halos = halos;
  sw_tiling t;
  sw_tiling_of(&s, 1, &k, &t);
  sw_collective c = {.op = SW_COLL_UPDATE_HALO, .dst = &t};
  int32_t in_data[8][64], out_data[8][64];
  sw_buffer in[8], out[8];
  for (int64_t v = 0; v < n; v++) {
    in[v] = (sw_buffer){.data = in_data[v], .dtype = SW_I32, .rank = 1, .dims = {len}, .valid = {len}};
    out[v] = in[v];
    out[v].data = out_data[v];
    for (int64_t p = 0; p < len; p++) {
      int64_t g = v * block - lo + p;
      bool core = g >= v * block && g < (v + 1) * block && g < k;
      in_data[v][p] = (int32_t)(core ? 1000 + g : -1 - g);
    }
  }
  assert_ok(sw_collective_oracle(&mesh, &c, in, out, &diag));
  for (int64_t v = 0; v < n; v++)
    for (int64_t p = 0; p < len; p++) {
      int64_t g = v * block - lo + p;
      assert_int_equal(out_data[v][p], g >= 0 && g < k ? 1000 + g : -1 - g);
    }
}

static void halos_come_from_their_owners(void **state) {
  (void)state;
  check_halo(8, 4, 1, 1);
  check_halo(7, 4, 1, 2);
  check_halo(9, 4, 5, 0); /* several hops, an empty shard */
  check_halo(3, 2, 0, 3);
}

static void an_exchange_reshards(void **state) {
  (void)state;
  sw_arena arena = {0};
  sw_mesh mesh;
  assert_ok(sw_mesh_parse("x=2,y=3", &arena, &mesh, &diag));
  int64_t dims[2] = {5, 7};
  const char *texts[2] = {"[[x],[y]]", "[[y],[x]]"};
  sw_tiling tiles[2];
  sw_sharding s[2];
  for (int i = 0; i < 2; i++)
    assert_ok(sw_sharding_parse(&mesh, 2, texts[i], strlen(texts[i]), SW_NOWHERE, &arena, &s[i], &diag));
  for (int i = 0; i < 2; i++) sw_tiling_of(&s[i], 2, dims, &tiles[i]);
  sw_collective c = {.op = SW_COLL_EXCHANGE, .src = &tiles[0], .dst = &tiles[1]};
  float data[2][6][16];
  sw_buffer buf[2][6];
  for (int side = 0; side < 2; side++)
    for (int v = 0; v < 6; v++) {
      const sw_tiling *t = &tiles[side];
      buf[side][v] = (sw_buffer){data[side][v], SW_F32, 2, {t->dim[0].len, t->dim[1].len}, {0}};
      for (int i = 0; i < 2; i++) {
        int64_t start, lo;
        sw_tiling_window(&mesh, t, i, v, &start, &lo, &buf[side][v].valid[i]);
      }
      for (int e = 0; side == 0 && e < t->dim[0].len * t->dim[1].len; e++) {
        int64_t row = v / 3 * t->dim[0].len + e / t->dim[1].len, col = v % 3 * t->dim[1].len + e % t->dim[1].len;
        data[0][v][e] = (float)(row * 100 + col);
      }
    }
  assert_ok(sw_collective_oracle(&mesh, &c, buf[0], buf[1], &diag));
  for (int v = 0; v < 6; v++)
    for (int64_t i = 0; i < tiles[1].dim[0].len; i++)
      for (int64_t j = 0; j < tiles[1].dim[1].len; j++) {
        int64_t row = v % 3 * tiles[1].dim[0].len + i, col = v / 3 * tiles[1].dim[1].len + j;
        float got = data[1][v][i * tiles[1].dim[1].len + j];
        assert_true(row < 5 && col < 7 ? got == (float)(row * 100 + col) : isnan(got));
      }
  sw_arena_deinit(&arena);
}

static void prints(void **state) {
  (void)state;
  sw_arena arena = {0};
  sw_mesh mesh;
  assert_ok(sw_mesh_parse("x=2,y=4", &arena, &mesh, &diag));
  sw_collective c = {.op = SW_COLL_REDUCE_SCATTER, .n_axes = 2, .dim = 1, .reduction = SW_REDUCE_MAX};
  c.axes[0] = sw_axis_whole(&mesh, 1);
  c.axes[1] = sw_axis_whole(&mesh, 0);
  sw_text text = {0};
  sw_collective_print(&mesh, &c, &text);
  assert_string_equal(sw_text_str(&text), "reduce_scatter axes=[y,x] reduction=max dim=1");
  sw_text_free(&text);
  for (int op = 0; op < SW_COLL_COUNT; op++) {
    sw_coll_op back;
    assert_true(sw_coll_parse(sw_coll_text((sw_coll_op)op), &back));
    assert_int_equal(back, op);
  }
  sw_arena_deinit(&arena);
}

static void shard_shape(const sw_mesh *m, const sw_sharding *s, const int64_t *dims, int64_t device, int64_t *out) {
  for (int d = 0; d < s->rank; d++) {
    int64_t lo, hi;
    sw_sharding_extent(m, s, d, dims[d], device, &lo, &hi);
    out[d] = hi - lo;
  }
}

/* sharded_dims_offsets = [0, 24, 32, 0, 20, 32]: the first device has 24x20x32, the last 8x12x32. */
static void shard_shapes_follow_offsets(void **state) {
  (void)state;
  sw_arena arena = {0};
  sw_mesh mesh;
  sw_sharding s;
  const char *text = "[[0],[1]] offsets=[0,24,32,0,20,32]";
  assert_ok(sw_mesh_parse("2x2", &arena, &mesh, &diag));
  assert_ok(sw_sharding_parse(&mesh, 3, text, strlen(text), SW_NOWHERE, &arena, &s, &diag));
  int64_t out[3], dims[3] = {32, 32, 32};
  shard_shape(&mesh, &s, dims, 0, out);
  assert_memory_equal(out, ((int64_t[]){24, 20, 32}), sizeof out);
  shard_shape(&mesh, &s, dims, 3, out);
  assert_memory_equal(out, ((int64_t[]){8, 12, 32}), sizeof out);
  sw_arena_deinit(&arena);
}

#define COUNT(t) (sizeof(t) / sizeof(t)[0])

int main(void) {
  struct CMUnitTest tests[COUNT(kPictures) + COUNT(kBad) + 4];
  size_t n = 0;
  for (size_t i = 0; i < COUNT(kPictures); i++)
    tests[n++] = (struct CMUnitTest){kPictures[i].name, check_picture, NULL, NULL, (void *)&kPictures[i]};
  for (size_t i = 0; i < COUNT(kBad); i++)
    tests[n++] = (struct CMUnitTest){kBad[i].name, check_bad, NULL, NULL, (void *)&kBad[i]};
  tests[n++] = (struct CMUnitTest)cmocka_unit_test(halos_come_from_their_owners);
  tests[n++] = (struct CMUnitTest)cmocka_unit_test(an_exchange_reshards);
  tests[n++] = (struct CMUnitTest)cmocka_unit_test(prints);
  tests[n++] = (struct CMUnitTest)cmocka_unit_test(shard_shapes_follow_offsets);
  return cmocka_run_group_tests_name("collective", tests, NULL, NULL);
}
