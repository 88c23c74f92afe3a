// What carries messages between processes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace espalier::network {

/// Names a message under way.
using Ticket = std::uint64_t;

/// Non-blocking messages between the processes of a job, numbered as in MPI_COMM_WORLD.
///
/// Messages of one sender, one receiver and one tag arrive in the order in which they were sent; nothing else
/// is ordered. A receiver names sender, tag and the exact size. Thread-safe: communicators of several threads
/// share one transport. All calls throw espalier::Error when the network fails or a message is longer than
/// its receiver expects.
class Transport {
 public:
  virtual ~Transport() = default;

  /// `data` stays unchanged, or untouched, until test() has said true.
  virtual Ticket send(int process, int tag, const void* data, std::size_t bytes) = 0;
  virtual Ticket receive(int process, int tag, void* data, std::size_t bytes) = 0;
  /// Whether the message is done; drives progress. After true the ticket means nothing any more.
  virtual bool test(Ticket ticket) = 0;
  /// Drives progress when there is nothing to test.
  virtual void poke() = 0;

  /// Tags go from 0 to tags() - 1.
  virtual int tags() const = 0;
  /// The longest message.
  static constexpr std::size_t longest = std::size_t{1} << 30;
};

}  // namespace espalier::network
