/* Which descriptors Espalier has: none below 3, none that goes to a program that is executed, none for long but
   those of its memory. With "closed" the standard ones are closed when Espalier starts. */
#define _GNU_SOURCE
#include <mpi.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 1 << 20, MOST = 1024 };

static int rank, failed, words = 2;

static void check(int holds, const char* what) {
  if (holds) return;
  failed = 1;
  dprintf(words, "FAILED on rank %d: %s\n", rank, what);
}

static void target_of(int number, char* text, size_t length) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", number);
  const ssize_t bytes = readlink(link, text, length - 1);
  text[bytes < 0 ? 0 : bytes] = '\0';
}

/* How many descriptors of Espalier's memory there are; `sockets`: how many sockets, the host's included. */
static int ours(int* sockets) {
  int found = 0;
  *sockets = 0;
  for (int number = 0; number < MOST; ++number) {
    char target[256];
    target_of(number, target, sizeof target);
    *sockets += !strncmp(target, "socket:", 7);
    if (!strstr(target, "espalier")) continue;
    ++found;
    check(number > 2, "a standard descriptor is Espalier's memory");
    check(fcntl(number, F_GETFD) == FD_CLOEXEC, "Espalier's memory goes to programs that are executed");
  }
  return found;
}

/* What such a program has. */
static int inherited(void) {
  int sockets;
  const int found = ours(&sockets);
  return found > 0;
}

static void check_executed(char* program) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    unsetenv("LD_PRELOAD");
    execl(program, program, "inherited", NULL);
    _exit(9);
  }
  waitpid(child, &status, 0);
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "an executed program has a descriptor of Espalier's");
}

static void use(MPI_Comm comm) {
  int one = 1, sum = 0, size;
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  check(sum == size, "a sum is wrong");
  char *block, *all;
  MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &block);
  MPI_Alloc_mem((MPI_Aint)BYTES * size, MPI_INFO_NULL, &all);
  memset(block, rank + 1, BYTES);
  MPI_Allgather(block, BYTES, MPI_CHAR, all, BYTES, MPI_CHAR, comm);
  for (int r = 0; r < size; ++r)
    check(all[(size_t)BYTES * (size_t)(r + 1) - 1] == r + 1, "an allgather is wrong");
  MPI_Free_mem(all);
  MPI_Free_mem(block);
}

/* What the host opens comes before and so takes other numbers; what Espalier opens comes after. */
static void close_standard(void) {
  words = fcntl(2, F_DUPFD_CLOEXEC, 200);
  for (int number = 0; number < 3; ++number) close(number);
}

#ifdef MPI_SESSION_NULL /* Open MPI 5 has sessions, and calls itself MPI 3.1 */
static void in_a_session(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "espalier.tests.descriptors", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_rank(comm, &rank);
  close_standard();
  use(comm);
  int sockets;
  ours(&sockets);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
}
#else
static void in_a_session(void) { check(0, "sessions came with MPI 4"); }
#endif

static void in_the_world(int closed, char** argv) {
  if (closed) close_standard();
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  use(MPI_COMM_WORLD);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  use(copy);
  int sockets;
  const int found = ours(&sockets);
  check_executed(argv[0]);
  MPI_Comm_free(&copy);
  if (rank == 0) dprintf(words, "descriptors: %d of Espalier's memory, %d sockets\n", found, sockets);
  MPI_Finalize();
  check(ours(&sockets) < found || found == 0, "MPI_Finalize leaves the arena's descriptor open");
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  if (!strcmp(mode, "inherited")) return inherited();
  if (!strcmp(mode, "session"))
    in_a_session();
  else
    in_the_world(!strcmp(mode, "closed"), argv);
  if (rank == 0 && !failed) dprintf(words, "descriptors: 0 failed\n");
  return failed;
}
