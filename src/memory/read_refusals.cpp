#include "memory/read_refusals.hpp"

#include <unistd.h>

#include <cstring>

#include "base/format.hpp"

namespace espalier::memory::read_refusals {
namespace {

std::atomic<std::uint32_t> own{0};
std::atomic<std::atomic<std::uint32_t>*> shared{&own};

// acquire: pairs with the release in share(), so that the word is there.
std::atomic<std::uint32_t>& word() { return *shared.load(std::memory_order_acquire); }

}  // namespace

void share(std::atomic<std::uint32_t>* word) {
  own.store(0, std::memory_order_relaxed);
  shared.store(word ? word : &own, std::memory_order_release);
}

// relaxed: a rank that hears of it late still has its data copied.
bool known(Way way) {
  return (word().load(std::memory_order_relaxed) & static_cast<std::uint32_t>(way)) != 0;
}

void note(Way way, pid_t process, int error) {
  const auto bit = static_cast<std::uint32_t>(way);
  if ((word().fetch_or(bit, std::memory_order_relaxed) & bit) != 0) return;
  print_to(stderr,
           "espalier: process {} cannot {} of process {} on its node any more ({}), as after setuid(), "
           "prctl(PR_SET_DUMPABLE) or under a seccomp filter; from now on the ranks of the node copy through "
           "shared memory instead (said once; ESPALIER_{}=off does so from the start)\n",
           getpid(), way == Way::kernel ? "read the memory" : "map the MPI_Alloc_mem memory", process,
           std::strerror(error), way == Way::kernel ? "SINGLE_COPY" : "ALLOC_MEM");
}

}  // namespace espalier::memory::read_refusals
