/* A hardware profile as data: the device, the levels of its network, and the constants of the cost formulas.
 *
 * Read from JSON (profile_json.h, docs/profiles.md), or filled in by hand and checked with sw_profile_verify. Device
 * ids count through the levels, the innermost fastest: on 8 nodes of 8 devices, device 13 is device 5 of node 1.
 */
#ifndef SHARDWRIGHT_PROFILE_H_
#define SHARDWRIGHT_PROFILE_H_

#include "shardwright/hw.h"
#include "shardwright/kernel_price.h"

/* How the units of one level (devices on the innermost level, else the level below) are joined. */
#define SW_TOPOLOGIES(X)                                                       \
  X(SWITCH, "switch")       /* every unit has a port of its own; no sharing */ \
  X(FULL_MESH, "full_mesh") /* one link between each pair */                   \
  X(TORUS, "torus")         /* a line or ring per dimension */

typedef enum sw_topology {
#define SW_X(id, text) SW_TOPOLOGY_##id,
  SW_TOPOLOGIES(SW_X) SW_TOPOLOGY_COUNT
#undef SW_X
} sw_topology;

SW_API const char *sw_topology_text(sw_topology t);

/* Collectives that share a formula; which op belongs to which is in SW_COLLECTIVES. */
#define SW_COST_CLASSES(X)            \
  X(ALL_GATHER, "all_gather")         \
  X(REDUCE_SCATTER, "reduce_scatter") \
  X(ALL_REDUCE, "all_reduce")         \
  X(ALL_TO_ALL, "all_to_all")         \
  X(PERMUTE, "permute")

typedef enum sw_cost_class {
#define SW_X(id, text) SW_COST_##id,
  SW_COST_CLASSES(SW_X) SW_COST_CLASS_COUNT
#undef SW_X
} sw_cost_class;

SW_API const char *sw_cost_class_text(sw_cost_class c);

enum { SW_MAX_KNOT_MEMBERS = 4, SW_MAX_KNOT_SIZES = 8, SW_MAX_LN_FACTOR = 5 };

/* Logarithms of what a formula is multiplied by, by the logarithms of members and of bytes (V below), both ascending:
 * linear between, constant beyond. */
typedef struct sw_cost_knots {
  int n_members, n_sizes; /* > 0 */
  double ln_members[SW_MAX_KNOT_MEMBERS], ln_bytes[SW_MAX_KNOT_SIZES];
  double ln_factor[SW_MAX_KNOT_MEMBERS][SW_MAX_KNOT_SIZES];
} sw_cost_knots;

/* One class on one level: seconds = base + peer*steps + ramp*sqrt(V) + s_per_byte*V + pair*V/(n-1), for n members and V
 * bytes sent per device (per link on a full mesh and a torus); steps is n-1, on a torus the hops of the longest path.
 * From `in_network_min` members on (0: never) the network reduces and in_network_s_per_byte replaces both slopes. */
typedef struct sw_cost_line {
  double base_s;
  double peer_s;
  double ramp_s_per_sqrt_byte;
  double s_per_byte;
  double pair_s_per_byte; /* what a group of two pays more than a large one */
  int64_t in_network_min;
  double in_network_s_per_byte;
  const sw_cost_knots *knots; /* NULL: the formula alone; not on a torus. Lives as long as the profile */
} sw_cost_line;

enum { SW_MAX_TORUS_DIMS = 4, SW_MAX_PROFILE_MESHES = 16, SW_MAX_MEASURED = 8, SW_MAX_LIBRARIES = 4 };
enum { SW_MAX_RUN_HARDWARE = 8 };

typedef struct sw_level {
  const char *name; /* "nvlink" */
  sw_topology kind;
  bool open;  /* has as many units as a mesh asks for: the outermost level only, no torus; dims[0] is then 1 */
  int n_dims; /* torus: its dimensions, first the slowest in device ids; else 1 */
  int64_t dims[SW_MAX_TORUS_DIMS];
  bool wrap[SW_MAX_TORUS_DIMS];
  double serial_fraction; /* 0: this level's work overlaps that of the levels below; 1: one after the other */
  sw_cost_line line[SW_COST_CLASS_COUNT];
} sw_level;

/* Which rows of measured tables speak of this profile: the `hardware` and `source` columns (a final '*' stands for any
 * rest), and how many nodes. */
