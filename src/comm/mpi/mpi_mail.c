/* send and recv: a message is a header and the data; sends are kept until they have arrived. */
#include <sched.h>
#include <string.h>

#include "comm/call.h"
#include "comm/mpi/mpi.h"

/* Frees what has arrived. */
static void free_arrived(sw_mpi *m) {
  size_t kept = 0;
  for (size_t i = 0; i < m->mail.n; i++) {
    int done;
    MPI_Test(&m->mail.at[i].request, &done, MPI_STATUS_IGNORE);
    if (done)
      sw_mem_free(m->mail.at[i].bytes);
    else
      m->mail.at[kept++] = m->mail.at[i];
  }
  m->mail.n = kept;
}

void sw_mpi_mail_free(sw_mpi *m) {
  free_arrived(m);
  sw_array_free(&m->mail);
}

sw_rc sw_mpi_post(sw_mpi *m, int64_t to, int tag, void *bytes, size_t n, sw_diag *d) {
  free_arrived(m);
  if (sw_array_reserve(&m->mail, m->mail.n + 1, d)) {
    sw_mem_free(bytes);
    return SW_E_RESOURCE;
  }
  sw_mpi_mail *mail = &m->mail.at[m->mail.n++];
  mail->bytes = bytes;
  MPI_Isend(bytes, (int)n, MPI_BYTE, (int)to, tag, m->world, &mail->request);
  return SW_OK;
}

sw_rc sw_mpi_send(sw_mpi *m, const sw_comm_call *call, sw_diag *d) {
  const sw_collective *c = call->coll;
  int64_t bytes = 0, to = sw_collective_peer(&m->base.mesh, c, m->device, sw_collective_root(c));
  (void)sw_buffer_bytes(call->in, &bytes); /* checked before */
  if (bytes > INT32_MAX - (int64_t)sizeof(sw_sent))
    return SW_FAIL_INPUT(d, SW_NOWHERE, "send of %lld bytes; expected less than 2 GiB", (long long)bytes);
  sw_sent *l = sw_mem_alloc(1, sizeof *l + (size_t)bytes, d);
  if (!l) return SW_E_RESOURCE;
  *l = (sw_sent){m->device, call->where, *call->in};
  if (bytes) memcpy(l + 1, call->in->data, (size_t)bytes);
  m->sent[to]++;
  return sw_mpi_post(m, to, SW_MPI_TAG_MAIL, l, sizeof *l + (size_t)bytes, d);
}

/* A sender of the group with a message here, or -1; two of them are an error. */
static sw_rc find_sender(sw_mpi *m, const sw_comm_call *call, int64_t *from, sw_diag *d) {
  const sw_collective *c = call->coll;
  int64_t n = sw_axis_refs_size(c->axes, c->n_axes);
  *from = -1;
  for (int64_t i = 0; i < n; i++) {
    if (c->n_root && i != sw_collective_root(c)) continue;
    int64_t peer = sw_collective_peer(&m->base.mesh, c, m->device, i);
    int there;
    MPI_Iprobe((int)peer, SW_MPI_TAG_MAIL, m->world, &there, MPI_STATUS_IGNORE);
    if (there && *from >= 0) return sw_call_fail_rivals(m->device, call, *from, peer, d);
    if (there) *from = peer;
  }
  return SW_OK;
}

static sw_rc wait_for_sender(sw_mpi *m, const sw_comm_call *call, int64_t *from, sw_diag *d) {
  sw_patience patience = sw_patience_begin(&m->base);
  for (;;) {
    SW_TRY(find_sender(m, call, from, d));
    if (*from >= 0) return SW_OK;
    SW_TRY(sw_mpi_look(m, &patience, d));
    (void)sched_yield();
  }
}

/* A message of `from` that is there. */
static sw_rc receive_mail(sw_mpi *m, int64_t from, sw_sent **out, sw_diag *d) {
  MPI_Status status;
  int bytes;
  MPI_Probe((int)from, SW_MPI_TAG_MAIL, m->world, &status);
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  sw_sent *l = *out = sw_mem_alloc((size_t)bytes, 1, d);
  if (!l) return SW_E_RESOURCE;
  MPI_Recv(l, bytes, MPI_BYTE, (int)from, SW_MPI_TAG_MAIL, m->world, MPI_STATUS_IGNORE);
  l->buffer.data = l + 1;
  m->received[from]++;
  return SW_OK;
}

sw_rc sw_mpi_receive(sw_mpi *m, const sw_comm_call *call, sw_diag *d) {
  const sw_collective *c = call->coll;
  int64_t from, received;
  sw_sent *l;
  int64_t source = c->n_root ? sw_collective_peer(&m->base.mesh, c, m->device, sw_collective_root(c)) : -1;
  sw_stand_wait(m, SW_STAND_MESSAGE, NULL, source, call);
  SW_TRY(wait_for_sender(m, call, &from, d));
  sw_stand_wait(m, SW_STAND_NONE, NULL, -1, NULL);
  SW_TRY(receive_mail(m, from, &l, d));
  sw_rc rc = sw_call_receive(m->device, call, l, &received, d);
  if (!rc) m->stats.bytes_received[SW_COLL_RECV] += received;
  sw_mem_free(l);
  return rc;
}

sw_rc sw_mpi_check_read(sw_mpi *m, sw_diag *d) {
  int64_t from = sw_stand_unread(m);
  sw_sent *l;
  if (from < 0) return SW_OK;
  SW_TRY(receive_mail(m, from, &l, d));
  int64_t where = l->where;
  sw_mem_free(l);
  return sw_call_fail_unread(m->device, from, where, d);
}
