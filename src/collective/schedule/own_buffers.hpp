// Buffers of a rank's own memory, in which it gives what the memory that the ranks share has no room for.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "machine/concept.hpp"
#include "memory/flag_line.hpp"

namespace espalier::collective {

/// Each is kept until all ranks have finished the call that it is for, on whatever communicator that is: a rank may free
/// the communicator when it has completed the call itself, and others read the buffer then still. None of them comes to
/// the end of MPI_Finalize before it has read.
class OwnBuffers {
 public:
  OwnBuffers() = default;
  OwnBuffers(const OwnBuffers&) = delete;
  OwnBuffers& operator=(const OwnBuffers&) = delete;
  ~OwnBuffers() {
    // Never destroyed: the process ends with it.
    static std::vector<Buffer>& left_behind = *new std::vector<Buffer>;
    static std::mutex& mutex = *new std::mutex;
    const std::lock_guard lock(mutex);
    for (Buffer& each : all_) left_behind.push_back(std::move(each));
  }

  /// nullptr: there is no memory, or the kernel does not read it.
  template <machine::Machine M>
  std::byte* take(M& m, std::size_t bytes, memory::Step number) {
    std::erase_if(all_, [&](const Buffer& each) { return is_read(m, each.number); });
    std::unique_ptr<std::byte[]> data(new (std::nothrow) std::byte[bytes]);
    if (!data || !m.can_expose(data.get(), bytes, true)) return nullptr;
    return all_.emplace_back(std::move(data), number).data.get();
  }

  std::size_t count() const { return all_.size(); }

 private:
  struct Buffer {
    std::unique_ptr<std::byte[]> data;
    memory::Step number;
  };

  template <machine::Machine M>
  static bool is_read(M& m, memory::Step number) {
    for (int rank = 0; rank < m.size(); ++rank)
      if (!m.finished(rank, number)) return false;
    return true;
  }

  std::vector<Buffer> all_;
};

}  // namespace espalier::collective
