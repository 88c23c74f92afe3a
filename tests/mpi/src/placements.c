/* Reductions of communicators whose ranks lie on the nodes in many orders, against what a level of ESPALIER_REPRODUCIBLE
 * promises, bit for bit.
 *
 * placements LEVEL SEED PLACEMENTS:LENGTH...
 *
 * An operand follows from a rank's number in the communicator and the element's. What must come is worked out once for all
 * placements, each process a part of the elements: `placement` folds in rank order; `exact` sums in integers of 128 bits,
 * which are exact, and rounds once. Rank 0 prints how many results were right, and what those of the allreduces hash to,
 * which is the same for any placement. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { most_ranks = 16, most_lengths = 16 };
enum kind { sums, float_sums, products, kinds };
static const char* const kind_names[] = {"sums of double", "sums of float", "products of double"};
static MPI_Comm comm;
static int rank, ranks, is_exact;
static long right, wrong;
static uint64_t digest = 14695981039346656037u;

/* What must come for one length and kind: in the memory of all processes a vector for each rank, of what is folded of the
 * ranks up to it. */
struct Expected {
  size_t count;
  char* folded;
};

/* What one length needs. The last three are the results: of all ranks, of those up to this one, and of those below it. */
struct Vectors {
  enum kind kind;
  size_t count, bytes; /* of an element */
  char *send, *receive;
  const char *whole, *up_to_here, *below;
};

static uint64_t mix(uint64_t x) { /* splitmix64 */
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* A number of so many bits and a sign, times a power of two below 2^61: sums of 16 fit 128 bits, and lose much where they are
 * rounded in between. */
struct Operand {
  int64_t digits;
  int shift;
};
static struct Operand operand(int of, size_t i, enum kind kind) {
  const uint64_t random = mix(i * 1009 + (uint64_t)of * 0x100000001b3u + (uint64_t)kind);
  const int bits = kind == float_sums ? 24 : 53;
  return (struct Operand){((int64_t)random >> (63 - bits)), (int)(mix(random) % 61)};
}
static double as_double(struct Operand x) { return (double)x.digits * (double)(UINT64_C(1) << x.shift); }
static double value(int of, size_t i, enum kind kind) {
  const struct Operand x = operand(of, i, kind);
  return kind == products ? 1.5 + (double)x.digits / (double)(UINT64_C(1) << 54) : as_double(x);
}

static size_t bytes_of(enum kind kind) { return kind == float_sums ? sizeof(float) : sizeof(double); }

static void put(enum kind kind, char* vector, size_t i, double x) {
  if (kind == float_sums) {
    ((float*)vector)[i] = (float)x;
  } else {
    ((double*)vector)[i] = x;
  }
}

static void fold_in_order(enum kind kind, size_t i, char* of[]) {
  double all = 0;
  float narrow = 0;
  for (int r = 0; r < ranks; ++r) {
    const double x = value(r, i, kind);
    narrow = r == 0 ? (float)x : narrow + (float)x;
    all = r == 0 ? x : kind == products ? all * x : all + x;
    put(kind, of[r], i, kind == float_sums ? narrow : all);
  }
}

/* Each sum is rounded once: not to double, and then to float. */
static void fold_exactly(enum kind kind, size_t i, char* of[]) {
  __int128 sum = 0;
  for (int r = 0; r < ranks; ++r) {
    const struct Operand x = operand(r, i, kind);
    sum += (__int128)x.digits * ((__int128)1 << x.shift);
    if (kind == float_sums) {
      ((float*)of[r])[i] = (float)sum;
    } else {
      ((double*)of[r])[i] = (double)sum;
    }
  }
}

static char* memory_of_all(size_t bytes) {
  char name[] = "/dev/shm/placements-XXXXXX";
  int world_rank, file = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  if (world_rank == 0 && ((file = mkstemp(name)) < 0 || ftruncate(file, (off_t)bytes) != 0))
    MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (world_rank != 0 && (file = open(name, O_RDWR)) < 0) MPI_Abort(MPI_COMM_WORLD, 3);
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 3);
  close(file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) unlink(name);
  return memory;
}

