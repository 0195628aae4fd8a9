/* Arrays as NumPy's .npy files (format versions 1 to 3).
 *
 *   f64 f32 f16 i8..i64 u8..u64 bool c64 c128   as numpy writes them; either byte order is read, little endian written
 *   bf16, floats of 4 to 8 bits                 numpy has none: written as f4 (exact), read from f4 (rounded), or bit
 *                                               for bit from V2/u2 and V1/u1, as ml_dtypes saves them
 *   i2 i4 u2 u4                                 as i1 and u1, a byte each; read from those and from V1
 */
#ifndef IO_NPY_H_
#define IO_NPY_H_

#include <stddef.h>

#include "shardwright/tensor.h"

/* Read an array that is wanted as `want` (SW_DTYPE_COUNT: as the file has it). Fortran order is turned into row-major.
 * SW_E_INPUT, with the file's name, when it is malformed, of another dtype, or truncated; `out` is zeroed then. */
SW_API SW_CHECKED sw_rc sw_npy_read(const char *path, sw_dtype want, sw_tensor *out, sw_diag *d);
/* The same from memory; `name` stands for the file in messages. */
SW_API SW_CHECKED sw_rc sw_npy_parse(const void *bytes, size_t n, const char *name, sw_dtype want, sw_tensor *out,
                                     sw_diag *d);
/* Write beside `path` and rename over it ("-": standard output). */
SW_API SW_CHECKED sw_rc sw_npy_write(const char *path, const sw_buffer *b, sw_diag *d);

#endif
