// What the runtime needs from the launcher of the ranks, before they share memory.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace espalier::runtime {

/// The ranks of a communicator and a way for them to exchange a few bytes. The interposer builds it on the
/// host's PMPI_Allgather, the C API on the user's callback.
struct Bootstrap {
  int rank = 0;
  int size = 1;
  /// Collective over the communicator: `all` receives `bytes` from each rank, in rank order. Throws
  /// espalier::Error.
  std::function<void(const void* mine, void* all, std::size_t bytes)> allgather;
  /// How many milliseconds are left for all that is done with it; empty: there is no such bound.
  std::function<int()> left_ms = {};
};

/// One round of the bootstrap.
template <class T>
std::vector<T> exchange(const Bootstrap& bootstrap, const T& mine) {
  std::vector<T> all(static_cast<std::size_t>(bootstrap.size));
  bootstrap.allgather(&mine, all.data(), sizeof(T));
  return all;
}

}  // namespace espalier::runtime
