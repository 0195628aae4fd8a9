/* Model files: what is read is a sound graph, and written and read again it gives the same text. */
#include "fuzz/fuzz.h"
#include "shardwright/model_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  sw_diag d = {0};
  sw_graph *g, *again;
  sw_rc rc = sw_model_parse("fuzz.json", (const char *)bytes, n, &g, &d);
  if (rc) {
    FUZZ_CHECK_FAILURE(rc, &d);
    return 0;
  }
  sw_text first = {0}, second = {0};
  FUZZ_CHECK(sw_model_write(g, &first, &d) == SW_OK);
  rc = sw_model_parse("again.json", sw_text_str(&first), first.n, &again, &d);
  if (rc) fprintf(stderr, "%s\n%d:%d: %s\n", sw_text_str(&first), d.line, d.col, d.text);
  FUZZ_CHECK(rc == SW_OK);
  FUZZ_CHECK(sw_model_write(again, &second, &d) == SW_OK);
  fuzz_check_same_text(&first, &second);
  sw_text_free(&first);
  sw_text_free(&second);
  sw_graph_destroy(g);
  sw_graph_destroy(again);
  return 0;
}
