#include "simulation/fiber/stacks.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/error.hpp"
#include "base/format.hpp"

namespace espalier::simulation {
namespace {

constexpr std::size_t page = 4096;
constexpr std::uint64_t canary = 0x5e7ab1e5ca4a4125;

}  // namespace

Stacks::Stacks(std::size_t count, std::size_t bytes)
    : count_(count), bytes_((bytes + page - 1) / page * page) {
  void* memory = mmap(nullptr, count_ * bytes_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw Error(
        formatted("no address space for {} simulated ranks with stacks of {} bytes each: {}; simulate "
                  "fewer ranks, or by record and replay",
                  count_, bytes_, std::strerror(errno)));
  base_ = static_cast<std::byte*>(memory);
  for (std::size_t i = 0; i < count_; ++i) std::memcpy(at(i).data(), &canary, sizeof canary);
}

Stacks::~Stacks() { munmap(base_, count_ * bytes_); }

bool Stacks::is_intact(std::size_t index) const {
  return std::memcmp(at(index).data(), &canary, sizeof canary) == 0;
}

}  // namespace espalier::simulation
