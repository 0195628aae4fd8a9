/* Hardware profiles from JSON files (docs/profiles.md, docs/profile.schema.json). */
#ifndef SHARDWRIGHT_PROFILE_JSON_H_
#define SHARDWRIGHT_PROFILE_JSON_H_

#include "shardwright/profile.h"

/* `path_or_name`: a file when it contains '/' or ends in ".json" (or is "-"), else a name: hwprofiles/NAME.json as
 * sw_data_file finds it. The profile and its texts live in `arena`. Errors carry file, line and column. */
SW_API SW_CHECKED sw_rc sw_profile_read(const char *path_or_name, sw_arena *arena, const sw_profile **out, sw_diag *d);

/* How a profile is read.
 *
 * Changes: numbers of the file are changed before it is read: "levels.nvlink.costs.*.bytes_per_s*=0.5" (times), or
 * "device.memory.bytes_per_s=3e12" (docs/profiles.md, "What if"). A path that names no number is SW_E_USAGE with the
 * nearest ones. The changes are part of the profile's name, behind SW_PROFILE_CHANGED, and of its hash.
 *
 * Report: hears all errors of the file but the last, which is the call's; and warnings (whose rc is SW_OK) of numbers
 * that no machine has, as where a unit was mistaken. Without it the other errors are notes to the first. */
#define SW_PROFILE_CHANGED " with "
typedef struct sw_profile_reading {
  const char *const *changes;
  int n_changes;
  void (*report)(void *user, const sw_diag *d); /* NULL: nobody hears */
  void *user;
} sw_profile_reading;
SW_API SW_CHECKED sw_rc sw_profile_read_with(const char *path_or_name, const sw_profile_reading *o, sw_arena *arena,
                                             const sw_profile **out, sw_diag *d);

/* Add a note to `d` that names the profiles of sw_profile_names on which the mesh can be laid, if there are any. */
SW_API void sw_profile_note_fitting(const sw_mesh *mesh, sw_diag *d);

/* Parse text that is already in memory; `file` is what messages call it. */
SW_API SW_CHECKED sw_rc sw_profile_parse(const char *file, const char *bytes, size_t n, sw_arena *arena,
                                         const sw_profile **out, sw_diag *d);

/* Append the profile as a file. A profile in memory does not know where its numbers are from: `source` is what the file
 * says of all of them. */
SW_API SW_CHECKED sw_rc sw_profile_write(const sw_profile *p, const char *source, sw_text *out, sw_diag *d);

/* Where each part of a profile is from: ids of `source`, one for each object of the file that has numbers. */
enum { SW_MAX_PROFILE_SOURCES = 48 };
typedef struct sw_profile_origins {
  int n_sources;
  struct {
    const char *id, *text;
  } source[SW_MAX_PROFILE_SOURCES];
  const char *memory, *flops, *achieved, *shared, *exchange;
  const char *level[SW_MAX_LEVELS], *line[SW_MAX_LEVELS][SW_COST_CLASS_COUNT];
} sw_profile_origins;

/* All parts from one of the sources. */
SW_API void sw_profile_origins_all(sw_profile_origins *o, const char *id);
/* Append the profile as a file that says of each part where it is from. */
SW_API SW_CHECKED sw_rc sw_profile_write_with(const sw_profile *p, const sw_profile_origins *o, sw_text *out,
                                              sw_diag *d);

/* The names of the profiles in the folder where sw_data_file finds hwprofiles, sorted. In the arena. */
SW_API SW_CHECKED sw_rc sw_profile_names(sw_arena *arena, const char *const **out, int *n, sw_diag *d);

#endif
