/* Linear layers (linear.h). */
#include "gen/linear.h"

#include <string.h>

sw_id swg_narrow_product(swg_builder *b, const char *name, sw_dtype summed, sw_dtype t, swg_narrow_side x,
                         swg_narrow_side y, const swg_letters *result) {
  swg_function(b, name);
  swg_enter(b, "%s", name);
  sw_id raw = swg_contract(b, "raw", summed, &(swg_side){x.dims, x.value->values}, &(swg_side){y.dims, y.value->values},
                           result);
  swg_leave(b);
  sw_id product = swg_scale_by(b, name, raw, x.value->scale, y.value->scale, t);
  swg_function(b, NULL);
  return product;
}

/* x narrowed; layers that read the same share it. */
static swg_narrow narrow_input(swg_builder *b, sw_id x) {
  enum { NEAR = 8 }; /* as q, k and v are */
  const swg_products *p = b->products;
  for (size_t i = p->done.n; i > 0 && i + NEAR > p->done.n; i--)
    if (p->done.at[i - 1].x == x) return p->done.at[i - 1].x8;
  sw_text scope;
  char name[256];
  swg_leave_all(b, &scope);
  swg_name_like(b, x, ".f8", name, sizeof name);
  const swg_narrow x8 = swg_narrow_down(b, name, x, p->forward);
  swg_return(b, &scope);
  return x8;
}

swg_weight swg_weight_of(swg_builder *b, const char *name, swg_shape shape) {
  const swg_products *p = b->products;
  swg_weight w = {-1, {-1, -1, -1}};
  if (p && p->stored) {
    w.narrow.values = swg_arg(b, name, SW_VALUE_PARAMETER, p->forward, shape);
    swg_enter(b, "%s", name);
    w.narrow.scale = swg_arg(b, "scale", SW_VALUE_PARAMETER, SW_F32, SWG_SCALAR);
    swg_leave(b);
    return w;
  }
  w.wide = swg_param(b, name, shape);
  if (p) {
    char text[64];
    snprintf(text, sizeof text, "%s.f8", name);
    w.narrow = swg_narrow_down(b, text, w.wide, p->forward);
  }
  return w;
}

/* Weights are read narrow and multiplied as activations are: what libraries have as one call. */
static sw_id wide_product(swg_builder *b, const char *name, const char *equation, sw_id x, const swg_narrow *w) {
  swg_function(b, name);
  swg_enter(b, "%s", name);
  sw_id used = swg_convert(b, "weight", w->values, b->dtype);
  sw_id raw = swg_einsum(b, "raw", equation, SWG_IDS(x, used));
  swg_leave(b);
  sw_id y = swg_scale_by(b, name, raw, w->scale, -1, b->dtype);
  swg_function(b, NULL);
  return y;
}

sw_id swg_linear_by(swg_builder *b, const char *name, const char *equation, sw_id x, const swg_weight *w) {
  swg_products *p = b->products;
  if (!p) return swg_einsum(b, name, equation, SWG_IDS(x, w->wide));
  if (!p->multiply) return wide_product(b, name, equation, x, &w->narrow);
  swg_product made = {.x = x, .w = w->wide, .x8 = narrow_input(b, x), .w8 = w->narrow};
  swg_read_equation(equation, &made.dims[0], &made.dims[1], &made.dims[2]);
  made.y = swg_narrow_product(b, name, swg_scaled_in(b->dtype), b->dtype, (swg_narrow_side){&made.dims[0], &made.x8},
                              (swg_narrow_side){&made.dims[1], &made.w8}, &made.dims[2]);
  if (!b->rc) b->rc = sw_array_push(&p->done, made, b->diag);
  return made.y;
}

sw_id swg_linear(swg_builder *b, const char *name, const char *equation, sw_id x, const char *weight, swg_shape shape) {
  const swg_weight w = swg_weight_of(b, weight, shape);
  return swg_linear_by(b, name, equation, x, &w);
}
