#include "shardwright/plan.h"

/* Every device of the sender passes its share on to one of the receiver: as along the outermost axis, where links are
 * slowest. */
static double send_s(const sw_machine *from, const sw_machine *to, int64_t bytes) {
  const sw_machine *slow = sw_mesh_devices(sw_machine_mesh(from)) < sw_mesh_devices(sw_machine_mesh(to)) ? to : from;
  const sw_mesh *mesh = sw_machine_mesh(slow);
  for (int a = 0; a < mesh->n_axes; a++) {
    const sw_axis_ref axis = sw_axis_whole(mesh, a);
    const double share = (double)bytes / (double)sw_mesh_devices(mesh);
    if (axis.size > 1) return sw_machine_collective_s(slow, SW_COLL_SHIFT, &axis, 1, share);
  }
  return 0;
}

double sw_schedule_s(const sw_schedule *s, const sw_plan *plans, const sw_breakdown *breakdowns) {
  double sum_s = 0;
  for (int32_t k = 0; k < s->spec.n_stages; k++) sum_s += breakdowns[k].total_s;
  for (int32_t i = 0; i < s->n_sends; i++) {
    const sw_send *send = &s->sends[i];
    sum_s += send_s(plans[send->from].job.machine, plans[send->to].job.machine,
                    sw_type_bytes(&s->program->values[send->value].type));
  }
  return sum_s;
}
