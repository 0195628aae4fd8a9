/* A profile from files: what was measured is fitted, what a data sheet says is taken from there, and the rest from
 * another profile or from assumptions, each said in the profile's sources.
 */
#ifndef BENCH_CALIBRATE_FROM_H_
#define BENCH_CALIBRATE_FROM_H_

#include "shardwright/clock.h"
#include "shardwright/profile_json.h"

typedef struct sw_calibrate_from_options {
  const char *const *files; /* evidence.h says of which kinds */
  int n_files;
  const char *name;     /* of the profile */
  const char *start;    /* a profile for what no file says; NULL: a data sheet must be among the files */
  const char *device;   /* which row of the data sheet; NULL: there is one */
  const char *library;  /* whose rows of attention; NULL: of the library that comes first */
  const char *hardware; /* which rows of tables that name their hardware, by its beginning; NULL: there is one */
  sw_cancel *cancel;    /* NULL allowed */
} sw_calibrate_from_options;

/* Rows of one kind: how many were fitted, how many only judge, and the mean |ln(predicted / measured)| of both. */
typedef struct sw_calibrated_rows {
  const char *what;
  int64_t fitted, judged;
  double fitted_error, judged_error;
} sw_calibrated_rows;

/* A part of the profile. */
typedef struct sw_calibrated_key {
  const char *key;     /* "device.achieved" */
  const char *from;    /* where it is from */
  const char *meaning; /* of its numbers */
  const char *how;     /* what measures it, or where to look it up */
  bool known;          /* measured here, or from the data sheet */
} sw_calibrated_key;

typedef struct sw_calibrated {
  const sw_profile *profile;
  sw_profile_origins origins;
  const sw_calibrated_rows *rows;
  int64_t n_rows;
  const sw_calibrated_key *keys;
  int n_keys;
  const char *left; /* lines about rows that were not taken; "" when there are none */
} sw_calibrated;

/* All in the arena. SW_E_INPUT: a file is not understood, or nothing says where to start. */
SW_API SW_CHECKED sw_rc sw_calibrate_from(const sw_calibrate_from_options *o, sw_arena *arena, sw_calibrated *out,
                                          sw_diag *d);

/* `start` as it is, with the meaning of every part, and how it is measured, as its sources. */
SW_API SW_CHECKED sw_rc sw_calibrate_template(const char *start, const char *name, sw_arena *arena, sw_calibrated *out,
                                              sw_diag *d);

/* What was fitted, how well, and what is not known: for people, and as JSON. */
SW_API void sw_calibrated_table(const sw_calibrated *c, sw_text *out);
SW_API void sw_calibrated_json(const sw_calibrated *c, sw_text *out);

#endif
