#include "clock.h"

double clock_calibrate(void) {
  const int64_t kernel_start = clock_kernel_ns();
  const int64_t ticks_start = clock_ticks();
  int64_t kernel_end = kernel_start;
  while (kernel_end - kernel_start < 20000000) kernel_end = clock_kernel_ns();
  const int64_t ticks_end = clock_ticks();
  return (double)(kernel_end - kernel_start) / (double)(ticks_end - ticks_start);
}
