// What processes and aggregation nodes say to each other: frames of a fixed head and a bounded payload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace espalier::sharp {

enum class Kind : std::uint8_t {
  hello = 1,   ///< first of all, from below: who it is, and a random number
  challenge,   ///< the answer: another random number, and the proof that the node knows the token
  proof,       ///< from below: the proof that who said hello knows it, too
  welcome,     ///< from above: let in; the tree's limits, and the code of a pong
  refused,     ///< from above, before the connection is closed: code and text
  join,        ///< from below: a member of a group, or all members below an aggregation node
  joined,      ///< from above: the group stands
  contribute,  ///< from below: a part of one operation
  result,      ///< from above: what it came to
  failed,      ///< both ways: the group is over, with code, culprit and text
  leave,       ///< from below: no more operations of this group
  ping,        ///< are you there?
  pong,        ///< the answer, or news from above; its code says whether the node reaches the root
};

enum class Operation : std::uint8_t { barrier, allreduce, reduce, bcast };

/// Who says hello.
enum class Role : std::uint8_t { process, node };

/// Flags of a join.
inline constexpr std::uint16_t wants_lock = 1;

struct Frame {
  Kind kind = Kind::ping;
  Operation operation = Operation::barrier;
  std::uint8_t op = 0;    ///< enum sharp_reduce_op
  std::uint8_t type = 0;  ///< enum sharp_datatype
  Role role = Role::process;
  std::uint16_t flags = 0;
  std::int32_t code = 0;       ///< enum sharp_error_no
  std::uint32_t rank = 0;      ///< of a group; in a hello the process's in the job; in failed the culprit
  std::uint32_t size = 0;      ///< join: the group's members; contribute: bytes of the result
  std::uint32_t root = 0;      ///< of a reduce or bcast
  std::uint64_t job = 0;       ///< made at random by the job
  std::uint64_t group = 0;     ///< made at random by the group's first member
  std::uint64_t sequence = 0;  ///< of the group's operations, from 0
  std::vector<std::byte> payload;

  std::string text() const;
  void set_text(std::string_view text);
  bool operator==(const Frame&) const = default;
};

/// A culprit that is no rank.
inline constexpr std::uint32_t no_rank = 0xffffffff;

/// Little-endian on every machine; a frame is `head_bytes` and its payload.
inline constexpr std::size_t head_bytes = 64;
void append(std::vector<std::byte>& out, const Frame& frame);

/// The other side does not keep to the protocol; the connection is of no more use.
class ProtocolError : public Error {
 public:
  using Error::Error;
};

/// Cuts a stream of bytes into frames, wherever it is torn. Holds no more than one frame and what one feed()
/// brought.
class Reader {
 public:
  /// `longest`: the longest payload that is taken; more is a ProtocolError before it is kept.
  explicit Reader(std::size_t longest) : longest_(longest) {}
  void allow(std::size_t longest) { longest_ = longest; }
  /// Gives back what is not needed for what it holds: after the frames have been taken out.
  void trim();
  void feed(std::span<const std::byte> bytes);
  /// The next whole frame; nothing while it is not all there. Throws ProtocolError for what is no frame.
  std::optional<Frame> next();

 private:
  std::size_t longest_;
  std::vector<std::byte> buffer_;
  std::size_t read_ = 0;  // of the buffer
};

}  // namespace espalier::sharp
