/* Matrices of a batch, in the types that factoring and solving compute in. */
#ifndef EXEC_MATRIX_H_
#define EXEC_MATRIX_H_

#include "shardwright/exec.h"

bool sw_is_complex(const sw_buffer *b);
/* Piece number `m` of `elements` elements, as f64 or (of complex types) c128, and back. */
void sw_load_piece(const sw_buffer *b, int64_t m, int64_t elements, void *to);
void sw_store_piece(sw_buffer *b, int64_t m, int64_t elements, const void *from);
/* to[n][m] = from[m][n], of f64 or c128. */
void sw_turn_piece(bool is_complex, int64_t m, int64_t n, const void *from, void *to);

#endif