typedef struct sw_measured {
  const char *hardware, *source;
  int64_t nodes;
  const char *library; /* that ran them; NULL: the profile's. Of another one they do not speak of it */
} sw_measured;

/* Of a GPU's memory, what is not for a plan unless a profile says it otherwise: the driver's context, workspaces of
 * libraries, buffers of collectives, and what an allocator cannot use again (docs/profiles.md). */
#define SW_RESERVED_BYTES (3LL << 29)

/* What tables of measured training runs call the device (the column `hardware`, as above), and its memory there, as
 * drivers report it; what a plan may not use is the device's. */
typedef struct sw_run_hardware {
  const char *name;
  int64_t memory_bytes;
  double memory_bytes_per_s;
  double clock; /* part of the device's peak rates that its power leaves it */
} sw_run_hardware;

/* Kernels of one library, where programs of some compilers call them in place of the profile's. */
typedef struct sw_library {
  const char *name;
  sw_kernel_price kernel[SW_PRICED_COUNT]; /* each may be unknown */
} sw_library;

struct sw_profile {
  const char *name, *description;
  const char *compiler;  /* whose kernels programs run as there (kernel.h); NULL: it does not say */
  bool says_combine;     /* else collectives are done together as the compiler does it */
  int64_t combine_bytes; /* up to so many bytes in one call; 0: each alone */
  const char *library;   /* whose collectives the constants are of ("nccl"); NULL: not said */
  uint64_t hash;         /* of the text that it was read from; 0 when made by hand */
  const char *device_name;
  int64_t memory_bytes;          /* of one device */
  int64_t memory_reserved_bytes; /* of those, not for a plan: runtime, communication buffers */
  double memory_bytes_per_s;     /* peak */
  double flop_per_s[SW_DTYPE_COUNT];
  double f32_per_s[SW_PRECISION_COUNT];  /* of products of f32; 0: as HIGHEST, which is that of the dtype */
  double flop_fraction, memory_fraction; /* of the peaks, achieved by large operations */
  double flop_fraction_8bit;             /* the same for dtypes of one byte; usually lower */
  double launch_s;                       /* of one local op */
  double multiprocessors;                /* that kernels of known shape fill; 0: not said */
  sw_kernel_price kernel[SW_PRICED_COUNT];
  int n_libraries;
  sw_library library_kernels[SW_MAX_LIBRARIES];
  double contention;         /* how many times longer kernels take beside a collective; 0: not said */
  double exchange_peer_s;    /* a direct exchange pays this more per peer than an all_to_all */
  int64_t shared_cores;      /* 0; else the rates above hold for this many devices, which all devices share */
  double host_bytes_per_s;   /* of a device to memory of its host, each way, beside all who share the link; 0: none */
  int64_t host_memory_bytes; /* of the host for one device */
  const struct sw_profile *unsized; /* the open one that this one is, with a number of units; NULL: none */
  int n_levels;
  sw_level level[SW_MAX_LEVELS]; /* innermost first */
  int node_level;                /* whose unit is a node as measured tables count them: levels up to it are inside */
  int n_meshes;
  sw_mesh mesh[SW_MAX_PROFILE_MESHES];
  int n_measured;
  sw_measured measured[SW_MAX_MEASURED];
  int n_run_hardware; /* of several that fit a run the first counts */
  sw_run_hardware run_hardware[SW_MAX_RUN_HARDWARE];
};

/* Sizes positive, devices within SW_MAX_DEVICES, constants finite and not negative, meshes that fit. */
SW_API SW_CHECKED sw_rc sw_profile_verify(const sw_profile *p, sw_diag *d);
/* Knots are of the numbers that they were fitted beside. Of a profile with other ones: drops those under which more
 * bytes would cost less, with a warning of `file` (rc SW_OK) for each; report NULL: nobody hears. */
SW_API void sw_profile_drop_knots(sw_profile *p, const char *file, void (*report)(void *user, const sw_diag *d),
                                  void *user);

/* The key of f32_per_s in profiles: "f32_high", "f32_default". */
SW_API const char *sw_precision_rate_text(sw_precision p);
/* A dtype whose rate the profile does not state takes that of another: f8 from f16, u8 and bool from i8, c64 from f32
 * with a quarter (one complex product is four), ... `stated[t]` says which are there; the rest of p->flop_per_s is
 * filled in. f32 must be stated. */
SW_API void sw_profile_complete_flops(sw_profile *p, const bool stated[SW_DTYPE_COUNT]);

#endif
