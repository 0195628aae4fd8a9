/* Where ops come from: locations of MLIR as call stacks, read, shared, and written again. */
#include "check.h"

#include "graph/source.h"
#include "shardwright/emit.h"
#include "shardwright/program.h"
#include "support/meshes.h"
#include "support/job.h"

static sw_program *read_program(const char *text) {
  sw_program *p;
  const sw_program_options o = {0};
  assert_ok(sw_program_parse("p.mlir", text, strlen(text), &o, &p, &diag));
  return p;
}

static sw_program *read_at(const char *aliases, const char *location) {
  sw_text t = {0};
  sw_text_printf(&t,
                 "%sfunc.func @main(%%x: tensor<8xf32>) -> tensor<8xf32> {\n  %%0 = stablehlo.tanh %%x : "
                 "tensor<8xf32> loc(%s)\n  return %%0 : tensor<8xf32>\n}\n",
                 aliases, location);
  sw_program *p = read_program(sw_text_str(&t));
  sw_text_free(&t);
  return p;
}

/* "f@a:1:2 > g@b:3:4 + @c:5:6": > for a caller, + for another origin. */
static void print_stack(const sw_call_frame *f, sw_text *out) {
  for (; f; f = f->next) {
    sw_text_printf(out, "%s@", f->function ? f->function : "");
    if (f->at.line) sw_text_printf(out, "%s:%d:%d", f->at.file, f->at.line, f->at.col);
    if (f->next) sw_text_puts(out, f->beside ? " + " : " > ");
  }
}

static const struct {
  const char *aliases, *location, *scope, *stack;
} kCases[] = {
    /* one place needs no stack */
    {"", "\"a.py\":1:2", NULL, ""},
    {"", "\"jit(f)/sin\"(\"a.py\":1:2)", "jit(f)/sin", ""},
    {"", "unknown", NULL, ""},
    {"", "\"name\"", "name", ""},
    /* JAX: the name is the scope, functions are names inside, callers are aliases */
    {"#1 = loc(\"a.py\":1:2)\n#2 = loc(\"b.py\":3:4)\n#3 = loc(\"f\"(#1))\n#4 = loc(\"g\"(#2))\n#5 = loc(callsite(#3 "
     "at #4))\n",
     "\"jit(g)/sin\"(#5)", "jit(g)/sin", "f@a.py:1:2 > g@b.py:3:4"},
    {"#1 = loc(\"a.py\":1:2)\n", "\"jit(g)/sin\"(\"f\"(#1))", "jit(g)/sin", "f@a.py:1:2"},
    /* PyTorch: modules around a file, calls without functions */
    {"", "callsite(\"m.py\":5:0 at callsite(\"n.py\":6:0 at \"o.py\":7:0))", NULL, "@m.py:5:0 > @n.py:6:0 > @o.py:7:0"},
    {"", "callsite(\"f\" at \"n.py\":6:1)", "f", "f@ > @n.py:6:1"},
    /* fused ones are beside each other, with metadata or without */
    {"", "fused[\"a.py\":1:2, \"b.py\":3:4]", NULL, "@a.py:1:2 + @b.py:3:4"},
    {"", "fused<\"pass\">[callsite(\"f\"(\"a.py\":1:2) at \"b.py\":3:4), \"c.py\":5:6]", "f",
     "f@a.py:1:2 > @b.py:3:4 + @c.py:5:6"},
    {"", "callsite(fused[\"a.py\":1:1, \"b.py\":2:2] at \"c.py\":3:3)", NULL, "@a.py:1:1 + @b.py:2:2 > @c.py:3:3"},
    /* strings with brackets and signs */
    {"", "callsite(\"f at (g, [h)\"(\"a \\\" b.py\":1:2) at \"c.py\":3:4)", "f at (g, [h)",
     "f at (g, [h)@a \\\" b.py:1:2 > @c.py:3:4"},
    /* aliases that are missing, or of themselves */
    {"#1 = loc(callsite(#1 at #1))\n", "#1", NULL, ""},
    {"#1 = loc(fused[#1, \"a.py\":1:2, #1])\n", "\"n\"(#9)", "n", ""},
};

