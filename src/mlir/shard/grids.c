/* Grids (grids.h). */
#include "mlir/shard/shard.h"

#include <string.h>

/* --- spellings ---------------------------------------------------------------------------------------------------- */

static bool is_grid(const sw_ir_tree *t, const sw_ir_op *o) {
  return sw_ir_is_among(t, o->name, "shard.grid mesh.mesh mesh.cluster");
}

sw_ir_span sw_im_grid_attr(const sw_ir_tree *t, const sw_ir_op *o, const char *key) {
  static const struct {
    const char *key, *older[2];
  } kOlder[] = {{"grid", {"mesh", "mesh"}}, {"grid_axes", {"mesh_axes", "mesh_axis"}}};
  sw_ir_span v = sw_ir_attr(t, o, key, key);
  for (size_t i = 0; i < sizeof kOlder / sizeof *kOlder; i++) {
    for (int k = 0; k < 2 && !sw_ir_present(v) && strcmp(kOlder[i].key, key) == 0; k++) {
      v = sw_ir_attr(t, o, kOlder[i].older[k], kOlder[i].older[k]);
    }
  }
  return v;
}

static sw_ir_span name_of_grid(const sw_ir_tree *t, const sw_ir_op *o) {
  sw_ir_span name = sw_im_grid_attr(t, o, "grid");
  bool symbol = sw_ir_len(name) && t->s[name.at] == '@';
  return symbol ? sw_ir_unquoted(t, name) : o->symbol;
}

sw_rc sw_im_read_reduction(sw_importer *m, sw_span at, sw_ir_span v, sw_reduction *out) {
  *out = SW_REDUCE_SUM;
  if (!sw_ir_present(v)) return SW_OK;
  sw_ir_span word = sw_ir_last_word(m->t, v);
  for (int k = 0; k < SW_REDUCTION_COUNT; k++) {
    if (k == SW_REDUCE_GENERIC || !sw_ir_is(m->t, word, sw_reduction_mlir((sw_reduction)k))) continue;
    *out = (sw_reduction)k;
    return SW_OK;
  }
  return SW_FAIL_INPUT(m->d, at, "reduction '%.*s' is not known; expected sum, max or another one",
                       SW_IR_TEXT(m->t, word));
}

bool sw_im_has_word(const sw_ir_tree *t, const sw_ir_op *o, const char *word) {
  if (sw_ir_present(sw_ir_attr(t, o, word, NULL))) return true;
  for (uint32_t i = o->body.at; i + 1 < o->body.end && !o->generic; i++) {
    if (t->s[i] == ' ' && sw_ir_word(t->s, i + 1, word)) return true;
  }
  return false;
}

static bool is_of_dialect(const sw_ir_tree *t, const sw_ir_op *o) {
  return sw_ir_starts(t, o->name, "shard.") || sw_ir_starts(t, o->name, "mesh.");
}

