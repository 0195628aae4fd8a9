/* Two plans side by side (diff.h): both files as lists of named cuts, matched by names, then by place. */
#include "shardwright/diff.h"

#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/folded_names.h"
#include "io/json_tree.h"
#include "io/plan_match.h"
#include "report/diff_levers.h"

/* One argument, op or output of a file. */
typedef struct item {
  const char *name, *form;
  const char *called; /* where people read of it: by its scopes, where a report says them (report/folded_rows.h) */
  const char *sharding, *strategy; /* NULL: not said */
} item;

typedef struct side {
  sw_diff_side *out;
  sw_diff_levers levers;
  int32_t n[SW_DIFF_KINDS];
  item *items[SW_DIFF_KINDS];
} side;

typedef struct comparison {
  sw_arena *arena, *scratch;
  side was, now;
  SW_ARRAY(sw_diff_row) rows;
  SW_ARRAY(sw_diff_renamed) renamed;
  SW_ARRAY(sw_diff_again) again;
  sw_diff *out;
} comparison;

const char *sw_diff_kind_text(sw_diff_kind k) {
  static const char *const kTexts[] = {"argument", "op", "output"};
  return kTexts[k];
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* Where plans and reports keep one thing. */
typedef struct keys {
  const char *format;
  int first, version; /* that are read */
  const char *lists[SW_DIFF_KINDS];
  const char *costs; /* object that has the sums; NULL: the file itself */
  const char *inside, *peak_in;
} keys;

static const keys kPlan = {"shardwright-plan", 1, 2, {"arguments", "ops", "outputs"}, "costs", "move_s", NULL};
static const keys kReport = {"shardwright-report", 2,       2, {"arguments", "ops_in_order", "outputs"}, NULL,
                             "inside_ops_s",       "memory"};

static sw_rc read_opt_text(sw_arena *arena, const sw_json *of, const char *key, const char **out, sw_diag *d) {
  const char *text = NULL;
  SW_TRY(sw_json_opt_string(of, key, &text, d));
  *out = NULL;
  return text ? sw_arena_keep(arena, text, out, d) : SW_OK;
}

static sw_rc read_sums(const keys *k, const sw_json *root, sw_diff_side *s, sw_diag *d) {
  const sw_json *of = root, *peak = NULL;
  if (k->costs) of = NULL;
  if (k->costs) SW_TRY(sw_json_opt_object(root, k->costs, &of, d));
  s->priced = of && sw_json_find(of, "total_s");
  if (!s->priced) return SW_OK;
  SW_TRY(sw_json_f64(of, "total_s", 0, 1e300, &s->total_s, d));
  SW_TRY(sw_json_f64(of, "local_s", 0, 1e300, &s->local_s, d));
  SW_TRY(sw_json_f64(of, "reshard_s", 0, 1e300, &s->reshard_s, d));
  SW_TRY(sw_json_f64(of, k->inside, 0, 1e300, &s->inside_s, d));
  if (k->peak_in) SW_TRY(sw_json_object(root, k->peak_in, &peak, d));
  return sw_json_i64(peak ? peak : of, "peak_bytes", 0, INT64_MAX, &s->peak_bytes, d);
}

static sw_rc read_collective(const sw_json *v, sw_diff_side *s, sw_diag *d) {
  const char *names[SW_COLL_COUNT];
  const sw_json *op;
  int which;
  for (int i = 0; i < SW_COLL_COUNT; i++) names[i] = sw_coll_text((sw_coll_op)i);
  SW_TRY(sw_json_expect(v, SW_JSON_OBJECT, d));
  SW_TRY(sw_json_member(v, "op", &op, d));
  SW_TRY(sw_json_word(op, names, SW_COLL_COUNT, &which, d));
  sw_collective_sum *sum = &s->by_collective[which];
  SW_TRY(sw_json_i64(v, "calls", 0, INT64_MAX, &sum->calls, d));
  SW_TRY(sw_json_f64(v, "bytes", 0, 1e300, &sum->bytes, d));
  return sw_json_f64(v, "seconds", 0, 1e300, &sum->seconds, d);
}

static sw_rc read_collectives(const sw_json *root, sw_diff_side *s, sw_diag *d) {
  const sw_json *list = NULL;
  SW_TRY(sw_json_opt_array(root, "by_collective", &list, d));
  s->has_collectives = list != NULL;
  for (int32_t i = 0; list && i < list->n; i++) SW_TRY(read_collective(&list->at[i], s, d));
  return SW_OK;
}

/* As plan files have it, "f32[4,8]"; of an op of a report what it is, without a type. */
static sw_rc read_form(sw_arena *scratch, const sw_json *v, const char **out, sw_diag *d) {
  const char *dtype = NULL;
  const sw_json *shape = NULL;
  sw_text t = {0};
  *out = NULL;
  SW_TRY(sw_json_opt_string(v, "form", out, d));
  if (!*out) SW_TRY(sw_json_opt_string(v, "op", out, d));
  if (*out) return SW_OK;
  SW_TRY(sw_json_opt_string(v, "dtype", &dtype, d));
  SW_TRY(sw_json_opt_array(v, "shape", &shape, d));
  if (!dtype || !shape) return SW_OK;
  sw_text_printf(&t, "%s[", dtype);
  for (int32_t i = 0; i < shape->n; i++) sw_text_printf(&t, "%s%lld", i ? "," : "", (long long)shape->at[i].i64);
  sw_text_puts(&t, "]");
  sw_rc rc = t.rc ? SW_FAIL(d, t.rc, SW_NOWHERE, "out of memory") : sw_arena_keep(scratch, sw_text_str(&t), out, d);
  sw_text_free(&t);
  return rc;
}

static sw_rc read_diff_item(comparison *c, const sw_json *v, item *out, sw_diag *d) {
  SW_TRY(sw_json_expect(v, SW_JSON_OBJECT, d));
  const char *name;
  SW_TRY(sw_json_string(v, "name", &name, d));
  SW_TRY(sw_arena_keep(c->arena, name, &out->name, d));
  SW_TRY(read_form(c->scratch, v, &out->form, d));
  SW_TRY(read_opt_text(c->arena, v, "strategy", &out->strategy, d));
  SW_TRY(read_opt_text(c->arena, v, "sharding", &out->sharding, d));
  return out->sharding ? SW_OK : read_opt_text(c->arena, v, "result", &out->sharding, d);
}

/* The second of one scope is "#2": no two are called alike. */
static sw_rc call_item(comparison *c, const sw_json *v, sw_dict *scopes, item *out, sw_diag *d) {
  const char *scope = NULL;
  int64_t *seen;
  out->called = out->name;
  SW_TRY(sw_json_opt_string(v, "scope", &scope, d));
  if (!scope) return SW_OK;
  SW_TRY(sw_dict_put(scopes, scope, strlen(scope), 0, &seen, NULL, d));
  ++*seen;
  out->called = *seen == 1 ? sw_arena_printf(c->arena, d, "%s", scope)
                           : sw_arena_printf(c->arena, d, "%s#%lld", scope, (long long)*seen);
  return out->called ? SW_OK : SW_E_RESOURCE;
}

static sw_rc read_item_list(comparison *c, const sw_json *list, item *out, sw_diag *d) {
  sw_dict scopes = {0};
  sw_rc rc = SW_OK;
  for (int32_t i = 0; i < list->n && !rc; i++) {
    rc = read_diff_item(c, &list->at[i], &out[i], d);
    if (!rc) rc = call_item(c, &list->at[i], &scopes, &out[i], d);
  }
  sw_dict_deinit(&scopes);
  return rc;
}

static sw_rc read_diff_items(comparison *c, const sw_json *root, const keys *k, side *s, sw_diag *d) {
  for (int kind = 0; kind < SW_DIFF_KINDS; kind++) {
    const sw_json *list = NULL;
    SW_TRY(sw_json_opt_array(root, k->lists[kind], &list, d));
    s->n[kind] = list ? list->n : 0;
    SW_ARENA_NEW(s->items[kind], c->scratch, s->n[kind], d);
    if (list) SW_TRY(read_item_list(c, list, s->items[kind], d));
  }
  return SW_OK;
}

static sw_rc find_keys(const sw_json *root, const keys **out, sw_diag *d) {
  const char *format;
  int64_t version;
  SW_TRY(sw_json_expect(root, SW_JSON_OBJECT, d));
  SW_TRY(sw_json_string(root, "format", &format, d));
  *out = strcmp(format, kPlan.format) == 0 ? &kPlan : strcmp(format, kReport.format) == 0 ? &kReport : NULL;
  if (!*out)
    return SW_FAIL_INPUT(d, sw_json_span(sw_json_find(root, "format")),
                         "the format is '%.60s'; expected a plan ('%s') or a report ('%s')", format, kPlan.format,
                         kReport.format);
  return sw_json_i64(root, "version", (*out)->first, (*out)->version, &version, d);
}

static sw_rc read_side_names(comparison *c, const sw_json *root, sw_diff_side *s, sw_diag *d) {
  static const char *const kKeys[] = {"model", "profile"};
  const char **const into[] = {&s->model, &s->profile};
  for (int i = 0; i < 2; i++) {
    const sw_json *of;
    if (s->is_report) {
      SW_TRY(read_opt_text(c->arena, root, kKeys[i], into[i], d));
      continue;
    }
    SW_TRY(sw_json_object(root, kKeys[i], &of, d));
    SW_TRY(read_opt_text(c->arena, of, "name", into[i], d));
  }
  SW_TRY(read_opt_text(c->arena, root, "compiler", &s->compiler, d));
  if (!s->compiler) s->compiler = "none";
  SW_TRY(read_opt_text(c->arena, root, "dtype", &s->dtype, d));
  return read_opt_text(c->arena, root, "mesh", &s->mesh, d);
}

static sw_rc read_diff_side(comparison *c, const sw_diff_text *text, side *s, sw_diag *d) {
  const sw_json *root;
  const keys *k;
  SW_TRY(sw_arena_keep(c->arena, text->name, &s->out->file, d));
  SW_TRY(sw_json_parse(text->name, text->bytes, text->n, c->scratch, &root, d));
  SW_TRY(find_keys(root, &k, d));
  s->out->is_report = k == &kReport;
  SW_TRY(read_side_names(c, root, s->out, d));
  SW_TRY(read_sums(k, root, s->out, d));
  SW_TRY(read_collectives(root, s->out, d));
  SW_TRY(sw_diff_read_levers(root, &s->levers, d));
  return read_diff_items(c, root, k, s, d);
}

/* --- comparing ---------------------------------------------------------------------------------------------------- */

/* A cut of something, before those alike are one row. */
typedef struct change {
  const char *name, *called, *was, *now;
} change;

typedef struct change_list {
  SW_ARRAY(change) at;
} change_list;

static const char *cut_text(const item *i) { return i->sharding ? i->sharding : i->strategy ? i->strategy : "?"; }

/* What differs of two items for the same thing; false: nothing that both say. */
static bool items_differ(const item *was, const item *now, change *out) {
  *out = (change){.name = now->name, .called = now->called};
  if (was->sharding && now->sharding && strcmp(was->sharding, now->sharding) != 0) {
    out->was = was->sharding;
    out->now = now->sharding;
    return true;
  }
  if (!was->strategy || !now->strategy || strcmp(was->strategy, now->strategy) == 0) return false;
  out->was = was->strategy;
  out->now = now->strategy;
  return true;
}

static sw_rc group_rows(comparison *c, sw_diff_kind kind, const change_list *list, sw_diag *d) {
  const int32_t n = (int32_t)list->at.n;
  sw_named *named;
  int32_t n_groups;
  const sw_folded_name *groups;
  if (!n) return SW_OK;
  SW_ARENA_NEW(named, c->scratch, n, d);
  for (int32_t i = 0; i < n; i++) {
    const change *x = &list->at.at[i];
    named[i] = (sw_named){x->called, NULL, ""};
    named[i].like = sw_arena_printf(c->scratch, d, "%s -> %s", x->was ? x->was : "", x->now ? x->now : "");
    if (!named[i].like) return SW_E_RESOURCE;
  }
  SW_TRY(sw_fold_names(n, named, c->arena, &n_groups, &groups, d));
  for (int32_t i = 0; i < n_groups; i++) {
    const char **names;
    SW_ARENA_NEW(names, c->arena, groups[i].n, d);
    for (int32_t k = 0; k < groups[i].n; k++) names[k] = list->at.at[groups[i].items[k]].name;
    const change *x = &list->at.at[groups[i].items[0]];
    const sw_diff_row row = {kind, groups[i].name, groups[i].n, names, x->was, x->now};
    SW_TRY(sw_array_push(&c->rows, row, d));
  }
  return SW_OK;
}

typedef SW_ARRAY(sw_named) named_list;

static sw_rc fold_levers(comparison *c, const named_list *named, bool now, bool offloaded, sw_diag *d) {
  const sw_folded_name *groups = NULL;
  int32_t n_groups = 0;
  if (named->at) SW_TRY(sw_fold_names((int32_t)named->n, named->at, c->arena, &n_groups, &groups, d));
  for (int32_t i = 0; i < n_groups; i++) {
    const char **names;
    SW_ARENA_NEW(names, c->arena, groups[i].n, d);
    for (int32_t k = 0; k < groups[i].n; k++) names[k] = named->at[groups[i].items[k]].name;
    SW_TRY(sw_array_push(&c->again, ((sw_diff_again){groups[i].name, groups[i].n, names, now, offloaded}), d));
  }
  return SW_OK;
}

/* Ops that the one plan has for what it makes again, offloads, or keeps for what runs late, and the other has not. */
static sw_rc take_levers(comparison *c, side *own, const side *other, bool now, sw_diag *d) {
  named_list again = {0}, offloaded = {0};
  int32_t n = 0;
  sw_rc rc = SW_OK;
  for (int32_t i = 0; i < own->n[SW_DIFF_OP] && !rc; i++) {
    const item *at = &own->items[SW_DIFF_OP][i];
    const char *original;
    sw_lever how;
    rc = sw_diff_lever_alone(&own->levers, &other->levers, at->name, c->arena, &how, &original, d);
    named_list *list = how == SW_LEVER_OFFLOADS ? &offloaded : &again;
    if (!rc && original) rc = sw_array_push(list, ((sw_named){original, "", ""}), d);
    if (how == SW_LEVER_NONE) own->items[SW_DIFF_OP][n++] = *at;
  }
  own->n[SW_DIFF_OP] = n;
  if (!rc) rc = fold_levers(c, &again, now, false, d);
  if (!rc) rc = fold_levers(c, &offloaded, now, true, d);
  sw_array_free(&again);
  sw_array_free(&offloaded);
  return rc;
}

typedef struct kind_lists {
  change_list changed, added, removed;
} kind_lists;

static sw_rc list_changes(comparison *c, sw_diff_kind kind, const int32_t *to, kind_lists *out, sw_diag *d) {
  const side *was = &c->was, *now = &c->now;
  bool *met;
  change x;
  SW_ARENA_NEW(met, c->scratch, now->n[kind], d);
  for (int32_t i = 0; i < was->n[kind]; i++) {
    const item *a = &was->items[kind][i];
    if (to[i] < 0) {
      SW_TRY(sw_array_push(&out->removed.at, ((change){a->name, a->called, cut_text(a), NULL}), d));
      continue;
    }
    const item *b = &now->items[kind][to[i]];
    met[to[i]] = true;
    if (!sw_texts_equal(a->name, b->name))
      SW_TRY(sw_array_push(&c->renamed, ((sw_diff_renamed){kind, a->name, b->name}), d));
    if (items_differ(a, b, &x)) SW_TRY(sw_array_push(&out->changed.at, x, d));
  }
  for (int32_t i = 0; i < now->n[kind]; i++) {
    const item *b = &now->items[kind][i];
    if (!met[i]) SW_TRY(sw_array_push(&out->added.at, ((change){b->name, b->called, NULL, cut_text(b)}), d));
  }
  return SW_OK;
}

static sw_rc match_side(comparison *c, const side *s, sw_diff_kind kind, sw_match_side *out, sw_diag *d) {
  const char **names, **forms;
  SW_ARENA_NEW_EACH(c->scratch, s->n[kind], d, names, forms);
  for (int32_t i = 0; i < s->n[kind]; i++) {
    names[i] = s->items[kind][i].name;
    forms[i] = s->items[kind][i].form;
  }
  *out = (sw_match_side){s->n[kind], names, forms};
  return SW_OK;
}

static sw_rc compare_kind(comparison *c, sw_diff_kind kind, kind_lists *lists, sw_diag *d) {
  sw_match_side was, now;
  int32_t *to;
  SW_TRY(match_side(c, &c->was, kind, &was, d));
  SW_TRY(match_side(c, &c->now, kind, &now, d));
  SW_ARENA_NEW(to, c->scratch, was.n, d);
  SW_TRY(sw_plan_match(&was, &now, to, d));
  SW_TRY(list_changes(c, kind, to, lists, d));
  c->out->n_now[kind] = now.n;
  c->out->n_changed[kind] = (int32_t)lists->changed.at.n;
  c->out->n_added[kind] = (int32_t)lists->added.at.n;
  c->out->n_removed[kind] = (int32_t)lists->removed.at.n;
  return SW_OK;
}

/* A report of before they were listed has no outputs: then there is nothing to compare. */
static bool both_have(const comparison *c, int kind) {
  return kind != SW_DIFF_OUTPUT || (c->was.n[kind] && c->now.n[kind]);
}

static sw_rc compare_lists(comparison *c, kind_lists *lists, sw_diag *d) {
  SW_TRY(take_levers(c, &c->now, &c->was, true, d));
  SW_TRY(take_levers(c, &c->was, &c->now, false, d));
  for (int k = 0; k < SW_DIFF_KINDS; k++)
    if (both_have(c, k)) SW_TRY(compare_kind(c, (sw_diff_kind)k, &lists[k], d));
  for (int k = 0; k < SW_DIFF_KINDS; k++) SW_TRY(group_rows(c, (sw_diff_kind)k, &lists[k].changed, d));
  for (int k = 0; k < SW_DIFF_KINDS; k++) SW_TRY(group_rows(c, (sw_diff_kind)k, &lists[k].added, d));
  for (int k = 0; k < SW_DIFF_KINDS; k++) SW_TRY(group_rows(c, (sw_diff_kind)k, &lists[k].removed, d));
  c->out->n_rows = (int32_t)c->rows.n;
  c->out->rows = sw_arena_copy(c->arena, c->rows.at, c->rows.n, sizeof *c->rows.at, d);
  c->out->n_renamed = (int32_t)c->renamed.n;
  c->out->renamed = sw_arena_copy(c->arena, c->renamed.at, c->renamed.n, sizeof *c->renamed.at, d);
  c->out->n_again = (int32_t)c->again.n;
  c->out->again = sw_arena_copy(c->arena, c->again.at, c->again.n, sizeof *c->again.at, d);
  return c->out->rows && c->out->renamed && c->out->again ? SW_OK : SW_E_RESOURCE;
}

static sw_rc compare_plans(comparison *c, sw_diag *d) {
  kind_lists lists[SW_DIFF_KINDS] = {0};
  sw_rc rc = compare_lists(c, lists, d);
  for (int k = 0; k < SW_DIFF_KINDS; k++) {
    sw_array_free(&lists[k].changed.at);
    sw_array_free(&lists[k].added.at);
    sw_array_free(&lists[k].removed.at);
  }
  return rc;
}

sw_rc sw_diff_build(const sw_diff_text *was, const sw_diff_text *now, sw_arena *arena, sw_diff *out, sw_diag *d) {
  sw_arena scratch = {0};
  *out = (sw_diff){0};
  comparison c = {.arena = arena, .scratch = &scratch, .was.out = &out->was, .now.out = &out->now, .out = out};
  sw_rc rc = read_diff_side(&c, was, &c.was, d);
  if (!rc) rc = read_diff_side(&c, now, &c.now, d);
  if (!rc) rc = compare_plans(&c, d);
  sw_array_free(&c.rows);
  sw_array_free(&c.renamed);
  sw_array_free(&c.again);
  sw_dict_deinit(&c.was.levers.of);
  sw_dict_deinit(&c.now.levers.of);
  sw_arena_deinit(&scratch);
  return rc;
}

static bool same_number(double a, double b) { return !(a < b) && !(a > b); }

static bool same_sums(const sw_diff_side *a, const sw_diff_side *b) {
  for (int i = 0; i < SW_COLL_COUNT; i++) {
    const sw_collective_sum *x = &a->by_collective[i], *y = &b->by_collective[i];
    if (x->calls != y->calls || !same_number(x->bytes, y->bytes) || !same_number(x->seconds, y->seconds)) return false;
  }
  return same_number(a->total_s, b->total_s) && same_number(a->local_s, b->local_s) &&
         same_number(a->reshard_s, b->reshard_s) && same_number(a->inside_s, b->inside_s) &&
         a->peak_bytes == b->peak_bytes;
}

bool sw_diff_is_empty(const sw_diff *diff) {
  const sw_diff_side *a = &diff->was, *b = &diff->now;
  return !diff->n_rows && !diff->n_renamed && !diff->n_again && sw_texts_equal(a->model, b->model) &&
         sw_texts_equal(a->profile, b->profile) && sw_texts_equal(a->mesh, b->mesh) &&
         sw_texts_equal(a->compiler, b->compiler) && a->priced == b->priced &&
         a->has_collectives == b->has_collectives && same_sums(a, b);
}
