/* MPI_Alloc_mem and MPI_Free_mem: what a program may do with such memory, and what it must not. */
#include <mpi.h>

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 300000 };

static int rank, size, failed;

static void check(int holds, const char* what) {
  if (holds) return;
  failed = 1;
  fprintf(stderr, "FAILED on rank %d: %s\n", rank, what);
}

static unsigned char* allocate(size_t bytes, MPI_Info info) {
  unsigned char* block = NULL;
  check(MPI_Alloc_mem((MPI_Aint)bytes, info, &block) == MPI_SUCCESS && block, "MPI_Alloc_mem");
  memset(block, 0xee, bytes);
  return block;
}

static void gathers_right(const unsigned char* mine, unsigned char* all, const char* what) {
  MPI_Allgather(mine, BYTES, MPI_BYTE, all, BYTES, MPI_BYTE, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) {
    int right = 1;
    for (int i = 0; i < BYTES; ++i) right &= all[(size_t)r * BYTES + i] == (unsigned char)(r * 7 + i);
    check(right, what);
  }
}

static void fill(unsigned char* mine) {
  for (int i = 0; i < BYTES; ++i) mine[i] = (unsigned char)(rank * 7 + i);
}

/* Blocks come and go, in another order, of all sizes; what is freed may come again with other contents. */
static void check_use(void) {
  for (int round = 0; round < 20; ++round) {
    unsigned char *mine = allocate(BYTES, MPI_INFO_NULL), *other = allocate(1000, MPI_INFO_NULL);
    unsigned char* all = allocate((size_t)size * BYTES, MPI_INFO_NULL);
    fill(mine);
    gathers_right(mine, all, "allgather");
    check(MPI_Free_mem(mine) == MPI_SUCCESS, "MPI_Free_mem");
    check(MPI_Free_mem(other) == MPI_SUCCESS, "MPI_Free_mem of little");
    check(MPI_Free_mem(all) == MPI_SUCCESS, "MPI_Free_mem of more");
  }
}

static void check_with_info(void) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_minimum_memory_alignment", "128");
  unsigned char *mine = allocate(BYTES, info), *all = allocate((size_t)size * BYTES, info);
  MPI_Info_free(&info);
  fill(mine);
  gathers_right(mine, all, "allgather of memory with an info");
  MPI_Free_mem(mine);
  MPI_Free_mem(all);
}

/* The host's own calls take it like any other memory. */
static void check_at_the_host(void) {
  unsigned char *mine = allocate(BYTES, MPI_INFO_NULL), *theirs = allocate(BYTES, MPI_INFO_NULL);
  const int next = (rank + 1) % size, last = (rank + size - 1) % size;
  fill(mine);
  MPI_Sendrecv(mine, BYTES, MPI_BYTE, next, 0, theirs, BYTES, MPI_BYTE, last, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  check(theirs[5] == (unsigned char)(last * 7 + 5), "MPI_Sendrecv");
  MPI_Win window;
  MPI_Win_create(mine, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  memset(theirs, 0, BYTES);
  MPI_Win_fence(0, window);
  MPI_Get(theirs, BYTES, MPI_BYTE, next, 0, BYTES, MPI_BYTE, window);
  MPI_Win_fence(0, window);
  check(theirs[5] == (unsigned char)(next * 7 + 5), "MPI_Get");
  MPI_Win_free(&window);
  MPI_Free_mem(mine);
  MPI_Free_mem(theirs);
}

/* A child of fork() sees the memory, and what it does there and to it is its own affair. */
static void check_fork(void) {
  unsigned char *mine = allocate(BYTES, MPI_INFO_NULL), *all = allocate((size_t)size * BYTES, MPI_INFO_NULL);
  fill(mine);
  gathers_right(mine, all, "before a fork");
  const pid_t child = fork();
  if (child == 0) {
    const int sees = mine[9] == (unsigned char)(rank * 7 + 9);
    memset(mine, 0, BYTES);
    const int freed = MPI_Free_mem(all) == MPI_SUCCESS;
    _exit(sees && freed ? 5 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  check(WIFEXITED(status) && WEXITSTATUS(status) == 5, "a child's use of it");
  gathers_right(mine, all, "after a fork");
  MPI_Free_mem(mine);
  MPI_Free_mem(all);
}

static int errors;
static void count_error(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  ++errors;
}

static void check_wrong_frees(void) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(count_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  unsigned char* block = allocate(BYTES, MPI_INFO_NULL);
  check(MPI_Free_mem(block + 4096) != MPI_SUCCESS, "memory inside a block is freed");
  check(MPI_Free_mem(block) == MPI_SUCCESS, "MPI_Free_mem after a wrong one");
  check(MPI_Free_mem(block) != MPI_SUCCESS, "memory is freed twice");
  check(errors == 2, "the error handler of MPI_COMM_SELF is called");
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check_use();
  check_with_info();
  check_at_the_host();
  check_fork();
  if (argc > 1 && !strcmp(argv[1], "wrong")) check_wrong_frees();
  int all = 0;
  MPI_Reduce(&failed, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("allocated: %d failed\n", all);
  MPI_Finalize();
  return failed;
}
