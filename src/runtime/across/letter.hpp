// What ranks send each other in nonblocking collectives over nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace espalier::runtime::across {

/// In front of a message's data. Plain bytes: it crosses the network.
struct Head {
  static constexpr std::int32_t whole_node = -1;

  std::uint64_t call;   ///< its number in the stream
  std::uint64_t bytes;  ///< of the call: what CallFacts says, as root, collective and operation below
  std::int32_t stream;
  std::int32_t node;  ///< whose ranks have given the data,
  std::int32_t part;  ///< all of them, or one, by its number on its node
  std::int32_t root;
  std::uint16_t collective, operation;
  std::uint32_t piece;  ///< of data that go in several letters
};
static_assert(sizeof(Head) == 40);

/// A head and the data. Never changed once it is sent.
using Letter = std::vector<std::byte>;

inline Head head_of(const Letter& letter) {
  Head head;
  std::memcpy(&head, letter.data(), sizeof head);
  return head;
}
inline const std::byte* data_of(const Letter& letter) { return letter.data() + sizeof(Head); }
inline std::size_t data_bytes(const Letter& letter) { return letter.size() - sizeof(Head); }

/// Room for the data behind the head.
inline std::shared_ptr<Letter> make_letter(const Head& head, std::size_t bytes) {
  auto letter = std::make_shared<Letter>(sizeof head + bytes);
  std::memcpy(letter->data(), &head, sizeof head);
  return letter;
}

}  // namespace espalier::runtime::across
