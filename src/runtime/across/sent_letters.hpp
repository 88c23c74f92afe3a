// Letters that are on their way. A rank does not wait for them: what it sends it has a copy of.
#pragma once

#include <list>
#include <memory>
#include <mutex>

#include "network/transport.hpp"
#include "runtime/across/letter.hpp"

namespace espalier::runtime::across {

/// Thread-safe.
class SentLetters {
 public:
  /// Those of the process.
  static SentLetters& instance();
  void add(network::Transport& transport, network::Ticket ticket, std::shared_ptr<const Letter> letter);
  /// Drops those that have gone.
  void look();
  bool all_have_gone();
  /// The job ends: their readers have completed their calls, so they are as good as gone.
  void finish();

 private:
  struct Sent {
    network::Transport* transport;
    network::Ticket ticket;
    std::shared_ptr<const Letter> letter;
  };
  std::mutex mutex_;
  std::list<Sent> all_;
};

}  // namespace espalier::runtime::across
