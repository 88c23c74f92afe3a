// How a few bytes are exchanged before there is a faster way: among the processes of a job, or the leaders of
// a communicator.
#pragma once

#include <cstddef>

namespace espalier::network {

/// Collective, blocking; all throw espalier::Error. Used by one thread at a time.
class OutOfBand {
 public:
  virtual ~OutOfBand() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual void bcast(void* data, std::size_t bytes, int root) = 0;
  virtual void barrier() = 0;
  /// `all`: room for size() * bytes at the root, unused elsewhere.
  virtual void gather(int root, const void* mine, void* all, std::size_t bytes) = 0;
};

}  // namespace espalier::network
