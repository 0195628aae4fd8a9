/* The writer of hardware profiles: the keys of docs/profiles.md in their order. */
#include <math.h>
#include <stdlib.h>

#include "io/json_write.h"
#include "shardwright/profile_json.h"

enum { SAID_DIGITS = 13 }; /* of what is computed from a number that a file said */

static void end_with_source(sw_json_out *j, const char *id) {
  sw_jw_string(j, "source", id);
  sw_jw_end(j);
}

static void write_priced(sw_json_out *j, const sw_kernel_price *kernels, const char *id) {
  for (int k = 0; k < SW_PRICED_COUNT; k++) {
    const sw_kernel_price *price = &kernels[k];
    if (!price->known) continue;
    sw_jw_object_row(j, sw_priced_kernel_text((sw_priced_kernel)k));
    if (price->library) sw_jw_string(j, "library", price->library);
    for (int c = 0; c < SW_KERNEL_CONSTANT_COUNT; c++)
      if (sw_priced_kernel_constants((sw_priced_kernel)k) >> c & 1)
        sw_jw_f64(j, sw_kernel_constant_text((sw_kernel_constant)c), price->v[c]);
    end_with_source(j, id);
  }
}

static void write_kernels(sw_json_out *j, const sw_profile *p, const char *id) {
  if (!(p->multiprocessors > 0)) return;
  sw_jw_object(j, "kernels");
  sw_jw_f64(j, "multiprocessors", p->multiprocessors);
  write_priced(j, p->kernel, id);
  if (p->n_libraries > 0) sw_jw_object(j, "libraries");
  for (int i = 0; i < p->n_libraries; i++) {
    sw_jw_object(j, p->library_kernels[i].name);
    write_priced(j, p->library_kernels[i].kernel, id);
    sw_jw_end(j);
  }
  if (p->n_libraries > 0) sw_jw_end(j);
  end_with_source(j, id);
}

/* reserved_bytes below 0: it is not said there. */
static void write_memory(sw_json_out *j, int64_t bytes, int64_t reserved_bytes, double bytes_per_s, const char *id) {
  sw_jw_object_row(j, "memory");
  sw_jw_i64(j, "bytes", bytes);
  if (reserved_bytes >= 0) sw_jw_i64(j, "reserved_bytes", reserved_bytes);
  sw_jw_f64(j, "bytes_per_s", bytes_per_s);
  end_with_source(j, id);
}

static void write_device(sw_json_out *j, const sw_profile *p, const sw_profile_origins *o) {
  sw_jw_object(j, "device");
  sw_jw_string(j, "name", p->device_name);
  write_memory(j, p->memory_bytes, p->memory_reserved_bytes, p->memory_bytes_per_s, o->memory);
  sw_jw_object(j, "flop_per_s");
  for (int t = 0; t < SW_DTYPE_COUNT; t++)
    if (sw_dtype_bytes((sw_dtype)t) > 0) sw_jw_f64(j, sw_dtype_text((sw_dtype)t), p->flop_per_s[t]);
  for (int k = SW_PRECISION_HIGH; k < SW_PRECISION_COUNT; k++)
    if (p->f32_per_s[k] > 0) sw_jw_f64(j, sw_precision_rate_text((sw_precision)k), p->f32_per_s[k]);
  end_with_source(j, o->flops);
  sw_jw_object_row(j, "achieved");
  sw_jw_f64(j, "flop_fraction", p->flop_fraction);
  if (p->flop_fraction_8bit != p->flop_fraction) sw_jw_f64(j, "flop_fraction_8bit", p->flop_fraction_8bit);
  sw_jw_f64(j, "memory_fraction", p->memory_fraction);
  sw_jw_f64(j, "launch_s", p->launch_s);
  if (p->contention > 0) sw_jw_f64(j, "contention", p->contention);
  end_with_source(j, o->achieved);
  write_kernels(j, p, o->achieved);
  if (p->host_bytes_per_s > 0) {
    sw_jw_object_row(j, "host_link");
    sw_jw_f64(j, "bytes_per_s", p->host_bytes_per_s);
    sw_jw_i64(j, "memory_bytes", p->host_memory_bytes);
    end_with_source(j, o->memory);
  }
  if (p->shared_cores) {
    sw_jw_object_row(j, "shared");
    sw_jw_i64(j, "cores", p->shared_cores);
    end_with_source(j, o->shared);
  }
  sw_jw_end(j);
}

