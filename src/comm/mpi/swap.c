/* Swapping pieces of bytes within a group: one message per pair and per GiB. */
#include <string.h>

#include "comm/mpi/mpi.h"
#include "base/checked.h"

static const int64_t kMessageBytes = INT64_C(1) << 30; /* MPI counts are ints */

sw_rc sw_swap_init(sw_swap *s, int64_t n, sw_diag *d) {
  *s = (sw_swap){.n = n};
  SW_MEM_NEW(s->to, n, d);
  SW_MEM_NEW(s->from, n, d);
  SW_MEM_NEW(s->to_bytes, n, d);
  SW_MEM_NEW(s->from_bytes, n, d);
  return SW_OK;
}

sw_rc sw_swap_room(char **pieces, const int64_t *bytes, int64_t n, sw_diag *d) {
  for (int64_t j = 0; j < n; j++) {
    if (bytes[j] == 0) continue;
    pieces[j] = sw_mem_alloc((size_t)bytes[j], 1, d);
    if (!pieces[j]) return SW_E_RESOURCE;
  }
  return SW_OK;
}

void sw_swap_deinit(sw_swap *s) {
  for (int64_t j = 0; j < s->n; j++) {
    if (s->to) sw_mem_free(s->to[j]);
    if (s->from) sw_mem_free(s->from[j]);
  }
  sw_mem_free(s->to);
  sw_mem_free(s->from);
  sw_mem_free(s->to_bytes);
  sw_mem_free(s->from_bytes);
}

static int64_t messages(const int64_t *bytes, int64_t n, int64_t self) {
  int64_t count = 0;
  for (int64_t j = 0; j < n; j++) count += j == self ? 0 : sw_ceil_div(bytes[j], kMessageBytes);
  return count;
}

/* Begins the messages of one direction; returns how many. */
static int begin_messages(const sw_mpi_group *g, bool sends, char **pieces, const int64_t *bytes,
                          MPI_Request *requests) {
  int n = 0;
  for (int64_t j = 0; j < g->n; j++)
    for (int64_t at = 0; j != g->index && at < bytes[j]; at += kMessageBytes) {
      int count = (int)sw_min_i64(bytes[j] - at, kMessageBytes);
      if (sends)
        MPI_Isend(pieces[j] + at, count, MPI_BYTE, (int)j, SW_MPI_TAG_DATA, g->comm, &requests[n++]);
      else
        MPI_Irecv(pieces[j] + at, count, MPI_BYTE, (int)j, SW_MPI_TAG_DATA, g->comm, &requests[n++]);
    }
  return n;
}

sw_rc sw_swap_run(sw_mpi *m, const sw_mpi_group *g, sw_swap *s, sw_diag *d) {
  int64_t n = messages(s->to_bytes, s->n, g->index) + messages(s->from_bytes, s->n, g->index);
  MPI_Request *requests;
  SW_MEM_NEW(requests, n + 1, d);
  int begun = begin_messages(g, false, s->from, s->from_bytes, requests);
  begun += begin_messages(g, true, s->to, s->to_bytes, requests + begun);
  if (s->to_bytes[g->index]) memcpy(s->from[g->index], s->to[g->index], (size_t)s->to_bytes[g->index]);
  sw_rc rc = sw_mpi_wait(m, requests, begun, d);
  if (!rc) sw_mem_free(requests); /* after a failure MPI may still write there */
  return rc;
}
