/* GSPMD's tiles as a sharding of a mesh.
 *
 *   {devices=[2,1,4]<=[2,4] last_tile_dim_replicate}    mesh x=2,y=4: [[x],[]]
 *   {devices=[4,2]0,4,1,5,2,6,3,7}                      [[y],[x]]
 *
 * The numbers say which device has which tile. A mesh is read as digits, its axes cut into prime factors; moving along
 * one digit must move the tile along one dim by a fixed step, and the digits of a dim, sorted by step, must count its
 * tiles through.
 */
#include <stdlib.h>
#include <string.h>

#include "mlir/gspmd/gspmd.h"

static const char kTiled[] = "{devices=";

enum { MOST_DEVICES = 1 << 16, MOST_DIGITS = 64 };

typedef struct tiles {
  int rank;
  int64_t dims[SW_MAX_RANK + 2]; /* with those of replication behind the tensor's */
  int n_dims;
  int64_t n;        /* devices */
  int64_t *tile_of; /* by position in the mesh */
  bool manual[2];   /* of the dims behind the tensor's: manual, not of replication */
} tiles;

typedef struct digit {
  sw_axis_ref ref;
  int64_t step; /* of the tile index of one dim */
} digit;

/* Numbers of [a,b,c] at *at. */
static int read_list(const char **at, int64_t *out, int room) {
  int n = 0;
  if (**at != '[') return 0;
  for (++*at; **at && **at != ']' && n < room;) {
    char *end;
    out[n++] = strtoll(*at, &end, 10);
    if (end == *at) return -1;
    *at = end + (*end == ',');
  }
  if (**at != ']') return -1;
  ++*at;
  return n;
}

/* <=[2,4]T(1,0): tile i has the device at the place that i has in the transposed numbering. */
static bool read_iota(const char **at, int64_t *device_of, int64_t n) {
  int64_t dims[32], perm[32];
  int k = read_list(at, dims, 32), given = 0;
  int64_t product = 1;
  for (int i = 0; i < k; i++) {
    if (dims[i] < 1 || dims[i] > n) return false;
    product *= dims[i];
    if (product > n) return false;
    perm[i] = i;
  }
  if (k < 1 || product != n) return false;
  if (**at == 'T') {
    for (*at += 2; **at && **at != ')' && given < k;) {
      char *end;
      perm[given++] = strtoll(*at, &end, 10);
      if (end == *at || perm[given - 1] < 0 || perm[given - 1] >= k) return false;
      *at = end + (*end == ',');
    }
    if (given != k || **at != ')') return false;
    ++*at;
  }
  int64_t stride[32], step = 1;
  for (int i = k - 1; i >= 0; i--) {
    stride[i] = step;
    step *= dims[i];
  }
  for (int64_t tile = 0; tile < n; tile++) {
    int64_t rest = tile, device = 0;
    for (int i = k - 1; i >= 0; i--) {
      device += rest % dims[perm[i]] * stride[perm[i]];
      rest /= dims[perm[i]];
    }
    device_of[tile] = device;
  }
  return true;
}

static bool read_devices(const char **at, int64_t *device_of, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    char *end;
    device_of[i] = strtoll(*at, &end, 10);
    if (end == *at || device_of[i] < 0 || device_of[i] >= n) return false;
    *at = end + (*end == ',');
  }
  return true;
}

/* Tile of every position, from the device of every tile; false when a device has two or none. */
static bool invert(const sw_mesh *m, const int64_t *device_of, tiles *t) {
  for (int64_t i = 0; i < t->n; i++) t->tile_of[i] = -1;
  for (int64_t tile = 0; tile < t->n; tile++) {
    int64_t position = device_of[tile];
    for (int64_t i = 0; m->device_ids && i < t->n; i++) {
      if (m->device_ids[i] == device_of[tile]) position = i;
    }
    if (t->tile_of[position] >= 0) return false;
    t->tile_of[position] = tile;
  }
  return true;
}

