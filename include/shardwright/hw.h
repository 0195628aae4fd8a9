/* Hardware: what a machine is (profile), how a logical mesh lies on it (machine), and what things cost there.
 *
 * All times are seconds, all sizes bytes; one function per question, so that what is priced in the search, in a plan
 * and in a report is one number. docs/cost-model.md has the formulas and their sources.
 */
#ifndef SHARDWRIGHT_HW_H_
#define SHARDWRIGHT_HW_H_

#include "shardwright/collective.h"
#include "shardwright/kernel.h"
#include "shardwright/kernel_price.h"

enum { SW_MAX_LEVELS = 4 };
/* What bytes cross: the levels of the network, and the link to the host's memory each way. */
enum { SW_LINK_TO_HOST = SW_MAX_LEVELS, SW_LINK_FROM_HOST, SW_MAX_LINKS };
typedef struct sw_profile sw_profile; /* read-only after building; lives in its arena */
typedef struct sw_machine sw_machine; /* a profile with a mesh bound to it */

SW_API const char *sw_profile_name(const sw_profile *p);
/* A sentence of constant text for plans on a device none of whose kernels is measured: that its prices are by its
 * peaks, and how far off those are on devices whose kernels are. NULL: some kernel is measured, or it is threads of a
 * machine. */
SW_API const char *sw_profile_roofline_text(const sw_profile *p);
SW_API const char *sw_profile_compiler(const sw_profile *p); /* kernel.h; NULL where it does not say */
/* Bytes up to which collectives are done together in one call: as it says, else as its compiler does. */
SW_API int64_t sw_profile_combine_bytes(const sw_profile *p, int64_t of_compiler);
SW_API uint64_t sw_profile_hash(const sw_profile *p);   /* of its text: plans carry it */
SW_API int64_t sw_profile_devices(const sw_profile *p); /* of an open one: of one unit of its outermost level */
/* Has the outermost level as many units as are asked for? */
SW_API bool sw_profile_is_open(const sw_profile *p);
/* The open profile that has been given a number of devices; else itself. */
SW_API const sw_profile *sw_profile_unsized(const sw_profile *p);
/* An open profile with so many devices, which fill units of its outermost level; it offers one mesh, these units by
 * what is in one. Another profile is itself, when it has that many. SW_E_INPUT says which numbers would do. */
SW_API SW_CHECKED sw_rc sw_profile_with_devices(const sw_profile *p, int64_t devices, sw_arena *arena,
                                                const sw_profile **out, sw_diag *d);
SW_API int64_t sw_profile_memory_bytes(const sw_profile *p); /* usable by a plan, per device */
/* The meshes the profile offers, best first; the first is used when the user names none. */
SW_API int sw_profile_mesh_count(const sw_profile *p);
SW_API const sw_mesh *sw_profile_mesh(const sw_profile *p, int i);

/* Lay the mesh's axes on the physical topology: consecutive axes, last one innermost (fastest links). A mesh of fewer
 * devices than the profile has uses the first ones; of an open profile, as many units as it needs. Fails with the
 * reason when it does not fit (more devices than the profile, an axis that would straddle levels in unequal parts). */
SW_API SW_CHECKED sw_rc sw_machine_build(sw_arena *arena, const sw_profile *p, const sw_mesh *mesh, sw_machine **out,
                                         sw_diag *d);
/* From here on the machine prices collectives as a compiler carries them out. */
SW_API SW_CHECKED sw_rc sw_machine_lower(sw_machine *m, sw_lowering how, sw_arena *arena, sw_diag *d);
SW_API sw_lowering sw_machine_lowering(const sw_machine *m);
/* From here on it prices kernels as this software runs them; before, as they were measured alone. */
SW_API SW_CHECKED sw_rc sw_machine_run(sw_machine *m, const sw_software *how, sw_arena *arena, sw_diag *d);
/* Bytes of an element that a collective moves. */
SW_API int sw_machine_moved_bytes(const sw_machine *m, sw_dtype t);
/* The machine also prices collectives that are done together with others in calls of so many bytes:
 * sw_machine_combining is such a machine, on which all_gather, all_reduce and reduce_scatter of b bytes take b / bytes
 * of a call's time. */
