/* Traces: valid JSON, a track per device, slices in order, also after a failed run. */
#include "check.h"

#include <cjson/cJSON.h>

#include "shardwright/comm.h"
#include "report/trace.h"

static sw_rc two_sums_then_fail(sw_comm *comm, int64_t device, void *user, sw_diag *d) {
  const sw_mesh *mesh = user;
  sw_collective c = {.op = SW_COLL_ALL_REDUCE, .n_axes = 1};
  c.axes[0] = sw_axis_whole(mesh, 0);
  float x = 1, y;
  sw_buffer in = {&x, SW_F32, 0, {0}, {0}}, out = {&y, SW_F32, 0, {0}, {0}};
  for (int i = 0; i < 2; i++)
    SW_TRY(sw_comm_run(comm, device, &(sw_comm_call){.coll = &c, .in = &in, .out = &out, .where = i}, d));
  if (device == 1) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "a \"quoted\" failure");
  return sw_comm_run(comm, device, &(sw_comm_call){.coll = &c, .in = &in, .out = &out, .where = 2}, d);
}

static void a_failed_run_leaves_a_valid_trace(void **state) {
  (void)state;
  sw_mesh mesh = {.n_axes = 1, .axis = {{.name = "x", .size = 3}}};
  sw_trace *trace;
  sw_comm *comm;
  assert_ok(sw_trace_create(3, NULL, &trace, &diag));
  sw_comm_options o = {.on_call = sw_trace_on_call, .on_call_user = trace};
  assert_ok(sw_comm_create_threads(&mesh, &o, &comm, &diag));
  assert_int_equal(sw_comm_launch(comm, two_sums_then_fail, &mesh, NULL, &diag), SW_E_RESOURCE);
  sw_comm_destroy(comm);
  sw_text text = {0};
  sw_trace_print(trace, &text);
  assert_int_equal(text.rc, SW_OK);
  cJSON *root = cJSON_Parse(sw_text_str(&text));
  assert_non_null(root);
  int slices[3] = {0}, names = 0;
  double end[3] = {0};
  const cJSON *e;
  cJSON_ArrayForEach(e, cJSON_GetObjectItem(root, "traceEvents")) {
    if (strcmp(cJSON_GetObjectItem(e, "ph")->valuestring, "M") == 0) {
      names++;
      continue;
    }
    int device = cJSON_GetObjectItem(e, "tid")->valueint;
    double start = cJSON_GetObjectItem(e, "ts")->valuedouble;
    assert_true(start >= end[device]);
    end[device] = start + cJSON_GetObjectItem(e, "dur")->valuedouble - 1e-3; /* printed digits */
    assert_string_equal(cJSON_GetObjectItem(e, "name")->valuestring, "all_reduce");
    const cJSON *args = cJSON_GetObjectItem(e, "args");
    assert_int_equal(cJSON_GetObjectItem(args, "position")->valueint, slices[device]);
    assert_int_equal(cJSON_GetObjectItem(args, "bytes")->valueint, 4);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(args, "group")), 3);
    slices[device]++;
  }
  assert_int_equal(names, 3);
  assert_int_equal(slices[0], 3);
  assert_int_equal(slices[1], 2);
  cJSON_Delete(root);
  sw_text_free(&text);
  sw_trace_destroy(trace);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_failed_run_leaves_a_valid_trace)};
  return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
