/* Shardings: extents against enumeration, normal form, verification, and every text form. */
#include "../random_sharding.h"
#include "support/meshes.h"

static void extents_are_what_enumeration_finds(void **state) {
  (void)state;
  rng r = {check_seed(11)};
  sw_arena arena = {0};
  for (int round = 0; round < check_scale(3000); round++) {
    sw_mesh m = random_mesh(&r, 4, 64);
    int rank = (int)rng_below(&r, 4);
    int64_t dims[SW_MAX_RANK];
    for (int d = 0; d < rank; d++) dims[d] = rng_below(&r, 12);
    sw_sharding s = random_sharding(&r, &m, rank, true);
    if (rng_below(&r, 3) == 0) random_lists(&r, &arena, dims, &s);
    assert_ok(sw_sharding_verify(&m, &s, rank, dims, &diag));
    int64_t device = rng_below(&r, sw_mesh_devices(&m)), index[SW_MAX_RANK], local[SW_MAX_RANK];
    assert_true(sw_sharding_local_dims(&s, dims, local));
    for (int64_t e = 0; e < elements_of(rank, dims); e++) {
      index_of(rank, dims, e, index);
      bool inside = true;
      for (int d = 0; d < rank; d++) {
        int64_t lo, hi;
        sw_sharding_extent(&m, &s, d, dims[d], device, &lo, &hi);
        assert_true(hi - lo <= local[d]);
        inside = inside && index[d] >= lo && index[d] < hi;
      }
      assert_int_equal(inside, brute_holds(&m, &s, dims, device, index));
    }
    sw_arena_reset(&arena);
  }
  sw_arena_deinit(&arena);
}

/* Normalising keeps every element where it was, and is idempotent. */
static void the_normal_form_places_the_same(void **state) {
  (void)state;
  rng r = {check_seed(12)};
  sw_arena arena = {0};
  for (int round = 0; round < check_scale(3000); round++) {
    sw_mesh m = random_mesh(&r, 3, 48);
    int rank = 1 + (int)rng_below(&r, 3);
    int64_t dims[SW_MAX_RANK], index[SW_MAX_RANK];
    for (int d = 0; d < rank; d++) dims[d] = rng_below(&r, 9);
    sw_sharding s = random_sharding(&r, &m, rank, true);
    if (rng_below(&r, 3) == 0) random_lists(&r, &arena, dims, &s);
    sw_sharding n = s, again;
    sw_sharding_normalise(&m, &n);
    again = n;
    sw_sharding_normalise(&m, &again);
    assert_true(sw_sharding_equal(&n, &again));
    if (round % 2) { /* what lists say, too */
      assert_ok(sw_sharding_settle(&m, &n, &arena, &diag));
      again = n;
      assert_ok(sw_sharding_settle(&m, &again, &arena, &diag));
      assert_true(sw_sharding_equal(&n, &again));
      for (int i = 0; i < n.n_refs + n.n_partial; i++) assert_true(n.refs[i].size > 1 || n.halos);
    }
    for (int k = 0; k < rank; k++)
      assert_int_equal(sw_sharding_block(&n, k, dims[k]), sw_sharding_block(&s, k, dims[k]));
    assert_int_equal(sw_sharding_hash(&n), sw_sharding_hash(&again));
    assert_ok(sw_sharding_verify(&m, &n, rank, dims, &diag));
    assert_int_equal(sw_axis_refs_size(sw_sharding_partial(&n), n.n_partial),
                     sw_axis_refs_size(sw_sharding_partial(&s), s.n_partial));
    for (int64_t device = 0; device < sw_mesh_devices(&m); device++) {
      for (int64_t e = 0; e < elements_of(rank, dims); e++) {
        index_of(rank, dims, e, index);
        assert_int_equal(brute_holds(&m, &n, dims, device, index), brute_holds(&m, &s, dims, device, index));
      }
    }
    sw_arena_reset(&arena);
  }
  sw_arena_deinit(&arena);
}

