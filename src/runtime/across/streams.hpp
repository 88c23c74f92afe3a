// What a rank has called in each stream of a communicator over nodes, and which streams have failed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "machine/fingerprint.hpp"
#include "runtime/across/position.hpp"
#include "runtime/failure/recent_calls.hpp"

namespace espalier::runtime::across {

inline constexpr int nonblocking_stream = 0;
inline constexpr int meetings_stream =
    1;  ///< of ranks that prepare persistent calls, each of which has one of its own

/// Why calls of a stream cannot be done.
struct Failure {
  std::uint64_t from;  ///< the first of them
  std::string why;
  bool is_told;  ///< by another rank
};

/// Used by one thread at a time.
class Streams {
 public:
  /// The number of the next call.
  std::uint64_t begin(int stream, const machine::CallFacts& facts);
  /// No more calls come.
  void close(int stream);
  bool is_closed(int stream) const { return closed_.contains(stream); }
  /// How many calls this rank has begun. Of a stream that was closed long ago: more than any.
  std::uint64_t begun(int stream) const;
  struct Call {
    machine::CallFacts facts;
    machine::Fingerprint history = 0;  ///< of all calls up to this one
  };
  /// What call it was, if that is known still.
  std::optional<Call> find(int stream, std::uint64_t call) const;
  /// The last ones, as they go in a letter.
  SentCalls recent(int stream) const {
    const auto found = open_.find(stream);
    return found != open_.end() ? found->second.recent : SentCalls();
  }

  /// False: as much is known.
  bool fail(int stream, const Failure& failure);
  const Failure* failure(int stream, std::uint64_t call) const;

  void note_blocking(std::uint64_t calls) { blocking_ = calls; }
  Position position() const { return {blocking_, begun(nonblocking_stream), begun(meetings_stream)}; }

 private:
  static constexpr std::uint64_t kept = 16;
  static constexpr std::size_t most_closed = 1024;
  struct Stream {
    SentCalls recent;
    std::array<Call, kept> calls{};
  };
  std::map<int, Stream> open_;
  std::map<int, std::uint64_t> closed_;  // and how many calls they had
  int forgotten_ = -1;                   // the last of those that were closed before
  std::map<int, Failure> failures_;
  std::uint64_t blocking_ = 0;
};

}  // namespace espalier::runtime::across
