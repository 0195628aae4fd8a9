/* Measured times that speak of one profile, and the machine that predicts each. */
#ifndef BENCH_MEASURED_H_
#define BENCH_MEASURED_H_

#include "base/array.h"
#include "hw/group.h"

enum { MAX_SOURCES = 32, MAX_LAYOUTS = 32 };

/* One measured time. */
typedef struct sample {
  int source, layout; /* layout -1: a kernel of one device */
  sw_coll_op op;
  double bytes;      /* of the collective, or that the kernel moves */
  sw_work work;      /* of a kernel */
  double cast_bytes; /* moved by an op before the product that casts its left input to 8 bits; 0: none */
  double measured_s;
  bool train;
  double weight; /* in the fit */
} sample;

/* A group of `ranks` devices over `nodes` nodes, the same number in each. */
typedef struct rank_layout {
  int64_t ranks, nodes;
} rank_layout;

typedef struct sample_set {
  sample *at;
  int64_t n;
  int n_sources, n_layouts;
  char source[MAX_SOURCES][80]; /* repository, or the words before the first ':' */
  rank_layout layouts[MAX_LAYOUTS];
  bool no_products; /* the tables have none */
  int64_t skipped;  /* rows of the profile's hardware that its network cannot hold */
} sample_set;

typedef SW_ARRAY(sample) sample_list;

/* The id of a source or layout in the set, added when it is new; -1 when there is no room. */
int sw_sample_source(sample_set *s, const char *name);
int sw_sample_layout(sample_set *s, rank_layout l);

/* The rows of both tables that p->measured claims. In the arena. */
SW_CHECKED sw_rc sw_samples_read(const sw_profile *p, const char *facts_dir, sw_arena *arena, sample_set *out,
                                 sw_diag *d);

/* How many rows of both tables none of the profiles claims; *by_hardware gains a line per hardware. */
SW_CHECKED sw_rc sw_rows_unclaimed(const sw_profile *const *profiles, int n, const char *facts_dir, int64_t *count,
                                   sw_text *by_hardware, sw_diag *d);

/* The group that the samples of a layout are of. */
SW_CHECKED sw_rc sw_sample_group(const sw_profile *p, const sample_set *s, int layout, sw_arena *arena, sw_group *out,
                                 sw_diag *d);
/* Whether the profile's network can hold such a group as the prices see it. */
bool sw_sample_layout_fits(const sw_profile *p, rank_layout l);
/* The outermost level that such a group spans, and how many units of the level below a group has at `level`; 1: it
 * lies in one. Of a profile that can hold it. */
int sw_sample_layout_level(const sw_profile *p, rank_layout l);
int64_t sw_sample_layout_units(const sw_profile *p, rank_layout l, int level);
/* What a product of m x k by k x n does, or an attention layer in 16 bits: `context` over a causal sequence, `backward`
 * its gradients, `generation` of one query over seq keys (another kind: false). Of the window 0 is none. */
void sw_sample_set_product(sample *s, sw_dtype t, double m, double n, double k);
typedef struct sw_attention_size {
  double batch, seq, heads, kv_heads, width, window;
} sw_attention_size;
bool sw_sample_set_attention(sample *s, const char *kind, const sw_attention_size *a);
/* A row's collective as tables write it, "alltoall"; and what stands for a dtype there, "fp8". */
bool sw_sample_op(const char *text, sw_coll_op *op);
bool sw_sample_dtype(const char *text, sw_dtype *out);

/* Predicted seconds of every sample under `p` (which may have other constants than when the samples were read). */
SW_CHECKED sw_rc sw_samples_predict(const sw_profile *p, const sample_set *s, double *seconds, sw_diag *d);

#endif