/* The rate behind a slope, without the digits that taking the reciprocal twice has added. A slope of nothing is the
 * highest rate that a file may say. */
static double rate_of(double s_per_byte) {
  return s_per_byte <= 1e-30 ? 1e30 : sw_round_to(1 / s_per_byte, SAID_DIGITS);
}

static void write_row(sw_json_out *j, const char *key, const double *at, int n, bool logs) {
  sw_jw_row(j, key);
  for (int i = 0; i < n; i++) sw_jw_f64(j, NULL, logs ? sw_round_to(exp(at[i]), SAID_DIGITS) : at[i]);
  sw_jw_end(j);
}

static void write_knots(sw_json_out *j, const sw_cost_knots *k, const char *id) {
  sw_jw_object(j, "knots");
  write_row(j, "members", k->ln_members, k->n_members, true);
  write_row(j, "bytes", k->ln_bytes, k->n_sizes, true);
  sw_jw_array(j, "ln_factor");
  for (int i = 0; i < k->n_members; i++) write_row(j, NULL, k->ln_factor[i], k->n_sizes, false);
  sw_jw_end(j);
  end_with_source(j, id);
}

static void write_line(sw_json_out *j, const char *key, const sw_cost_line *l, const char *id) {
  sw_jw_object(j, key);
  sw_jw_f64(j, "base_s", l->base_s);
  if (l->peer_s > 0) sw_jw_f64(j, "peer_s", l->peer_s);
  if (l->ramp_s_per_sqrt_byte > 0) sw_jw_f64(j, "ramp_s_per_sqrt_byte", l->ramp_s_per_sqrt_byte);
  sw_jw_f64(j, "bytes_per_s", rate_of(l->s_per_byte));
  if (l->pair_s_per_byte > 0) sw_jw_f64(j, "pair_bytes_per_s", rate_of(l->pair_s_per_byte));
  if (l->in_network_min) {
    sw_jw_object_row(j, "in_network");
    sw_jw_i64(j, "min_members", l->in_network_min);
    sw_jw_f64(j, "bytes_per_s", rate_of(l->in_network_s_per_byte));
    end_with_source(j, id);
  }
  if (l->knots) write_knots(j, l->knots, id);
  end_with_source(j, id);
}

static void write_shape(sw_json_out *j, const sw_level *l) {
  if (l->open) {
    sw_jw_string(j, "size", "any");
    return;
  }
  if (l->kind != SW_TOPOLOGY_TORUS) {
    sw_jw_i64(j, "size", l->dims[0]);
    return;
  }
  sw_jw_i64_list(j, "shape", l->dims, l->n_dims);
  sw_jw_row(j, "wrap");
  for (int i = 0; i < l->n_dims; i++) sw_jw_bool(j, NULL, l->wrap[i]);
  sw_jw_end(j);
}

static void write_level(sw_json_out *j, const sw_profile *p, const sw_profile_origins *o, int at) {
  const sw_level *l = &p->level[at];
  sw_jw_object(j, NULL);
  sw_jw_string(j, "name", l->name);
  sw_jw_string(j, "topology", sw_topology_text(l->kind));
  write_shape(j, l);
  if (l->serial_fraction > 0) {
    sw_jw_object_row(j, "overlap");
    sw_jw_f64(j, "serial_fraction", l->serial_fraction);
    end_with_source(j, o->level[at]);
  }
  sw_jw_object(j, "costs");
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++)
    write_line(j, sw_cost_class_text((sw_cost_class)c), &l->line[c], o->line[at][c]);
  sw_jw_end(j);
  end_with_source(j, o->level[at]);
}

