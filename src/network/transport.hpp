// What carries messages between processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace espalier::network {

/// Names a message under way.
using Ticket = std::uint64_t;

/// A message that has arrived, and for which this process has not called receive() yet.
struct Arrival {
  int process;
  std::size_t bytes;
};

/// Non-blocking messages between the processes of a job, numbered as in MPI_COMM_WORLD.
///
/// Messages of one sender, one receiver and one tag arrive in the order in which they were sent; nothing else
/// is ordered. A receiver names sender, tag and the exact size. Thread-safe: communicators of several threads
/// share one transport. All calls throw espalier::Error when the network fails or a message is longer than
/// its receiver expects.
class Transport {
 public:
  virtual ~Transport() = default;

  /// `data` must not be changed until test() has returned true.
  virtual Ticket send(int process, int tag, const void* data, std::size_t bytes) = 0;
  /// `data` must not be read or written until test() has returned true.
  virtual Ticket receive(int process, int tag, void* data, std::size_t bytes) = 0;
  /// Whether the message is done; drives progress. After true the ticket means nothing any more.
  virtual bool test(Ticket ticket) = 0;
  /// A message with this tag for which receive() has not been called, if one has arrived: the next receive()
  /// from its sender with this tag gets it. Drives progress. Only one thread at a time uses a tag that is
  /// probed.
  virtual std::optional<Arrival> probe(int tag) = 0;
  /// Drives progress when there is nothing to test.
  virtual void make_progress() = 0;
  /// Drives what else this process has under way, such as its windows, while it tests in vain.
  virtual void drive_others() {}

  /// `ticket`: of a receive() that is not done. Afterwards nothing is written to its buffer any more. Its
  /// message may stay without a receiver.
  virtual void cancel(Ticket ticket) {}

  /// Tags go from 0 to tags() - 1.
  virtual int tags() const = 0;
  /// Bytes of the longest message.
  static constexpr std::size_t longest = std::size_t{1} << 30;
};

}  // namespace espalier::network
