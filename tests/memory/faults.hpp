// What a process pays for pages that are not mapped yet.
#pragma once

#include <sys/mman.h>
#include <sys/resource.h>

namespace espalier::testing {

/// Minor faults of this process while a function runs.
template <class Body>
long faults_of(Body body) {
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  body();
  getrusage(RUSAGE_SELF, &after);
  return after.ru_minflt - before.ru_minflt;
}

/// Whether this kernel has MADV_POPULATE_WRITE. `page`: one of shared memory.
inline bool maps_pages_on_demand(void* page) {
  constexpr int populate_write = 23;
  return madvise(page, 4096, populate_write) == 0;
}

}  // namespace espalier::testing
