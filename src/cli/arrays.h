/* Arguments and outputs of a model as .npy files in a folder: NAME.npy, in which a '/' of the name is written %2F. */
#ifndef CLI_ARRAYS_H_
#define CLI_ARRAYS_H_

#include "shardwright/exec.h"

/* One tensor per argument of main; each must have the argument's shape, and a dtype that becomes its own (npy.h). On
 * failure none is left allocated. */
SW_CHECKED sw_rc sw_arrays_read(const sw_graph *g, const char *dir, sw_tensor *args, sw_diag *d);
/* The same for arguments of other types than the graph's: one for each. */
SW_CHECKED sw_rc sw_arrays_read_as(const sw_graph *g, const sw_type *const *types, const char *dir, sw_tensor *args,
                                   sw_diag *d);
/* Before the work: the outputs have a folder or can get one, and none is written over an argument's file (SW_E_USAGE).
 * Either folder may be NULL. */
SW_CHECKED sw_rc sw_arrays_check(const sw_graph *g, const char *inputs, const char *outputs, sw_diag *d);
/* One file per output of main; the folder is made if it is missing. */
SW_CHECKED sw_rc sw_arrays_write(const sw_graph *g, const char *dir, const sw_tensor *outputs, sw_diag *d);
void sw_arrays_free(sw_tensor *tensors, int n);

#endif
