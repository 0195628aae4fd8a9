/* Meshes: coordinates against a plain odometer, text forms, errors. */
#include "check.h"

#include "shardwright/mesh.h"

static sw_mesh parse(const char *text, sw_arena *arena) {
  sw_mesh m;
  assert_ok(sw_mesh_parse(text, arena, &m, &diag));
  return m;
}

/* Devices in order, counted by hand: coordinates must follow. */
static void coords_follow_an_odometer(void **state) {
  (void)state;
  sw_mesh m = parse("x=3,y=4,z=2", NULL);
  int64_t device = 0;
  assert_int_equal(sw_mesh_devices(&m), 24);
  for (int x = 0; x < 3; x++) {
    for (int y = 0; y < 4; y++) {
      for (int z = 0; z < 2; z++, device++) {
        assert_int_equal(sw_mesh_coord(&m, device, sw_axis_whole(&m, 0)), x);
        assert_int_equal(sw_mesh_coord(&m, device, sw_axis_whole(&m, 1)), y);
        assert_int_equal(sw_mesh_coord(&m, device, sw_axis_whole(&m, 2)), z);
        assert_int_equal(sw_mesh_coord(&m, device, (sw_axis_ref){1, 1, 2}), y / 2);
        assert_int_equal(sw_mesh_coord(&m, device, (sw_axis_ref){1, 2, 2}), y % 2);
        sw_axis_ref refs[] = {sw_axis_whole(&m, 2), {1, 2, 2}, sw_axis_whole(&m, 0)};
        assert_int_equal(sw_mesh_group_index(&m, device, refs, 3), (z * 2 + y % 2) * 3 + x);
      }
    }
  }
}

static void peers_have_the_index_asked_for(void **state) {
  (void)state;
  sw_mesh m = parse("a=2,b=12,c=3", NULL);
  sw_axis_ref refs[] = {{1, 2, 3}, {2, 1, 3}, {1, 1, 2}};
  sw_axis_ref others[] = {{0, 1, 2}, {1, 6, 2}};
  int64_t n = sw_axis_refs_size(refs, 3);
  assert_int_equal(n, 18);
  for (int64_t device = 0; device < sw_mesh_devices(&m); device++) {
    for (int64_t i = 0; i < n; i++) {
      int64_t peer = sw_mesh_group_peer(&m, device, refs, 3, i);
      assert_int_equal(sw_mesh_group_index(&m, peer, refs, 3), i);
      assert_int_equal(sw_mesh_group_index(&m, peer, others, 2), sw_mesh_group_index(&m, device, others, 2));
    }
  }
}

static void linear_index_of_the_example(void **state) {
  (void)state;
  sw_mesh m = parse("x=10,y=20,z=30", NULL);
  sw_axis_ref all[] = {sw_axis_whole(&m, 0), sw_axis_whole(&m, 1), sw_axis_whole(&m, 2)};
  int64_t device = sw_mesh_group_peer(&m, 0, all, 3, (1 * 20 + 2) * 30 + 3);
  assert_int_equal(device, 3 + 30 * 2 + 30 * 20 * 1);
}

static void overlap_is_sharing_or_cutting_a_digit(void **state) {
  (void)state;
  sw_axis_ref whole = {0, 1, 8}, major = {0, 1, 2}, middle = {0, 2, 2}, minor = {0, 4, 2}, low = {0, 2, 4};
  assert_true(sw_axis_ref_overlaps(whole, middle));
  assert_true(sw_axis_ref_overlaps(low, minor));
  assert_false(sw_axis_ref_overlaps(major, middle));
  assert_false(sw_axis_ref_overlaps(minor, major));
  assert_false(sw_axis_ref_overlaps(whole, (sw_axis_ref){1, 1, 8}));
  assert_true(sw_axis_ref_overlaps((sw_axis_ref){2, 1, 1}, (sw_axis_ref){2, 1, 1}));
  assert_true(sw_axis_ref_overlaps((sw_axis_ref){0, 1, 2}, (sw_axis_ref){0, 3, 2})); /* of 6 */
  assert_false(sw_axis_ref_overlaps((sw_axis_ref){0, 1, 2}, (sw_axis_ref){0, 6, 2}));
}

static void axes_are_found_by_name_and_number(void **state) {
  (void)state;
  sw_mesh m = parse("data=2,model=4", NULL);
  assert_int_equal(sw_mesh_axis_named(&m, "model", 5), 1);
  assert_int_equal(sw_mesh_axis_named(&m, "mode", 4), -1);
  assert_int_equal(sw_mesh_axis_named(&m, "1", 1), 1);
  assert_int_equal(sw_mesh_axis_named(&m, "2", 1), -1);
  assert_int_equal(sw_mesh_axis_named(&m, "", 0), -1);
  assert_int_equal(sw_mesh_axis_named(&m, "99999999999", 11), -1);
}

typedef struct text_row {
  const char *text, *printed; /* printed NULL: must fail with `message` */
  const char *message;
} text_row;

