#include "runtime/multinode/leaders_exchange.hpp"

#include <cstring>
#include <vector>

#include "collective/multinode/network/dissemination.hpp"

namespace espalier::runtime {
namespace {

using network::Peers;
using network::Task;

Task send_to_all(Peers peers, const void* data, std::size_t bytes) {
  std::vector<decltype(peers.send(0, data, bytes))> messages;
  for (int peer = 0; peer < peers.size(); ++peer)
    if (peer != peers.rank()) messages.push_back(peers.send(peer, data, bytes));
  for (auto& message : messages) co_await message;
}

Task send_to(Peers peers, int peer, const void* data, std::size_t bytes) {
  auto message = peers.send(peer, data, bytes);
  co_await message;
}

Task receive_from(Peers peers, int peer, void* data, std::size_t bytes) {
  auto message = peers.receive(peer, data, bytes);
  co_await message;
}

Task receive_from_all(Peers peers, std::byte* all, std::size_t bytes) {
  std::vector<decltype(peers.receive(0, all, bytes))> messages;
  for (int peer = 0; peer < peers.size(); ++peer)
    if (peer != peers.rank())
      messages.push_back(peers.receive(peer, all + static_cast<std::size_t>(peer) * bytes, bytes));
  for (auto& message : messages) co_await message;
}

void finish(const Peers& peers, const Task& task) {
  peers.drive_until([&] { return task.done(); });
}

}  // namespace

void LeadersExchange::bcast(void* data, std::size_t bytes, int root) {
  finish(leaders_,
         root == rank() ? send_to_all(leaders_, data, bytes) : receive_from(leaders_, root, data, bytes));
}

void LeadersExchange::barrier() { finish(leaders_, collective::multinode::disseminate(leaders_)); }

void LeadersExchange::gather(int root, const void* mine, void* all, std::size_t bytes) {
  if (root != rank()) return finish(leaders_, send_to(leaders_, root, mine, bytes));
  auto* blocks = static_cast<std::byte*>(all);
  std::memcpy(blocks + static_cast<std::size_t>(root) * bytes, mine, bytes);
  finish(leaders_, receive_from_all(leaders_, blocks, bytes));
}

}  // namespace espalier::runtime