bool sw_im_is_distributed(const sw_ir_tree *t, const sw_ir_op *o) {
  return sw_ir_is_among(t, o->name, "mesh.all_gather mesh.all_reduce mesh.reduce_scatter mesh.local_split") &&
         !sw_ir_len(name_of_grid(t, o));
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* One of the sizes that are said so. */
static sw_rc add_size(sw_importer *m, sw_im_grid *g, sw_ir_span said, uint32_t at, int64_t size, bool open) {
  if (g->n_axes == SW_IM_GRID_AXES) {
    return SW_IM_FAIL_AT(m, at, "the grid has more than %d axes", SW_IM_GRID_AXES);
  }
  bool unknown = size == INT64_MIN || (open && size <= 0);
  if (!unknown && (size < 1 || size > SW_MAX_DEVICES)) {
    return SW_IM_FAIL_AT(m, at, "axis %d of the grid '%.*s' has size %lld; expected 1 to %d, or ?", g->n_axes,
                         SW_IR_TEXT(m->t, said), (long long)size, SW_MAX_DEVICES);
  }
  g->size[g->n_axes++] = unknown ? -1 : size;
  return SW_OK;
}

/* 2x?x4, [2, 0, 4] */
static sw_rc read_spelled(sw_importer *m, sw_im_grid *g, sw_ir_span v, bool open) {
  const sw_ir_tree *t = m->t;
  if (sw_ir_len(v) && t->s[v.at] == '[') v = sw_ir_inside(t, v);
  const bool ends = v.at < v.end && t->s[v.end - 1] == 'x';
  if (ends) return SW_FAIL_INPUT(m->d, sw_ir_place(t, v.end - 1), "the sizes of a grid end in 'x'; expected 2x4");
  for (uint32_t from = v.at, at = from; from < v.end; from = ++at) {
    int64_t size = INT64_MIN;
    while (at < v.end && t->s[at] != 'x' && t->s[at] != ',') at++;
    sw_ir_span one = sw_ir_trimmed(t, (sw_ir_span){from, at});
    const bool zero = sw_ir_is(t, one, "0"); /* of 0x5, which is not a number with base 16 */
    if (zero) size = 0;
    if (!zero && !sw_ir_is(t, one, "?") && !sw_ir_read_int(t, one, &size)) {
      return SW_FAIL_INPUT(m->d, sw_ir_place(t, from), "expected sizes of a grid, 2x4");
    }
    SW_TRY(add_size(m, g, v, one.at, size, open));
  }
  return SW_OK;
}

/* array<i64: 2, -9223372036854775808> */
static sw_rc read_grid_sizes(sw_importer *m, sw_im_grid *g, sw_ir_span v, bool open) {
  if (!sw_ir_word(m->t->s, v.at, "array") && !sw_ir_word(m->t->s, v.at, "dense")) return read_spelled(m, g, v, open);
  const int64_t *all;
  int n;
  SW_TRY(sw_im_list(m, v, &all, &n));
  for (int i = 0; i < n; i++) SW_TRY(add_size(m, g, v, v.at, all[i], open));
  return SW_OK;
}

/* An attribute, or what stands in parentheses behind the name. */
static sw_ir_span property(const sw_ir_tree *t, const sw_ir_op *o, const char *key) {
  sw_ir_span v = sw_ir_attr(t, o, key, NULL);
  if (sw_ir_present(v) || o->generic) return v;
  uint32_t at = sw_ir_blanks(t->s, o->symbol.end);
  if (at >= o->text.end || t->s[at] != '(') return v;
  return sw_ir_entry(t, sw_ir_inside(t, (sw_ir_span){at, o->text.end}), key);
}

static void read_names(const sw_importer *m, sw_im_grid *g) {
  sw_ir_span names = sw_ir_attr(m->t, sw_im_op(m, g->op), "shardwright.axes", NULL), name;
  uint32_t cursor = 0;
  for (int i = 0; i < g->n_axes && sw_ir_present(names) && sw_ir_next_item(m->t, names, &cursor, &name); i++) {
    g->axis[i] = sw_ir_unquoted(m->t, name);
  }
}

static sw_rc read_grid(sw_importer *m, uint32_t op, sw_im_grid *g) {
  const sw_ir_op *o = sw_im_op(m, op);
  bool cluster = sw_ir_is(m->t, o->name, "mesh.cluster");
  sw_ir_span sizes = property(m->t, o, cluster ? "dim_sizes" : "shape"), said = property(m->t, o, "rank");
  sw_ir_span name = sw_ir_unquoted(m->t, sw_ir_attr(m->t, o, "sym_name", NULL));
  *g = (sw_im_grid){.op = op, .name = sw_ir_present(name) ? name : o->symbol};
  if (sw_ir_present(sizes)) SW_TRY(read_grid_sizes(m, g, sizes, cluster));
  int64_t rank = g->n_axes;
  if (cluster && (!sw_ir_read_int(m->t, said, &rank) || rank < g->n_axes || rank > SW_IM_GRID_AXES)) {
    return SW_IM_FAIL(m, op, "the cluster has %d sizes; expected a rank of as many axes at least, and of %d at most",
                      g->n_axes, SW_IM_GRID_AXES);
  }
  while (g->n_axes < rank) g->size[g->n_axes++] = -1;
  if (!g->n_axes) return SW_IM_FAIL(m, op, "the grid has no axes; expected one");
  read_names(m, g);
  return SW_OK;
}

/* --- which one ---------------------------------------------------------------------------------------------------- */

static const sw_im_grid *find_grid(const sw_importer *m, sw_ir_span name) {
  const sw_shard_state *s = sw_shard_state_of(m);
  for (uint32_t i = 0; i < s->n_grids; i++) {
    if (sw_ir_same(m->t, s->grids[i].name, name)) return &s->grids[i];
  }
  return NULL;
}

sw_rc sw_im_grid_named(sw_importer *m, sw_ir_span name, const sw_im_grid **out) {
  *out = find_grid(m, name);
  if (*out) return SW_OK;
  return SW_IM_FAIL_AT(m, name.at, "there is no shard.grid '@%.*s'", SW_IR_TEXT(m->t, name));
}

static sw_ir_span cluster_of(const sw_importer *m, uint32_t function) {
  return sw_ir_unquoted(m->t, sw_ir_attr(m->t, sw_im_op(m, function), "mesh_cluster", NULL));
}

/* Ops of the RFC work on the grid of their function; others of the dialects name theirs. */
static bool names_grid(const sw_ir_tree *t, const sw_ir_op *o) {
  return is_of_dialect(t, o) && !sw_ir_is_among(t, o->name, "mesh.annotate mesh.idx mesh.size") &&
         !sw_im_is_distributed(t, o);
}

sw_rc sw_im_grid_of(sw_importer *m, uint32_t op, const sw_im_grid **out) {
  const sw_shard_state *s = sw_shard_state_of(m);
  const sw_ir_op *o = sw_im_op(m, op);
  sw_ir_span name = sw_ir_is_function(m->t, o) ? cluster_of(m, op) : name_of_grid(m->t, o);
  if (!sw_ir_len(name) && names_grid(m->t, o)) return SW_IM_FAIL(m, op, "expected the name of a grid, 'on @grid'");
  if (!sw_ir_len(name) && sw_im_here(m)) name = cluster_of(m, sw_im_here(m)->function);
  if (!sw_ir_len(name)) name = cluster_of(m, m->main);
  if (sw_ir_len(name)) {
    SW_TRY(sw_im_grid_named(m, name, out));
    return *out == s->grid ? SW_OK : SW_IM_FAIL(m, op, "the program works on several grids; expected one");
  }
  *out = s->grid;
  bool of_device = sw_ir_is_among(m->t, o->name, "mesh.idx mesh.size");
  if (*out && s->n_grids == 1 && !of_device) return SW_OK;
  return SW_IM_FAIL(m, op, "nothing says which grid the op speaks of; expected a function with 'mesh_cluster'");
}

/* The grid that op or function `i` names, if it does. */
static sw_rc named_by(sw_importer *m, uint32_t i, const sw_im_grid **out) {
  const sw_ir_op *o = sw_im_op(m, i);
  bool function = sw_ir_is_function(m->t, o);
  *out = NULL;
  if (!function && (is_grid(m->t, o) || !is_of_dialect(m->t, o))) return SW_OK;
  sw_ir_span name = function ? cluster_of(m, i) : name_of_grid(m->t, o);
  return sw_ir_len(name) ? sw_im_grid_named(m, name, out) : SW_OK;
}

static sw_rc find_own(sw_importer *m, sw_shard_state *s) {
  uint32_t first = SW_IR_NONE;
  sw_ir_span cluster = cluster_of(m, m->main);
  s->grid = s->n_grids ? &s->grids[0] : NULL;
  for (uint32_t i = 0; i < m->t->ops.n; i++) {
    const sw_im_grid *g;
    SW_TRY(named_by(m, i, &g));
    if (!g || sw_ir_is_function(m->t, sw_im_op(m, i))) continue;
    if (first == SW_IR_NONE) {
      first = i;
      s->grid = g;
    }
    if (g == s->grid) continue;
    (void)SW_IM_FAIL(m, i, "the program works on several grids; expected one");
    sw_diag_note(m->d, "the other one, '@%.*s', is named at %d:%d", SW_IR_TEXT(m->t, s->grid->name),
                 sw_im_place(m, first).line, sw_im_place(m, first).col);
    return SW_E_INPUT;
  }
  if (sw_ir_len(cluster) && first == SW_IR_NONE) return sw_im_grid_named(m, cluster, &s->grid);
  return SW_OK;
}

/* Of several modules in a text, with `// -----` between them, the first grid of a name counts. */
static sw_rc check_grid_name(sw_importer *m, const sw_im_grid *g, const sw_im_grid *first) {
  const sw_ir_op *a = sw_im_op(m, first->op), *b = sw_im_op(m, g->op);
  const char *split = strstr(m->t->s + a->text.end, "// -----");
  if (a->block != b->block || (split && split < m->t->s + b->text.at)) return SW_OK;
  return SW_IM_FAIL(m, g->op, "grid '@%.*s' is declared twice; expected a new name", SW_IR_TEXT(m->t, g->name));
}

sw_rc sw_im_read_grids(sw_importer *m, sw_shard_state *s) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->t->ops.n; i++) n += is_grid(m->t, sw_im_op(m, i));
  SW_ARENA_NEW(s->grids, &m->keep, n, m->d);
  SW_ARENA_NEW(s->grid_refs, &m->keep, SW_IM_GRID_AXES, m->d);
  for (uint32_t i = 0; i < m->t->ops.n; i++) {
    if (!is_grid(m->t, sw_im_op(m, i))) continue;
    sw_im_grid *g = &s->grids[s->n_grids];
    SW_TRY(read_grid(m, i, g));
    const sw_im_grid *first = find_grid(m, g->name);
    if (first) SW_TRY(check_grid_name(m, g, first));
    s->n_grids += first == NULL;
  }
  return find_own(m, s);
}

