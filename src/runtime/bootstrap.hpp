// What the runtime needs from whoever launched the ranks, before they share memory.
#pragma once

#include <cstddef>
#include <functional>

namespace espalier::runtime {

/// The ranks of a communicator and a way for them to exchange a few bytes. The interposer builds it on the
/// host's PMPI_Allgather, the C API on the user's callback.
struct Bootstrap {
  int rank = 0;
  int size = 1;
  /// Collective over the communicator: `all` receives `bytes` from each rank, in rank order. Throws
  /// espalier::Error.
  std::function<void(const void* mine, void* all, std::size_t bytes)> allgather;
};

}  // namespace espalier::runtime
