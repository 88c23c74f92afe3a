/* Callbacks of the program that use what is just being freed; afterwards other communicators, which get the same
 * handles, must have ranks and sums of their own. The first argument says which. */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

enum { ROUNDS = 20 };
static int failed;
static MPI_Comm world_copy, other;
static MPI_Request started_often = MPI_REQUEST_NULL;
static int given, got, called;

static void expect(int got_now, int wanted, const char* what) {
  if (got_now == wanted) return;
  ++failed;
  fprintf(stderr, "callbacks: %s is %d, wanted %d\n", what, got_now, wanted);
}

static void check_sum(MPI_Comm comm, const char* what) {
  int rank, size, sum = -1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  ++rank;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  expect(sum, size * (size + 1) / 2, what);
}

static int use_it(MPI_Comm comm, int key, void* value, void* state) {
  ++called;
  check_sum(comm, "a sum in the delete callback");
  MPI_Barrier(comm);
  return MPI_SUCCESS;
}

static int free_another(MPI_Comm comm, int key, void* value, void* state) {
  ++called;
  check_sum(other, "a sum on another communicator in the delete callback");
  MPI_Comm_free(&other);
  check_sum(comm, "a sum after another communicator was freed in the delete callback");
  return MPI_SUCCESS;
}

static int copy_it(MPI_Comm comm, int key, void* state, void* in, void* out, int* flag) {
  ++called;
  check_sum(comm, "a sum in the copy callback");
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

/* A communicator of this rank alone, which often gets the handle that was just given back, then one of all. */
static void check_new_ones(void) {
  int rank;
  MPI_Comm alone, all;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &alone);
  check_sum(alone, "a sum of one rank");
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  check_sum(all, "a sum on a new communicator");
  MPI_Comm_free(&all);
  MPI_Comm_free(&alone);
}

/* `used`: there have been collectives before; `last`: the attribute is set after the first of them. */
static void free_with_callback(MPI_Comm_delete_attr_function* callback, int (*frees)(MPI_Comm*), int used, int last) {
  int key;
  MPI_Comm comm;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, callback, &key, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  if (!last) MPI_Comm_set_attr(comm, key, NULL);
  if (used) check_sum(comm, "a sum before the communicator is freed");
  if (last) MPI_Comm_set_attr(comm, key, NULL);
  called = 0;
  frees(&comm);
  expect(called, 1, "how often the delete callback was called");
  if (callback != free_another) MPI_Comm_free(&other);
  MPI_Comm_free_keyval(&key);
  check_new_ones();
}

static void deletes(void) {
  for (int round = 0; round < ROUNDS; ++round)
    for (int way = 0; way < 4; ++way) {
      free_with_callback(use_it, MPI_Comm_free, way & 1, way & 2);
      free_with_callback(use_it, MPI_Comm_disconnect, way & 1, way & 2);
      free_with_callback(free_another, MPI_Comm_free, way & 1, way & 2);
    }
}

static void copies(void) {
  int key;
  MPI_Comm comm, copy;
  MPI_Comm_create_keyval(copy_it, use_it, &key, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_attr(comm, key, NULL);
  for (int round = 0; round < ROUNDS; ++round) {
    called = 0;
    MPI_Comm_dup(comm, &copy);
    check_sum(copy, "a sum on the copy");
    MPI_Comm_free(&copy);
    expect(called, 2, "how often copy and delete callbacks were called");
    check_new_ones();
  }
  MPI_Comm_free(&comm);
  MPI_Comm_free_keyval(&key);
}

/* MPI-4.1 11.2.4: MPI_Finalize begins with the delete callbacks of MPI_COMM_SELF, where MPI still works. */
static int clean_up(MPI_Comm comm, int key, void* value, void* state) {
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check_sum(MPI_COMM_WORLD, "a sum in MPI_Finalize");
  check_sum(world_copy, "a sum on a copy in MPI_Finalize");
  given = rank + 2;
  MPI_Start(&started_often);
  MPI_Wait(&started_often, MPI_STATUS_IGNORE);
  expect(got, size * (size + 3) / 2, "the sum of a persistent request in MPI_Finalize");
  MPI_Request_free(&started_often);
  MPI_Comm_free(&world_copy);
  check_new_ones();
  printf("callbacks, rank %d: %d failed\n", rank, failed);
  fflush(stdout);
  return MPI_SUCCESS;
}

static void finalizes(void) {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, clean_up, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &world_copy);
  check_sum(world_copy, "a sum before MPI_Finalize");
  MPI_Allreduce_init(&given, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &started_often);
}

static void on_error(MPI_Comm* comm, int* code, ...) {
  ++called;
  check_sum(MPI_COMM_WORLD, "a sum in the error handler");
  check_sum(*comm, "a sum in the error handler on the communicator of the error");
  check_new_ones();
}

static void handlers(void) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(on_error, &handler);
  for (int round = 0; round < ROUNDS; ++round) {
    MPI_Comm comm;
    int x = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    check_sum(comm, "a sum before the error");
    called = 0;
    MPI_Bcast(&x, 1, MPI_INT, 9999, comm);
    expect(called, 1, "how often the error handler was called");
    MPI_Comm_free(&comm);
  }
  MPI_Errhandler_free(&handler);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* which = argc > 1 ? argv[1] : "";
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!strcmp(which, "deletes")) deletes();
  else if (!strcmp(which, "copies")) copies();
  else if (!strcmp(which, "handlers")) handlers();
  else if (!strcmp(which, "finalizes")) finalizes();
  else return 2;
  if (strcmp(which, "finalizes")) printf("callbacks, rank %d: %d failed\n", rank, failed);
  fflush(stdout);
  MPI_Finalize();
  return failed != 0;
}