/* --- as a mesh ---------------------------------------------------------------------------------------------------- */

/* "x" of "x:(1)2". */
static sw_ir_span base_of(const sw_ir_tree *t, sw_ir_span name) {
  for (uint32_t i = name.at; i + 1 < name.end; i++) {
    if (t->s[i] == ':' && t->s[i + 1] == '(') return (sw_ir_span){name.at, i};
  }
  return name;
}

static void name_axis(const sw_ir_tree *t, const sw_im_grid *g, int i, char name[SW_AXIS_NAME_BYTES]) {
  sw_ir_span base = base_of(t, g->axis[i]);
  if (sw_ir_len(base)) snprintf(name, SW_AXIS_NAME_BYTES, "%.*s", (int)sw_ir_len(base), t->s + base.at);
  if (!sw_ir_len(base)) snprintf(name, SW_AXIS_NAME_BYTES, "a%d", i);
}

/* The parts of an axis follow each other, major first. */
static sw_rc add_grid_axis(sw_importer *m, const sw_im_grid *g, int i, sw_mesh *mesh, sw_axis_ref *refs) {
  char name[SW_AXIS_NAME_BYTES];
  int last = mesh->n_axes - 1;
  name_axis(m->t, g, i, name);
  bool part = sw_ir_len(base_of(m->t, g->axis[i])) < sw_ir_len(g->axis[i]);
  bool more = part && last >= 0 && strcmp(mesh->axis[last].name, name) == 0;
  if (!more && mesh->n_axes == SW_MAX_AXES) {
    return SW_IM_FAIL(m, g->op, "the grid has more than %d axes", SW_MAX_AXES);
  }
  if (part && (g->size[i] < 0 || (more && mesh->axis[last].size < 0))) {
    return SW_IM_FAIL(m, g->op, "the size of a part of axis '%s' is not known; expected a number", name);
  }
  if (!more) {
    last = mesh->n_axes++;
    memcpy(mesh->axis[last].name, name, sizeof name);
    mesh->axis[last].size = 1;
  }
  refs[i] = (sw_axis_ref){last, (int32_t)mesh->axis[last].size, (int32_t)g->size[i]};
  mesh->axis[last].size = g->size[i] < 0 ? -1 : mesh->axis[last].size * g->size[i];
  return mesh->axis[last].size > SW_MAX_DEVICES ? SW_IM_FAIL(m, g->op, "the grid has too many devices") : SW_OK;
}