static struct Expected expected(size_t count, enum kind kind) {
  const size_t bytes = count * bytes_of(kind);
  struct Expected e = {count, memory_of_all(bytes * (size_t)ranks)};
  char* of[most_ranks];
  for (int r = 0; r < ranks; ++r) of[r] = e.folded + (size_t)r * bytes;
  int world_rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  const size_t begin = count * (size_t)world_rank / (size_t)ranks,
               end = count * (size_t)(world_rank + 1) / (size_t)ranks;
  for (size_t i = begin; i < end; ++i)
    is_exact&& kind != products ? fold_exactly(kind, i, of) : fold_in_order(kind, i, of);
  MPI_Barrier(MPI_COMM_WORLD);
  return e;
}

static struct Vectors vectors_of(const struct Expected* e, enum kind kind) {
  const size_t bytes = e->count * bytes_of(kind);
  const char* own = e->folded + (size_t)rank * bytes;
  struct Vectors v = {kind,
                      e->count,
                      bytes_of(kind),
                      malloc(bytes),
                      malloc(bytes),
                      e->folded + (size_t)(ranks - 1) * bytes,
                      own,
                      rank > 0 ? own - bytes : NULL};
  for (size_t i = 0; i < v.count; ++i) put(kind, v.send, i, value(rank, i, kind));
  return v;
}

/* What came, and then it is overwritten. */
static void check(const struct Vectors* v, const char* what, const char* wanted, size_t count) {
  const int is_right = memcmp(v->receive, wanted, count * v->bytes) == 0;
  if (is_right) ++right;
  if (!is_right && wrong++ == 0) {
    size_t i = 0;
    while (memcmp(v->receive + i * v->bytes, wanted + i * v->bytes, v->bytes) == 0) ++i;
    printf("rank %d of %d: %s of %zu %s: element %zu is wrong\n", rank, ranks, what, v->count,
           kind_names[v->kind], i);
    fflush(stdout);
  }
  memset(v->receive, 77, v->count * v->bytes);
}

static void hash(const struct Vectors* v) {
  for (size_t i = 0; i < v->count * v->bytes; ++i)
    digest = (digest ^ (unsigned char)v->receive[i]) * 1099511628211u;
}