/* What stands behind the devices: how many dims there are behind the tensor's, and which are manual; -1: not known. */
static int read_last(const char *at, bool manual_dims[2]) {
  static const char kDims[] = " last_tile_dims={";
  int n = 0;
  if (strcmp(at, " last_tile_dim_replicate}") == 0) return 1;
  if (strncmp(at, kDims, strlen(kDims)) == 0) {
    for (at += strlen(kDims); *at && *at != '}'; n++) {
      size_t word = strcspn(at, ",}");
      bool manual = word == 6 && memcmp(at, "manual", word) == 0;
      if (n >= 2 || (!manual && !(word == 10 && memcmp(at, "replicated", word) == 0))) return -1;
      manual_dims[n] = manual;
      at += word;
      at += strspn(at, ", ");
    }
    if (*at == '}') at++;
  }
  return strcmp(at, "}") == 0 ? n : -1;
}

int sw_im_tiles_rank(const char *text) {
  int64_t dims[SW_MAX_RANK + 2];
  bool manual[2];
  if (strncmp(text, kTiled, strlen(kTiled)) != 0) return -1;
  const char *at = text + strlen(kTiled), *behind = strchr(at, ' ');
  const int n = read_list(&at, dims, SW_MAX_RANK + 2), last = read_last(behind ? behind : "}", manual);
  return n < 1 || last < 0 || n < last ? -1 : n - last;
}

/* {devices=...}: everything but what follows from the mesh. */
static bool read_tiles(const sw_mesh *m, const char *text, tiles *t, int64_t *device_of) {
  const char *at = text + strlen(kTiled);
  t->n_dims = read_list(&at, t->dims, SW_MAX_RANK + 2);
  int64_t product = 1;
  for (int i = 0; i < t->n_dims; i++) {
    if (t->dims[i] < 1 || t->dims[i] > t->n) return false;
    product *= t->dims[i];
    if (product > t->n) return false;
  }
  if (t->n_dims < t->rank || product != t->n) return false;
  bool iota = strncmp(at, "<=", 2) == 0;
  if (iota) at += 2;
  if (!(iota ? read_iota : read_devices)(&at, device_of, t->n)) return false;
  const int last = read_last(at, t->manual);
  if (last < 0 || t->n_dims != t->rank + last) return false;
  return invert(m, device_of, t);
}

static int64_t index_along(const tiles *t, int64_t tile, int dim) {
  for (int i = t->n_dims - 1; i > dim; i--) tile /= t->dims[i];
  return tile % t->dims[dim];
}

/* The mesh as prime digits. */
static int split_into_digits(const sw_mesh *m, digit *out) {
  int n = 0;
  for (int a = 0; a < m->n_axes; a++) {
    int32_t pre = 1;
    for (int64_t rest = m->axis[a].size, p = 2; rest > 1 && n < MOST_DIGITS;) {
      if (rest % p) {
        p++;
        continue;
      }
      out[n++].ref = (sw_axis_ref){a, pre, (int32_t)p};
      pre *= (int32_t)p;
      rest /= p;
    }
  }
  return n;
}

/* The position whose digits are all 0 but this one, which is 1. */
static int64_t unit_position_of_ref(const sw_mesh *m, sw_axis_ref ref) {
  int64_t stride = m->axis[ref.axis].size / ((int64_t)ref.pre * ref.size);
  for (int a = m->n_axes - 1; a > ref.axis; a--) stride *= m->axis[a].size;
  return stride;
}

static int compare_digit_steps(const void *a, const void *b) {
  int64_t x = ((const digit *)a)->step, y = ((const digit *)b)->step;
  return x > y ? -1 : x < y;
}

