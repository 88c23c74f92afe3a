// What one run of `compare` measures.
#ifndef ESPALIER_BENCH_OPTIONS_H
#define ESPALIER_BENCH_OPTIONS_H

#include <stddef.h>

enum { MAX_POINTS = 32, MAX_CPUS = 256 };

enum collective { BARRIER, BCAST, REDUCE, ALLREDUCE, COLLECTIVES };

enum pin { PIN_AUTO, PIN_YES, PIN_NO };

struct options {
  int wanted[COLLECTIVES];  // which collectives
  size_t bytes[MAX_POINTS];
  int sizes;
  int rounds;
  int reused;        // 1: the send buffer is left as it is between the timed calls of a round
  int host_only;     // 1: measure only the host (PMPI names)
  int limits;        // 1: also measure memcpy and copy-in-copy-out
  int rotate_roots;  // 1: root = round % ranks, else 0
  enum pin pin;
  int cpu[MAX_CPUS];  // processors to pin to, rank modulo their number; none: those the launcher left
  int cpus;
  double seconds;   // stop starting new rounds after this long; 0: never
  const char* out;  // file for the JSON lines; NULL: standard output
};

const char* collective_name(enum collective which);

// Fills `o` from the command line. On a bad argument prints one line to standard error and returns -1.
int options_parse(struct options* o, int argc, char** argv);

#endif
