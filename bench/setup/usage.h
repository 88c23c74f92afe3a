// What a process holds: memory, descriptors and maps, from /proc/self.
#ifndef ESPALIER_BENCH_USAGE_H
#define ESPALIER_BENCH_USAGE_H

#include <stdio.h>

struct usage {
  long rss_kib;         // VmRSS: resident, shared pages included
  long shmem_kib;       // RssShmem: the shared pages in it
  long own_shmem_kib;   // Pss_Shmem: the same, each page divided by the number of processes that map it
  long descriptors;
  long maps;
};

struct usage usage_now(void);

// Prints the mean of all ranks as `"name": {...}`. On all ranks (uses PMPI); `out` is NULL but on rank 0.
void usage_print(FILE* out, const char* name, const struct usage* mine, int size);

#endif
