/* Prices of products and attention by shape: against tiles and waves that are counted one by one, and no shape that a
 * strategy could cut below the bound that planning uses.
 */
#include <math.h>

#include "check.h"

#include "hw/machine.h"
#include "shardwright/profile.h"
#include "support/meshes.h"

static const char *const kProfiles[] = {"dgx-h100", "dgx-a100", "h200", "tpu-v5e", "uniform"};
enum { N_PROFILES = sizeof kProfiles / sizeof *kProfiles };

typedef struct device {
  sw_arena arena;
  const sw_profile *profile;
  sw_machine *machine;
} device;

static void device_init(device *dev, const char *name) {
  *dev = (device){0};
  dev->machine = machine_of(name, "x=1", &dev->arena);
  dev->profile = sw_machine_profile(dev->machine);
}

static sw_work product(sw_dtype t, double batch, double m, double n, double k) {
  const double bytes = sw_dtype_bytes(t) * (m * k + k * n + m * n) * batch;
  return (sw_work){SW_WORK_PRODUCT, t, 2 * batch * m * n * k, bytes, .batch = batch, .m = m, .n = n, .k = k};
}

/* Queries see all keys up to their own place, those behind the last one being cut off. */
static sw_work attention(sw_work_kind kind, double batch, double heads, double kv_heads, double queries, double keys,
                         double width, double seen) {
  const double per_query = batch * heads * queries * width, per_key = batch * kv_heads * keys * width;
  const bool back = kind == SW_WORK_ATTENTION_GRAD;
  return (sw_work){.kind = kind,
                   .dtype = SW_BF16,
                   .flops = (back ? 10 : 4) * per_query * keys * seen,
                   .bytes = 2 * (back ? 4 : 2) * (per_query + per_key),
                   .batch = batch,
                   .m = queries,
                   .n = keys,
                   .k = width,
                   .heads = heads,
                   .kv_heads = kv_heads};
}

/* Waves, by dealing tiles out to multiprocessors one after the other. */
static int64_t waves_of(const sw_work *w, int64_t a, int64_t b, int64_t parts, int64_t processors) {
  int64_t dealt = 0, waves = 0;
  for (int64_t i = 0; i < (int64_t)w->batch; i++)
    for (int64_t row = 0; row < (int64_t)w->m; row += a)
      for (int64_t col = 0; col < (int64_t)w->n; col += b)
        for (int64_t p = 0; p < parts; p++) {
          waves += dealt == 0;
          dealt = dealt + 1 == processors ? 0 : dealt + 1;
        }
  return waves;
}

static double counted_s(const sw_profile *p, const sw_work *w) {
  static const int64_t kSides[][2] = {{256, 128}, {128, 256}, {128, 128}, {128, 64}, {64, 128}, {64, 64}};
  const double *v = p->kernel[SW_PRICED_PRODUCT].v, rate = p->memory_bytes_per_s * v[SW_KERNEL_MEMORY_FRACTION];
  double best = INFINITY;
  for (int t = 0; t < 6; t++)
    for (int64_t parts = 1; parts <= 8; parts *= 2) {
      const double a = (double)kSides[t][0], b = (double)kSides[t][1];
      const double moved = (a + b) / (a * b), least = (256.0 + 128) / (256.0 * 128);
      const double flops = 2 * a * b * (w->k / (double)parts + v[SW_KERNEL_RAMP]);
      const double per_processor = v[SW_KERNEL_FLOP_FRACTION] * p->flop_per_s[w->dtype] / p->multiprocessors;
      const double one = flops / per_processor * (1 + v[SW_KERNEL_SMALL_TILE] * (moved / least - 1));
      const double sum = parts > 1 ? 4 * (double)parts * w->batch * w->m * w->n / rate : 0;
      best =
          fmin(best, one * (double)waves_of(w, kSides[t][0], kSides[t][1], parts, (int64_t)p->multiprocessors) + sum);
    }
  const double traffic = w->bytes / rate;
  return v[SW_KERNEL_LAUNCH] + fmax(best, traffic) + v[SW_KERNEL_OVERLAP] * fmin(best, traffic);
}

static void close_to(double got, double expected, const sw_work *w) {
  if (fabs(got - expected) <= 1e-9 * expected) return;
  print_message("%g x %g x %g x %g: %g s, expected %g\n", w->batch, w->m, w->n, w->k, got, expected);
  fail();
}

static double between(sw_rng *rng, double most) { return 1 + (double)sw_rng_below(rng, (int64_t)most); }

