/* What a user of the library writes first: public headers only, an error record, and a library call. */
#include <shardwright/arena.h>
#include <shardwright/text.h>

int main(void) {
  sw_diag d = {0};
  int64_t bytes;
  if (sw_parse_bytes("80GB", "memory", &bytes, &d)) {
    sw_diag_print(&d, stderr, true);
    return 1;
  }
  printf("consumer: %lld bytes\n", (long long)bytes);
  return bytes == INT64_C(80000000000) ? 0 : 1;
}
