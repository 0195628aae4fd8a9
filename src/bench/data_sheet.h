/* A row of data sheet figures as a profile: peaks as they stand there, network constants of the right order. */
#ifndef BENCH_DATA_SHEET_H_
#define BENCH_DATA_SHEET_H_

#include "bench/csv.h"
#include "shardwright/profile.h"

/* Whether the header is one of a data sheet: device, hbm_GB, hbm_GBps and rates. */
bool sw_data_sheet_is(const sw_csv *t);

/* The row of the device; the only one when `device` is NULL. A name is compared without case, blanks and '-', and may
 * be the beginning of one alone. */
SW_CHECKED sw_rc sw_data_sheet_row(const sw_csv *t, const char *device, int64_t *row, sw_diag *d);

/* The device's name, memory and rates, into a profile that has the rest. */
SW_CHECKED sw_rc sw_data_sheet_device(const sw_csv *t, int64_t row, sw_arena *arena, sw_profile *p, sw_diag *d);
/* A network, meshes and what large ops achieve, all assumed but for the rates of links. */
SW_CHECKED sw_rc sw_data_sheet_network(const sw_csv *t, int64_t row, sw_arena *arena, sw_profile *p, sw_diag *d);

#endif