static void locations_are_call_stacks(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    sw_program *p = read_at(kCases[i].aliases, kCases[i].location);
    const sw_source *from = &sw_program_graph(p)->ops[0].location;
    sw_text t = {0};
    print_stack(from->stack, &t);
    if (strcmp(sw_text_str(&t), kCases[i].stack) != 0)
      fail_msg("%s is read as '%s', not '%s'", kCases[i].location, sw_text_str(&t), kCases[i].stack);
    if (kCases[i].scope)
      assert_string_equal(from->scope, kCases[i].scope);
    else
      assert_null(from->scope);
    sw_text_free(&t);
    sw_program_destroy(p);
  }
}

/* Doubled with every alias, nested beyond all measure: read in no time, as far as it goes. */
static void endless_locations_end(void **state) {
  (void)state;
  sw_text aliases = {0}, deep = {0};
  sw_text_puts(&aliases, "#0 = loc(\"a.py\":1:1)\n");
  for (int i = 1; i < 60; i++) sw_text_printf(&aliases, "#%d = loc(callsite(#%d at #%d))\n", i, i - 1, i - 1);
  sw_program_destroy(read_at(sw_text_str(&aliases), "#59"));
  for (int i = 0; i < 20000; i++) sw_text_printf(&deep, "callsite(\"a.py\":%d:1 at ", i + 1);
  sw_text_puts(&deep, "\"b.py\":1:1");
  for (int i = 0; i < 20000; i++) sw_text_puts(&deep, ")");
  sw_program_destroy(read_at("", sw_text_str(&deep)));
  sw_text_free(&aliases);
  sw_text_free(&deep);
}

/* --- random locations --------------------------------------------------------------------------------------------- */

typedef struct drawn {
  sw_rng rng;
  sw_text aliases, location, stack;
  int n_aliases, n_files;
} drawn;

/* A location and the frames that it has; half of them by an alias. `function`: the innermost name around it. */
static void draw(drawn *d, int depth, const char *function, sw_text *text, sw_text *stack);

static void draw_file(drawn *d, const char *function, sw_text *text, sw_text *stack) {
  const int line = ++d->n_files;
  sw_text_printf(text, "\"f%d.py\":%d:%d", line % 7, line, line % 5);
  sw_text_printf(stack, "%s@f%d.py:%d:%d", function, line % 7, line, line % 5);
}

static void draw_plain(drawn *d, int depth, const char *function, sw_text *text, sw_text *stack) {
  const int64_t what = depth ? sw_rng_below(&d->rng, 4) : 0;
  char name[16];
  if (what == 0) {
    draw_file(d, function, text, stack);
  } else if (what == 1) {
    snprintf(name, sizeof name, "g%d", (int)sw_rng_below(&d->rng, 9));
    sw_text_printf(text, "\"%s\"(", name);
    draw(d, depth - 1, name, text, stack);
    sw_text_puts(text, ")");
  } else if (what == 2) {
    sw_text_puts(text, "callsite(");
    draw_file(d, function, text, stack);
    sw_text_puts(text, " at ");
    sw_text_puts(stack, " > ");
    draw(d, depth - 1, "", text, stack);
    sw_text_puts(text, ")");
  } else {
    const int64_t n = 1 + sw_rng_below(&d->rng, 3);
    sw_text_puts(text, "fused[");
    for (int64_t i = 0; i < n; i++) {
      if (i) sw_text_puts(text, ", ");
      if (i) sw_text_puts(stack, " + ");
      draw(d, depth - 1, function, text, stack);
    }
    sw_text_puts(text, "]");
  }
}

static void draw(drawn *d, int depth, const char *function, sw_text *text, sw_text *stack) {
  sw_text own = {0};
  if (sw_rng_below(&d->rng, 2)) {
    draw_plain(d, depth, function, text, stack);
    return;
  }
  draw_plain(d, depth, function, &own, stack);
  sw_text_printf(&d->aliases, "#a%d = loc(%s)\n", d->n_aliases, sw_text_str(&own));
  sw_text_printf(text, "#a%d", d->n_aliases++);
  sw_text_free(&own);
}