static void products_take_the_tiles_that_are_counted(void **state) {
  (void)state;
  const uint64_t seed = check_seed(3);
  for (int i = 0; i < 2; i++) {
    device dev;
    sw_rng rng;
    sw_rng_seed(&rng, seed + (uint64_t)i);
    device_init(&dev, kProfiles[i]);
    for (int round = 0; round < check_scale(200); round++) {
      const sw_work w =
          product(SW_BF16, between(&rng, 4), between(&rng, 3000), between(&rng, 3000), between(&rng, 5000));
      const sw_work turned = product(SW_BF16, w.batch, w.n, w.m, w.k);
      close_to(sw_machine_work_s(dev.machine, &w), counted_s(dev.profile, &w), &w);
      close_to(sw_machine_work_s(dev.machine, &turned), sw_machine_work_s(dev.machine, &w), &w);
    }
    sw_arena_deinit(&dev.arena);
  }
}

/* One of d devices: each dim is cut into some number of blocks, of which the largest counts. */
static double cut(sw_rng *rng, double extent, double *devices) {
  const double parts = between(rng, 8);
  *devices *= parts;
  return ceil(extent / parts);
}

static sw_work random_cut(sw_rng *rng, sw_work *whole, double *devices) {
  static const sw_dtype kTypes[] = {SW_BF16, SW_F16, SW_F8E4M3FN, SW_F32};
  *devices = 1;
  if (sw_rng_below(rng, 2)) {
    *whole = product(kTypes[sw_rng_below(rng, 4)], between(rng, 64), between(rng, 9000), between(rng, 9000),
                     between(rng, 9000));
    const double batch = cut(rng, whole->batch, devices), m = cut(rng, whole->m, devices);
    return product(whole->dtype, batch, m, cut(rng, whole->n, devices), cut(rng, whole->k, devices));
  }
  const double groups = between(rng, 70), width = 8 * between(rng, 32), batch = between(rng, 64), kv = between(rng, 16);
  const sw_work_kind kind = sw_rng_below(rng, 2) ? SW_WORK_ATTENTION : SW_WORK_ATTENTION_GRAD;
  const double keys = between(rng, 9000), queries = sw_rng_below(rng, 4) ? keys : 1;
  const double seen = queries > 1 && sw_rng_below(rng, 2) ? 0.5 + 0.5 / keys : 1;
  *whole = attention(kind, batch, kv * groups, kv, queries, keys, width, seen);
  const double own_batch = cut(rng, batch, devices), own_kv = cut(rng, kv, devices);
  const double own_queries = cut(rng, queries, devices), own_keys = cut(rng, keys, devices);
  /* the device that has most to do sees as much of its part as anyone does, at least */
  return attention(kind, own_batch, own_kv * groups, own_kv, own_queries, own_keys, width, seen);
}

static void nothing_is_below_the_bound(void **state) {
  (void)state;
  const uint64_t seed = check_seed(5);
  for (int i = 0; i < N_PROFILES; i++) {
    device dev;
    sw_rng rng;
    sw_rng_seed(&rng, seed + (uint64_t)i);
    device_init(&dev, kProfiles[i]);
    for (int round = 0; round < check_scale(4000); round++) {
      double devices;
      sw_work whole, own = random_cut(&rng, &whole, &devices);
      sw_work share = whole;
      share.flops /= devices;
      share.bytes /= devices;
      const double least = sw_machine_work_least_s(dev.machine, &share), got = sw_machine_work_s(dev.machine, &own);
      if (got < least * (1 - 1e-9)) {
        print_message("%s, round %d: %g s, the bound of a %g th part is %g\n", kProfiles[i], round, got, devices,
                      least);
        fail();
      }
    }
    sw_arena_deinit(&dev.arena);
  }
}

static void other_dtypes_and_devices_follow_the_roofline(void **state) {
  (void)state;
  for (int i = 0; i < N_PROFILES; i++) {
    device dev;
    device_init(&dev, kProfiles[i]);
    const sw_work wide = product(SW_F32, 1, 300, 200, 100), narrow = product(SW_BF16, 1, 300, 200, 100);
    close_to(sw_machine_work_s(dev.machine, &wide), sw_machine_local_s(dev.machine, SW_F32, wide.flops, wide.bytes),
             &wide);
    if (!dev.profile->kernel[SW_PRICED_PRODUCT].known)
      close_to(sw_machine_work_s(dev.machine, &narrow),
               sw_machine_local_s(dev.machine, SW_BF16, narrow.flops, narrow.bytes), &narrow);
    sw_arena_deinit(&dev.arena);
  }
}

