/* Waiting without blocking in MPI, and how a failure reaches the other ranks: a message with its text. */
#include <sched.h>
#include <string.h>

#include "comm/mpi/mpi.h"

static sw_rc give_failure(const sw_mpi *m, sw_diag *d) {
  if (d) *d = m->failure;
  return m->failure.rc;
}

sw_rc sw_mpi_fail(sw_mpi *m, const sw_diag *why, sw_diag *d) {
  if (m->failure.rc) return give_failure(m, d);
  m->failure = *why;
  for (int rank = 0; rank < (int)m->base.devices; rank++) {
    if (rank == (int)m->device) continue;
    MPI_Request request;
    MPI_Isend(m->failure.text, (int)sizeof m->failure.text, MPI_CHAR, rank, SW_MPI_TAG_FAIL, m->world, &request);
    MPI_Request_free(&request); /* the text lives as long as the process */
  }
  return give_failure(m, d);
}

/* Has another rank told that it failed? */
static sw_rc hear_failure(sw_mpi *m, sw_diag *d) {
  int heard;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, SW_MPI_TAG_FAIL, m->world, &heard, &status);
  if (!heard) return SW_OK;
  char text[SW_DIAG_TEXT_BYTES];
  MPI_Recv(text, (int)sizeof text, MPI_CHAR, status.MPI_SOURCE, SW_MPI_TAG_FAIL, m->world, MPI_STATUS_IGNORE);
  text[sizeof text - 1] = '\0';
  (void)SW_FAIL(&m->failure, SW_E_RESOURCE, SW_NOWHERE, "%s", text);
  return give_failure(m, d);
}

static sw_rc time_is_up(sw_mpi *m, sw_diag *d) {
  sw_text text = {0};
  sw_diag why = {0};
  sw_stand_print_waiting(m, &text);
  (void)SW_FAIL(&why, SW_E_RESOURCE, SW_NOWHERE, "timeout after %g s: %s", m->base.options.timeout_s,
                sw_text_str(&text));
  sw_text_free(&text);
  return sw_mpi_fail(m, &why, d);
}

sw_rc sw_mpi_look(sw_mpi *m, sw_patience *p, sw_diag *d) {
  if (m->failure.rc) return give_failure(m, d);
  SW_TRY(hear_failure(m, d));
  sw_diag why = {0};
  if (sw_cancelled(m->base.options.cancel)) {
    (void)SW_FAIL(&why, SW_E_CANCELLED, SW_NOWHERE, "cancelled");
    return sw_mpi_fail(m, &why, d);
  }
  bool over = p && sw_patience_is_over(&m->base, p);
  SW_TRY(sw_stand_look(m, p ? p->waited_s : 0, d));
  return over ? time_is_up(m, d) : SW_OK;
}

sw_rc sw_mpi_wait(sw_mpi *m, MPI_Request *requests, int n, sw_diag *d) {
  sw_patience patience = sw_patience_begin(&m->base);
  for (unsigned looks = 1;; looks++) {
    int done;
    MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
    if (done) return SW_OK;
    if (looks % 64) continue;
    SW_TRY(sw_mpi_look(m, &patience, d));
    (void)sched_yield();
  }
}
