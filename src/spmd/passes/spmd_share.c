/* share: equal collectives of one value are one.
 *
 *   before  y = all_gather [x] a    z = all_gather [x] a      after  z stands for y
 *
 * Values of a loop are read inside it only, so two that read one value stand in one place. */
#include "base/hash.h"
#include "spmd/passes/spmd_passes.h"

static bool same_call(const sw_collective *a, const sw_collective *b) {
  bool same = a->op == b->op && a->reduction == b->reduction && a->dim == b->dim && a->concat_dim == b->concat_dim &&
              a->offset == b->offset && a->rotate == b->rotate && a->fill_outside == b->fill_outside &&
              !(a->fill < b->fill) && !(a->fill > b->fill) && a->lists == b->lists && a->sources == b->sources;
  same = same && sw_axis_refs_equal(a->axes, a->n_axes, b->axes, b->n_axes) && a->n_root == b->n_root;
  for (int i = 0; same && i < a->n_root; i++) same = a->root[i] == b->root[i];
  if (same && a->src && b->src) same = sw_tiling_equal(a->src, b->src) && a->src->other == b->src->other;
  if (same && a->dst && b->dst) same = sw_tiling_equal(a->dst, b->dst) && a->dst->other == b->dst->other;
  return same && !a->src == !b->src && !a->dst == !b->dst;
}

static bool is_shareable(const sw_op *op) {
  return op->collective && op->n_operands == 1 && op->n_results == 1 && op->collective->op != SW_COLL_SEND &&
         op->collective->op != SW_COLL_RECV;
}

static uint64_t hash_tiling(const sw_tiling *t, uint64_t h) {
  for (int k = 0; t && k < t->rank; k++) {
    const int64_t dim[4] = {t->dim[k].base, t->dim[k].step, t->dim[k].len, t->dim[k].n_refs};
    h = sw_hash_bytes(dim, sizeof dim, h);
  }
  return h;
}

/* What tells calls on one value apart, nearly always: an equal key is then compared. */
static uint64_t hash_call(const sw_collective *c) {
  const int64_t what[5] = {c->op, c->reduction, c->dim, c->concat_dim, c->offset};
  uint64_t h = sw_hash_bytes(what, sizeof what, (uint64_t)c->n_axes);
  h = sw_hash_bytes(c->axes, (size_t)c->n_axes * sizeof *c->axes, h);
  return hash_tiling(c->dst, hash_tiling(c->src, h));
}

static sw_rc share_collective(sw_rewrite *r, sw_id old, sw_id id, void *user, sw_diag *d) {
  sw_dict *seen = user;
  const sw_op *op = sw_rewrite_op(r, id);
  if (!is_shareable(op)) return SW_OK;
  const sw_collective *c = op->collective;
  const uint64_t key[2] = {(uint64_t)op->operands[0], hash_call(c)};
  int64_t *first;
  bool fresh;
  SW_TRY(sw_dict_put(seen, key, sizeof key, id, &first, &fresh, d));
  if (fresh) return SW_OK;
  const sw_op *like = sw_rewrite_op(r, (sw_id)*first);
  if (same_call(c, like->collective) && sw_rewrite_lie_alike(r, op->results[0], like->results[0])) {
    sw_rewrite_replace(r, r->from->program->ops[old].results[0], like->results[0]);
  }
  return SW_OK;
}

static sw_rc run_share(sw_rewrite *r, sw_diag *d) {
  sw_dict seen = {0};
  sw_rc rc = sw_rewrite_walk(r, share_collective, &seen, d);
  sw_dict_deinit(&seen);
  return rc;
}

const sw_pass sw_pass_share = {.name = "share", .run = run_share};
