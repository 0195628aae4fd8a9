/* shardwright comm: the runtime alone. */
#include "cli/cmd_comm.h"
#include "cli/output.h"
#include "shardwright/comm.h"
#include "comm/comm_suite.h"
#include "io/json_write.h"
#include "report/trace.h"

#include <string.h>

typedef sw_comm_settings settings;

static const sw_option kOptions[] = {
    {"op", 0, SW_OPTION_TEXT, "NAME", "all", "collective to time, or 'all'", SW_INTO_TEXT(settings, op)},
    {"devices", 0, SW_OPTION_TEXT, "LIST", "2,8", "device counts to time", SW_INTO_TEXT(settings, devices)},
    {"bytes", 0, SW_OPTION_TEXT, "FROM:TO", "8:32M", "sizes to time", SW_INTO_TEXT(settings, bytes)},
    {"step", 0, SW_OPTION_INT, "N", "8", "factor from one size to the next", SW_INTO_INT(settings, step), .min = 2,
     .max = 1 << 20},
    {"dtype", 0, SW_OPTION_TEXT, "TYPE", "f32", "element type to time", SW_INTO_TEXT(settings, dtype)},
    {"reduction", 0, SW_OPTION_TEXT, "KIND", "sum", "reduction to time", SW_INTO_TEXT(settings, reduction)},
    {"axes", 0, SW_OPTION_TEXT, "AXES", NULL, "axes of --mesh whose groups bench times, as [y,x]; all by default",
     SW_INTO_TEXT(settings, axes)},
    {"min-time", 0, SW_OPTION_NUMBER, "S", "0.02", "seconds to measure each figure for",
     SW_INTO_NUMBER(settings, min_s), .min = 0.0001, .max = 60},
    {"format", 0, SW_OPTION_CHOICE, "FORM", "table", "how to print figures", SW_INTO_TEXT(settings, format),
     .choices = "table|json|csv"},
    {"json", 0, SW_OPTION_FLAG, NULL, NULL, "print the result as JSON; of bench the same as --format json",
     SW_INTO_FLAG(settings, json)},
    {"mesh", 0, SW_OPTION_TEXT, "MESH", NULL,
     "mesh of check (default: several in turn), or of bench instead of --devices", SW_INTO_TEXT(settings, mesh)},
    {"comm", 0, SW_OPTION_CHOICE, "ENGINE", "threads",
     "what check runs on: threads of this process, or the processes of mpirun", SW_INTO_TEXT(settings, engine),
     .choices = "threads|mpi"},
    {"calls", 0, SW_OPTION_INT, "N", "2000", "random collectives that check makes", SW_INTO_INT(settings, calls),
     .min = 1, .max = 100000000},
    {"faults", 0, SW_OPTION_INT, "N", "0",
     "programs in which check lets one device do something wrong: each must end, and not by the timeout",
     SW_INTO_INT(settings, faults), .min = 0, .max = 100000000},
    {"trace", 0, SW_OPTION_FILE, "FILE", NULL,
     "where check writes a timeline of its first program, for chrome://tracing", SW_INTO_TEXT(settings, trace),
     .writes = true},
    {"timeout", 0, SW_OPTION_NUMBER, "S", "30", "how long check waits for a device",
     SW_INTO_NUMBER(settings, timeout_s), .min = 0.001, .max = 86400},
    {"seed", 0, SW_OPTION_INT, "K", "1", "seed of the random collectives", SW_INTO_INT(settings, seed), .min = 0,
     .max = 1e15},
    {"threads", 'j', SW_OPTION_INT, "N", "0", "threads that the devices share; 0: one per core",
     SW_INTO_INT(settings, threads), .min = 0, .max = 1024},
};
static const sw_operand kOperands[] = {
    {"WHAT", "check: random collectives against the oracle; bench: times of collectives", SW_INTO_TEXT(settings, what),
     .choices = "check|bench"},
};

/* --- check --- */

typedef struct checked_program {
  sw_comm_suite *suite;
  sw_comm_fault fault;
} checked_program;

static sw_rc run_suite_on_device(sw_comm *c, int64_t device, void *user, sw_diag *d) {
  const checked_program *p = user;
  return sw_comm_suite_run(p->suite, c, device, &p->fault, d);
}

