/* What an engine (threads, MPI) provides. A communicator starts with this record; the rest is the engine's own. */
#ifndef SRC_COMM_ENGINE_H_
#define SRC_COMM_ENGINE_H_

#include "shardwright/comm.h"

typedef struct sw_comm_engine {
  const char *name;
  void (*destroy)(sw_comm *c);
  sw_rc (*run)(sw_comm *c, int64_t device, const sw_comm_call *call, sw_diag *d);
  sw_rc (*start)(sw_comm *c, int64_t device, const sw_comm_call *call, sw_comm_request **out, sw_diag *d);
  sw_rc (*wait)(sw_comm *c, sw_comm_request *request, sw_diag *d);
  sw_rc (*leave)(sw_comm *c, int64_t device, sw_rc rc, const char *why, sw_diag *d);
  void (*get_stats)(const sw_comm *c, int64_t device, sw_comm_stats *out);
  void (*report)(const sw_comm *c, sw_text *out);
} sw_comm_engine;

struct sw_comm {
  const sw_comm_engine *engine;
  sw_mesh mesh;
  int64_t devices;
  sw_comm_options options; /* timeout_s > 0 */
};

/* patience.c: a wait, of which looks are taken at least every few hundredths of a second. */
typedef struct sw_patience {
  double last_s, waited_s; /* the last look; time waited before it */
} sw_patience;
sw_patience sw_patience_begin(const sw_comm *c);
/* One look: has it lasted longer than the timeout? */
bool sw_patience_is_over(const sw_comm *c, sw_patience *p);

#endif