/* The program of a device, read again, has the same stacks. */
static void written_stacks_are_read_again(const sw_program *p, const char *stack) {
  sw_arena arena = {0};
  sw_plan plan;
  sw_text text = {0}, again = {0};
  assert_ok(sw_plan_build(JOB(sw_program_graph(p), machine_of("local", "x=1", &arena)), &arena, &plan, &diag));
  assert_ok(sw_emit_plan(&plan, "spmd", &text, &diag));
  sw_program *q = read_program(sw_text_str(&text));
  print_stack(sw_program_graph(q)->ops[0].location.stack, &again);
  assert_string_equal(sw_text_str(&again), stack);
  sw_text_free(&text);
  sw_text_free(&again);
  sw_program_destroy(q);
  sw_arena_deinit(&arena);
}

static void random_locations_have_their_frames(void **state) {
  (void)state;
  drawn d = {0};
  int stacks = 0;
  sw_rng_seed(&d.rng, check_seed(1));
  for (int i = 0; i < check_scale(300); i++) {
    d.aliases.n = d.location.n = d.stack.n = 0;
    sw_text_puts(&d.location, "\"scope\"(");
    draw(&d, 5, "", &d.location, &d.stack);
    sw_text_puts(&d.location, ")");
    sw_program *p = read_at(d.aliases.n ? sw_text_str(&d.aliases) : "", sw_text_str(&d.location));
    const sw_source *from = &sw_program_graph(p)->ops[0].location;
    sw_text t = {0};
    print_stack(from->stack, &t);
    const bool plain = sw_text_str(&d.stack)[0] == '@' && !strchr(sw_text_str(&d.stack), ' ');
    if (strcmp(sw_text_str(&t), plain ? "" : sw_text_str(&d.stack)) != 0)
      fail_msg("%s%s is read as '%s', not '%s'", sw_text_str(&d.aliases), sw_text_str(&d.location), sw_text_str(&t),
               sw_text_str(&d.stack));
    if (!plain) written_stacks_are_read_again(p, sw_text_str(&d.stack));
    stacks += !plain;
    sw_text_free(&t);
    sw_program_destroy(p);
  }
  assert_true(stacks > 50);
  sw_text_free(&d.aliases);
  sw_text_free(&d.location);
  sw_text_free(&d.stack);
}

/* Ops of one stack have the same one, and those of one caller its frames. */
static void stacks_share_their_frames(void **state) {
  (void)state;
  sw_program *p = read_program(
      "#f = loc(\"f\"(\"/home/u/a.py\":1:2))\n#lib = loc(\"g\"(\"/usr/lib/python3/dist-packages/b.py\":3:4))\n"
      "#h = loc(\"h\"(\"/home/u/c.py\":5:6))\n#s = loc(callsite(#lib at callsite(#f at #h)))\n"
      "#t = loc(callsite(#f at #h))\n"
      "func.func @main(%x: tensor<8xf32> loc(#t)) -> tensor<8xf32> {\n"
      "  %0 = stablehlo.tanh %x : tensor<8xf32> loc(\"one\"(#s))\n"
      "  %1 = stablehlo.tanh %0 : tensor<8xf32> loc(\"two\"(#s))\n"
      "  %2 = stablehlo.tanh %1 : tensor<8xf32> loc(#t)\n  return %2 : tensor<8xf32>\n}\n");
  const sw_graph *g = sw_program_graph(p);
  const sw_call_frame *stack = g->ops[0].location.stack, *shown[8];
  assert_ptr_equal(stack, g->ops[1].location.stack);
  assert_ptr_equal(stack->next, g->ops[2].location.stack);
  assert_ptr_equal(stack->next, g->values[g->args[0]].location->stack);
  assert_true(stack->library && !stack->next->library);
  assert_int_equal(sw_source_frames(stack, 8, shown), 3); /* the user's own first */
  assert_ptr_equal(shown[0], stack->next);
  assert_ptr_equal(shown[2], stack);
  sw_diag d = {0};
  (void)SW_FAIL_INPUT(&d, SW_NOWHERE, "wrong");
  sw_source_note(&g->ops[0].location, &d);
  assert_non_null(strstr(d.notes[0], "from /home/u/a.py:1:2, in one"));
  assert_non_null(strstr(d.notes[1], "called from /home/u/c.py:5:6, in h"));
  sw_program_destroy(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(locations_are_call_stacks),
      cmocka_unit_test(endless_locations_end),
      cmocka_unit_test(random_locations_have_their_frames),
      cmocka_unit_test(stacks_share_their_frames),
  };
  return cmocka_run_group_tests_name("locations", tests, NULL, NULL);
}