SW_API SW_CHECKED sw_rc sw_machine_combine(sw_machine *m, int64_t bytes, sw_arena *arena, sw_diag *d);
/* The machine itself when it was not asked to. */
SW_API const sw_machine *sw_machine_combining(const sw_machine *m);
/* What prices are multiplied by: launches of kernels, collectives and exchanges by the outermost level that they cross,
 * and what is copied to the host and back. Work and copies on the device count in full. */
typedef struct sw_price_weights {
  double launch, link[SW_MAX_LINKS]; /* >= 0 */
} sw_price_weights;
/* A machine that is as `m` in all else; in the arena. */
SW_API SW_CHECKED sw_rc sw_machine_weigh(const sw_machine *m, const sw_price_weights *weights, sw_arena *arena,
                                         sw_machine **out, sw_diag *d);
SW_API const sw_price_weights *sw_machine_weights(const sw_machine *m);
SW_API const char *sw_machine_level_name(const sw_machine *m, int level);
/* The outermost level that groups along the axes cross, and that a direct exchange does; -1: none. */
SW_API int sw_machine_level(const sw_machine *m, const sw_axis_ref *axes, int n_axes);
SW_API int sw_machine_exchange_level(const sw_machine *m, const sw_tiling *src, const sw_tiling *dst);
SW_API const sw_mesh *sw_machine_mesh(const sw_machine *m);
SW_API const sw_profile *sw_machine_profile(const sw_machine *m);
/* Can two axes of the mesh change places without any price changing? They have one size, and lie each in one piece in
 * one level of the network, whose members are interchangeable, or along one whole dimension each of a torus. */
SW_API bool sw_machine_axes_symmetric(const sw_machine *m, int a, int b);

/* Time of one collective over groups along `axes` (all groups at once, sharing links as the topology says). `bytes` is
 * what nccl-tests calls size: all_reduce: the buffer; all_gather: the gathered result; reduce_scatter: the whole
 * input; all_to_all: one device's buffer; broadcast, reduce, shift: the buffer; gather, scatter: the joined buffer.
 * Local ops cost a copy of `bytes` (COPY in SW_COLLECTIVES), or what src/hw/machine.c says. Not for exchange and
 * permute. A group of one costs 0. */
SW_API double sw_machine_collective_s(const sw_machine *m, sw_coll_op op, const sw_axis_ref *axes, int n_axes,
                                      double bytes);
/* Time of a direct exchange src -> dst of elements of `elem_bytes`: by the busiest device and by what crosses the
 * slow level; 0 bytes moved and no change of buffer costs a local copy, identical tilings cost 0. */
SW_API double sw_machine_exchange_s(const sw_machine *m, const sw_tiling *src, const sw_tiling *dst, int elem_bytes);
/* How many times longer kernels take while a collective runs beside them. */
SW_API double sw_machine_contention(const sw_machine *m);
/* The launch of one kernel, and how many times as long the host takes for it. */
SW_API double sw_machine_launch_s(const sw_machine *m);
SW_API double sw_machine_host_times(const sw_machine *m);
/* Peak rate at which a device does such work. */
SW_API double sw_profile_rate(const sw_profile *p, const sw_work *w);
/* Roofline of one local op: launch + max(flops / achieved flop rate of the dtype, bytes / achieved memory rate). */
SW_API double sw_machine_local_s(const sw_machine *m, sw_dtype t, double flops, double bytes);
/* What the software adds (sw_software.unpacks) for so many bytes that are gathered of a weight: read and written. */
SW_API double sw_machine_unpack_s(const sw_machine *m, sw_dtype t, double bytes);
/* The same of a product or attention, by shape where the profile knows its kernel; launch included. */
SW_API double sw_machine_work_s(const sw_machine *m, const sw_work *w);
/* No less for any shape with these flops and bytes, or more of them. */
SW_API double sw_machine_work_least_s(const sw_machine *m, const sw_work *w);

#endif