/* At the rates of the data sheets: half of bf16's in TF32, on TPUs in three passes or one. */
static void products_of_f32_may_be_less_precise(void **state) {
  (void)state;
  static const struct {
    const char *profile;
    double high, free; /* parts of the rate of bf16 */
  } kRates[] = {
      {"h100", 0.5, 0.5}, {"a100", 0.5, 0.5}, {"gb200-nvl72", 0.5, 0.5}, {"tpu-v5p", 1 / 3.0, 1}, {"trainium2", 0, 0}};
  for (size_t i = 0; i < sizeof kRates / sizeof *kRates; i++) {
    device dev;
    device_init(&dev, kRates[i].profile);
    const double bf16 = dev.profile->flop_per_s[SW_BF16], f32 = dev.profile->flop_per_s[SW_F32];
    sw_work w = product(SW_F32, 1, 8192, 8192, 8192);
    const double s = sw_machine_work_s(dev.machine, &w) - sw_machine_launch_s(dev.machine);
    for (w.precision = SW_PRECISION_HIGH; w.precision < SW_PRECISION_COUNT; w.precision++) {
      const double part = w.precision == SW_PRECISION_HIGH ? kRates[i].high : kRates[i].free;
      const double times = part > 0 ? part * bf16 / f32 : 1, tolerance = 0.01;
      const double own_s = sw_machine_work_s(dev.machine, &w) - sw_machine_launch_s(dev.machine);
      assert_true(fabs(s / own_s / times - 1) < tolerance);
      assert_true(sw_machine_work_least_s(dev.machine, &w) <= sw_machine_work_s(dev.machine, &w));
    }
    sw_arena_deinit(&dev.arena);
  }
}

static double decode_s(sw_profile *p, const sw_machine *m, const sw_work *w, double again) {
  p->kernel[SW_PRICED_DECODE].v[SW_KERNEL_AGAIN] = again;
  return sw_machine_work_s(m, w);
}

/* Of one head of keys 32 queries are served at once; what more there are read it again, from a cache. */
static void many_queries_of_a_head_read_it_again(void **state) {
  (void)state;
  device dev;
  device_init(&dev, "dgx-h100");
  sw_profile p = *dev.profile;
  sw_machine m = *dev.machine;
  m.profile = m.run = &p;
  assert_true(p.kernel[SW_PRICED_DECODE].v[SW_KERNEL_AGAIN] == 0.5); /* the file does not say it */
  const double batch = 4096, keys = 8192, width = 128;
  for (int sharing = 32; sharing <= 64; sharing *= 2) {
    const sw_work w = attention(SW_WORK_ATTENTION, batch, sharing, 1, 1, keys, width, 1);
    const double read = 2 * 2 * batch * keys * width * (sharing - 1); /* all blocks busy */
    const double rate = p.memory_bytes_per_s * p.kernel[SW_PRICED_DECODE].v[SW_KERNEL_MEMORY_FRACTION];
    close_to(decode_s(&p, &m, &w, 1.5) - decode_s(&p, &m, &w, 0.5) + 1, (sharing > 32 ? read / rate : 0) + 1, &w);
  }
  sw_arena_deinit(&dev.arena);
  device_init(&dev, "b200");
  assert_true(dev.profile->kernel[SW_PRICED_DECODE].v[SW_KERNEL_AGAIN] == 1.33); /* it does */
  for (int k = 0; k < SW_PRICED_COUNT; k++)                                      /* and of no other kernel */
    assert_true(k == SW_PRICED_DECODE || dev.profile->kernel[k].v[SW_KERNEL_AGAIN] == 0);
  sw_arena_deinit(&dev.arena);
}

static void devices_without_measured_kernels_say_so(void **state) {
  (void)state;
  static const char *const kSays[] = {"mi300x", "tpu-v5e", "trainium2"}, *const kQuiet[] = {"h100", "gb200-nvl72",
                                                                                            "local"};
  for (int i = 0; i < 3; i++) {
    device says, quiet;
    device_init(&says, kSays[i]);
    device_init(&quiet, kQuiet[i]);
    assert_non_null(sw_profile_roofline_text(says.profile));
    assert_null(sw_profile_roofline_text(quiet.profile));
    sw_arena_deinit(&says.arena);
    sw_arena_deinit(&quiet.arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_take_the_tiles_that_are_counted),
      cmocka_unit_test(nothing_is_below_the_bound),
      cmocka_unit_test(other_dtypes_and_devices_follow_the_roofline),
      cmocka_unit_test(products_of_f32_may_be_less_precise),
      cmocka_unit_test(many_queries_of_a_head_read_it_again),
      cmocka_unit_test(devices_without_measured_kernels_say_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