static const text_row kMeshes[] = {
    {"x=2,y=4", "x=2,y=4", NULL},
    {" x = 2 , y = 4 ", "x=2,y=4", NULL},
    {"2x4", "a0=2,a1=4", NULL},
    {"Mesh('x': 4, 'y': 2, axis_types=(Auto, Auto))", "x=4,y=2", NULL},
    {"mesh('dp'=2,'tp'=4)", "dp=2,tp=4", NULL},
    {"sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>", "x=2,y=2", NULL},
    {"shard.grid @g(shape = 2x4)", "a0=2,a1=4", NULL},
    {"mesh=2", "mesh=2", NULL},
    {"8", "a0=8", NULL},
    {"2x?x3", "a0=2,a1=?,a2=3", NULL},
    {"", "", NULL},
    {"x=?", "x=?", NULL},
    {"x=2,y=2 ids=0,2,1,3", "x=2,y=2 ids=0,2,1,3", NULL},
    {"2x2 ids=3,2,1,0", "a0=2,a1=2 ids=3,2,1,0", NULL},
    {"ids=2", "ids=2", NULL},
    {"x=0", NULL, "the size of an axis is '0'; expected an integer from 1 to 1048576"},
    {"x=2,x=3", NULL, "axis 'x' stands in the mesh twice; expected distinct names"},
    {"x=2,", NULL, "the text ends too early; expected the name of an axis"},
    {"x:2", NULL, "found ':'; expected '='"},
    {"x=2 y=3", NULL, "found 'y'; expected the end of the text"},
    {"2x", NULL, "the text ends too early; expected the size of an axis"},
    {"2xx2", NULL, "the text ends too early; expected the size of an axis"},
    {"x=2 ids=0,0", NULL, "device id 0 stands twice; expected a permutation of 0 to 1"},
    {"x=2 ids=0,2", NULL, "a device id is '2'; expected an integer from 0 to 1"},
    {"x=2 ids=0", NULL, "the text ends too early; expected ','"},
    {"x=? ids=0", NULL, "the size of axis 'x' is unknown; expected a number"},
    {"x=1048576,y=2", NULL, "the mesh has more than 1048576 devices"},
    {"1x1x1x1x1x1x1x1x1", NULL, "the mesh has more than 8 axes"},
    {"9y=2", NULL, "the size of an axis is '9y'; expected an integer from 1 to 1048576"},
    {"an-axis-with-a-name-that-is-too-long=2", NULL,
     "'an-axis-with-a-name-that-is-too-long' is no name of an axis; expected a letter and at most 31 characters"},
};

static void check_mesh_row(void **state) {
  const text_row *row = *state;
  sw_arena arena = {0};
  sw_mesh m;
  sw_text out = {0};
  diag = (sw_diag){0};
  sw_rc rc = sw_mesh_parse(row->text, &arena, &m, &diag);
  if (row->printed) {
    assert_int_equal(rc, SW_OK);
    sw_mesh_print(&m, &out);
    assert_string_equal(sw_text_str(&out), row->printed);
    assert_ok(sw_mesh_parse(sw_text_str(&out), &arena, &m, &diag));
  } else {
    assert_int_equal(rc, SW_E_INPUT);
    assert_string_equal(diag.text, row->message);
  }
  sw_text_free(&out);
  sw_arena_deinit(&arena);
}

static const text_row kRefs[] = {
    {"x", "x", NULL},
    {"1", "y", NULL},
    {"y:(1)2", "y:(1)2", NULL},
    {" \"y\":(2)2", "y:(2)2", NULL},
    {"y:(1)4", "y", NULL},
    {"q", NULL, "axis 'q' is not in the mesh; expected one of x, y"},
    {"y:(1)3", NULL, "'y:(1)3' is no part of an axis of size 4; expected (pre)size whose product divides it"},
    {"y:(2)4", NULL, "'y:(2)4' is no part of an axis of size 4; expected (pre)size whose product divides it"},
    {"y:2", NULL, "found '2'; expected '('"},
    {"", NULL, "the text ends too early; expected an axis"},
};

static void check_ref_row(void **state) {
  const text_row *row = *state;
  sw_mesh m = parse("x=2,y=4", NULL);
  const char *cursor = row->text;
  sw_axis_ref ref;
  sw_text out = {0};
  diag = (sw_diag){0};
  sw_rc rc = sw_axis_ref_parse(&m, &cursor, cursor + strlen(cursor), &ref, &diag);
  if (row->printed) {
    assert_int_equal(rc, SW_OK);
    assert_int_equal(*cursor, '\0');
    sw_axis_ref_print(&m, ref, &out);
    assert_string_equal(sw_text_str(&out), row->printed);
  } else {
    assert_int_equal(rc, SW_E_INPUT);
    assert_string_equal(diag.text, row->message);
  }
  sw_text_free(&out);
}

static void unbound_meshes_are_refused_when_asked(void **state) {
  (void)state;
  sw_mesh m = parse("x=2,y=?", NULL);
  assert_ok(sw_mesh_verify(&m, false, &diag));
  assert_int_equal(sw_mesh_verify(&m, true, &diag), SW_E_INPUT);
  assert_string_equal(diag.text, "the size of axis 'y' is unknown; expected a number");
}

enum { N_MESHES = sizeof kMeshes / sizeof kMeshes[0], N_REFS = sizeof kRefs / sizeof kRefs[0] };

int main(void) {
  struct CMUnitTest tests[N_MESHES + N_REFS + 8] = {
      cmocka_unit_test(coords_follow_an_odometer),         cmocka_unit_test(peers_have_the_index_asked_for),
      cmocka_unit_test(linear_index_of_the_example),       cmocka_unit_test(overlap_is_sharing_or_cutting_a_digit),
      cmocka_unit_test(axes_are_found_by_name_and_number), cmocka_unit_test(unbound_meshes_are_refused_when_asked),
  };
  size_t n = 6;
  for (size_t i = 0; i < N_MESHES; i++) {
    tests[n++] = (struct CMUnitTest){
        .name = kMeshes[i].text, .test_func = check_mesh_row, .initial_state = (void *)(uintptr_t)&kMeshes[i]};
  }
  for (size_t i = 0; i < N_REFS; i++) {
    tests[n++] = (struct CMUnitTest){
        .name = kRefs[i].text, .test_func = check_ref_row, .initial_state = (void *)(uintptr_t)&kRefs[i]};
  }
  return _cmocka_run_group_tests("mesh", tests, n, NULL, NULL);
}