/* False when `form` cannot say `s`; else what it prints must read back the same. */
static bool round_trips(const sw_mesh *m, const sw_sharding *s, int rank, sw_sharding_form form, sw_arena *arena) {
  sw_text text = {0};
  bool said = sw_sharding_print_as(m, s, form, &text, &diag) == SW_OK;
  if (said) {
    sw_sharding back, want = *s;
    sw_rc rc = sw_sharding_parse_as(m, rank, form, sw_text_str(&text), text.n, SW_NOWHERE, arena, &back, &diag);
    if (rc) print_message("%s\n", sw_text_str(&text));
    assert_ok(rc);
    if (form == SW_FORM_DTENSOR) { /* placements have no order among partial axes */
      sw_sharding_normalise(m, &want);
      sw_sharding_normalise(m, &back);
    }
    if (!sw_sharding_equal(&want, &back)) fail_msg("form %d: '%s' came back different", form, sw_text_str(&text));
  }
  sw_text_free(&text);
  return said;
}

static void every_form_round_trips(void **state) {
  (void)state;
  rng r = {check_seed(13)};
  sw_arena arena = {0};
  int said[5] = {0};
  for (int round = 0; round < check_scale(4000); round++) {
    sw_mesh m = random_mesh(&r, 4, 64);
    int rank = (int)rng_below(&r, 5);
    int64_t dims[SW_MAX_RANK];
    for (int d = 0; d < rank; d++) dims[d] = rng_below(&r, 12);
    sw_sharding s = random_sharding(&r, &m, rank, rng_below(&r, 2) == 0);
    if (rng_below(&r, 4) == 0) random_lists(&r, &arena, dims, &s);
    for (int form = SW_FORM_NATIVE; form <= SW_FORM_DTENSOR; form++) {
      bool can = round_trips(&m, &s, rank, (sw_sharding_form)form, &arena);
      assert_true(can || form != SW_FORM_NATIVE);
      said[form] += can;
    }
    sw_arena_reset(&arena);
  }
  for (int form = 0; form < 5; form++) assert_true(said[form] > 50);
  sw_arena_deinit(&arena);
}

typedef struct form_row {
  sw_sharding_form form;
  int rank;
  const char *text;
  const char *native;  /* what it means; NULL: refused */
  const char *message; /* of the refusal */
  int col;
} form_row;

