/* Owned tensors: made, copied, freed. */
#include "shardwright/tensor.h"

#include <string.h>

sw_rc sw_tensor_init(sw_tensor *t, sw_dtype dtype, int rank, const int64_t *dims, sw_diag *d) {
  *t = (sw_tensor){.dtype = dtype, .rank = rank};
  int64_t bytes;
  if (rank < 0 || rank > SW_MAX_RANK) {
    *t = (sw_tensor){0};
    return SW_FAIL_INPUT(d, SW_NOWHERE, "a tensor of rank %d; expected 0 to %d", rank, SW_MAX_RANK);
  }
  for (int i = 0; i < rank; i++) {
    if (dims[i] < 0) {
      *t = (sw_tensor){0};
      return SW_FAIL_INPUT(d, SW_NOWHERE, "dimension %d of a tensor is %lld; expected 0 or more", i,
                           (long long)dims[i]);
    }
    t->dims[i] = t->valid[i] = dims[i];
  }
  bool fits = sw_buffer_bytes(t, &bytes);
  t->data = fits ? sw_mem_alloc((size_t)bytes, 1, d) : NULL;
  if (t->data) return SW_OK;
  *t = (sw_tensor){0};
  return fits ? SW_E_RESOURCE : SW_FAIL_INPUT(d, SW_NOWHERE, "a tensor has too many elements for 64 bits");
}

sw_rc sw_tensor_copy(sw_tensor *out, const sw_buffer *from, sw_diag *d) {
  SW_TRY(sw_tensor_init(out, from->dtype, from->rank, from->dims, d));
  int64_t bytes = sw_buffer_elements(from) * sw_dtype_bytes(from->dtype);
  if (bytes > 0) memcpy(out->data, from->data, (size_t)bytes);
  memcpy(out->valid, from->valid, sizeof out->valid);
  return SW_OK;
}

void sw_tensor_deinit(sw_tensor *t) {
  sw_mem_free(t->data);
  *t = (sw_tensor){0};
}

int64_t sw_buffer_elements(const sw_buffer *b) {
  int64_t n = 1;
  for (int i = 0; i < b->rank; i++) n *= b->dims[i];
  return n;
}
