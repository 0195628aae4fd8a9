/* In place of this layer's folders in a build without them (SW_WITH_MLIR=OFF): programs are refused. As there are none,
 * what is asked of one is never asked. */
#include "shardwright/emit.h"
#include "shardwright/program.h"

static sw_rc refuse_program(const char *file, sw_diag *d) {
  return SW_FAIL(d, SW_E_USAGE, ((sw_span){.file = file}),
                 "MLIR was left out of this build (SW_WITH_MLIR); expected a JSON model");
}

static sw_rc refuse_form(sw_diag *d) {
  return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE,
                 "MLIR was left out of this build (SW_WITH_MLIR); expected 'jax' or 'dtensor'");
}

sw_rc sw_program_read(const char *path, const sw_program_options *options, sw_program **out, sw_diag *d) {
  (void)options, (void)out;
  return refuse_program(path, d);
}

sw_rc sw_program_parse(const char *file, const char *bytes, size_t n, const sw_program_options *options,
                       sw_program **out, sw_diag *d) {
  (void)bytes, (void)n, (void)options, (void)out;
  return refuse_program(file, d);
}

sw_rc sw_program_propagate(const char *file, const char *bytes, size_t n, const sw_propagation *how, sw_text *out,
                           sw_diag *d) {
  (void)bytes, (void)n, (void)how, (void)out;
  return refuse_program(file, d);
}

sw_rc sw_program_rules(const char *file, const char *bytes, size_t n, sw_text *out, sw_diag *d) {
  (void)bytes, (void)n, (void)out;
  return refuse_program(file, d);
}

sw_rc sw_program_run_passes(const char *file, const char *bytes, size_t n, const char *passes,
                            const sw_pass_watch *watch, sw_text *out, sw_diag *d) {
  (void)bytes, (void)n, (void)passes, (void)watch, (void)out;
  return refuse_program(file, d);
}

sw_rc sw_program_print_parsed(const char *file, const char *bytes, size_t n, const sw_program_options *options,
                              sw_text *out, sw_diag *d) {
  (void)bytes, (void)n, (void)options, (void)out;
  return refuse_program(file, d);
}

sw_rc sw_program_check_syntax(const char *file, const char *text, size_t n, const sw_program_options *options,
                              sw_diag *d) {
  (void)text, (void)n, (void)options;
  return refuse_program(file, d);
}

sw_rc sw_program_local_of_plan(const sw_program *p, const sw_plan *plan, sw_arena *arena, sw_local_program *out,
                               sw_diag *d) {
  (void)p, (void)plan, (void)arena, (void)out;
  return refuse_program(NULL, d);
}

sw_rc sw_program_emit(const sw_program *p, const sw_plan *plan, const char *kind, sw_text *out, sw_diag *d) {
  (void)p, (void)plan, (void)kind, (void)out;
  return refuse_form(d);
}

sw_rc sw_emit_shard(const sw_plan *plan, sw_text *out, sw_diag *d) {
  (void)plan, (void)out;
  return refuse_form(d);
}

sw_rc sw_emit_spmd(const sw_spmd *spmd, sw_spmd_dialect dialect, sw_text *out, sw_diag *d) {
  (void)spmd, (void)dialect, (void)out;
  return refuse_form(d);
}

sw_rc sw_emit_route_sdy(const sw_reshard *wanted, const sw_route *route, sw_text *out, sw_diag *d) {
  (void)wanted, (void)route, (void)out;
  return refuse_form(d);
}

void sw_program_destroy(sw_program *p) { (void)p; }

sw_graph *sw_program_graph(const sw_program *p) {
  (void)p;
  return NULL;
}

uint32_t sw_program_open_axes(const sw_program *p) {
  (void)p;
  return 0;
}

const sw_local_program *sw_program_local(const sw_program *p) {
  (void)p;
  return NULL;
}

bool sw_program_is_resharded(const sw_program *p) {
  (void)p;
  return false;
}

bool sw_layer_parse(const char *text, sw_layer *out) {
  (void)text, (void)out;
  return false;
}

int sw_program_pass_count(void) { return 0; }

sw_pass_info sw_program_pass_at(int i) {
  (void)i;
  return (sw_pass_info){0};
}
