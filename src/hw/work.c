/* What an op takes on one device, by its shape where the profile knows the kernel (kernel_price.h).
 *
 * All are launch + greater(arithmetic, traffic) + overlap * lesser of the two, and arithmetic is never less than flops
 * at the kernel's fraction of the peak, so that sw_machine_work_least_s bounds whatever shape a strategy gives the op.
 */
#include <math.h>

#include "hw/machine.h"

static const char *const kConstants[] = {
#define SW_X(id, key) [SW_KERNEL_##id] = key,
    SW_KERNEL_CONSTANTS(SW_X)
#undef SW_X
};
static const struct {
  const char *key;
  uint32_t constants;
} kKernels[] = {
#define SW_X(id, key, constants) [SW_PRICED_##id] = {key, SW_KERNEL_##constants},
    SW_PRICED_KERNELS(SW_X)
#undef SW_X
};

const char *sw_kernel_constant_text(sw_kernel_constant c) { return kConstants[c]; }
const char *sw_priced_kernel_text(sw_priced_kernel k) { return kKernels[k].key; }
uint32_t sw_priced_kernel_constants(sw_priced_kernel k) { return kKernels[k].constants; }

enum { QUERIES = 128, MOST_SHARING = 32 };

static double constant(const sw_kernel_price *k, sw_kernel_constant c) { return k->v[c]; }

sw_priced_kernel sw_work_kernel(const sw_work *w) {
  const int bytes = sw_dtype_class_of(w->dtype) == SW_CLASS_FLOAT ? sw_dtype_bytes(w->dtype) : 0;
  if (w->kind == SW_WORK_PRODUCT && bytes == 1) return SW_PRICED_PRODUCT_8BIT;
  if (w->kind == SW_WORK_ANY || bytes != 2) return SW_PRICED_COUNT;
  if (w->kind == SW_WORK_PRODUCT) return SW_PRICED_PRODUCT;
  if (w->kind == SW_WORK_ATTENTION_GRAD) return SW_PRICED_ATTENTION_GRAD;
  return w->m > 1 ? SW_PRICED_ATTENTION : SW_PRICED_DECODE;
}

/* The constants of that kernel; NULL: the roofline counts. */
static const sw_kernel_price *kernel_of(const sw_profile *p, const sw_work *w) {
  const sw_priced_kernel k = sw_work_kernel(w);
  return k < SW_PRICED_COUNT && p->kernel[k].known && p->multiprocessors > 0 ? &p->kernel[k] : NULL;
}

static double traffic_s(const sw_profile *p, const sw_kernel_price *k, double bytes) {
  return bytes / (constant(k, SW_KERNEL_MEMORY_FRACTION) * p->memory_bytes_per_s);
}

static double overlapped_seconds(const sw_kernel_price *k, double a, double b) {
  return constant(k, SW_KERNEL_LAUNCH) + fmax(a, b) + constant(k, SW_KERNEL_OVERLAP) * fmin(a, b);
}

/* The result in tiles, k in so many parts that are added up: whichever is fastest. A tile of a x b moves (a + b) / (a
 * b) elements per multiplication within the chip, and loses by that. */
static double tiles_s(const sw_profile *p, const sw_kernel_price *k, const sw_work *w) {
  static const double kTiles[][2] = {{256, 128}, {128, 256}, {128, 128}, {128, 64}, {64, 128}, {64, 64}};
  static const double kLeast = 1.0 / 256 + 1.0 / 128;
  const double rate = constant(k, SW_KERNEL_FLOP_FRACTION) * p->flop_per_s[w->dtype] / p->multiprocessors;
  double best = INFINITY;
  for (size_t t = 0; t < sizeof kTiles / sizeof *kTiles; t++) {
    const double a = kTiles[t][0], b = kTiles[t][1];
    const double loss = 1 + constant(k, SW_KERNEL_SMALL_TILE) * ((1 / a + 1 / b) / kLeast - 1);
    const double tiles = w->batch * ceil(w->m / a) * ceil(w->n / b);
    for (int parts = 1; parts <= 8; parts *= 2) {
      const double waves = ceil(tiles * parts / p->multiprocessors);
      const double added = parts > 1 ? traffic_s(p, k, 4.0 * parts * w->batch * w->m * w->n) : 0;
      best = fmin(best, waves * 2 * a * b * (w->k / parts + constant(k, SW_KERNEL_RAMP)) * loss / rate + added);
    }
  }
  return fmax(best, w->flops / (rate * p->multiprocessors));
}

