/* The library's own collectives of an MPI, timed as `shardwright comm bench` times ours, for a comparison in one run:
 *
 *   mpirun -n 2 bench_native_openmpi 8 33554432 8 all_reduce     FROM TO STEP OP: op,devices,bytes,time_s per size
 *
 * f32, sum; repeats double until a batch takes 2.5 ms; the least of eight batches counts.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sizes {
  float *in, *out;
  int n, total, unit; /* ranks; elements of `bytes`; of an n-th of it */
  int rank;
} sizes;

static void all_reduce(const sizes *s) { MPI_Allreduce(s->in, s->out, s->total, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); }
static void reduce_scatter(const sizes *s) {
  MPI_Reduce_scatter_block(s->in, s->out, s->unit, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}
static void all_gather(const sizes *s) {
  MPI_Allgather(s->in, s->unit, MPI_FLOAT, s->out, s->unit, MPI_FLOAT, MPI_COMM_WORLD);
}
static void all_to_all(const sizes *s) {
  MPI_Alltoall(s->in, s->unit, MPI_FLOAT, s->out, s->unit, MPI_FLOAT, MPI_COMM_WORLD);
}
/* Ours leaves the input as it is, so MPI's buffer is the result. */
static void broadcast(const sizes *s) { MPI_Bcast(s->out, s->total, MPI_FLOAT, 0, MPI_COMM_WORLD); }
static void reduce(const sizes *s) { MPI_Reduce(s->in, s->out, s->total, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD); }
static void gather(const sizes *s) {
  MPI_Gather(s->in, s->unit, MPI_FLOAT, s->out, s->unit, MPI_FLOAT, 0, MPI_COMM_WORLD);
}
static void scatter(const sizes *s) {
  MPI_Scatter(s->in, s->unit, MPI_FLOAT, s->out, s->unit, MPI_FLOAT, 0, MPI_COMM_WORLD);
}
static void shift(const sizes *s) {
  MPI_Sendrecv(s->in, s->total, MPI_FLOAT, (s->rank + 1) % s->n, 0, s->out, s->total, MPI_FLOAT,
               (s->rank + s->n - 1) % s->n, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void barrier(const sizes *s) {
  (void)s;
  MPI_Barrier(MPI_COMM_WORLD);
}

static const struct {
  const char *name;
  void (*run)(const sizes *s);
} kOps[] = {{"all_gather", all_gather}, {"all_reduce", all_reduce},
            {"all_to_all", all_to_all}, {"reduce_scatter", reduce_scatter},
            {"broadcast", broadcast},   {"gather", gather},
            {"scatter", scatter},       {"reduce", reduce},
            {"shift", shift},           {"barrier", barrier}};

static double batch(void (*run)(const sizes *s), const sizes *s, long repeats) {
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  for (long i = 0; i < repeats; i++) run(s);
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime() - start;
}

static double time_of(void (*run)(const sizes *s), const sizes *s) {
  long repeats = 1;
  run(s);
  for (int enough = 0; !enough; repeats *= 2) {
    enough = batch(run, s, repeats) >= 0.0025;
    MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (enough) break;
  }
  double least = batch(run, s, repeats);
  for (int i = 1; i < 8; i++) {
    double took = batch(run, s, repeats);
    if (took < least) least = took;
  }
  return least / (double)repeats;
}

/* As ours: memory that was never written is one page of zeros for all, which no copy has to fetch. */
static void fill(const sizes *s) {
  for (int i = 0; i < s->total; i++) s->in[i] = (float)(1 + (3 * s->rank + i) % 7);
  memset(s->out, 0, (size_t)s->total * sizeof(float));
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  sizes s;
  MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &s.n);
  long from = argc > 1 ? atol(argv[1]) : 8, to = argc > 2 ? atol(argv[2]) : 1 << 25;
  long step = argc > 3 && atol(argv[3]) > 1 ? atol(argv[3]) : 8;
  const char *only = argc > 4 ? argv[4] : "all";
  for (size_t op = 0; op < sizeof kOps / sizeof kOps[0]; op++)
    for (long bytes = from; bytes <= to; bytes *= step) {
      if (strcmp(only, "all") != 0 && strcmp(only, kOps[op].name) != 0) continue;
      s.unit = (int)(bytes / 4 / s.n) < 1 ? 1 : (int)(bytes / 4 / s.n);
      s.total = s.unit * s.n;
      s.in = malloc((size_t)s.total * sizeof(float));
      s.out = malloc((size_t)s.total * sizeof(float));
      if (!s.in || !s.out) MPI_Abort(MPI_COMM_WORLD, 5);
      fill(&s);
      double t = time_of(kOps[op].run, &s);
      if (s.rank == 0) printf("%s,%d,%ld,%.4g\n", kOps[op].name, s.n, (long)s.total * 4, t);
      free(s.in);
      free(s.out);
    }
  MPI_Finalize();
  return 0;
}
