/* rng_bit_generator against published words: the known answers of Random123 for one call of each generator, and how
 * calls are laid out over a shape. */
#include "check.h"

#include "shardwright/exec.h"
#include "support/building.h"
#include "support/program.h"

/* Runs the op on a state; bits of the result as u64. */
static void bits_of(const char *attrs, int n_state, const uint64_t *state, uint64_t *next, uint64_t *bits) {
  char args[32], op[256];
  sw_graph *g;
  sw_tensor in, out[2];
  int64_t dims[1] = {n_state};
  snprintf(args, sizeof args, "s u64 %d", n_state);
  snprintf(op, sizeof op, "t, r = rng_bit_generator(s) %s", attrs);
  assert_ok(program_of(args, NULL, op, "t, r", &g, &diag));
  assert_ok(sw_tensor_init(&in, SW_U64, 1, dims, &diag));
  memcpy(in.data, state, sizeof *state * (size_t)n_state);
  assert_ok(sw_exec_run(g, (const sw_buffer *[]){&in}, &(sw_exec_options){.poison = true}, out, &diag));
  memcpy(next, out[0].data, sizeof *next * (size_t)n_state);
  int64_t bytes = sw_dtype_bytes(out[1].dtype);
  for (int64_t i = 0; i < sw_buffer_elements(&out[1]); i++) {
    bits[i] = 0;
    memcpy(&bits[i], (char *)out[1].data + i * bytes, (size_t)bytes);
  }
  sw_tensor_deinit(&in);
  sw_tensor_deinit(&out[0]);
  sw_tensor_deinit(&out[1]);
  sw_graph_destroy(g);
}

#define WORDS(low, high) (UINT64_C(0x##low) | UINT64_C(0x##high) << 32)

static void known_answers(void **state) {
  (void)state;
  static const struct {
    const char *attrs;
    int n_state, n;
    uint64_t state[3], words[4];
  } kRows[] = {
      {"'algorithm':'three_fry','dtype':'u32','shape':[2]", 2, 2, {0, 0}, {0x6b200159, 0x99ba4efe}},
      {"'algorithm':'three_fry','dtype':'u64','shape':[1]", 2, 1, {0, 0}, {WORDS(6b200159, 99ba4efe)}},
      {"'algorithm':'three_fry','dtype':'u32','shape':[2]", 2, 2, {UINT64_MAX, UINT64_MAX}, {0x1cb996fc, 0xbb002be7}},
      {"'algorithm':'three_fry','dtype':'u32','shape':[2]",
       2,
       2,
       {WORDS(13198a2e, 03707344), WORDS(243f6a88, 85a308d3)},
       {0xc4923a9c, 0x483df7a0}},
      {"'algorithm':'philox','dtype':'u32','shape':[4]",
       3,
       4,
       {0, 0, 0},
       {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {"'algorithm':'philox','dtype':'u32','shape':[2,2]",
       3,
       4,
       {WORDS(a4093822, 299f31d0), WORDS(243f6a88, 85a308d3), WORDS(13198a2e, 03707344)},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
      {"'dtype':'i64','shape':[2]",
       3,
       2,
       {WORDS(a4093822, 299f31d0), WORDS(243f6a88, 85a308d3), WORDS(13198a2e, 03707344)},
       {WORDS(d16cfe09, 94fdcceb), WORDS(5001e420, 24126ea1)}},
  };
  for (size_t i = 0; i < sizeof kRows / sizeof *kRows; i++) {
    uint64_t next[3], bits[8];
    bits_of(kRows[i].attrs, kRows[i].n_state, kRows[i].state, next, bits);
    for (int k = 0; k < kRows[i].n; k++) assert_int_equal(bits[k], kRows[i].words[k]);
    assert_int_equal(next[0], kRows[i].state[0]);
    assert_int_equal(next[1], kRows[i].state[1] + 1);
  }
}

/* Elements of a pair lie next to each other along the first even dim, else the largest; narrow ones are the low bits;
 * the counter carries, and moves by the number of calls. */
static void layouts(void **state) {
  (void)state;
  uint64_t next[3], wide[16], bits[64];
  const uint64_t fry[2] = {77, 5}, phil[3] = {77, UINT64_MAX, 8};
  bits_of("'algorithm':'three_fry','dtype':'u64','shape':[6]", 2, fry, next, wide);
  assert_int_equal(next[1], 11);
  bits_of("'algorithm':'three_fry','dtype':'u32','shape':[3,4]", 2, fry, next, bits); /* pairs along dim 1 */
  assert_int_equal(next[1], 11);
  for (int i = 0; i < 12; i++) assert_int_equal(bits[i], i % 2 ? wide[i / 2] >> 32 : wide[i / 2] & 0xffffffff);
  bits_of("'algorithm':'three_fry','dtype':'u32','shape':[4,3]", 2, fry, next, bits); /* along dim 0: rows alternate */
  for (int i = 0; i < 12; i++) {
    uint64_t call = wide[i / 6 * 3 + i % 3];
    assert_int_equal(bits[i], i / 3 % 2 ? call >> 32 : call & 0xffffffff);
  }
  bits_of("'algorithm':'three_fry','dtype':'u32','shape':[3,3]", 2, fry, next,
          bits); /* dim 0 of 3: two calls a column */
  assert_int_equal(next[1], 11);
  for (int i = 0; i < 9; i++) {
    uint64_t call = wide[i / 6 * 3 + i % 3];
    assert_int_equal(bits[i], i / 3 % 2 ? call >> 32 : call & 0xffffffff);
  }
  bits_of("'algorithm':'three_fry','dtype':'u16','shape':[2]", 2, fry, next, bits);
  assert_int_equal(bits[1], wide[0] >> 32 & 0xffff);
  bits_of("'algorithm':'three_fry','dtype':'u32','shape':[]", 2, fry, next, bits);
  assert_int_equal(bits[0], wide[0] & 0xffffffff);
  assert_int_equal(next[1], 6);
  bits_of("'algorithm':'three_fry','dtype':'u32','shape':[2,0]", 2, fry, next, bits);
  assert_int_equal(next[1], 5);
  bits_of("'algorithm':'philox','dtype':'u32','shape':[9]", 3, phil, next, bits);
  assert_int_equal(next[1], 2);
  assert_int_equal(next[2], 9);
  const uint64_t after[3] = {77, 0, 9};
  bits_of("'algorithm':'philox','dtype':'u8','shape':[4]", 3, after, next, wide); /* the second call */
  for (int i = 0; i < 4; i++) assert_int_equal(wide[i], bits[4 + i] & 0xff);
  const uint64_t two[2] = {77, 3}, three[3] = {77, 3, 77}; /* without a high half the key stands for it */
  bits_of("'dtype':'u32','shape':[8]", 2, two, next, bits);
  assert_int_equal(next[1], 5);
  bits_of("'dtype':'u32','shape':[8]", 3, three, next, wide);
  for (int i = 0; i < 8; i++) assert_int_equal(bits[i], wide[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(known_answers), cmocka_unit_test(layouts)};
  return cmocka_run_group_tests_name("random bits", tests, NULL, NULL);
}
