/* The MLP of the sharding framework RFC with its annotations: y = maximum(x w1, 0) w2 on x [2,4,8], w1 [8,32], w2
 * [32,8].
 *
 *   1d-tensors      x cut [[],[],[x]]; y partial over x, and cut [[],[],[x]] for its use
 *   1d-operations   the same, but that y is partial is said as the second dot's sharding option [[],[],[],[x]]
 *   2d              x cut [[],[],[x,y,z]], used as [[],[],[x]]; h partial over x, used as [[],[],[y,z,x]] by maximum;
 *                   that used as [[],[],[y,z]]; y partial over y and z, used as [[],[],[x,y,z]]
 */
#include "gen/arch.h"
#include "shardwright/request.h"

typedef struct rfc_mlp {
  sw_id x, h, relu, y;
} rfc_mlp;

enum { REFS = 4 };

/* Axes by number and -1 at the end; `dim` is the last dimension of every value here. */
typedef struct axis_list {
  int at[REFS];
} axis_list;

/* Required: the last dim of value v is cut by `cut`, and v is partial over `partial`. */
static void annotate(swg_builder *b, sw_id v, bool for_users, const axis_list *cut, const axis_list *partial) {
  if (b->rc) return;
  const sw_mesh *mesh = &b->graph->written->mesh;
  int rank = b->graph->values[v].type.rank;
  sw_annotation a = {.value = v,
                     .op = -1,
                     .sharding = sw_sharding_replicated(rank),
                     .required = true,
                     .for_users = for_users,
                     .span = SW_NOWHERE};
  bool fits = true;
  for (int i = 0; cut && cut->at[i] >= 0; i++) {
    fits = fits && sw_sharding_push(&a.sharding, rank - 1, sw_axis_whole(mesh, cut->at[i]));
  }
  for (int i = 0; partial && partial->at[i] >= 0; i++) {
    fits = fits && sw_sharding_push_partial(&a.sharding, SW_REDUCE_SUM, sw_axis_whole(mesh, partial->at[i]));
  }
  if (!fits) swg_fail(b, SW_BUG(b->diag, "a sharding has too many axes"));
  if (!b->rc) b->rc = sw_graph_add_annotation(b->graph, &a, b->diag);
}

/* The dot's contracted loop, its last one, runs over axis 0. */
static void annotate_loop(swg_builder *b, sw_id y) {
  if (b->rc) return;
  const sw_id op = b->graph->values[y].def;
  const int32_t loop = b->graph->ops[op].nest->n_loops - 1;
  const sw_axis_ref ref = sw_axis_whole(&b->graph->written->mesh, 0);
  const sw_annotation a = {.value = -1,
                           .op = op,
                           .n_loop_refs = 1,
                           .loop_of = &loop,
                           .loop_refs = &ref,
                           .required = true,
                           .span = SW_NOWHERE};
  b->rc = sw_graph_add_annotation(b->graph, &a, b->diag);
}

static const axis_list kX = {{0, -1}}, kXYZ = {{0, 1, 2, -1}}, kYZ = {{1, 2, -1}}, kYZX = {{1, 2, 0, -1}};

static void annotate_plain(swg_builder *b, const rfc_mlp *m) { (void)b, (void)m; }

static void annotate_1d_tensors(swg_builder *b, const rfc_mlp *m) {
  annotate(b, m->x, false, &kX, NULL);
  annotate(b, m->y, false, NULL, &kX);
  annotate(b, m->y, true, &kX, NULL);
}

static void annotate_1d_operations(swg_builder *b, const rfc_mlp *m) {
  annotate(b, m->x, false, &kX, NULL);
  annotate(b, m->y, true, &kX, NULL);
  annotate_loop(b, m->y);
}

static void annotate_2d(swg_builder *b, const rfc_mlp *m) {
  annotate(b, m->x, false, &kXYZ, NULL);
  annotate(b, m->x, true, &kX, NULL);
  annotate(b, m->h, false, &kYZ, &kX);
  annotate(b, m->h, true, &kYZX, NULL);
  annotate(b, m->relu, false, &kYZX, NULL);
  annotate(b, m->relu, true, &kYZ, NULL);
  annotate(b, m->y, false, &kX, &kYZ);
  annotate(b, m->y, true, &kXYZ, NULL);
}

/* By the choices of `variant`. */
static const struct {
  const char *mesh; /* when none is given; "" = no mesh */
  int axes;
  void (*annotate)(swg_builder *, const rfc_mlp *);
} kVariants[] = {
    [SWG_1D_TENSORS] = {"x=2", 1, annotate_1d_tensors},
    [SWG_1D_OPERATIONS] = {"x=8", 1, annotate_1d_operations},
    [SWG_2D] = {"x=2,y=2,z=2", 3, annotate_2d},
    [SWG_PLAIN] = {"", 0, annotate_plain},
};

static sw_rc set_mesh(sw_graph *g, const swg_config *c, sw_diag *d) {
  int64_t variant = swg_get(c, SW_GEN_VARIANT);
  const char *text = c->mesh[0] ? c->mesh : kVariants[variant].mesh;
  if (!text[0]) return SW_OK;
  sw_mesh mesh;
  SW_TRY_NOTE(d, sw_mesh_parse(text, &g->arena, &mesh, d), "while reading mesh '%s'", text);
  sw_graph_set_mesh(g, &mesh);
  if (mesh.n_axes == kVariants[variant].axes || kVariants[variant].axes == 0) return SW_OK;
  return SW_FAIL_INPUT(d, SW_NOWHERE, "mesh '%s' has %d axes; this variant needs %d", text, mesh.n_axes,
                       kVariants[variant].axes);
}

sw_rc swg_build_rfc_mlp(const swg_config *c, sw_graph **out, sw_diag *d) {
  swg_builder b;
  SW_TRY(swg_begin_model(&b, c, d));
  if (!b.rc) b.rc = set_mesh(b.graph, c, d);
  int64_t hidden = swg_get(c, SW_GEN_HIDDEN), ffn = swg_get(c, SW_GEN_FFN);
  rfc_mlp m;
  m.x = swg_arg(&b, "x", SW_VALUE_INPUT, b.dtype, SWG_SHAPE(swg_get(c, SW_GEN_BATCH), swg_get(c, SW_GEN_SEQ), hidden));
  sw_id w1 = swg_param(&b, "w1", SWG_SHAPE(hidden, ffn)), w2 = swg_param(&b, "w2", SWG_SHAPE(ffn, hidden));
  m.h = swg_op(&b, SW_OP_DOT, "h", SWG_IDS(m.x, w1), SWG_ATTRS(SWG_INTS(LHS_CONTRACT, 2), SWG_INTS(RHS_CONTRACT, 0)));
  sw_id zero = swg_splat_like(&b, "zero", 0, m.h);
  m.relu = swg_binary(&b, SW_OP_MAXIMUM, "relu", m.h, zero);
  m.y =
      swg_op(&b, SW_OP_DOT, "y", SWG_IDS(m.relu, w2), SWG_ATTRS(SWG_INTS(LHS_CONTRACT, 2), SWG_INTS(RHS_CONTRACT, 0)));
  swg_output(&b, "y", m.y, -1);
  kVariants[swg_get(c, SW_GEN_VARIANT)].annotate(&b, &m);
  return swg_finish(&b, out);
}
