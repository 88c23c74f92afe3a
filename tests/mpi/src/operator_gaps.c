/* A user's operator that assigns whole elements, from their lower to their upper bound, of a type that names only some
   bytes of them: with a gap behind, in front, or both. It may write all of that, and nothing may be harmed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  double key;
  int id;
} Named;

static MPI_Aint front, whole; /* of the type in use */
static int rank, ranks, failures;

static void least(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) {
    char* a = (char*)in + i * whole;
    char* b = (char*)inout + i * whole;
    Named left, right;
    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    if (left.key < right.key) memcpy(b - front, a - front, (size_t)whole);
    else memset(b - front, b[-front], 1), memset(b - front + whole - 1, b[whole - front - 1], 1);
  }
}

static MPI_Datatype make_type(MPI_Aint behind) {
  int lengths[2] = {1, 1};
  MPI_Aint places[2] = {0, sizeof(double)};
  MPI_Datatype members[2] = {MPI_DOUBLE, MPI_INT}, inner, type;
  MPI_Type_create_struct(2, lengths, places, members, &inner);
  whole = front + (MPI_Aint)sizeof(Named) + behind;
  MPI_Type_create_resized(inner, -front, whole, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&inner);
  return type;
}

static Named named(int who, int i) {
  Named value = {(who * 7 + i * 3) % 11, who};
  return value;
}

static char* vector(int count, int filled) {
  char* data = malloc((size_t)(count * whole) + 1);
  memset(data, 'a' + rank % 26, (size_t)(count * whole) + 1);
  for (int i = 0; i < count && filled; ++i) {
    Named value = named(rank, i);
    memcpy(data + i * whole + front, &value, sizeof value);
  }
  return data;
}

/* The least key of ranks 0 to last, of element `first + i`. */
static void check(const char* call, const char* got, int first, int count, int last) {
  for (int i = 0; i < count; ++i) {
    Named value;
    double least_key = 1e9;
    for (int who = 0; who <= last; ++who)
      if (named(who, first + i).key < least_key) least_key = named(who, first + i).key;
    memcpy(&value, got + i * whole + front, sizeof value);
    if (value.key == least_key) continue;
    ++failures;
    fprintf(stderr, "FAILED rank %d: %s with gaps of %ld of %ld bytes, element %d of %d: %g, expected %g\n", rank, call,
            (long)(whole - (MPI_Aint)sizeof(Named)), (long)whole, i, count, value.key, least_key);
    return;
  }
}

static void check_all(MPI_Datatype type, MPI_Op op, int count) {
  char *send = vector(count * ranks, 1), *receive = vector(count * ranks, 0);
  char *from = send + front, *to = receive + front;
  MPI_Allreduce(from, to, count, type, op, MPI_COMM_WORLD);
  check("MPI_Allreduce", receive, 0, count, ranks - 1);
  MPI_Reduce(from, to, count, type, op, 0, MPI_COMM_WORLD);
  if (rank == 0) check("MPI_Reduce", receive, 0, count, ranks - 1);
  MPI_Scan(from, to, count, type, op, MPI_COMM_WORLD);
  check("MPI_Scan", receive, 0, count, rank);
  MPI_Exscan(from, to, count, type, op, MPI_COMM_WORLD);
  if (rank > 0) check("MPI_Exscan", receive, 0, count, rank - 1);
  MPI_Reduce_scatter_block(from, to, count, type, op, MPI_COMM_WORLD);
  check("MPI_Reduce_scatter_block", receive, rank * count, count, ranks - 1);
  int* counts = malloc(sizeof(int) * (size_t)ranks);
  for (int i = 0; i < ranks; ++i) counts[i] = count;
  MPI_Reduce_scatter(from, to, counts, type, op, MPI_COMM_WORLD);
  check("MPI_Reduce_scatter", receive, rank * count, count, ranks - 1);
  MPI_Allreduce(MPI_IN_PLACE, from, count, type, op, MPI_COMM_WORLD);
  check("MPI_Allreduce in place", send, 0, count, ranks - 1);
  free(counts);
  free(send);
  free(receive);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Op op;
  MPI_Op_create(least, 1, &op);
  const MPI_Aint gaps[][2] = {{0, 500}, {500, 0}, {256, 512}, {0, 1 << 20}, {1 << 20, 8}};
  for (int kind = 0; kind < 5; ++kind) {
    front = gaps[kind][0];
    MPI_Datatype type = make_type(gaps[kind][1]);
    for (int count = 1; count < 4; ++count) check_all(type, op, count);
    if (kind < 3) check_all(type, op, 40);
    MPI_Type_free(&type);
  }
  MPI_Op_free(&op);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("operator_gaps, %d failed\n", failures);
  MPI_Finalize();
  return failures != 0;
}
