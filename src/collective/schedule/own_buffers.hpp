// Buffers of a rank's own memory, in which it gives what the memory that the ranks share has no room for.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "collective/schedule/memory_demand.hpp"

namespace espalier::collective {

/// Each is kept until all ranks have finished the call that it is for. A rank may free the communicator when it has
/// completed the call itself, while others still read: what is left then is kept until the process ends. That is after
/// MPI_Finalize, which no rank calls before it has read.
class OwnBuffers {
 public:
  OwnBuffers() = default;
  OwnBuffers(const OwnBuffers&) = delete;
  OwnBuffers& operator=(const OwnBuffers&) = delete;
  ~OwnBuffers() {
    static std::vector<Buffer>& left_behind = *new std::vector<Buffer>;
    static std::mutex& mutex = *new std::mutex;
    const std::lock_guard lock(mutex);
    for (Buffer& each : all_) left_behind.push_back(std::move(each));
  }

  /// nullptr: there is no memory, or the kernel does not read it.
  template <machine::Machine M>
  std::byte* take(M& m, std::size_t bytes, memory::Step number) {
    std::erase_if(all_, [&](const Buffer& each) { return finished_by_all(m, each.number); });
    std::unique_ptr<std::byte[]> data(new (std::nothrow) std::byte[bytes]);
    if (!data || !m.can_expose(data.get(), bytes, true)) return nullptr;
    return all_.emplace_back(std::move(data), number).data.get();
  }

 private:
  struct Buffer {
    std::unique_ptr<std::byte[]> data;
    memory::Step number;
  };

  std::vector<Buffer> all_;
};

}  // namespace espalier::collective
