// How the processes of one machine find each other by a common name, before they share memory.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

namespace espalier::capi {

/// A star of Unix sockets around rank 0, on abstract addresses: nothing in any file system, and nothing left
/// when a process dies. No call waits at one rank alone, so a rank that ends is seen at once, and rank 0 tells
/// all others which it was. `timeout_ms` is for everything from the constructor on; the others give rank 0 a
/// second more to say whom it has waited for. Used by one thread.
class Meeting {
 public:
  virtual ~Meeting() = default;

  /// Collective: returns when all ranks have come. Throws CodedError (timeout, a rank taken twice, another
  /// size).
  static std::unique_ptr<Meeting> meet(const std::string& name, int rank, int size, int timeout_ms);

  /// Collective: `all` receives `bytes` from each rank, in rank order. Throws CodedError, on all ranks.
  virtual void allgather(const void* mine, void* all, std::size_t bytes) = 0;

  /// What is left of the time.
  int left_ms() const;

 protected:
  using Clock = std::chrono::steady_clock;
  Meeting(const std::string& name, int size, int timeout_ms)
      : name_(name),
        size_(size),
        timeout_ms_(timeout_ms),
        deadline_(Clock::now() + std::chrono::milliseconds(timeout_ms)) {}
  std::string name_;
  int size_;
  int timeout_ms_;
  Clock::time_point deadline_;
};

}  // namespace espalier::capi