sw_rc sw_im_grid_as_mesh(sw_importer *m, const sw_im_grid *g, sw_mesh *out, sw_axis_ref *refs) {
  *out = (sw_mesh){0};
  for (int i = 0; i < g->n_axes; i++) SW_TRY(add_grid_axis(m, g, i, out, refs));
  return sw_mesh_verify(out, false, m->d);
}

/* A whole axis stays whole, a part stays of its size. */
static sw_axis_ref ref_in_given_mesh(const sw_mesh *own, const sw_mesh *given, sw_axis_ref r, int to) {
  const sw_axis_ref none = {-1, 0, 0};
  bool whole = r.pre == 1 && (r.size < 0 || r.size == own->axis[r.axis].size);
  if (to < 0 || to >= given->n_axes) return none;
  if (whole) return sw_axis_whole(given, to);
  bool fits = given->axis[to].size > 0 && given->axis[to].size % ((int64_t)r.pre * r.size) == 0;
  return fits ? (sw_axis_ref){to, r.pre, r.size} : none;
}

void sw_im_grid_on_mesh(const sw_im_grid *g, const sw_mesh *own, const sw_mesh *given, sw_axis_ref *refs) {
  bool in_order = sw_mesh_is_unnamed(own) || sw_mesh_is_unnamed(given);
  for (int i = 0; i < g->n_axes; i++) {
    const char *name = own->axis[refs[i].axis].name;
    int to = in_order ? refs[i].axis : sw_mesh_axis_named(given, name, strlen(name));
    refs[i] = ref_in_given_mesh(own, given, refs[i], to);
  }
}

sw_rc sw_im_grid_is_known(sw_importer *m, const sw_im_grid *g, const sw_mesh *mesh) {
  for (int a = 0; a < mesh->n_axes; a++) {
    if (mesh->axis[a].size >= 0) continue;
    return SW_IM_FAIL(m, g->op,
                      "the size of axis %d ('%s') of grid '@%.*s' is unknown; expected --mesh with a size for each", a,
                      mesh->axis[a].name, SW_IR_TEXT(m->t, g->name));
  }
  return SW_OK;
}
