// What ranks send each other in nonblocking collectives over nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "machine/fingerprint.hpp"
#include "runtime/across/position.hpp"
#include "runtime/failure/recent_calls.hpp"

namespace espalier::runtime::across {

/// In front of a message's data. Plain bytes: it crosses the network.
struct Head {
  static constexpr std::int32_t whole_node = -1;
  /// No data: the stream has failed from that call on; the sender waits in that call.
  static constexpr std::int32_t notice = -2, question = -3;

  std::uint64_t call;   ///< its number in the stream
  std::uint64_t bytes;  ///< of the call: what CallFacts says, as root, collective and operation below
  std::int32_t stream;
  std::int32_t node;  ///< whose ranks have given the data,
  std::int32_t part;  ///< all of them, or one, by its number on its node
  std::int32_t root;
  std::uint16_t collective, operation;
  std::uint32_t
      piece;  ///< of data that go in several letters; of a letter without data its sender's number on the node
  machine::Fingerprint history;  ///< of all calls of the stream up to that one
  std::uint32_t unused = 0;

  bool has_data() const { return part >= whole_node; }
};
static_assert(sizeof(Head) == 48);

inline machine::CallFacts facts_in(const Head& head) {
  return {static_cast<Collective>(head.collective), head.root, head.bytes, head.operation};
}

/// Behind the head of a notice, which has a reason in words after it, or of a question.
struct Word {
  std::uint64_t use;  ///< of the tag: a late letter of an earlier communicator may come
  Position position;  ///< of the sender
  SentCalls calls;    ///< the sender's last ones of the stream
  std::int64_t dead;  ///< a notice that this rank's process has ended, whatever the stream; -1: it is none
};

/// A head and the data. Never changed once it is sent.
using Letter = std::vector<std::byte>;

inline Head head_of(const Letter& letter) {
  Head head;
  std::memcpy(&head, letter.data(), sizeof head);
  return head;
}
inline const std::byte* data_of(const Letter& letter) { return letter.data() + sizeof(Head); }
inline std::size_t data_bytes(const Letter& letter) { return letter.size() - sizeof(Head); }

inline Word word_of(const Letter& letter) {
  Word word;
  std::memcpy(&word, data_of(letter), sizeof word);
  return word;
}
inline std::string reason_in(const Letter& letter) {
  return {reinterpret_cast<const char*>(data_of(letter)) + sizeof(Word), data_bytes(letter) - sizeof(Word)};
}

/// Room for the data behind the head.
inline std::shared_ptr<Letter> make_letter(const Head& head, std::size_t bytes) {
  auto letter = std::make_shared<Letter>(sizeof head + bytes);
  std::memcpy(letter->data(), &head, sizeof head);
  return letter;
}

inline std::shared_ptr<Letter> make_letter(const Head& head, const Word& word, std::string_view reason) {
  auto letter = make_letter(head, sizeof word + reason.size());
  std::byte* const place = letter->data() + sizeof head;
  std::memcpy(place, &word, sizeof word);
  if (!reason.empty()) std::memcpy(place + sizeof word, reason.data(), reason.size());
  return letter;
}

}  // namespace espalier::runtime::across