enum { CALLS_PER_PROGRAM = 100, CALLS_PER_FAULT = 12, FAULTS_PER_SUITE = 16 };
/* Every result is made by definition, which takes the square of the devices. */
enum { FEW_DEVICES = 64, MOST_DEVICES = 1024 };

static sw_comm_options options_of(const sw_call *call) {
  const settings *s = call->settings;
  return (sw_comm_options){.cancel = call->cancel, .timeout_s = s->timeout_s};
}

/* Without --mesh, programs take turns on these. */
static const char *const kMeshes[] = {"x=2,y=4", "2", "3", "2x2", "5", "2x3", "4x2", "2x2x2", "1x3x2", "4x4"};
enum { MESHES = sizeof kMeshes / sizeof kMeshes[0] };

/* All devices of this process, or its one device of an MPI run. */
typedef struct checker {
  const sw_call *call;
  sw_mesh mesh[MESHES];
  int meshes;
  sw_comm *mpi;    /* NULL: threads */
  sw_trace *trace; /* NULL, or what the next program on threads goes into */
  int64_t device;
} checker;

/* Programs differ in timing, too: on as many threads as --threads says or a thread per device, at once or with
 * delays. */
static sw_rc run_on_threads(const checker *k, int64_t number, checked_program *p, sw_diag *d) {
  const settings *s = k->call->settings;
  const sw_mesh *mesh = &k->mesh[number % k->meshes];
  sw_comm *comm;
  sw_comm_options o = options_of(k->call);
  o.on_call = k->trace ? sw_trace_on_call : NULL;
  o.on_call_user = k->trace;
  o.jitter_seed = number % 7 == 3 ? (uint64_t)number : 0;
  bool own_threads = s->threads == 0 && number % 3 == 2;
  sw_launch_options l = {.threads = own_threads ? (int)sw_mesh_devices(mesh) : (int)s->threads};
  SW_TRY(sw_comm_create_threads(mesh, &o, &comm, d));
  sw_rc rc = sw_comm_launch(comm, run_suite_on_device, p, &l, d);
  sw_comm_destroy(comm);
  return rc;
}

static sw_rc check_program(const checker *k, int64_t number, int calls, sw_diag *d) {
  sw_arena arena = {0};
  checked_program p = {.suite = NULL};
  int64_t seed = ((const settings *)k->call->settings)->seed + number;
  sw_rc rc = sw_comm_suite_build(&k->mesh[number % k->meshes], (uint64_t)seed, calls, &arena, &p.suite, d);
  if (!rc) rc = k->mpi ? run_suite_on_device(k->mpi, k->device, &p, d) : run_on_threads(k, number, &p, d);
  if (rc) {
    sw_text mesh = {0};
    sw_mesh_print(&k->mesh[number % k->meshes], &mesh);
    sw_diag_note(d, "in a program of %d calls with seed %lld on mesh %s", calls, (long long)seed, sw_text_str(&mesh));
    sw_text_free(&mesh);
  }
  sw_arena_deinit(&arena);
  return rc;
}

/* The trace is written whatever the end of the program is; the program's failure is what is returned then. */
static sw_rc check_traced(checker *k, int calls, sw_diag *d) {
  const settings *s = k->call->settings;
  SW_TRY(sw_trace_create(sw_mesh_devices(&k->mesh[0]), NULL, &k->trace, d));
  sw_rc rc = check_program(k, 0, calls, d);
  sw_rc written = sw_trace_write(k->trace, s->trace, rc ? NULL : d);
  sw_trace_destroy(k->trace);
  k->trace = NULL;
  return rc ? rc : written;
}

/* Fewer where making the results takes long. */
static int64_t calls_per_program(const checker *k) {
  int64_t devices = sw_mesh_devices(&k->mesh[0]);
  return devices < FEW_DEVICES ? CALLS_PER_PROGRAM : devices < MOST_DEVICES / 2 ? CALLS_PER_FAULT : 1;
}

static sw_rc check_programs(checker *k, sw_diag *d) {
  const settings *s = k->call->settings;
  if (s->trace) SW_TRY(check_traced(k, s->calls < CALLS_PER_PROGRAM ? (int)s->calls : CALLS_PER_PROGRAM, d));
  const int64_t each = calls_per_program(k);
  for (int64_t done = 0; done < s->calls; done += each) {
    int64_t calls = s->calls - done < each ? s->calls - done : each;
    if (sw_cancelled(k->call->cancel)) return SW_FAIL(d, SW_E_CANCELLED, SW_NOWHERE, "interrupted");
    SW_TRY(check_program(k, done / each, (int)calls, d));
  }
  return SW_OK;
}