/* On mesh x=2,y=4,z=8. */
static const form_row kForms[] = {
    {SW_FORM_NATIVE, 2, "[[x],[y]]", "[[x],[y]]", NULL, 0},
    {SW_FORM_NATIVE, 3, "[[0],[1,z:(1)2]]", "[[x],[y,z:(1)2],[]]", NULL, 0},
    {SW_FORM_NATIVE, 1, " [ [ x , y ] ] partial sum[z]", "[[x,y]] partial sum[z]", NULL, 0},
    {SW_FORM_NATIVE, 1, "[[]] partial max[z:(1)2,x]", "[[]] partial max[x,z:(1)2]", NULL, 0},
    {SW_FORM_NATIVE, 0, "[]", "[]", NULL, 0},
    {SW_FORM_NATIVE, 0, "[[]]", "[]", NULL, 0},
    {SW_FORM_NATIVE, 2, "[[x]] offsets=[0,24,32]", "[[x],[]] offsets=[0, 24, 32]", NULL, 0},
    {SW_FORM_NATIVE, 2, "[[x],[y]] halos=[1,2,0,0]", "[[x],[y]] halos=[1, 2, 0, 0]", NULL, 0},
    {SW_FORM_NATIVE, 2, "[[x],[x]]", NULL, "axis 'x' is used twice", 1},
    {SW_FORM_NATIVE, 2, "[[x]] partial sum[x]", NULL, "axis 'x' is used twice", 1},
    {SW_FORM_NATIVE, 1, "[[z:(1)4,z:(2)2]]", NULL, "axis 'z' is used twice", 1},
    {SW_FORM_NATIVE, 2, "[[x],[modle]]", NULL, "axis 'modle' is not in the mesh; expected one of x, y, z", 7},
    {SW_FORM_NATIVE, 1, "[[x],[]]", "[[x]]", NULL, 0},
    {SW_FORM_NATIVE, 1, "[[x],[y]]", "[[x]] partial sum[y]", NULL, 0},
    {SW_FORM_NATIVE, 1, "[[x],[],[y]]", NULL, "the sharding has more than 1 dimensions; expected at most the tensor's",
     10},
    {SW_FORM_NATIVE, 1, "[[x]", NULL, "the text ends too early; expected ']'", 5},
    {SW_FORM_NATIVE, 1, "[[x]] partial foo[y]", NULL, "'foo' is no reduction; expected sum, max, min, product, ...",
     15},
    {SW_FORM_NATIVE, 1, "[[x]] offsets=[0,1]", NULL, "the list of offsets has 2 numbers; expected 3", 15},
    {SW_FORM_NATIVE, 1, "[[x]] trailing", NULL, "found 'trailing'; expected the end of the text", 7},
    {SW_FORM_NATIVE, 1, "[[x]] offsets=[0,1,2] halos=[0,0]", NULL,
     "the sharding has both offsets and halos; expected one of them", 1},
    {SW_FORM_SHARD, 2, "[[0], [1, 2]]", "[[x],[y,z]]", NULL, 0},
    {SW_FORM_SHARD, 2, "split_axes = [[0]] sharded_dims_offsets = [0, 3, 8]", "[[x],[]] offsets=[0, 3, 8]", NULL, 0},
    {SW_FORM_SHARD, 2, "split_axes = [[0], [1]] halo_sizes = [1, 2, 0, 1]", "[[x],[y]] halos=[1, 2, 0, 1]", NULL, 0},
    {SW_FORM_SHARD, 2, "[[0], []], partial = max[1]", "[[x],[]] partial max[y]", NULL, 0},
    {SW_FORM_SHARD, 0, "[[]]", "[]", NULL, 0},
    {SW_FORM_SHARD, 2, "shard.sharding @g split_axes = [[0], [1]]", "[[x],[y]]", NULL, 0},
    {SW_FORM_SHARD, 2, "%s = shard.sharding @g split_axes = [[0], [1]] : !shard.sharding", "[[x],[y]]", NULL, 0},
    {SW_FORM_SHARD, 2, "%0 = shard.sharding @g split_axes = [[0]] halo_sizes = [1, 2] : !shard.sharding",
     "[[x],[]] halos=[1, 2]", NULL, 0},
    {SW_FORM_SHARD, 1, "%s = mesh.sharding @g split_axes = [[2]] : !mesh.sharding", "[[z]]", NULL, 0},
    {SW_FORM_SHARD, 2, "#mesh.shard<@g, [[0], []], partial = sum[1]>", "[[x],[]] partial sum[y]", NULL, 0},
    {SW_FORM_SHARD, 1, "#mesh.shard<@g, [[0]]", NULL, "the text ends too early; expected '>'", 22},
    {SW_FORM_SHARD, 1, "%s = shard.sharding @g split_axes = [[0]] : 4", NULL,
     "found '4'; expected a type such as !shard.sharding", 45},
    {SW_FORM_SHARD, 1, "[[5]]", NULL, "axis '5' is not in the mesh; expected one of x, y, z", 3},
    {SW_FORM_SDY, 2, "[{\"x\"}, {\"y\", \"z\":(1)2}]", "[[x],[y,z:(1)2]]", NULL, 0},
    {SW_FORM_SDY, 2, "#sdy.sharding<@mesh, [{\"x\"}, {\"y\", ?}p1], replicated={\"z\"}>", "[[x],[y]]", NULL, 0},
    {SW_FORM_SDY, 1, "<@m, [{?}], unreduced={\"z\", \"x\"}>", "[[]] partial sum[x,z]", NULL, 0},
    {SW_FORM_SDY, 2, "{sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {\"y\",?}p1], replicated={\"z\"}>}", "[[x],[y]]",
     NULL, 0},
    {SW_FORM_SDY, 1, "sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>", "[[x]]", NULL, 0},
    {SW_FORM_SDY, 1, "#sdy.sharding_per_value<[<@mesh, [{\"x\"}], unreduced={\"y\"}>]>", "[[x]] partial sum[y]", NULL,
     0},
    {SW_FORM_SDY, 1, "#sdy.sharding<mesh<[\"x\"=2, \"y\"=4, \"z\"=8]>, [{\"z\":(1)2}]>", "[[z:(1)2]]", NULL, 0},
    {SW_FORM_SDY, 1, "{sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>", NULL, "the text ends too early; expected '}'",
     46},
    {SW_FORM_SDY, 1, "[{\"x\"}p1x]", NULL, "found ']'; expected a priority such as p1", 10},
    {SW_FORM_SDY, 1, "[{\"x}]", NULL, "found '}'; expected '\"'", 5},
    {SW_FORM_SDY, 1, "[{\"x\"}, {}]", NULL, "the sharding has more than 1 dimensions; expected at most the tensor's",
     9},
    {SW_FORM_JAX, 3, "PartitionSpec('x', ('y', 'z'), None)", "[[x],[y,z],[]]", NULL, 0},
    {SW_FORM_JAX, 2, "P(None, \"x\")", "[[],[x]]", NULL, 0},
    {SW_FORM_JAX, 2, "P(('x',),)", "[[x],[]]", NULL, 0},
    {SW_FORM_JAX, 0, "P()", "[]", NULL, 0},
    {SW_FORM_JAX, 1, "P('x', 'y')", NULL, "the sharding has more than 1 dimensions; expected at most the tensor's", 8},
    {SW_FORM_JAX, 1, "P(UNCONSTRAINED)", NULL, "found 'UNCONSTRAINED'; expected a quoted axis, a tuple or None", 3},
    {SW_FORM_JAX, 1, "P('x'", NULL, "the text ends too early; expected ')'", 6},
    {SW_FORM_DTENSOR, 2, "S(0)RS(1)", "[[x],[z]]", NULL, 0},
    {SW_FORM_DTENSOR, 2, "S(0)S(0)P(sum)", "[[x,y],[]] partial sum[z]", NULL, 0},
    {SW_FORM_DTENSOR, 2, "[Shard(1), Replicate(), Partial(avg)]", "[[],[x]] partial average[z]", NULL, 0},
    {SW_FORM_DTENSOR, 2, "f32[8,32][RS(0)S(1)]", "[[y],[z]]", NULL, 0},
    {SW_FORM_DTENSOR, 1, "(Shard(dim=0), Replicate(), Replicate())", "[[x]]", NULL, 0},
    {SW_FORM_DTENSOR, 1, "_S(0, 4)S(0)R", "[[y,x]]", NULL, 0},
    {SW_FORM_DTENSOR, 1, "[_StridedShard(dim=0, split_factor=8), Shard(0), Shard(0)]", NULL,
     "axis 'x' cuts dimension 0 after 8 shards, which no later axes make", 58},
    {SW_FORM_DTENSOR, 1, "[_StridedShard(dim=0, split_factor=32), _StridedShard(dim=0, sf=8), Shard(0)]", "[[z,y,x]]",
     NULL, 0},
    {SW_FORM_DTENSOR, 1, "[_StridedShard(dim=0, split_factor=4), Shard(0), Shard(0)]", "[[y,x,z]]", NULL, 0},
    {SW_FORM_DTENSOR, 2, "(PRR)", "[[],[]] partial sum[x]", NULL, 0},
    {SW_FORM_DTENSOR, 1, "S(0)R", NULL,
     "the text ends too early; expected one placement per axis of the mesh: S(dim), R or P(sum)", 6},
    {SW_FORM_DTENSOR, 1, "S(1)RR", NULL, "the sharding cuts dimension 1; expected a tensor of more than 1 dimensions",
     7},
    {SW_FORM_DTENSOR, 1, "P(sum)P(max)R", NULL, "the value is partial by 'sum' and by 'max'; expected one reduction",
     14},
};

