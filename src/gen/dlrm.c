/* Recommendation by tables (Naumov et al. 2019, arXiv:1906.00091): dense features through a small network, each
 * categorical feature's rows of its table added up, inner products of all pairs of these vectors, a second network.
 *
 *   dense [b,13] -> 512 -> 256 -> d        table i [rows,d] at ids [b,hot] -> sum [b,d]
 *   27 vectors -> their 351 products, beside the first vector -> 1024 -> 1024 -> 512 -> 256 -> 1
 *
 * Sizes are those of MLPerf's DLRM on Criteo's terabyte of clicks; `rows` and `hot` bound them.
 */
#include "gen/transformer.h"
#include "gen/vision.h"

enum { DENSE = 13, TABLES = 26 };

/* mlcommons/training, recommendation_v2/torchrec_dlrm, README.md. */
static const struct {
  int64_t rows, hot;
} kTables[TABLES] = {{40000000, 3}, {39060, 2},     {17295, 1},      {7424, 2},      {20265, 6},   {3, 1},
                     {7122, 1},     {1543, 1},      {63, 1},         {40000000, 7},  {3067956, 3}, {405282, 8},
                     {10, 1},       {2209, 6},      {11938, 9},      {155, 5},       {4, 1},       {976, 1},
                     {14, 1},       {40000000, 12}, {40000000, 100}, {40000000, 27}, {590152, 10}, {12973, 3},
                     {108, 1},      {36, 1}};

static int64_t at_most(int64_t x, int64_t most) { return x < most ? x : most; }

/* Dense layers with relu between, and after the last one when it is inner. */
static sw_id network(swg_builder *b, const char *name, sw_id x, int n, const int64_t *widths, bool inner) {
  swg_enter(b, "%s", name);
  for (int i = 0; i < n; i++) {
    char layer[32];
    snprintf(layer, sizeof layer, "layer_%d", i);
    x = swg_dense(b, layer, x, widths[i], true);
    snprintf(layer, sizeof layer, "relu_%d", i);
    if (inner || i + 1 < n) x = swg_relu(b, layer, x);
  }
  swg_leave(b);
  return x;
}

static sw_id look_up_rows(swg_builder *b, const swg_config *c, int i) {
  int64_t rows = at_most(kTables[i].rows, swg_get(c, SW_GEN_ROWS)),
          hot = at_most(kTables[i].hot, swg_get(c, SW_GEN_HOT));
  swg_enter(b, "tables.%d", i);
  sw_id ids = swg_tokens(b, "ids", SWG_SHAPE(swg_get(c, SW_GEN_BATCH), hot));
  sw_id table = swg_param(b, "table", SWG_SHAPE(rows, swg_get(c, SW_GEN_HIDDEN)));
  sw_id sum = swg_reduce(b, "sum", "sum", swg_take(b, "rows", table, ids), SWG_SHAPE(1));
  swg_leave(b);
  return sum;
}

/* Products of all pairs of different vectors, the later by the earlier, beside the first vector. */
static sw_id interact(swg_builder *b, int64_t batch, int64_t width, const sw_id *vectors) {
  sw_id rows[TABLES + 1], parts[TABLES + 1];
  swg_enter(b, "interaction");
  for (int i = 0; i <= TABLES; i++) {
    char name[32];
    snprintf(name, sizeof name, "row_%d", i);
    rows[i] = swg_reshape(b, name, vectors[i], SWG_SHAPE(batch, 1, width));
  }
  sw_id all = swg_concatenate(b, "vectors", 1, TABLES + 1, rows);
  sw_id products = swg_einsum(b, "products", "bid,bjd->bij", SWG_IDS(all, all));
  parts[0] = vectors[0];
  for (int i = 1; i <= TABLES; i++) {
    swg_enter(b, "of_%d", i);
    sw_id row = swg_slice(b, "row", products, 1, i, i + 1);
    parts[i] = swg_reshape(b, "flat", swg_slice(b, "earlier", row, 2, 0, i), SWG_SHAPE(batch, i));
    swg_leave(b);
  }
  sw_id joined = swg_concatenate(b, "joined", 1, TABLES + 1, parts);
  swg_leave(b);
  return joined;
}

/* Mean of max(x, 0) - x y + log(1 + e^-|x|) over rows with clicks y of 0 or 1: binary cross entropy of logits. */
static void click_loss(swg_builder *b, sw_id logits, int64_t batch) {
  swg_enter(b, "loss");
  sw_dtype wide = b->dtype == SW_F64 ? SW_F64 : SW_F32;
  sw_id x = swg_convert(b, "logits", logits, wide);
  sw_id clicks = swg_arg(b, "clicks", SW_VALUE_INPUT, wide, SWG_SHAPE(batch));
  sw_id top = swg_binary(b, SW_OP_MAXIMUM, "top", x, swg_splat_like(b, "zero", 0, x));
  sw_id minus = swg_binary(b, SW_OP_MINIMUM, "minus", x, swg_unary(b, SW_OP_NEGATE, "negative", x));
  sw_id tail = swg_unary(b, SW_OP_LOG, "tail", swg_shift(b, "one_more", swg_unary(b, SW_OP_EXP, "exp", minus), 1));
  sw_id seen = swg_binary(b, SW_OP_MULTIPLY, "seen", x, clicks);
  sw_id each = swg_binary(b, SW_OP_ADD, "each", swg_binary(b, SW_OP_SUBTRACT, "less", top, seen), tail);
  sw_id mean = swg_scale(b, "mean", swg_reduce(b, "total", "sum", each, SWG_SHAPE(0)), 1 / (double)batch);
  swg_leave(b);
  swg_output(b, "loss", mean, -1);
}

sw_rc swg_build_dlrm(const swg_config *c, sw_graph **out, sw_diag *d) {
  int64_t batch = swg_get(c, SW_GEN_BATCH), width = swg_get(c, SW_GEN_HIDDEN), ffn = swg_get(c, SW_GEN_FFN);
  if (ffn < 4) return SW_FAIL_INPUT(d, SW_NOWHERE, "ffn is %lld; expected at least 4", (long long)ffn);
  const int64_t bottom[] = {ffn / 2, ffn / 4, width}, top[] = {ffn, ffn, ffn / 2, ffn / 4, 1};
  swg_builder b;
  sw_id vectors[TABLES + 1];
  SW_TRY(swg_begin_model(&b, c, d));
  sw_id dense = swg_arg(&b, "dense", SW_VALUE_INPUT, b.dtype, SWG_SHAPE(batch, DENSE));
  vectors[0] = network(&b, "bottom", dense, 3, bottom, true);
  for (int i = 0; i < TABLES; i++) vectors[i + 1] = look_up_rows(&b, c, i);
  sw_id y = network(&b, "top", interact(&b, batch, width, vectors), 5, top, false);
  sw_id logits = swg_reshape(&b, "logits", y, SWG_SHAPE(batch));
  if (swg_training(c)) {
    click_loss(&b, logits, batch);
  } else {
    swg_output(&b, "logits", logits, -1);
  }
  return swg_finish(&b, out);
}
