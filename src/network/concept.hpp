// What an algorithm between nodes may do.
#pragma once

#include <concepts>
#include <cstddef>

namespace espalier::network {

/// Some ranks that run an algorithm among themselves, numbered from 0. send() and receive() start a message
/// and return what the algorithm, a coroutine, must co_await exactly once before it touches the data again.
/// Messages between two of them keep their order. A small value: copied into coroutines.
template <class N>
concept Network =
    std::copyable<N> && requires(const N n, int peer, const void* source, void* target, std::size_t bytes) {
      { n.rank() } -> std::same_as<int>;
      { n.size() } -> std::same_as<int>;
      n.send(peer, source, bytes);
      n.receive(peer, target, bytes);
      /// Lets all tasks of this rank go on until done() is true.
      n.drive_until([] { return true; });
    };

}  // namespace espalier::network
