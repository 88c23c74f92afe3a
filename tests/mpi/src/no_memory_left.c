/* A collective fails for want of memory where none is left for the words of the error either. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { COUNT = 4 << 20 };

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

/* Everything that malloc() still has, as a list. */
static void** take_all(void) {
  void** taken = NULL;
  for (size_t bytes = 1 << 20; bytes >= 16; bytes /= 2)
    for (void** more; (more = malloc(bytes));) {
      *more = taken;
      taken = more;
    }
  return taken;
}

static void give_back(void** taken) {
  for (void** next; taken; taken = next) {
    next = *taken;
    free(taken);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Op op;
  int rank, *in = calloc(COUNT, sizeof(int)), *out = calloc(COUNT, sizeof(int));
  struct rlimit limit, none = {0, RLIM_INFINITY};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Op_create(add, 0, &op);
  MPI_Reduce(in, out, 1, MPI_INT, op, 0, MPI_COMM_WORLD);
  getrlimit(RLIMIT_AS, &limit);
  none.rlim_max = limit.rlim_max;
  setrlimit(RLIMIT_AS, &none);
  void** taken = take_all();
  const int code = MPI_Reduce(in, out, COUNT, MPI_INT, op, 0, MPI_COMM_WORLD);
  give_back(taken);
  setrlimit(RLIMIT_AS, &limit);
  printf("no_memory_left: rank %d: %s\n", rank, code == MPI_SUCCESS ? "done" : "an error");
  MPI_Op_free(&op);
  MPI_Finalize();
  free(in);
  free(out);
  return 0;
}