/* Nothing that another device has to do with goes unsaid, nor is it told by the timeout; what is harmless changes
 * nothing. */
static bool is_proper_end(const checked_program *p, sw_rc rc, const sw_diag *end) {
  sw_comm_fault_end expected = sw_comm_suite_fault_end(p->suite, &p->fault);
  if (rc == SW_OK) return expected != SW_FAULT_ENDS_BADLY;
  bool in_time = strncmp(end->text, "timeout", 7) != 0;
  return expected != SW_FAULT_ENDS_WELL && in_time && (rc == SW_E_RESOURCE || rc == SW_E_MISMATCH);
}

/* One program with one device at fault. */
static sw_rc check_fault(const checker *k, int64_t number, checked_program *p, sw_rng *rng, int64_t *ended,
                         sw_diag *d) {
  sw_diag end = {0};
  p->fault = (sw_comm_fault){.kind = (sw_comm_fault_kind)(1 + sw_rng_below(rng, SW_FAULT_COUNT - 1)),
                             .device = sw_rng_below(rng, sw_mesh_devices(&k->mesh[number % k->meshes])),
                             .call = (int)sw_rng_below(rng, CALLS_PER_FAULT),
                             .amount = sw_rng_next(rng)};
  sw_rc rc = run_on_threads(k, number, p, &end);
  sw_mem_fail_after(0);
  ended[rc ? p->fault.kind : SW_FAULT_NONE]++;
  if (is_proper_end(p, rc, &end)) return SW_OK;
  return SW_FAIL(d, rc == SW_E_CANCELLED ? rc : SW_E_MISMATCH, SW_NOWHERE,
                 "a run in which device %lld %s at call %d ended with: %s", (long long)p->fault.device,
                 sw_comm_fault_text(p->fault.kind), p->fault.call, rc ? end.text : "no error");
}

static sw_rc check_faults(const checker *k, int64_t ended[SW_FAULT_COUNT], sw_diag *d) {
  const settings *s = k->call->settings;
  sw_rng rng;
  sw_rng_seed(&rng, (uint64_t)s->seed);
  sw_rc rc = SW_OK;
  for (int64_t i = 0, number = 0; i < s->faults && !rc; number++) {
    sw_arena arena = {0};
    checked_program p = {.suite = NULL};
    const sw_mesh *mesh = &k->mesh[number % k->meshes];
    rc = sw_comm_suite_build(mesh, sw_rng_next(&rng), CALLS_PER_FAULT, &arena, &p.suite, d);
    for (int n = 0; n < FAULTS_PER_SUITE && i < s->faults && !rc; n++, i++)
      rc = check_fault(k, number, &p, &rng, ended, d);
    sw_arena_deinit(&arena);
  }
  return rc;
}

static sw_rc print_faults(const settings *s, const int64_t *ended, sw_diag *d) {
  sw_text out = {0};
  sw_text_printf(&out, "%lld programs with a fault: all ended, %lld as if nothing had been\n", (long long)s->faults,
                 (long long)ended[SW_FAULT_NONE]);
  for (int i = 1; i < SW_FAULT_COUNT; i++)
    if (i != SW_FAULT_DELAY)
      sw_text_printf(&out, "  %6lld stopped where a device %s\n", (long long)ended[i],
                     sw_comm_fault_text((sw_comm_fault_kind)i));
  return sw_print_text(&out, d);
}

static sw_rc print_checked_calls(const checker *k, sw_diag *d) {
  const settings *s = k->call->settings;
  sw_text out = {0};
  sw_text_printf(&out, "%lld collectives on ", (long long)s->calls);
  if (s->mesh)
    sw_text_printf(&out, "mesh %s: no difference\n", s->mesh);
  else
    sw_text_printf(&out, "%d meshes: no difference\n", k->meshes);
  return sw_print_text(&out, d);
}

