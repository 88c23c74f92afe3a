// The buffers in which a rank gives long data to nonblocking collectives.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "collective/schedule/given_data.hpp"
#include "machine/concept.hpp"
#include "memory/flag_line.hpp"

namespace espalier::collective {

struct GivenBuffer {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  memory::Step last = 0;  ///< the call that it was given to last
};

/// One rank's. Memory has
///   std::byte* allocate(std::size_t bytes), of memory that the machine's ranks share; nullptr: there is none;
///   void free(std::byte*, std::size_t bytes).
template <class Memory>
class GivenBuffers {
 public:
  explicit GivenBuffers(Memory memory) : memory_(memory) {}

  /// A buffer that no rank reads any more, for call `number`. nullptr: there is no memory for it now.
  template <machine::Machine M>
  std::byte* take(M& m, BufferLength length, memory::Step number) {
    GivenBuffer* found = is_still_next(m, length) ? &all_[next_] : next_like(m, length);
    if (!found && has_enough_for_turns(length))
      found = find(length, [&](const GivenBuffer& each) { return is_unused(m, each); });
    if (found) return use(*found, number);
    if (all_.size() >= most_kept) give_back_unused(m);
    std::byte* data = memory_.allocate(length.bytes);
    if (!data) {
      found = find(length, [&](const GivenBuffer& each) { return is_unused(m, each); });
      if (found) return use(*found, number);
      if (give_back_unused(m)) data = memory_.allocate(length.bytes);
    }
    if (data) all_.push_back({data, length.bytes, number});
    return data;
  }

  /// The one that take() would find without a look at what others have finished; nullptr: there is none.
  template <machine::Machine M>
  GivenBuffer* next_like(M& m, BufferLength length) {
    GivenBuffer* const found =
        find(length, [&](const GivenBuffer& each) { return is_known_unused(m, each); });
    if (found) next_ = static_cast<std::size_t>(found - all_.data());
    return found;
  }

  /// Another rank has the buffer of call `number`, and this one has `data` for it, of the same length. The other may still
  /// read there.
  void exchange(memory::Step number, std::byte* data) {
    for (GivenBuffer& each : all_)
      if (each.last == number) each.data = data;
  }

  /// Another rank may have the buffer of call `number`.
  void lose(memory::Step number) {
    std::erase_if(all_, [&](const GivenBuffer& each) { return each.last == number; });
  }

  /// Others may still read them.
  std::span<const GivenBuffer> all() const { return all_; }
  Memory& memory() { return memory_; }

 private:
  static constexpr std::size_t most_kept = 16;

  /// Whether the one that was found last, for a call like this, need not be looked for.
  template <machine::Machine M>
  bool is_still_next(M& m, BufferLength length) {
    return next_ < all_.size() && all_[next_].bytes == length.bytes && is_known_unused(m, all_[next_]);
  }

  static std::byte* use(GivenBuffer& buffer, memory::Step number) {
    buffer.last = number;
    return buffer.data;
  }

  /// A rank finishes calls in order, so what it says of the last one goes for all before. This rank, too: the
  /// result of a fold in common may lie there.
  template <machine::Machine M>
  static bool is_unused(M& m, const GivenBuffer& buffer) {
    return m.finished(m.rank(), buffer.last) &&
           std::all_of(m.other_ranks().begin(), m.other_ranks().end(),
                       [&](int peer) { return m.finished(peer, buffer.last); });
  }

  template <machine::Machine M>
  static bool is_known_unused(M& m, const GivenBuffer& buffer) {
    return m.finished(m.rank(), buffer.last) &&
           std::all_of(m.other_ranks().begin(), m.other_ranks().end(),
                       [&](int peer) { return m.known_finished(peer, buffer.last); });
  }

  /// Not one that is much too long, which a longer call may need.
  static bool suits(const GivenBuffer& buffer, BufferLength length) {
    if (length.is_exchanged) return buffer.bytes == length.bytes;
    return buffer.bytes >= length.bytes && buffer.bytes / 4 <= length.bytes;
  }

  /// Short ones are used in turns: when a rank hears of a call, it hears that the call before it is finished,
  /// too. A rank that hears from none looks at the others' finish lines, two misses for each, when none of its
  /// buffers is known to be unused.
  bool has_enough_for_turns(BufferLength length) const {
    constexpr std::size_t most = 128 * 1024, most_short = 32 * 1024;
    const auto is_like = [&](const GivenBuffer& each) { return suits(each, length); };
    return length.bytes > most ||
           std::count_if(all_.begin(), all_.end(), is_like) >= (length.bytes <= most_short ? 4 : 2);
  }

  /// The shortest one that is long enough.
  template <class IsFree>
  GivenBuffer* find(BufferLength length, IsFree is_free) {
    GivenBuffer* best = nullptr;
    for (GivenBuffer& each : all_)
      if (suits(each, length) && (!best || each.bytes < best->bytes) && is_free(each)) best = &each;
    return best;
  }

  template <machine::Machine M>
  bool give_back_unused(M& m) {
    return std::erase_if(all_, [&](const GivenBuffer& each) {
             if (!is_unused(m, each)) return false;
             memory_.free(each.data, each.bytes);
             return true;
           }) > 0;
  }

  Memory memory_;
  std::vector<GivenBuffer> all_;
  std::size_t next_ = 0;  // the one that next_like() found last
};

}  // namespace espalier::collective
