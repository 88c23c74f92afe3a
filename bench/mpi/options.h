// What one run of `compare` measures.
#ifndef ESPALIER_BENCH_OPTIONS_H
#define ESPALIER_BENCH_OPTIONS_H

#include <stddef.h>

#include "layout.h"

enum { MAX_POINTS = 32, MAX_CPUS = 256 };

enum pin { PIN_AUTO, PIN_YES, PIN_NO };

struct options {
  int wanted[COLLECTIVES];  // which collectives
  size_t bytes[MAX_POINTS];
  int sizes;
  enum shape shape;  // of blocks that may differ
  int rounds;
  int reused;        // 1: the send buffer is left as it is between the timed calls of a round
  int allocated;     // 1: buffers come from MPI_Alloc_mem
  int persistent;    // 1: calls are MPI_Start and MPI_Wait of requests that were made before
  int nonblocking;   // 1: calls are nonblocking ones and MPI_Wait
  int host_only;     // 1: measure only the host (PMPI names)
  int limits;        // 1: also measure what the machine can: memcpy, copy-in-copy-out, switches
  int each;          // 1: the time of every single call, both sides in alternating blocks
  int calls_only;    // 1: each point is called once by the MPI names and checked; nothing is timed
  int messages;      // 1: also measure messages within a node and between nodes
  int own_sessions;  // 1: each rank leaves the launcher's session for one of its own
  int rotate_roots;  // 1: root = round % ranks, else 0
  enum pin pin;
  int cpu[MAX_CPUS];  // processors to pin to, rank modulo their number; none: those the launcher left
  int cpus;
  double seconds;  // stop starting new points after this long, but not before the first round is complete; 0:
                   // never
  double late_us;  // one rank, in turn, comes this much later than the others; 0: no rank does
  double compute_us;   // each rank computes so long between the start of a call and its wait
  size_t memory;       // bytes: points whose buffers need more, all ranks together, are left out
  const char* points;  // trials only: the file of its points
  int shift;           // trials only: bytes by which buffers lie off their page, a multiple of 8
  int derived;  // trials only: 1: data are of a datatype of one MPI_DOUBLE, where no operator needs its own
  const char* out;  // file for the JSON lines; NULL: standard output
  // A file that all ranks can map, for the memory that they share: they lie on several emulated nodes of one
  // machine. NULL: the ranks are on one node.
  const char* area;
};

// Fills `o` from the command line. On a bad argument prints one line to standard error and returns -1.
int options_parse(struct options* o, int argc, char** argv);

#endif
