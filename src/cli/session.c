#include "cli/session.h"

#include <string.h>

#include "shardwright/emit.h"
#include "shardwright/file.h"
#include "shardwright/model_json.h"
#include "shardwright/plan_json.h"
#include "shardwright/profile_json.h"

static sw_rc bind_mesh(sw_session *s, const char *mesh, sw_arena *arena, sw_diag *d) {
  if (mesh) {
    SW_TRY_NOTE(d, sw_mesh_parse(mesh, arena, &s->mesh, d), "in --mesh %s", mesh);
  } else if (s->graph->has_mesh) {
    s->mesh = s->graph->mesh;
  } else if (sw_profile_mesh_count(s->profile) > 0) {
    s->mesh = *sw_profile_mesh(s->profile, 0);
  }
  SW_TRY(sw_mesh_verify(&s->mesh, true, d));
  return sw_machine_build(arena, s->profile, &s->mesh, &s->machine, d);
}

sw_rc sw_session_open(const char *model, const char *hw, const char *mesh, sw_arena *arena, sw_session *out,
                      sw_diag *d) {
  *out = (sw_session){0};
  SW_TRY(sw_profile_read(hw, arena, &out->profile, d));
  SW_TRY(sw_model_read(model, &out->graph, d));
  sw_rc rc = bind_mesh(out, mesh, arena, d);
  if (rc) sw_session_close(out);
  return rc;
}

sw_rc sw_session_open_plan(const char *model, const char *hw, const char *plan_path, sw_arena *arena, sw_session *s,
                           sw_plan *plan, sw_diag *d) {
  sw_mesh mesh;
  sw_text text = {0};
  SW_TRY(sw_plan_read_mesh(plan_path, arena, &mesh, d));
  sw_mesh_print(&mesh, &text);
  sw_rc rc = text.rc ? SW_FAIL(d, text.rc, SW_NOWHERE, "out of memory")
                     : sw_session_open(model, hw, sw_text_str(&text), arena, s, d);
  sw_text_free(&text);
  if (rc) return rc;
  rc = sw_plan_read(plan_path, s->graph, s->machine, true, arena, plan, d);
  if (rc) sw_session_close(s);
  return rc;
}

void sw_session_close(sw_session *s) {
  sw_graph_destroy(s->graph);
  s->graph = NULL;
}

sw_rc sw_save_text(const char *path, sw_text *t, sw_diag *d) {
  sw_rc rc = t->rc ? SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory while writing '%s'", path)
                   : sw_file_write(path, sw_text_str(t), t->n, d);
  sw_text_free(t);
  return rc;
}

sw_rc sw_emit_all(const sw_plan *plan, const sw_pairs *emit, sw_diag *d) {
  for (int i = 0; i < emit->n; i++) {
    sw_text t = {0};
    sw_rc rc = sw_emit_plan(plan, emit->at[i].key, &t, d);
    if (rc) {
      sw_text_free(&t);
      return rc;
    }
    SW_TRY(sw_save_text(emit->at[i].value, &t, d));
  }
  return SW_OK;
}