static void check_form_row(void **state) {
  const form_row *row = *state;
  sw_sharding_form guess = sw_sharding_form_of(row->text, strlen(row->text));
  bool shard_or_native = guess == SW_FORM_NATIVE && row->form == SW_FORM_SHARD; /* alike but for the first word */
  if (row->native && !shard_or_native) assert_int_equal(guess, row->form);
  sw_mesh m = mesh_of("x=2,y=4,z=8");
  sw_arena arena = {0};
  sw_sharding s;
  sw_text out = {0};
  diag = (sw_diag){0};
  sw_rc rc = sw_sharding_parse_as(&m, row->rank, row->form, row->text, strlen(row->text), (sw_span){"t", 3, 1}, &arena,
                                  &s, &diag);
  if (row->native) {
    assert_ok(rc);
    sw_sharding_print(&m, &s, &out);
    assert_string_equal(sw_text_str(&out), row->native);
  } else {
    assert_int_equal(rc, SW_E_INPUT);
    assert_string_equal(diag.text, row->message);
    assert_int_equal(diag.line, 3);
    assert_int_equal(diag.col, row->col);
    assert_string_equal(diag.file, "t");
  }
  sw_text_free(&out);
  sw_arena_deinit(&arena);
}

typedef struct refusal_row {
  sw_sharding_form form;
  const char *native, *message;
} refusal_row;