static MPI_Datatype type_of(const struct Vectors* v) {
  return v->kind == float_sums ? MPI_FLOAT : MPI_DOUBLE;
}
static MPI_Op op_of(const struct Vectors* v) { return v->kind == products ? MPI_PROD : MPI_SUM; }
static void wait_for(MPI_Request* request, int is_started) {
  if (is_started) MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void try_whole(const struct Vectors* v, int later, int is_hashed) {
  const int n = (int)v->count, root = ranks - 1;
  MPI_Request request;
  if (later)
    MPI_Iallreduce(v->send, v->receive, n, type_of(v), op_of(v), comm, &request);
  else
    MPI_Allreduce(v->send, v->receive, n, type_of(v), op_of(v), comm);
  wait_for(&request, later);
  if (is_hashed && !later && rank == 0) hash(v);
  check(v, later ? "iallreduce" : "allreduce", v->whole, v->count);
  if (later)
    MPI_Ireduce(v->send, v->receive, n, type_of(v), op_of(v), root, comm, &request);
  else
    MPI_Reduce(v->send, v->receive, n, type_of(v), op_of(v), root, comm);
  wait_for(&request, later);
  if (rank == root) check(v, later ? "ireduce" : "reduce", v->whole, v->count);
}

static void try_scans(const struct Vectors* v, int later) {
  const int n = (int)v->count;
  MPI_Request request;
  if (later)
    MPI_Iscan(v->send, v->receive, n, type_of(v), op_of(v), comm, &request);
  else
    MPI_Scan(v->send, v->receive, n, type_of(v), op_of(v), comm);
  wait_for(&request, later);
  check(v, later ? "iscan" : "scan", v->up_to_here, v->count);
  if (later)
    MPI_Iexscan(v->send, v->receive, n, type_of(v), op_of(v), comm, &request);
  else
    MPI_Exscan(v->send, v->receive, n, type_of(v), op_of(v), comm);
  wait_for(&request, later);
  if (rank > 0) check(v, later ? "iexscan" : "exscan", v->below, v->count);
}

/* Blocks of different lengths, some of them empty. */
static size_t begin_of(const struct Vectors* v, int of) {
  return v->count * (size_t)of * (size_t)of / ((size_t)ranks * (size_t)ranks);
}

static void try_blocks(const struct Vectors* v, int later) {
  int counts[most_ranks];
  for (int r = 0; r < ranks; ++r) counts[r] = (int)(begin_of(v, r + 1) - begin_of(v, r));
  MPI_Request request;
  if (later)
    MPI_Ireduce_scatter(v->send, v->receive, counts, type_of(v), op_of(v), comm, &request);
  else
    MPI_Reduce_scatter(v->send, v->receive, counts, type_of(v), op_of(v), comm);
  wait_for(&request, later);
  check(v, later ? "ireduce_scatter" : "reduce_scatter", v->whole + begin_of(v, rank) * v->bytes,
        (size_t)counts[rank]);
  const size_t each = v->count / (size_t)ranks;
  if (each == 0) return;
  if (later)
    MPI_Ireduce_scatter_block(v->send, v->receive, (int)each, type_of(v), op_of(v), comm, &request);
  else
    MPI_Reduce_scatter_block(v->send, v->receive, (int)each, type_of(v), op_of(v), comm);
  wait_for(&request, later);
  check(v, later ? "ireduce_scatter_block" : "reduce_scatter_block",
        v->whole + (size_t)rank * each * v->bytes, each);
}

static void try_length(const struct Expected of_kind[kinds], int is_hashed) {
  for (enum kind kind = sums; kind < kinds; ++kind) {
    struct Vectors v = vectors_of(&of_kind[kind], kind);
    for (int later = 0; later < 2; ++later) {
      try_whole(&v, later, is_hashed);
      try_scans(&v, later);
      try_blocks(&v, later);
    }
    free(v.send), free(v.receive);
  }
}

/* The world's ranks in another order: the same on all of them. The first is the world's own. */
static MPI_Comm placed(int number, uint64_t seed) {
  int world_rank, place[most_ranks];
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  for (int r = 0; r < ranks; ++r) place[r] = r;
  for (int r = ranks - 1; r > 0 && number > 0; --r) {
    const int other = (int)(mix(seed * 1000 + (uint64_t)number * 64 + (uint64_t)r) % (uint64_t)(r + 1));
    const int kept = place[r];
    place[r] = place[other], place[other] = kept;
  }
  MPI_Comm made;
  MPI_Comm_split(MPI_COMM_WORLD, 0, place[world_rank], &made);
  return made;
}

int main(int argc, char** argv) {
  /* Memory that is given back is kept: most of the time went to the zeroing of pages. */
  mallopt(M_MMAP_THRESHOLD, 1 << 30), mallopt(M_TRIM_THRESHOLD, 1 << 30);
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 4 || argc > 3 + most_lengths || ranks > most_ranks) MPI_Abort(MPI_COMM_WORLD, 2);
  is_exact = strcmp(argv[1], "exact") == 0;
  const uint64_t seed = strtoull(argv[2], NULL, 10);
  int most = 0;
  struct Expected all_expected[most_lengths][kinds];
  for (int i = 3; i < argc; ++i) {
    if (atoi(argv[i]) > most) most = atoi(argv[i]);
    for (enum kind kind = sums; kind < kinds; ++kind)
      all_expected[i - 3][kind] = expected(strtoull(strchr(argv[i], ':') + 1, NULL, 10), kind);
  }
  for (int number = 0; number < most; ++number) {
    comm = placed(number, seed);
    MPI_Comm_rank(comm, &rank);
    for (int i = 3; i < argc; ++i)
      if (number < atoi(argv[i])) try_length(all_expected[i - 3], number == 0);
    MPI_Comm_free(&comm);
  }
  long mine[2] = {right, wrong}, all[2];
  MPI_Reduce(mine, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    printf("placements: %ld results are right, %ld wrong, digest %016llx\n", all[0], all[1],
           (unsigned long long)digest);
  MPI_Finalize();
  return 0;
}