/* Blocks of queries, each over as many keys as one sees on average and those that starting takes as long as. */
static double blocks_s(const sw_profile *p, const sw_kernel_price *k, const sw_work *w) {
  const double rate = constant(k, SW_KERNEL_FLOP_FRACTION) * p->flop_per_s[w->dtype] * w->k /
                      (w->k + constant(k, SW_KERNEL_HALF_WIDTH));
  const double points = w->batch * w->heads * w->m * w->k;
  if (points <= 0 || w->flops <= 0) return 0;
  const double products = w->kind == SW_WORK_ATTENTION_GRAD ? 5 : 2;
  const double seen = w->flops / (2 * products * points), blocks = ceil(w->m / QUERIES);
  const double ramp = constant(k, SW_KERNEL_RAMP), padded = blocks * QUERIES / w->m;
  const double work = w->flops * padded * (seen + ramp) / seen;
  const double most = fmin(w->n, 2 * seen); /* a causal mask shows the last query twice what one sees on average */
  const double longest = 2 * products * w->k * QUERIES * (most + ramp) * p->multiprocessors;
  return fmax(work, constant(k, SW_KERNEL_LONGEST) * longest) / rate;
}

/* A kernel of decoding works on the queries that share a head of keys together, when they are not too many. */
static double decode_s(const sw_profile *p, const sw_kernel_price *k, const sw_work *w) {
  const double sharing = w->kv_heads > 0 ? w->heads / w->kv_heads : 1, together = sharing <= MOST_SHARING ? sharing : 1;
  const double units = w->batch * w->heads / fmax(together, 1);
  const double keys = 2 * w->batch * w->kv_heads * w->n * w->k * sw_dtype_bytes(w->dtype);
  const double read = w->bytes + (together < sharing ? constant(k, SW_KERNEL_AGAIN) * (sharing - 1) * keys : 0);
  const double busy = fmin(1, units * fmax(1, w->n / fmax(constant(k, SW_KERNEL_CHUNK), 1)) / p->multiprocessors);
  const double heads = fmax(units / p->multiprocessors, 1) * constant(k, SW_KERNEL_HEAD) * sqrt(fmax(together, 1));
  return overlapped_seconds(k, traffic_s(p, k, read) / fmax(pow(busy, constant(k, SW_KERNEL_FEW)), 1e-6), heads);
}

double sw_profile_rate(const sw_profile *p, const sw_work *w) {
  const double as_said = w->dtype == SW_F32 ? p->f32_per_s[w->precision] : 0;
  return as_said > 0 ? as_said : p->flop_per_s[w->dtype];
}

static double roofline_s(const sw_machine *m, const sw_work *w) {
  const double flops = w->flops * m->run->flop_per_s[w->dtype] / sw_profile_rate(m->run, w);
  return sw_machine_local_s(m, w->dtype, flops, w->bytes);
}

/* Means of |ln| over A100, H100, H200, B200 and GB200, rows from 20 us on, `bench costs` "by its peaks alone": products
 * in bf16 7.8 %, in f8 29.6 %, attention 103 %, all of it too low. */
const char *sw_profile_roofline_text(const sw_profile *p) {
  if (p->shared_cores) return NULL;
  for (int k = 0; k < SW_PRICED_COUNT; k++)
    if (p->kernel[k].known) return NULL;
  return "by the device's peaks, as none of its kernels is measured: where some are, such prices are off by 8 % for "
         "products (30 % in 8 bits), and 2.8 times too low for attention";
}

double sw_machine_work_s(const sw_machine *m, const sw_work *w) {
  const sw_profile *p = m->run;
  const sw_kernel_price *k = kernel_of(p, w);
  if (!k) return roofline_s(m, w);
  if (k == &p->kernel[SW_PRICED_DECODE]) return decode_s(p, k, w) * m->share;
  const double arithmetic = w->kind == SW_WORK_PRODUCT ? tiles_s(p, k, w) : blocks_s(p, k, w);
  return overlapped_seconds(k, arithmetic, traffic_s(p, k, w->bytes)) * m->share;
}

/* Queries may be cut to one, so that attention over a sequence is bounded by decoding, too. */
double sw_machine_work_least_s(const sw_machine *m, const sw_work *w) {
  const sw_profile *p = m->run;
  const sw_kernel_price *k = kernel_of(p, w), *one = &p->kernel[SW_PRICED_DECODE];
  if (!k) return roofline_s(m, w);
  double least = constant(k, SW_KERNEL_LAUNCH) + traffic_s(p, k, w->bytes);
  if (k != one) {
    const double rate = constant(k, SW_KERNEL_FLOP_FRACTION) * p->flop_per_s[w->dtype];
    least = fmax(least, constant(k, SW_KERNEL_LAUNCH) + w->flops / rate);
  }
  if (w->kind != SW_WORK_ATTENTION) return least * m->share;
  const double read_s =
      one->known ? constant(one, SW_KERNEL_LAUNCH) + traffic_s(p, one, w->bytes) : roofline_s(m, w) / m->share;
  return fmin(least, read_s) * m->share;
}