static const refusal_row kRefusals[] = {
    {SW_FORM_SHARD, "[[z:(1)2]]", "the shard dialect has no spelling for sub-axes"},
    {SW_FORM_SHARD, "[[]] partial sum[x]", "the shard dialect has no spelling for partial values"},
    {SW_FORM_SDY, "[[]] partial max[x]", "Shardy has no spelling for values partial by 'max'; expected sum"},
    {SW_FORM_SDY, "[[x]] offsets=[0,1,2]", "Shardy has no spelling for offsets of shards"},
    {SW_FORM_JAX, "[[x]] halos=[1,1]", "a PartitionSpec has no spelling for halos"},
    {SW_FORM_JAX, "[[z:(1)2]]", "a PartitionSpec has no spelling for sub-axes"},
    {SW_FORM_DTENSOR, "[[y,x]]", "DTensor placements cannot cut dimension 0 by 'y' before 'x'; expected mesh order"},
    {SW_FORM_DTENSOR, "[[]] partial bitwise_or[x]", "DTensor has no spelling for values partial by 'bitwise_or'"},
};

static void forms_refuse_what_they_cannot_say(void **state) {
  (void)state;
  sw_mesh m = mesh_of("x=2,y=4,z=8");
  sw_arena arena = {0};
  for (size_t i = 0; i < sizeof kRefusals / sizeof kRefusals[0]; i++) {
    const refusal_row *row = &kRefusals[i];
    sw_sharding s;
    sw_text out = {0};
    assert_ok(sw_sharding_parse(&m, 1, row->native, strlen(row->native), SW_NOWHERE, &arena, &s, &diag));
    assert_int_equal(sw_sharding_print_as(&m, &s, row->form, &out, &diag), SW_E_INPUT);
    assert_string_equal(diag.text, row->message);
    sw_text_free(&out);
  }
  sw_arena_deinit(&arena);
}

static void verify_names_what_is_wrong(void **state) {
  (void)state;
  sw_mesh m = mesh_of("x=2,y=12");
  int64_t dims[] = {8, 8};
  sw_sharding s = sw_sharding_replicated(2);
  assert_int_equal(sw_sharding_verify(&m, &s, 1, dims, &diag), SW_E_INPUT);
  assert_string_equal(diag.text, "the sharding is of rank 2; expected the tensor's rank 1");
  assert_true(sw_sharding_push(&s, 1, (sw_axis_ref){1, 1, 4}));
  assert_true(sw_sharding_push(&s, 0, (sw_axis_ref){1, 6, 2}));
  assert_int_equal(sw_sharding_verify(&m, &s, 2, dims, &diag), SW_E_INPUT);
  assert_non_null(strstr(diag.text, "do not nest"));
  s = sw_sharding_replicated(2);
  assert_true(sw_sharding_push(&s, 1, sw_axis_whole(&m, 0)));
  s.offsets = (int64_t[]){0, 9, 8};
  assert_int_equal(sw_sharding_verify(&m, &s, 2, dims, &diag), SW_E_INPUT);
  assert_string_equal(diag.text, "offset 8 of dimension 1 follows 9; expected them not to decrease");
  s.offsets = (int64_t[]){0, 4, 7};
  assert_int_equal(sw_sharding_verify(&m, &s, 2, dims, &diag), SW_E_INPUT);
  assert_string_equal(diag.text, "the offsets of dimension 1 go from 0 to 7; expected 0 to 8");
  s.halos = s.offsets;
  assert_int_equal(sw_sharding_verify(&m, &s, 2, dims, &diag), SW_E_INPUT);
}

