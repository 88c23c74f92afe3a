/* Reductions of communicators whose ranks lie on the nodes in many orders, against what a level of ESPALIER_REPRODUCIBLE
 * promises, bit for bit.
 *
 * placements LEVEL SEED PLACEMENTS:LENGTH...
 *
 * An operand follows from a rank's number in the communicator and the element's, so each rank works every result out by
 * itself: `placement` folds in rank order; `exact` sums in integers of 128 bits, which are exact, and rounds once. Rank 0
 * prints how many results were right, and what those of the allreduces hash to, which is the same for any placement. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { sums, float_sums, products, kinds };
static const char* const kind_names[] = {"sums of double", "sums of float", "products of double"};
static MPI_Comm comm;
static int rank, ranks, is_exact;
static long right, wrong;
static uint64_t digest = 14695981039346656037u;

/* What one length needs. The last three are the results: of all ranks, of those up to this one, and of those below it. */
struct Vectors {
  enum kind kind;
  size_t count, bytes; /* of an element */
  char *send, *receive, *whole, *up_to_here, *below;
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

static void put(const struct Vectors* v, char* vector, size_t i, double x) {
  if (v->kind == float_sums) {
    ((float*)vector)[i] = (float)x;
  } else {
    ((double*)vector)[i] = x;
  }
}

static void fold_in_order(const struct Vectors* v, size_t i) {
  double all = 0;
  float narrow = 0;
  for (int r = 0; r < ranks; ++r) {
    const double x = value(r, i, v->kind);
    if (r == rank) put(v, v->below, i, v->kind == float_sums ? narrow : all);
    narrow = r == 0 ? (float)x : narrow + (float)x;
    all = r == 0 ? x : v->kind == products ? all * x : all + x;
    if (r == rank) put(v, v->up_to_here, i, v->kind == float_sums ? narrow : all);
  }
  put(v, v->whole, i, v->kind == float_sums ? narrow : all);
}

static void put_rounded(const struct Vectors* v, char* vector, size_t i, __int128 sum) {
  if (v->kind == float_sums) {
    ((float*)vector)[i] = (float)sum;
  } else {
    ((double*)vector)[i] = (double)sum;
  }
}

static void fold_exactly(const struct Vectors* v, size_t i) {
  __int128 sum = 0;
  for (int r = 0; r < ranks; ++r) {
    const struct Operand x = operand(r, i, v->kind);
    if (r == rank) put_rounded(v, v->below, i, sum);
    sum += (__int128)x.digits * ((__int128)1 << x.shift);
    if (r == rank) put_rounded(v, v->up_to_here, i, sum);
  }
  put_rounded(v, v->whole, i, sum);
}

static struct Vectors vectors_of(size_t count, enum kind kind) {
  struct Vectors v = {kind, count, kind == float_sums ? sizeof(float) : sizeof(double), 0, 0, 0, 0, 0};
  char** const all[] = {&v.send, &v.receive, &v.whole, &v.up_to_here, &v.below};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) *all[i] = malloc(count * v.bytes);
  for (size_t i = 0; i < count; ++i) {
    put(&v, v.send, i, value(rank, i, kind));
    if (is_exact && kind != products)
      fold_exactly(&v, i);
    else
      fold_in_order(&v, i);
  }
  return v;
}

static void free_vectors(struct Vectors* v) {
  free(v->send), free(v->receive), free(v->whole), free(v->up_to_here), free(v->below);
}

/* What came, and then it is overwritten. */
static void check(const struct Vectors* v, const char* what, const char* wanted, size_t count) {
  const int is_right = memcmp(v->receive, wanted, count * v->bytes) == 0;
  if (is_right) ++right;
  if (!is_right && wrong++ == 0) {
    size_t i = 0;
    while (memcmp(v->receive + i * v->bytes, wanted + i * v->bytes, v->bytes) == 0) ++i;
    printf("rank %d of %d: %s of %zu %s: element %zu is wrong\n", rank, ranks, what, v->count, kind_names[v->kind], i);
    fflush(stdout);
  }
  memset(v->receive, 77, v->count * v->bytes);
}

static void hash(const struct Vectors* v) {
  for (size_t i = 0; i < v->count * v->bytes; ++i) digest = (digest ^ (unsigned char)v->receive[i]) * 1099511628211u;
}

static MPI_Datatype type_of(const struct Vectors* v) { return v->kind == float_sums ? MPI_FLOAT : MPI_DOUBLE; }
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
  if (is_hashed && !later) hash(v);
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
  int counts[64];
  for (int r = 0; r < ranks; ++r) counts[r] = (int)(begin_of(v, r + 1) - begin_of(v, r));
  MPI_Request request;
  if (later)
    MPI_Ireduce_scatter(v->send, v->receive, counts, type_of(v), op_of(v), comm, &request);
  else
    MPI_Reduce_scatter(v->send, v->receive, counts, type_of(v), op_of(v), comm);
  wait_for(&request, later);
  check(v, later ? "ireduce_scatter" : "reduce_scatter", v->whole + begin_of(v, rank) * v->bytes, (size_t)counts[rank]);
  const size_t each = v->count / (size_t)ranks;
  if (each == 0) return;
  if (later)
    MPI_Ireduce_scatter_block(v->send, v->receive, (int)each, type_of(v), op_of(v), comm, &request);
  else
    MPI_Reduce_scatter_block(v->send, v->receive, (int)each, type_of(v), op_of(v), comm);
  wait_for(&request, later);
  check(v, later ? "ireduce_scatter_block" : "reduce_scatter_block", v->whole + (size_t)rank * each * v->bytes, each);
}

static void try_length(size_t count, int is_hashed) {
  for (enum kind kind = sums; kind < kinds; ++kind) {
    struct Vectors v = vectors_of(count, kind);
    for (int later = 0; later < 2; ++later) {
      try_whole(&v, later, is_hashed);
      try_scans(&v, later);
      try_blocks(&v, later);
    }
    free_vectors(&v);
  }
}

/* The world's ranks in another order: the same on all of them. The first is the world's own. */
static MPI_Comm placed(int number, uint64_t seed) {
  int world_rank, place[64];
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
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 4 || ranks > 16) MPI_Abort(MPI_COMM_WORLD, 2);
  is_exact = strcmp(argv[1], "exact") == 0;
  const uint64_t seed = strtoull(argv[2], NULL, 10);
  int most = 0;
  for (int i = 3; i < argc; ++i)
    if (atoi(argv[i]) > most) most = atoi(argv[i]);
  uint64_t first_digest = 0;
  for (int number = 0; number < most; ++number) {
    comm = placed(number, seed);
    MPI_Comm_rank(comm, &rank);
    for (int i = 3; i < argc; ++i)
      if (number < atoi(argv[i])) try_length(strtoull(strchr(argv[i], ':') + 1, NULL, 10), number == 0);
    if (number == 0) first_digest = digest; /* its rank 0 is the world's */
    MPI_Comm_free(&comm);
  }
  long mine[2] = {right, wrong}, all[2];
  MPI_Reduce(mine, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    printf("placements: %ld results are right, %ld wrong, digest %016llx\n", all[0], all[1], (unsigned long long)first_digest);
  MPI_Finalize();
  return 0;
}
