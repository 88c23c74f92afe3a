/* Rank 0 overwrites so many words of each page of the memory that the node's ranks share, at random,
   again and again, and then ends; all call collectives all the while.
     damaged SEED WORDS
   A line of each survivor: "rank R: told CALL: TEXT", "rank R: waits CALL", "rank R: crashed reading|writing in CALL". Before
   it "rank R: overrun in CALL" where bytes beside a buffer have changed. */
#define _GNU_SOURCE
#include <mpi.h>

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "survivor.h"

enum { most = 4096, guard = 512 }; /* longs */

static int size;
static long words, mine[most], around[guard + most * 8 + guard];
static long* const theirs = around + guard;
static const long untouched = 0x5a5a5a5a5a5a5a5a;

static void crashed(int number, siginfo_t* about, void* context) {
  (void)number, (void)about;
  const char* how = "reading or writing";
#ifdef __x86_64__ /* the processor's error code: bit 1 is set for a write */
  how = ((ucontext_t*)context)->uc_mcontext.gregs[REG_ERR] & 2 ? "writing" : "reading";
#endif
  void* frames[40];
  backtrace_symbols_fd(frames, backtrace(frames, 40), STDERR_FILENO);
  say("rank %d: crashed %s in %s\n", rank, how, call);
  _exit(0);
}

static int is_whole(int count) {
  for (int i = 0; i < guard; ++i)
    if (around[i] != untouched) return 0;
  for (long* at = theirs + count; at < around + guard + most * 8 + guard; ++at)
    if (*at != untouched) return 0;
  return 1;
}

static void ended(int code, int count) {
  char text[MPI_MAX_ERROR_STRING];
  if (!is_whole(count)) say("rank %d: overrun in %s\n", rank, call);
  if (code == MPI_SUCCESS) return;
  explain(code, text);
  say("rank %d: told %s: %s\n", rank, call, text);
  _exit(0);
}

static int call_of(int kind, int count, MPI_Request* request) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  switch (kind) {
    case 0: call = "iallreduce"; return MPI_Iallreduce(mine, theirs, count, MPI_LONG, MPI_SUM, comm, request);
    case 1: call = "ibcast"; return MPI_Ibcast(theirs, count, MPI_LONG, size - 1, comm, request);
    case 2: call = "iallgather"; return MPI_Iallgather(mine, count, MPI_LONG, theirs, count, MPI_LONG, comm, request);
    case 3: call = "ialltoall"; return MPI_Ialltoall(mine, count / size, MPI_LONG, theirs, count / size, MPI_LONG, comm, request);
    case 4: call = "allreduce"; return MPI_Allreduce(mine, theirs, count, MPI_LONG, MPI_SUM, comm);
    case 5: call = "bcast"; return MPI_Bcast(theirs, count, MPI_LONG, size - 1, comm);
    case 6: call = "allgather"; return MPI_Allgather(mine, count, MPI_LONG, theirs, count, MPI_LONG, comm);
    case 7: call = "alltoall"; return MPI_Alltoall(mine, count / size, MPI_LONG, theirs, count / size, MPI_LONG, comm);
    default: call = "barrier"; return MPI_Barrier(comm);
  }
}

/* All bytes of a result are within `size` times `count`. */
static void use(unsigned* seed) {
  const int kind = rand_r(seed) % 9, count = rand_r(seed) % 3 == 0 ? most : 1 + rand_r(seed) % 30;
  MPI_Request request = MPI_REQUEST_NULL;
  for (int i = 0; i < guard + most * 8 + guard; ++i) around[i] = untouched;
  ended(call_of(kind, count, &request), count * size);
  if (request != MPI_REQUEST_NULL) ended(MPI_Wait(&request, MPI_STATUS_IGNORE), count * size);
  ++done;
}

/* Of the pages that are there: most of the memory has never been used. */
static void damage(unsigned seed) {
  char line[512], *there = NULL;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) {
    unsigned long begin, end;
    if (!strstr(line, "espalier") || strstr(line, ".so") || sscanf(line, "%lx-%lx rw-s", &begin, &end) != 2) continue;
    const size_t pages = (end - begin) / 4096;
    there = realloc(there, pages);
    if (mincore((void*)begin, end - begin, (unsigned char*)there) != 0) continue;
    for (size_t i = 0; i < pages; ++i)
      for (long n = 0; (there[i] & 1) && n < words; ++n) {
        volatile uint64_t* at = (uint64_t*)(begin + i * 4096) + rand_r(&seed) % 512;
        const uint64_t random = (uint64_t)rand_r(&seed) << 33 ^ (uint64_t)rand_r(&seed);
        *at = rand_r(&seed) % 2 ? random : random % 4096;
      }
  }
}

/* Rank 0 goes on calling meanwhile. */
static void* damage_for_a_while(void* argument) {
  unsigned seed = *(unsigned*)argument;
  for (int i = 0; i < 10; ++i) {
    damage(seed + (unsigned)i);
    usleep(30000);
  }
  _exit(1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 3) return 2;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const struct sigaction action = {.sa_sigaction = crashed, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  unsigned seed = (unsigned)atoi(argv[1]), begin = seed;
  pthread_t watcher;
  pthread_create(&watcher, NULL, watch, NULL);
  for (int i = 0; i < 40; ++i) use(&seed);
  words = atol(argv[2]);
  pthread_t damager;
  if (rank == 0) pthread_create(&damager, NULL, damage_for_a_while, &begin);
  for (;;) use(&seed);
}
