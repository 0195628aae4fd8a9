#include "graph/fuse/terms.h"

#include <math.h>

static const double kSame = 1e-5; /* relative difference of numbers that are meant to be one */

static bool same_term(const sw_fuse_term *a, const sw_fuse_term *b) {
  return a->p == b->p && a->g == b->g && a->l == b->l && a->r == b->r && a->t == b->t && a->d == b->d;
}

static bool add_fuse_term(sw_fuse_value *v, sw_fuse_term t) {
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
    if (!add_fuse_term(to, t)) return false;
  }
  return true;
}

bool sw_fuse_multiply(sw_fuse_value *to, const sw_fuse_value *x, const sw_fuse_value *y, int sign) {
  if (sign < 0 && y->n != 1) return false;
  for (int i = 0; i < x->n; i++) {
    for (int k = 0; k < y->n; k++) {
      const sw_fuse_term *a = &x->term[i], *b = &y->term[k];
      if (sign < 0 && b->d) return false;
      const sw_fuse_term t = {sign > 0 ? a->factor * b->factor : a->factor / b->factor,
                              a->p + sign * b->p,
                              a->g + sign * b->g,
                              a->l + sign * b->l,
                              a->r + sign * b->r,
                              a->t + sign * b->t,
                              a->d || b->d};
      if (!add_fuse_term(to, t)) return false;
    }
  }
  return true;
}

bool sw_fuse_sum(sw_fuse_value *to, const sw_fuse_value *x, bool drops) {
  for (int i = 0; i < x->n; i++) {
    sw_fuse_term t = x->term[i];
    if (t.p != 1 || t.g < 0 || t.g > 1 || t.t || t.d != (drops ? t.g : 0)) return false;
    t.r += t.g;
    t.p = t.g = t.d = 0;
    if (!add_fuse_term(to, t)) return false;
  }
  return true;
}

static bool is_near_number(double x, double y) { return fabs(x - y) <= kSame * fabs(y); }

/* The factor of a term; 0: there is none. */
static double factor_of(const sw_fuse_value *v, sw_fuse_term of) {
  for (int i = 0; i < v->n; i++) {
    if (same_term(&v->term[i], &of)) return v->term[i].factor;
  }
  return 0;
}

bool sw_fuse_is_softmax(const sw_fuse_value *v, bool drops, double *by) {
  *by = factor_of(v, (sw_fuse_term){.p = 1, .d = drops});
  return v->kind == SW_FUSE_SUM && v->n == 1 && *by > 0 && (drops || is_near_number(*by, 1));
}

bool sw_fuse_is_tanh(const sw_fuse_value *v) {
  return v->kind == SW_FUSE_SUM && v->n == 1 && is_near_number(factor_of(v, (sw_fuse_term){.t = 1}), 1);
}

bool sw_fuse_is_derivative(const sw_fuse_value *v, double factor, bool capped, bool drops, double *by) {
  const double first = factor_of(v, (sw_fuse_term){.p = 1, .g = 1, .d = drops});
  *by = first / factor;
  if (v->kind != SW_FUSE_SUM || v->n != (capped ? 4 : 2) || !(*by > 0) || !(drops || is_near_number(*by, 1)))
    return false;
  for (int t = 0; t <= (capped ? 2 : 0); t += 2) {
    const double want = t ? -first : first;
    if (!is_near_number(factor_of(v, (sw_fuse_term){.p = 1, .g = 1, .t = t, .d = drops}), want)) return false;
    if (!is_near_number(factor_of(v, (sw_fuse_term){.p = 1, .r = 1, .t = t}), -want)) return false;
  }
  return true;
}
