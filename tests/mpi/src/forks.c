/* What child processes see of MPI_Alloc_mem's memory, however they are made; and that they disturb no rank. */
#define _GNU_SOURCE
#include <mpi.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 1 << 20 };

static int rank, size, failed;

static void check(int holds, const char* what) {
  if (holds) return;
  failed = 1;
  fprintf(stderr, "FAILED on rank %d: %s\n", rank, what);
}

static unsigned char* allocate(size_t bytes, int value) {
  unsigned char* block = NULL;
  check(MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &block) == MPI_SUCCESS && block, "MPI_Alloc_mem");
  memset(block, value, bytes);
  return block;
}

static int all_are(const unsigned char* block, size_t bytes, int value) {
  for (size_t i = 0; i < bytes; ++i)
    if (block[i] != (unsigned char)value) return 0;
  return 1;
}

/* The ranks still read each other's blocks, and write their own. */
static void check_ranks(unsigned char* block, int value, const char* when) {
  memset(block, value, BYTES);
  unsigned char* all = allocate((size_t)size * BYTES, 0);
  block[BYTES - 1] = (unsigned char)rank;
  MPI_Allgather(block, BYTES, MPI_BYTE, all, BYTES, MPI_BYTE, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) {
    const unsigned char* theirs = all + (size_t)r * BYTES;
    check(all_are(theirs, BYTES - 1, value) && theirs[BYTES - 1] == (unsigned char)r, when);
  }
  block[BYTES - 1] = (unsigned char)value;
  MPI_Bcast(block, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD);
  check(all_are(block, BYTES, value), when);
  MPI_Free_mem(all);
}

static int ends_well(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Lets a child look once its parent has done what it must not see. */
struct Gate {
  int ends[2];
};
static struct Gate gate(void) {
  struct Gate made;
  if (pipe(made.ends)) abort();
  return made;
}
static void open_gate(struct Gate g) {
  if (write(g.ends[1], "g", 1) != 1) abort();
}
static void wait_at(struct Gate g) {
  char any;
  if (read(g.ends[0], &any, 1) != 1) _exit(9);
}
static void close_gate(struct Gate g) {
  close(g.ends[0]);
  close(g.ends[1]);
}

static void later_writes(unsigned char* block) {
  struct Gate look = gate();
  memset(block, 1, BYTES);
  const pid_t child = fork();
  if (child == 0) {
    wait_at(look);
    const int right = all_are(block, BYTES, 1);
    memset(block, 9, BYTES);
    _exit(!right);
  }
  memset(block, 2, BYTES);
  open_gate(look);
  check(ends_well(child), "a child sees what its parent writes later");
  check(all_are(block, BYTES, 2), "a child writes into its parent's memory");
  close_gate(look);
  check_ranks(block, 3, "after a child that has written");
}

static void freed_by_parent(void) {
  struct Gate look = gate();
  unsigned char* block = allocate(BYTES, 4);
  const pid_t child = fork();
  if (child == 0) {
    wait_at(look);
    _exit(!all_are(block, BYTES, 4));
  }
  MPI_Free_mem(block);
  unsigned char* another = allocate(BYTES, 5);
  open_gate(look);
  check(ends_well(child), "a child does not keep what its parent frees");
  MPI_Free_mem(another);
  close_gate(look);
}

/* Its exit runs whatever the parent has registered for its own. */
static void freed_by_child(unsigned char* block) {
  unsigned char* another = allocate(BYTES, 6);
  memset(block, 6, BYTES);
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    const int right = MPI_Free_mem(another) == MPI_SUCCESS;
    exit(!right || !all_are(block, BYTES, 6));
  }
  check(ends_well(child), "a child's MPI_Free_mem and exit");
  check(all_are(another, BYTES, 6) && all_are(block, BYTES, 6), "a child frees its parent's memory");
  check_ranks(another, 7, "after a child that has freed");
  MPI_Free_mem(another);
}

static void grandchildren(unsigned char* block) {
  struct Gate look = gate(), look_below = gate();
  memset(block, 1, BYTES);
  const pid_t child = fork();
  if (child == 0) {
    memset(block, 2, BYTES / 2);
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      wait_at(look_below);
      _exit(!all_are(block, BYTES / 2, 2) || !all_are(block + BYTES / 2, BYTES / 2, 1));
    }
    wait_at(look);
    memset(block, 3, BYTES);
    open_gate(look_below);
    _exit(!ends_well(grandchild));
  }
  memset(block, 4, BYTES);
  open_gate(look);
  check(ends_well(child), "a grandchild does not see what the child had at its fork");
  close_gate(look);
  close_gate(look_below);
}

/* No handler of fork() runs: the child must not crash, nor undo anything of its parent's. */
static void by_clone(unsigned char* block) {
  memset(block, 1, BYTES);
  const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
  if (child == 0) {
    const int right = all_are(block, BYTES, 1) && MPI_Free_mem(block) == MPI_SUCCESS;
    _exit(!right);
  }
  check(ends_well(child), "a child of clone() reads MPI_Alloc_mem's memory");
  check(all_are(block, BYTES, 1), "a child of clone() frees its parent's memory");
  check_ranks(block, 2, "after a child of clone()");
}

extern char** environ;
static void by_spawn_and_vfork(unsigned char* block) {
  char* words[] = {"true", NULL};
  pid_t child = 0;
  check(posix_spawnp(&child, "true", NULL, NULL, words, environ) == 0 && ends_well(child), "posix_spawn");
  child = vfork();
  if (child == 0) {
    execvp("true", words);
    _exit(1);
  }
  check(ends_well(child), "vfork");
  check(system("exit 0") == 0, "system");
  check_ranks(block, 3, "after programs that were started");
}

static volatile int ends;
static void* allocate_and_free(void* unused) {
  while (!ends) {
    unsigned char* block = malloc(1);
    free(block);
    if (MPI_Alloc_mem(BYTES / 4, MPI_INFO_NULL, &block) != MPI_SUCCESS) failed = 1;
    block[BYTES / 8] = 1;
    if (MPI_Free_mem(block) != MPI_SUCCESS) failed = 1;
  }
  return unused;
}

static void while_threads_allocate(unsigned char* block) {
  pthread_t threads[2];
  memset(block, 8, BYTES);
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, allocate_and_free, NULL);
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) _exit(!all_are(block, BYTES, 8));
    check(ends_well(child), "a fork while threads allocate");
  }
  ends = 1;
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  check_ranks(block, 9, "after forks while threads allocate");
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  unsigned char* block = allocate(BYTES, 0);
  check_ranks(block, 1, "at the start");
  later_writes(block);
  freed_by_parent();
  freed_by_child(block);
  grandchildren(block);
  if (argc > 1 && !strcmp(argv[1], "clone")) by_clone(block);
  by_spawn_and_vfork(block);
  if (provided == MPI_THREAD_MULTIPLE) while_threads_allocate(block);
  MPI_Free_mem(block);
  int all = 0;
  MPI_Reduce(&failed, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("forks: %d failed\n", all);
  MPI_Finalize();
  return failed;
}
