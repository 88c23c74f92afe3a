// Which share of the arena belongs to which communicator: a table in shared memory, by which ranks find the
// share of a new communicator without a word to each other.
#pragma once

#include <pthread.h>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "memory/arena.hpp"
#include "memory/flag_line.hpp"

namespace espalier::memory {

/// A number of 128 bits that is equal where it has been made of the same things, and nowhere else.
struct Identity {
  std::uint64_t high = 0, low = 0;
  friend auto operator<=>(const Identity&, const Identity&) = default;
  explicit operator bool() const { return high != 0 || low != 0; }
};

/// What a share has at its beginning (machine::Layout::registration()). All of it is written and read under
/// the directory's lock. Offsets are those of the arena.
struct Registration {
  std::uint64_t next;        ///< in the chain of its communicator's name
  std::uint64_t next_idle;   ///< of its group
  Identity communicator;     ///< which has it now
  Identity group;            ///< the ranks that have it, and had it before
  std::uint64_t generation;  ///< of this allotment: no other share has the same; 0: it has gone back
  std::uint64_t bytes;
  std::uint64_t slots;        ///< where the slots are; 0: not yet
  std::uint64_t slots_bytes;  ///< 0: not yet; all ones: there was no memory for them
  double ranks_per_core;
  std::int32_t ranks;
  std::int32_t slot_count;  ///< of a ring
  std::int32_t many_pairwise;
  std::int32_t left;     ///< how many ranks use it no more
  std::int32_t spoiled;  ///< not to be used again
};

static_assert(sizeof(Registration) <= sizeof(FlagLine), "it has one line of the share");

/// What a communicator's first rank says of its share.
struct NewShare {
  std::uint64_t bytes = 0;
  double ranks_per_core = 1;
  int slot_count = 0;
  bool many_pairwise = false;
};

/// Lies in the notes of the arena, zeroed before found(). Each function may be called by any process of the
/// node at any time; the lock is robust, as the arena's.
class ShareDirectory {
 public:
  ShareDirectory(Arena& arena, std::byte* place, std::size_t registration)
      : arena_(&arena), table_(reinterpret_cast<Table*>(place)), registration_(registration) {}
  static std::size_t bytes() { return sizeof(Table); }
  /// By one process, before any other sees it.
  void found();

  /// A copy of the registration, and where the share is.
  struct Found {
    std::uint64_t offset = 0;  ///< 0: none
    Registration registration{};
  };
  /// The share of the communicator: the one that another of its ranks has got, or an idle one of its group,
  /// or a new one. `make()` says what a new one is like; `prepare(offset)` backs it with memory and fills it,
  /// or returns false. No share: there was no memory for this one or for an earlier one. Then there is none
  /// for any communicator that has none yet, so that all ranks come to the same end without a word.
  Found obtain(const Identity& communicator, const Identity& group, int ranks,
               const std::function<NewShare()>& make,
               const std::function<bool(std::uint64_t offset)>& prepare);

  /// Whether a rank of the communicator has obtained its share, and is not the last to have left it.
  bool has(const Identity& communicator);

  /// The slots of a share, which the first rank that asks allots: their offset, or 0, for all ranks alike,
  /// where there was no memory. `back(slots)` backs them.
  std::uint64_t obtain_slots(std::uint64_t offset, std::uint64_t bytes,
                             const std::function<bool(Share slots)>& back);

  /// This rank uses the share no more. The last one to say so calls `clean()`, and the share becomes idle, or
  /// goes back to the arena: if it is spoiled, memory is scarce or many are idle.
  void leave(std::uint64_t offset, bool spoiled, const std::function<void()>& clean);

  /// Whether the group still has the share that had that generation.
  bool is_kept(std::uint64_t offset, const Identity& group, std::uint64_t generation);

 private:
  static constexpr std::size_t chains = 1024;
  struct Table {
    pthread_mutex_t mutex;
    std::uint64_t exhausted;
    std::uint64_t generation;
    std::uint64_t idle;  ///< how many shares are
    std::array<std::uint64_t, chains> of_communicators, idle_of_groups;
  };
  using Next = std::uint64_t Registration::*;

  Registration& at(std::uint64_t offset) const {
    return *reinterpret_cast<Registration*>(arena_->at(offset) + registration_);
  }
  std::uint64_t& chain(std::array<std::uint64_t, chains>& heads, const Identity& of) const {
    return heads[of.low % chains];
  }
  template <class IsIt>
  std::uint64_t find(std::uint64_t first, Next next, IsIt is_it) const;
  std::uint64_t find_in_use(const Identity& communicator) const;
  bool is_place(std::uint64_t offset) const;
  void unlink(std::uint64_t& head, Next next, std::uint64_t offset) const;
  void link(std::uint64_t& head, Next next, std::uint64_t offset) const;
  void give_back(std::uint64_t offset);
  void give_back_idle();
  Share allocate(std::uint64_t bytes);
  bool is_scarce() const;
  std::uint64_t allot(const Identity& communicator, const Identity& group, int ranks, const NewShare& wanted,
                      const std::function<bool(std::uint64_t offset)>& prepare);

  Arena* arena_;
  Table* table_;
  std::size_t registration_;
};

}  // namespace espalier::memory