/* A difference ends the check with an error, so that what is printed has none. */
static sw_rc print_comm_json(const checker *k, bool faults, const int64_t *ended, sw_diag *d) {
  const settings *s = k->call->settings;
  sw_text out = {0};
  sw_json_out o;
  sw_json_out_init(&o, &out);
  sw_jw_format(&o, "comm-check", 1);
  sw_jw_i64(&o, "collectives", s->calls);
  sw_jw_row(&o, "meshes");
  for (int i = 0; i < k->meshes; i++) sw_jw_mesh(&o, NULL, &k->mesh[i]);
  sw_jw_end(&o);
  sw_jw_i64(&o, "differences", 0);
  if (faults) {
    sw_jw_object(&o, "faults");
    sw_jw_i64(&o, "programs", s->faults);
    sw_jw_i64(&o, "without_effect", ended[SW_FAULT_NONE]);
    sw_jw_array(&o, "stopped");
    for (int i = 1; i < SW_FAULT_COUNT; i++) {
      if (i == SW_FAULT_DELAY) continue;
      sw_jw_object_row(&o, NULL);
      sw_jw_string(&o, "a_device", sw_comm_fault_text((sw_comm_fault_kind)i));
      sw_jw_i64(&o, "programs", ended[i]);
      sw_jw_end(&o);
    }
    sw_jw_end(&o);
    sw_jw_end(&o);
  }
  sw_jw_end(&o);
  return sw_print_text(&out, d);
}

/* --mesh, or all; an MPI run has as many devices as processes, so it needs to be told. */
static sw_rc read_check_meshes(const sw_call *call, bool mpi, checker *k, sw_diag *d) {
  const char *one = ((const settings *)call->settings)->mesh;
  if (!one && mpi) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--comm mpi needs --mesh, with a device per process");
  k->meshes = one ? 1 : MESHES;
  for (int i = 0; i < k->meshes; i++) {
    SW_TRY(sw_mesh_parse(one ? one : kMeshes[i], call->arena, &k->mesh[i], d));
    SW_TRY(sw_mesh_verify(&k->mesh[i], true, d));
  }
  if (sw_mesh_devices(&k->mesh[0]) > MOST_DEVICES) {
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE,
                   "check makes all results by definition, for at most %d devices; the mesh has %lld", MOST_DEVICES,
                   (long long)sw_mesh_devices(&k->mesh[0]));
  }
  return SW_OK;
}

static sw_rc check_collectives(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  checker k = {.call = call};
  bool mpi = strcmp(s->engine, "mpi") == 0;
  SW_TRY(read_check_meshes(call, mpi, &k, d));
  sw_comm_options o = options_of(call);
  if (mpi) SW_TRY(sw_comm_create_mpi(&k.mesh[0], &o, &k.mpi, &k.device, d));
  sw_rc rc = check_programs(&k, d);
  if (mpi) rc = sw_comm_leave(k.mpi, k.device, rc, d ? d->text : NULL, d);
  sw_comm_destroy(k.mpi);
  if (rc || k.device != 0) return rc;
  int64_t ended[SW_FAULT_COUNT] = {0};
  const bool faults = s->faults && !mpi;
  if (!s->json) SW_TRY(print_checked_calls(&k, d));
  if (faults) SW_TRY(check_faults(&k, ended, d));
  if (s->json) return print_comm_json(&k, faults, ended, d);
  return faults ? print_faults(s, ended, d) : SW_OK;
}

static sw_rc cmd_comm(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  return strcmp(s->what, "check") == 0 ? check_collectives(call, d) : sw_comm_bench_command(call, d);
}

const sw_command sw_command_comm = {
    .name = "comm",
    .summary = "check or time the collectives of the runtime alone",
    .description =
        "check makes random collectives (all ops, dtypes, uneven blocks, windows, halos) on a mesh and compares every "
        "element with the definition; exit status 4 at the first difference. With --faults, programs follow in which "
        "one device skips a call, fails, leaves, calls something else, ...; every device must return, without waiting "
        "for the timeout.\n"
        "bench times one collective per line as nccl-tests does, out of place and in place: size is the larger of a "
        "device's input and result, algbw is size per time, busbw the share of it that must cross between devices; "
        "times are the least of eight batches. 'limit' is the time of a memcpy on all devices at once, of as many "
        "bytes read and written as the collective must, in the same buffers, over the time measured: the median of "
        "pairs. #wrong counts wrong elements of all results.\n",
    .example = "shardwright comm bench --op all_reduce --devices 2,8 --bytes 8:64K",
    SW_OPTIONS(kOptions),
    SW_OPERANDS(kOperands),
    .settings_bytes = sizeof(settings),
    .run = cmd_comm};
