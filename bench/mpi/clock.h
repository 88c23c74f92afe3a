// One clock for all ranks of a node, in ticks that cost a few nanoseconds to read.
#ifndef ESPALIER_BENCH_CLOCK_H
#define ESPALIER_BENCH_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_kernel_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#if defined(__x86_64__)
#include <x86intrin.h>

// rdtscp waits for the instructions before it, so that no part of a call slips behind its end stamp.
static inline int64_t clock_ticks(void) {
  unsigned core;
  return (int64_t)__rdtscp(&core);
}
#else
static inline int64_t clock_ticks(void) { return clock_kernel_ns(); }
#endif

static inline void cpu_relax(void) {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Nanoseconds per tick, measured against the kernel's clock over about 20 ms.
double clock_calibrate(void);

#endif
