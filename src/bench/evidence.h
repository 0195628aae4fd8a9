/* Files that say something of a machine, recognised by what is in them: tables of nccl-tests, of kernels, of training
 * runs, and rows of data sheets.
 */
#ifndef BENCH_EVIDENCE_H_
#define BENCH_EVIDENCE_H_

#include "bench/csv.h"
#include "bench/measured.h"
#include "bench/runs.h"

/* What is fitted at once. */
typedef enum evidence_part {
  EVIDENCE_LOCAL,  /* kernels of one device */
  EVIDENCE_INSIDE, /* collectives among devices of one node */
  EVIDENCE_ACROSS, /* collectives over several nodes */
  EVIDENCE_PARTS
} evidence_part;

/* Kernels and a collective, each alone and all beside each other, from the first's start to the last's end. */
typedef struct evidence_triple {
  double kernels_s, collective_s, both_s;
  bool train;
} evidence_triple;

typedef struct evidence {
  sample_set set[EVIDENCE_PARTS]; /* `at` and `n` are those of the lists */
  sample_list list[EVIDENCE_PARTS];
  int64_t seen[EVIDENCE_PARTS][MAX_SOURCES][SW_COLL_COUNT]; /* rows of a kind so far */
  SW_ARRAY(evidence_triple) triples;
  const sw_csv *sheet; /* NULL: none */
  sw_runs runs;
  const char *library;  /* whose rows of attention count; NULL: those of the library that comes first */
  const char *hardware; /* what the rows that count call it; NULL: none has said */
  sw_text left;         /* a line per kind of row that could not be taken, each ended by a newline */
} evidence;

/* Add a file. Where a table has a column `hardware`, the rows whose text begins with `hardware` count; NULL: all rows
 * of all files must say the same. SW_E_INPUT with file and line: not recognised, or a cell that is wrong. */
SW_CHECKED sw_rc sw_evidence_read(evidence *e, const char *file, const char *hardware, sw_arena *arena, sw_diag *d);
void sw_evidence_free(evidence *e);

#endif