/* The digits that move along `dim`, major first, if they count its tiles through. */
static bool add_tiled_dim(const sw_mesh *m, const tiles *t, const digit *all, int n, int dim, sw_sharding *out) {
  digit used[MOST_DIGITS];
  int k = 0;
  int64_t step = 1;
  int64_t origin = index_along(t, t->tile_of[0], dim);
  for (int i = 0; i < n; i++) {
    used[k] = all[i];
    used[k].step = index_along(t, t->tile_of[unit_position_of_ref(m, all[i].ref)], dim) - origin;
    if (used[k].step) k++;
  }
  qsort(used, (size_t)k, sizeof *used, compare_digit_steps);
  for (int i = k - 1; i >= 0; i--) {
    if (used[i].step != step) return false;
    step *= used[i].ref.size;
  }
  for (int i = 0; i < k; i++) {
    if (!sw_sharding_push(out, dim, used[i].ref)) return false;
  }
  return step == t->dims[dim] && origin == 0;
}

/* Does every device get the tile that the text says? */
static bool agrees(const sw_mesh *m, const tiles *t, const sw_sharding *s) {
  for (int64_t i = 0; i < t->n; i++) {
    for (int dim = 0; dim < t->rank; dim++) {
      if (sw_sharding_index(m, s, dim, i) != index_along(t, t->tile_of[i], dim)) return false;
    }
  }
  return true;
}

/* The digits that move along dims which are manual. */
static void find_manual(const sw_mesh *m, const tiles *t, const digit *all, int n, sw_sharding *out) {
  *out = sw_sharding_replicated(1);
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < t->n_dims - t->rank; k++) {
      int64_t moved = index_along(t, t->tile_of[unit_position_of_ref(m, all[i].ref)], t->rank + k);
      if (t->manual[k] && moved != index_along(t, t->tile_of[0], t->rank + k))
        (void)sw_sharding_push(out, 0, all[i].ref);
    }
  }
  sw_sharding_normalise(m, out);
}

static void all_manual(const sw_mesh *m, sw_sharding *out) {
  *out = sw_sharding_replicated(1);
  for (int a = 0; a < m->n_axes; a++) {
    if (m->axis[a].size > 1) (void)sw_sharding_push(out, 0, sw_axis_whole(m, a));
  }
}

sw_rc sw_im_read_tiles(sw_importer *m, const sw_mesh *mesh, const char *text, int rank, sw_sharding *out,
                       sw_sharding *manual, bool *ok) {
  tiles t = {.rank = rank, .n = sw_mesh_devices(mesh)};
  digit digits[MOST_DIGITS];
  int64_t *device_of;
  bool all = manual && strcmp(text, "{manual}") == 0;
  *out = sw_sharding_replicated(rank);
  if (manual) *manual = sw_sharding_replicated(1);
  if (all) all_manual(mesh, manual);
  *ok = all || strcmp(text, "{replicated}") == 0;
  if (*ok || strncmp(text, kTiled, strlen(kTiled)) != 0 || t.n > MOST_DEVICES) return SW_OK;
  SW_ARENA_NEW_EACH(&m->scratch, t.n, m->d, device_of, t.tile_of);
  *ok = read_tiles(mesh, text, &t, device_of);
  int n = *ok ? split_into_digits(mesh, digits) : 0;
  for (int dim = 0; *ok && dim < rank; dim++) *ok = add_tiled_dim(mesh, &t, digits, n, dim, out);
  if (!*ok) return SW_OK;
  sw_sharding_normalise(mesh, out);
  if (manual) find_manual(mesh, &t, digits, n, manual);
  *ok = agrees(mesh, &t, out);
  return SW_OK;
}

bool sw_im_digits(const sw_mesh *mesh, sw_mesh *out) {
  digit digits[MOST_DIGITS];
  int n = split_into_digits(mesh, digits);
  if (n > SW_MAX_AXES) return false;
  *out = (sw_mesh){.n_axes = n, .device_ids = mesh->device_ids};
  for (int i = 0; i < n; i++) {
    snprintf(out->axis[i].name, sizeof out->axis[i].name, "part%d", i);
    out->axis[i].size = digits[i].ref.size;
  }
  return true;
}