static void pushing_stops_at_the_table_s_end(void **state) {
  (void)state;
  sw_sharding s = sw_sharding_replicated(1);
  for (int i = 0; i < SW_MAX_REFS; i++) assert_true(sw_sharding_push(&s, 0, (sw_axis_ref){0, 1, 1}));
  assert_false(sw_sharding_push(&s, 0, (sw_axis_ref){0, 1, 1}));
  assert_false(sw_sharding_push_partial(&s, SW_REDUCE_SUM, (sw_axis_ref){0, 1, 1}));
  s = sw_sharding_replicated(1);
  assert_true(sw_sharding_push_partial(&s, SW_REDUCE_SUM, (sw_axis_ref){0, 1, 2}));
  assert_false(sw_sharding_push_partial(&s, SW_REDUCE_MAX, (sw_axis_ref){1, 1, 2}));
}

static void bytes_saturate(void **state) {
  (void)state;
  sw_sharding s = sw_sharding_replicated(2);
  int64_t huge[] = {INT64_C(1) << 40, INT64_C(1) << 40}, none[] = {INT64_C(1) << 40, 0}, local[2];
  assert_int_equal(sw_sharding_local_bytes(&s, huge, SW_F32), INT64_MAX);
  assert_false(sw_sharding_local_dims(&s, huge, local));
  assert_int_equal(sw_sharding_local_bytes(&s, none, SW_F32), 0);
  int64_t small[] = {5, 3};
  assert_int_equal(sw_sharding_local_bytes(&s, small, SW_BF16), 30);
}

static void order_is_total(void **state) {
  (void)state;
  rng r = {check_seed(14)};
  sw_mesh m = mesh_of("x=2,y=4");
  for (int i = 0; i < 3000; i++) {
    sw_sharding a = random_sharding(&r, &m, 2, true), b = random_sharding(&r, &m, 2, true),
                c = random_sharding(&r, &m, 2, true);
    assert_int_equal(sw_sharding_compare(&a, &b), -sw_sharding_compare(&b, &a));
    if (sw_sharding_compare(&a, &b) <= 0 && sw_sharding_compare(&b, &c) <= 0) {
      assert_true(sw_sharding_compare(&a, &c) <= 0);
    }
    if (sw_sharding_equal(&a, &b)) assert_int_equal(sw_sharding_hash(&a), sw_sharding_hash(&b));
  }
}

enum { N_FORMS = sizeof kForms / sizeof kForms[0] };

int main(void) {
  struct CMUnitTest tests[N_FORMS + 8] = {
      cmocka_unit_test(extents_are_what_enumeration_finds),
      cmocka_unit_test(the_normal_form_places_the_same),
      cmocka_unit_test(every_form_round_trips),
      cmocka_unit_test(forms_refuse_what_they_cannot_say),
      cmocka_unit_test(verify_names_what_is_wrong),
      cmocka_unit_test(pushing_stops_at_the_table_s_end),
      cmocka_unit_test(bytes_saturate),
      cmocka_unit_test(order_is_total),
  };
  for (size_t i = 0; i < N_FORMS; i++) {
    tests[8 + i] = (struct CMUnitTest){
        .name = kForms[i].text, .test_func = check_form_row, .initial_state = (void *)(uintptr_t)&kForms[i]};
  }
  return _cmocka_run_group_tests("sharding", tests, N_FORMS + 8, NULL, NULL);
}