static void write_measured(sw_json_out *j, const sw_profile *p) {
  if (p->n_measured == 0) return;
  sw_jw_array(j, "measured");
  for (int i = 0; i < p->n_measured; i++) {
    sw_jw_object_row(j, NULL);
    sw_jw_string(j, "hardware", p->measured[i].hardware);
    sw_jw_string(j, "source", p->measured[i].source);
    sw_jw_i64(j, "nodes", p->measured[i].nodes);
    if (p->measured[i].library) sw_jw_string(j, "library", p->measured[i].library);
    sw_jw_end(j);
  }
  sw_jw_end(j);
}

static void write_runs(sw_json_out *j, const sw_profile *p, const sw_profile_origins *o) {
  if (p->n_run_hardware == 0) return;
  sw_jw_object(j, "runs");
  sw_jw_array(j, "hardware");
  for (int i = 0; i < p->n_run_hardware; i++) {
    const sw_run_hardware *h = &p->run_hardware[i];
    sw_jw_object(j, NULL);
    sw_jw_string(j, "name", h->name);
    write_memory(j, h->memory_bytes, -1, h->memory_bytes_per_s, o->memory);
    if (h->clock != 1) sw_jw_f64(j, "clock", h->clock);
    if (h->clock != 1) sw_jw_string(j, "source", o->flops);
    sw_jw_end(j);
  }
  sw_jw_end(j);
  sw_jw_end(j);
}

sw_rc sw_profile_write_with(const sw_profile *p, const sw_profile_origins *o, sw_text *out, sw_diag *d) {
  sw_json_out j;
  sw_json_out_init(&j, out);
  sw_jw_object(&j, NULL);
  sw_jw_string(&j, "format", "shardwright.profile");
  sw_jw_i64(&j, "version", 1);
  sw_jw_string(&j, "name", p->name);
  sw_jw_string(&j, "description", p->description);
  if (p->compiler) sw_jw_string(&j, "compiler", p->compiler);
  if (p->says_combine) sw_jw_i64(&j, "combine_bytes", p->combine_bytes);
  sw_jw_object(&j, "sources");
  for (int i = 0; i < o->n_sources; i++) sw_jw_string(&j, o->source[i].id, o->source[i].text);
  sw_jw_end(&j);
  write_device(&j, p, o);
  sw_jw_object_row(&j, "exchange");
  sw_jw_f64(&j, "peer_s", p->exchange_peer_s);
  end_with_source(&j, o->exchange);
  sw_jw_array(&j, "levels");
  for (int l = 0; l < p->n_levels; l++) write_level(&j, p, o, l);
  sw_jw_end(&j);
  if (p->node_level) sw_jw_string(&j, "node", p->level[p->node_level].name);
  sw_jw_array(&j, "meshes");
  for (int i = 0; i < p->n_meshes; i++) sw_jw_mesh(&j, NULL, &p->mesh[i]);
  sw_jw_end(&j);
  write_measured(&j, p);
  write_runs(&j, p, o);
  if (p->library) sw_jw_string(&j, "library", p->library);
  sw_jw_end(&j);
  return out->rc ? SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory while writing a profile") : SW_OK;
}

void sw_profile_origins_all(sw_profile_origins *o, const char *id) {
  o->memory = o->flops = o->achieved = o->shared = o->exchange = id;
  for (int l = 0; l < SW_MAX_LEVELS; l++) {
    o->level[l] = id;
    for (int c = 0; c < SW_COST_CLASS_COUNT; c++) o->line[l][c] = id;
  }
}

sw_rc sw_profile_write(const sw_profile *p, const char *source, sw_text *out, sw_diag *d) {
  sw_profile_origins o = {.n_sources = 1, .source = {{"made", source}}};
  sw_profile_origins_all(&o, "made");
  return sw_profile_write_with(p, &o, out, d);
}
