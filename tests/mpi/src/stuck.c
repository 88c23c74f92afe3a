/* A program that hangs: stuck HOW GUILTY. Some calls that end well, and then the rank GUILTY does what HOW says, while
 * the others wait for it. Each rank prints "waits" before. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, guilty;
static const char* how;
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

static int is(const char* name) { return !strcmp(how, name); }

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
  (void)a;
}

static void do_right(MPI_Comm a, MPI_Comm b) {
  (void)b;
  if (is("order")) MPI_Barrier(a);
  if (is("root")) MPI_Bcast(vector, 100, MPI_DOUBLE, guilty, MPI_COMM_WORLD);
  if (is("long")) MPI_Allreduce(vector, sum, 4096, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (;;) {
    MPI_Allreduce(vector, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (!is("crawl")) break;
  }
  for (;;) pause();  /* a call that ended by an error */
}

int main(int argc, char** argv) {
  MPI_Comm a, b;
  how = argv[1];
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
  puts("waits"), fflush(stdout);
  if (is("deadlock")) receive_nothing();
  if (is("steady")) for (;;) MPI_Allreduce(vector, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == guilty) do_wrong(a, b);
  else do_right(a, b);
  for (;;) pause();
}
