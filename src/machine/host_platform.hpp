// What the protocol of ranks stands on: flags and fences, the kernel's help with waiting, copies. The
// protocol's own text (wait.hpp, host_machine.hpp and its parts) is written against a platform, so that
// simulate/ runs and checks that very text on platforms of its own. On this one all is inlined, and costs
// nothing.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "memory/copy/copy.hpp"
#include "memory/copy/remote_read.hpp"
#include "memory/copy/ring_choice.hpp"
#include "memory/copy/slot_writer.hpp"
#include "memory/flag_line.hpp"
#include "memory/heap/peer_heaps.hpp"
#include "memory/layout/copy_runs.hpp"
#include "memory/read_refusals.hpp"
#include "reduce/operation.hpp"

namespace espalier::machine {

using memory::FlagLine;
using memory::Step;

template <class Platform>
class BasicWaiter;

/// Tells the processor that this is a spin loop.
inline void pause_cpu() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // yield is a no-op on most cores; isb waits for a few dozen cycles
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

/// Real shared memory and the kernel. All functions are thread-safe.
struct HostPlatform {
  using Line = FlagLine;
  using Waiter = BasicWaiter<HostPlatform>;

  static void fence(std::memory_order order) { std::atomic_thread_fence(order); }

  /// Sleeps while the futex half of line.step is `seen`, `microseconds` at most.
  static void futex_wait(Line& line, std::uint32_t seen, std::uint32_t microseconds);
  static void futex_wake_all(Line& line);
  static void pause() { pause_cpu(); }
  static void yield();
  static std::int64_t now_ns();  ///< of a clock that never goes back

  static void copy(void* target, const void* source, std::size_t bytes) {
    memory::copy(target, source, bytes);
  }
  static void copy_runs(void* target, std::ptrdiff_t target_step, const void* source,
                        std::ptrdiff_t source_step, std::size_t bytes, std::size_t count) {
    memory::copy_runs(target, target_step, source, source_step, bytes, count);
  }
  using SlotWriter = memory::SlotWriter<>;
  using RingChoice = memory::RingChoice<>;
  static void settle_streams() { memory::settle_streams(); }
  // Into a line, which simulated platforms count apart from copies.
  static void copy_small(void* target, const void* source, std::size_t bytes) {
    memory::copy(target, source, bytes);
  }
  static void fold(const reduce::Operation& operation, void* target, const void* const* sources, int count,
                   std::size_t bytes) {
    operation.kernel(target, sources, count, bytes / operation.extent);
  }

  static bool readable_remotely(const void* source, std::size_t bytes, bool by_kernel) {
    // What the program has streamed there is ordered before the flag that says where it lies.
    memory::settle_streams();
    return memory::readable_remotely(source, bytes, by_kernel);
  }
  static bool refuses_reads() { return memory::read_refusals::known(memory::read_refusals::Way::kernel); }
  static bool read_remotely(pid_t process, void* target, const void* source, std::size_t bytes) {
    return memory::read_remotely(process, target, source, bytes);
  }
  static const void* view_of(pid_t process, const void* source, std::size_t bytes) {
    return memory::peer_heaps::find(process, source, bytes);
  }
};

}  // namespace espalier::machine
