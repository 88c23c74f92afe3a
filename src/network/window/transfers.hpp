// Long data under way, straight from or into their place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "network/transport.hpp"

namespace espalier::network {

/// The messages of some transfers, and what is kept with each transfer until all of its messages are done.
template <class Note>
class Transfers {
 public:
  explicit Transfers(Transport& transport) : transport_(transport) {}

  bool empty() const { return all_.empty(); }

  void send(int process, int tag, const void* data, std::size_t bytes, Note note) {
    const auto* source = static_cast<const std::byte*>(data);
    start(bytes, std::move(note), [&](std::size_t begin, std::size_t count) {
      return transport_.send(process, tag, source + begin, count);
    });
  }
  void receive(int process, int tag, void* data, std::size_t bytes, Note note) {
    auto* target = static_cast<std::byte*>(data);
    start(bytes, std::move(note), [&](std::size_t begin, std::size_t count) {
      return transport_.receive(process, tag, target + begin, count);
    });
  }

  /// Calls done(note) for each transfer that is; true if there was one.
  template <class Done>
  bool drive(Done done) {
    return std::erase_if(all_, [&](Transfer& transfer) {
             if (!is_done(transfer)) return false;
             done(transfer.note);
             return true;
           }) > 0;
  }

 private:
  struct Transfer {
    std::vector<Ticket> messages;
    Note note;
  };

  // As long a transfer as you like, in messages that the transport carries.
  template <class Start>
  void start(std::size_t bytes, Note note, Start message) {
    Transfer& transfer = all_.emplace_back(Transfer{{}, std::move(note)});
    for (std::size_t begin = 0; begin < bytes; begin += Transport::longest)
      transfer.messages.push_back(message(begin, std::min(bytes - begin, Transport::longest)));
  }

  bool is_done(Transfer& transfer) {
    std::erase_if(transfer.messages, [&](Ticket ticket) { return transport_.test(ticket); });
    return transfer.messages.empty();
  }

  Transport& transport_;
  std::vector<Transfer> all_;
};

}  // namespace espalier::network
