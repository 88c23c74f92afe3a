/* A program that hangs, or crawls: stuck HOW GUILTY [FOLDER]. Some calls that end well, and then the rank GUILTY does what
 * HOW says, while the others wait for it. Each rank prints "waits" before. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static int rank, size, guilty;
static const char *how, *folder = ".";
static double vector[4096], sum[4096];

static volatile double work = 1;
__attribute__((noinline)) static void compute_for_ever(void) {
  for (;;) work = work * 1.0000001 + 1e-9;
}

__attribute__((noinline)) static void receive_nothing(void) {
  int nothing;
  MPI_Recv(&nothing, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void wait_for_nothing(void) {
  int nothing;
  MPI_Request request;
  MPI_Irecv(&nothing, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void crawl(void) {  /* a second of work between calls that take none */
  for (;;) {
    for (int i = 0; i < 300000000; ++i) work = work * 1.0000001 + 1e-9;
    MPI_Allreduce(vector, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

/* The last core that this process may use is the guilty rank's alone, where there are two: other programs come to it. */
static void take_core(int is_guilty) {
  cpu_set_t all, own;
  sched_getaffinity(0, sizeof all, &all);
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &all)) --last;
  own = all;
  CPU_CLR(last, &own);
  if (is_guilty || CPU_COUNT(&all) == 1) {
    CPU_ZERO(&own);
    CPU_SET(last, &own);
  }
  sched_setaffinity(0, sizeof own, &own);
}

static void work_beside_others(void) {  /* seconds of work between calls that take none */
  for (;;) {
    for (long i = 0; i < 1000000000; ++i) work = work * 1.0000001 + 1e-9;
    MPI_Allreduce(vector, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

/* Memory that has left memory when it is needed again: the kernel is told to page it out, and reads each page back. */
enum { pages = 4096, page = 4096 };
static char* paged;

static int read_back(void) {  /* how many pages were not there */
  struct rusage before, after;
  madvise(paged, (size_t)pages * page, MADV_PAGEOUT);
  getrusage(RUSAGE_SELF, &before);
  for (long i = 0; i < pages; ++i) work += paged[i * page];
  getrusage(RUSAGE_SELF, &after);
  return (int)(after.ru_majflt - before.ru_majflt);
}

static int map_what_can_be_paged_out(void) {  /* a file of FOLDER, which is no longer there when the program ends */
  char path[4096];
  snprintf(path, sizeof path, "%s/paged-XXXXXX", folder);
  int file = mkstemp(path);
  if (file < 0) return 0;
  unlink(path);
  for (long i = 0; i < pages; ++i) if (write(file, vector, page) != page) return 0;
  fsync(file);
  paged = mmap(NULL, (size_t)pages * page, PROT_READ, MAP_SHARED, file, 0);
  if (paged == MAP_FAILED || madvise(paged, (size_t)pages * page, MADV_RANDOM)) return 0;
  read_back();
  return read_back() > pages / 2;
}

__attribute__((noinline)) static void read_memory(void) {
  for (;;) {
    for (int i = 0; i < 32; ++i) read_back();
    MPI_Allreduce(vector, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

static int is(const char* name) { return !strcmp(how, name); }

static int goes_on(void) { return is("crawl") || is("oversubscribed") || is("paging"); }

static void do_wrong(MPI_Comm a, MPI_Comm b) {
  if (is("pause") || is("dead")) for (;;) pause();  /* the test kills it */
  if (is("loop")) compute_for_ever();
  if (is("stopped")) raise(SIGSTOP);
  if (is("recv")) receive_nothing();
  if (is("wait")) wait_for_nothing();
  if (is("order")) MPI_Barrier(b);
  if (is("root")) compute_for_ever();
  if (is("other")) MPI_Bcast(vector, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (is("crawl")) crawl();
  if (is("oversubscribed")) work_beside_others();
  if (is("paging")) read_memory();
  (void)a;
}

static void do_right(MPI_Comm a, MPI_Comm b) {
  (void)b;
  if (is("order")) MPI_Barrier(a);
  if (is("root")) MPI_Bcast(vector, 100, MPI_DOUBLE, guilty, MPI_COMM_WORLD);
  if (is("long")) MPI_Allreduce(vector, sum, 4096, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (;;) {
    MPI_Allreduce(vector, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (!goes_on()) break;
  }
  for (;;) pause();  /* a call that ended by an error */
}

int main(int argc, char** argv) {
  MPI_Comm a, b;
  how = argv[1];
  if (argc > 3) folder = argv[3];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  guilty = (atoi(argv[2]) + size) % size;
  MPI_Comm_dup(MPI_COMM_WORLD, &a);
  MPI_Comm_dup(MPI_COMM_WORLD, &b);
  MPI_Comm_set_name(a, "comm a");
  MPI_Comm_set_name(b, "comm b");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 70; ++i) MPI_Allreduce(vector, sum, 1 + i % 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(a);
  MPI_Barrier(b);
  if (is("oversubscribed")) take_core(rank == guilty);
  if (is("paging") && rank == guilty && !map_what_can_be_paged_out()) puts("cannot page"), fflush(stdout);
  puts("waits"), fflush(stdout);
  if (is("deadlock")) receive_nothing();
  if (is("steady")) for (;;) MPI_Allreduce(vector, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == guilty) do_wrong(a, b);
  else do_right(a, b);
  for (;;) pause();
}
