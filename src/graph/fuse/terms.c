#include "graph/fuse/terms.h"

#include <math.h>

static const double kSame = 1e-5; /* relative difference of numbers that are meant to be one */

static bool same_term(const sw_fuse_term *a, const sw_fuse_term *b) {
  return a->p == b->p && a->g == b->g && a->l == b->l && a->r == b->r && a->t == b->t;
}

static bool add_term(sw_fuse_value *v, sw_fuse_term t) {
  for (int i = 0; i < v->n; i++) {
    if (!same_term(&v->term[i], &t)) continue;
    v->term[i].factor += t.factor;
    if (fabs(v->term[i].factor) <= kSame * fabs(t.factor)) v->term[i] = v->term[--v->n];
    return true;
  }
  if (v->n == SW_FUSE_TERMS) return false;
  v->term[v->n++] = t;
  return true;
}

bool sw_fuse_add(sw_fuse_value *to, const sw_fuse_value *x, double factor) {
  for (int i = 0; i < x->n; i++) {
    sw_fuse_term t = x->term[i];
    t.factor *= factor;
    if (!add_term(to, t)) return false;
  }
  return true;
}

bool sw_fuse_multiply(sw_fuse_value *to, const sw_fuse_value *x, const sw_fuse_value *y, int sign) {
  if (sign < 0 && y->n != 1) return false;
  for (int i = 0; i < x->n; i++) {
    for (int k = 0; k < y->n; k++) {
      const sw_fuse_term *a = &x->term[i], *b = &y->term[k];
      const sw_fuse_term t = {sign > 0 ? a->factor * b->factor : a->factor / b->factor,
                              a->p + sign * b->p,
                              a->g + sign * b->g,
                              a->l + sign * b->l,
                              a->r + sign * b->r,
                              a->t + sign * b->t};
      if (!add_term(to, t)) return false;
    }
  }
  return true;
}

bool sw_fuse_sum(sw_fuse_value *to, const sw_fuse_value *x) {
  for (int i = 0; i < x->n; i++) {
    sw_fuse_term t = x->term[i];
    if (t.p != 1 || t.g < 0 || t.g > 1 || t.t) return false;
    t.r += t.g;
    t.p = t.g = 0;
    if (!add_term(to, t)) return false;
  }
  return true;
}

static bool has_term(const sw_fuse_value *v, sw_fuse_term want) {
  for (int i = 0; i < v->n; i++) {
    if (same_term(&v->term[i], &want)) return fabs(v->term[i].factor - want.factor) <= kSame * fabs(want.factor);
  }
  return false;
}

bool sw_fuse_is_softmax(const sw_fuse_value *v) {
  return v->kind == SW_FUSE_SUM && v->n == 1 && has_term(v, (sw_fuse_term){.factor = 1, .p = 1});
}

bool sw_fuse_is_tanh(const sw_fuse_value *v) {
  return v->kind == SW_FUSE_SUM && v->n == 1 && has_term(v, (sw_fuse_term){.factor = 1, .t = 1});
}

bool sw_fuse_is_derivative(const sw_fuse_value *v, double factor, bool capped) {
  if (v->kind != SW_FUSE_SUM || v->n != (capped ? 4 : 2)) return false;
  for (int t = 0; t <= (capped ? 2 : 0); t += 2) {
    const double by = t ? -factor : factor;
    if (!has_term(v, (sw_fuse_term){.factor = by, .p = 1, .g = 1, .t = t})) return false;
    if (!has_term(v, (sw_fuse_term){.factor = -by, .p = 1, .r = 1, .t = t})) return false;
  }
  return true;
}
