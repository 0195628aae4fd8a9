/* How long a device has waited in vain.
 *
 *   timeout 30 s; looks at 0, 0.02, 0.04 s, then the process is stopped for a minute: 7.54 s have been waited
 */
#include "comm/engine.h"

/* A gap between two looks is no waiting: the process was stopped, its machine asleep, or its cores were others'. Those
 * who are waited for stood still as well. So a gap counts for a share of the timeout at most, or for this. */
static const double kGapShare = 0.25, kLeastGapS = 0.05;

static double now_of(const sw_comm *c) { return c->options.now_s ? c->options.now_s(c->options.now_user) : sw_now_s(); }

sw_patience sw_patience_begin(const sw_comm *c) { return (sw_patience){.last_s = now_of(c)}; }

bool sw_patience_is_over(const sw_comm *c, sw_patience *p) {
  double now = now_of(c), gap = now - p->last_s, most = c->options.timeout_s * kGapShare;
  if (most < kLeastGapS) most = kLeastGapS;
  p->last_s = now;
  p->waited_s += gap < most ? gap : most;
  return p->waited_s > c->options.timeout_s;
}
