// Messages of any length: what is longer than the transport carries goes in several, and nothing in none.
#pragma once

#include "collective/core/chunks.hpp"
#include "collective/multinode/network/vector.hpp"
#include "network/transport.hpp"

namespace espalier::collective::multinode {

namespace detail {

template <class Start>
Task in_messages(std::size_t bytes, Start start) {
  for (std::size_t done = 0; done < bytes; done += network::Transport::longest) {
    auto message = start(done, std::min(bytes - done, network::Transport::longest));
    co_await message;
  }
}

}  // namespace detail

template <Network N>
Task send_long(N peers, int peer, const std::byte* data, std::size_t bytes) {
  return detail::in_messages(
      bytes, [=](std::size_t offset, std::size_t some) { return peers.send(peer, data + offset, some); });
}

template <Network N>
Task receive_long(N peers, int peer, std::byte* data, std::size_t bytes) {
  return detail::in_messages(
      bytes, [=](std::size_t offset, std::size_t some) { return peers.receive(peer, data + offset, some); });
}

/// Until all of them are done.
template <Network N>
void drive_all(const N& peers, const std::vector<Task>& tasks) {
  for (const Task& task : tasks) peers.drive_until([&task] { return task.done(); });
}

}  // namespace espalier::collective::multinode
