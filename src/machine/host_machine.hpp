// The machine that programs run on: real shared memory, all inlined. Its text is a template over what it
// stands on, for simulation/ (host_platform.hpp), and in parts, each in a file of its own.
#pragma once

#include <vector>

#include "machine/concept.hpp"
#include "machine/host_platform.hpp"
#include "machine/next_message.hpp"

namespace espalier::machine {

/// Models Machine over one arena share. One per communicator and rank; used by one thread at a time. The
/// parts stand on each other: ShareView, FlagLines, Counters, PairwiseBuffers, Slots, DirectReads,
/// NextMessage.
template <class Platform>
class BasicMachine : public NextMessage<Platform> {
  using Base = NextMessage<Platform>;

 public:
  using Base::Base;
  using Base::size;

  // HasKernels
  const void** source_array() { return sources_.data(); }
  void copy(void* target, const void* source, std::size_t bytes) { Platform::copy(target, source, bytes); }
  void copy_runs(void* target, std::ptrdiff_t target_step, const void* source, std::ptrdiff_t source_step,
                 std::size_t bytes, std::size_t count) {
    if constexpr (requires { Platform::copy_runs(target, target_step, source, source_step, bytes, count); }) {
      Platform::copy_runs(target, target_step, source, source_step, bytes, count);
    } else {
      memory::detail::copy_each(
          static_cast<std::byte*>(target), target_step, static_cast<const std::byte*>(source), source_step,
          count, [bytes](std::byte* to, const std::byte* from) { Platform::copy(to, from, bytes); });
    }
  }
  void reduce(const reduce::Operation& operation, void* target, const void* const* sources, int count,
              std::size_t bytes) {
    Platform::fold(operation, target, sources, count, bytes);
  }

 private:
  std::vector<const void*> sources_ = std::vector<const void*>(static_cast<std::size_t>(size()));
};

/// On real memory.
using HostMachine = BasicMachine<HostPlatform>;

static_assert(Machine<HostMachine>);

}  // namespace espalier::machine
