/* The MPI engine's data: one device per process.
 *
 * A call is three steps. All members exchange headers (signature, extents, a text for messages), so that each knows
 * whether the others make the same call. Then each packs the boxes that others need of its input, they swap them, and
 * each unpacks, or reduces in group order. all_reduce and reduce go in two rounds: everybody reduces a part, and the
 * parts are sent on. The arithmetic is that of the thread engine, so results are the same bits.
 *
 * Nothing blocks inside MPI: every wait polls, and ends at the timeout, when cancelled, when another rank has told that
 * it failed, or in a deadlock (stand.c).
 */
#ifndef SRC_COMM_MPI_MPI_H_
#define SRC_COMM_MPI_MPI_H_

#include <mpi.h>

#include "comm/engine.h"
#include "comm/comm_moves.h"
#include "base/array.h"

enum {
  SW_MPI_TAG_DATA = 1,
  SW_MPI_TAG_MAIL,
  SW_MPI_TAG_FAIL,
  SW_MPI_TAG_GROUP,
  SW_MPI_TAG_STAND,
  SW_MPI_TEXT_BYTES = 192
};

/* What a member tells the others of its call. */
typedef struct sw_header {
  uint64_t signature;
  int64_t where, number;
  int has_in, has_out;
  sw_buffer in, out; /* data is not meant */
  char text[SW_MPI_TEXT_BYTES];
} sw_header;

typedef struct sw_mpi_group {
  sw_circle circle;      /* that made it */
  sw_device_list listed; /* what it points to, when it is a list */
  MPI_Comm comm;
  int64_t n, index, number; /* calls whose headers were exchanged; */
  int64_t came;             /* that the device has come to */
  int64_t key;              /* the same for all members */
  int64_t *devices;
  sw_header *headers;  /* one per member, of the call in flight */
  sw_member *members;  /* the same as a view */
  sw_buffer *in, *out; /* that it points to */
} sw_mpi_group;

typedef struct sw_mpi_mail {
  MPI_Request request;
  void *bytes;
} sw_mpi_mail;

/* What a device waits for, or that it has ended. */
typedef enum sw_stand_kind {
  SW_STAND_NONE,    /* nothing but data that is about to come */
  SW_STAND_MEMBERS, /* until all of a group have come to a call */
  SW_STAND_MESSAGE,
  SW_STAND_LEFT
} sw_stand_kind;

typedef struct sw_mpi_waiting {
  sw_stand_kind kind;
  bool told;                 /* to all */
  const sw_mpi_group *group; /* whose members it waits for */
  int64_t source;            /* of a message; -1: any of the call's group */
  const sw_comm_call *call;
} sw_mpi_waiting;

/* The same as it is told to the others. */
typedef struct sw_stand {
  int64_t kind, where, source;
  int64_t key, number; /* of the group; calls of it that are over */
  int64_t members, groups;
  char text[SW_MPI_TEXT_BYTES];
  /* Messages sent to and received from each device; the group's members; of all groups of the device: key, and calls
   * that it has come to. */
  int64_t more[];
} sw_stand;

typedef struct sw_mpi {
  sw_comm base;
  MPI_Comm world;
  int64_t device;
  SW_ARRAY(sw_mpi_group *) groups;
  SW_ARRAY(sw_mpi_mail) mail; /* sends that may not have arrived */
  sw_mpi_waiting wait;
  sw_stand **stand;         /* by device what it has told last, or NULL */
  int64_t *sent, *received; /* messages to and from each device */
  bool left;
  sw_comm_stats stats;
  sw_coll_op last_op;
  int64_t last_where, calls;
  sw_diag failure;
} sw_mpi;

static inline sw_mpi *sw_mpi_of(sw_comm *c) { return (sw_mpi *)(void *)c; }

/* wait.c: until all `n` requests have completed (see above for how else it ends; the requests are then left alone). */
SW_CHECKED sw_rc sw_mpi_wait(sw_mpi *m, MPI_Request *requests, int n, sw_diag *d);
/* One look at what ends a run: another rank's failure, cancellation, a deadlock, the end of patience (NULL: none). */
SW_CHECKED sw_rc sw_mpi_look(sw_mpi *m, sw_patience *p, sw_diag *d);
/* Remember the failure and tell all ranks (but not when it came from one). */
sw_rc sw_mpi_fail(sw_mpi *m, const sw_diag *why, sw_diag *d);

/* stand.c: from now on the device waits for that. */
void sw_stand_wait(sw_mpi *m, sw_stand_kind kind, const sw_mpi_group *g, int64_t source, const sw_comm_call *call);
/* One look: hears what the others tell, tells of a wait that has become long, fails in a deadlock. */
SW_CHECKED sw_rc sw_stand_look(sw_mpi *m, double waited_s, sw_diag *d);
/* "device 0, which waits at ...; it misses device 1, which ..." */
void sw_stand_print_waiting(sw_mpi *m, sw_text *out);
void sw_stand_print_others(const sw_mpi *m, sw_text *out);
/* Tells that the device ends, and waits until all do. */
SW_CHECKED sw_rc sw_stand_leave(sw_mpi *m, sw_diag *d);
/* Then: a device that has sent what this one has not received, or -1. */
int64_t sw_stand_unread(const sw_mpi *m);
SW_CHECKED sw_rc sw_stand_init(sw_mpi *m, sw_diag *d);
void sw_stand_free(sw_mpi *m); /* also of what is half made */

/* swap.c: bytes to and from every member of a group; sizes in bytes, own piece included. */
typedef struct sw_swap {
  int64_t n;
  char **to, **from;
  int64_t *to_bytes, *from_bytes;
} sw_swap;
SW_CHECKED sw_rc sw_swap_init(sw_swap *s, int64_t n, sw_diag *d);
/* Room for pieces of the sizes in to_bytes (or from_bytes). */
SW_CHECKED sw_rc sw_swap_room(char **pieces, const int64_t *bytes, int64_t n, sw_diag *d);
SW_CHECKED sw_rc sw_swap_run(sw_mpi *m, const sw_mpi_group *g, sw_swap *s, sw_diag *d);
void sw_swap_deinit(sw_swap *s);

/* collect.c: the data of one call whose headers agree. */
SW_CHECKED sw_rc sw_mpi_collect(sw_mpi *m, sw_mpi_group *g, const sw_comm_call *call, int64_t *bytes, sw_diag *d);

/* mail.c */
SW_CHECKED sw_rc sw_mpi_send(sw_mpi *m, const sw_comm_call *call, sw_diag *d);
SW_CHECKED sw_rc sw_mpi_receive(sw_mpi *m, const sw_comm_call *call, sw_diag *d);
/* Sends bytes that it frees when they have arrived. */
SW_CHECKED sw_rc sw_mpi_post(sw_mpi *m, int64_t to, int tag, void *bytes, size_t n, sw_diag *d);
/* After sw_stand_leave: fails when the device has not received all that was sent to it. */
SW_CHECKED sw_rc sw_mpi_check_read(sw_mpi *m, sw_diag *d);
void sw_mpi_mail_free(sw_mpi *m);

#endif
