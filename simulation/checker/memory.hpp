// Memory as a weakly ordered processor may show it: every rank has a view of its own, and what another rank
// stores gets there no sooner than an acquire asks for it.
//
// Flags are atomic: a flag is the list of the values it took, and a load may read any that is not older than
// what the rank knows of. A store that a rank has not heard of by way of a release and an acquire is a store
// still in its writer's buffer. This is the release-acquire memory of C++20 with its fences, without reads of
// values that are stored later (J. Kang et al., "A Promising Semantics for Relaxed-Memory Concurrency", 2017,
// section 4, without promises); values take their place in a flag's order as they are stored.
//
// All else is plain: two accesses of which one writes must be ordered. An access that is not is reported,
// whatever value it would have read; and since algorithms look at small things without saying so, bytes
// that a rank may not read are junk in its view.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulation/checker/clock.hpp"

namespace espalier::simulation::checker {

/// Of two accesses that nothing orders, or of one where nothing may be.
struct Trespass {
  std::size_t offset;  ///< the first such byte
  Moment other;        ///< of the other access; never: the byte was not written at all
  bool other_wrote;
};

class Memory {
 public:
  /// Throws Error when the system has no address space for the views.
  Memory(int ranks, std::size_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// As if new.
  void reset();

  int ranks() const { return ranks_; }
  std::size_t bytes() const { return bytes_; }
  std::byte* view(int rank) const { return reserve_ + static_cast<std::size_t>(rank) * apart; }
  /// Whether the address is in the rank's view, or so near that a wrong offset led there.
  bool is_near_view(int rank, const void* address) const {
    return address >= view(rank) && address < view(rank) + apart;
  }
  std::size_t offset_of(int rank, const void* address) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(address) - view(rank));
  }
  std::uint32_t time_of(int rank) const { return state(rank).clock[rank]; }
  const Clock& clock_of(int rank) const { return state(rank).clock; }

  // Plain bytes.
  /// What is there before any rank runs.
  void put(std::size_t offset, const void* data, std::size_t bytes);
  std::optional<Trespass> read(int rank, std::size_t offset, std::size_t bytes);
  /// The bytes have been written in the rank's view.
  std::optional<Trespass> wrote(int rank, std::size_t offset, std::size_t bytes);
  /// Finds and takes note of what the rank has written there without telling.
  std::optional<Trespass> find_writes(int rank, std::size_t offset, std::size_t bytes);
  /// Where the rank has written last without telling, of all there is; bytes() for nowhere.
  std::size_t stray_write(int rank);
  /// No rank may touch this any more; all accesses so far must be ordered before.
  std::optional<Trespass> freed(int rank, std::size_t offset, std::size_t bytes);
  bool is_freed(std::size_t offset) const { return freed_[offset]; }

  // Flags, named by their offset.
  /// How many values the rank may read: the newest, and those before it.
  std::size_t readable(int rank, std::size_t flag);
  /// `age` 0 reads the newest value.
  std::uint64_t load(int rank, std::size_t flag, std::size_t age, std::memory_order order);
  void store(int rank, std::size_t flag, std::uint64_t value, std::memory_order order);
  /// In one step with the load of the value before, which is always the newest, and is returned.
  std::uint64_t exchange(int rank, std::size_t flag, std::uint64_t value, std::memory_order order);
  void fence(int rank, std::memory_order order);
  std::uint64_t newest(std::size_t flag) { return value(flag, 0); }
  std::uint64_t value(std::size_t flag, std::size_t age) {
    const std::vector<Value>& values = flag_at(flag).values;
    return values[values.size() - 1 - age].value;
  }
  /// The kernel's operations on one futex have one order among themselves, and what a rank knew of flags
  /// before one is known to all after it. More futex(2) does not promise.
  void meet_in_kernel(int rank, std::size_t flag);
  /// Nothing is under way to this rank any more: so long a timed sleep was.
  void settle(int rank, std::size_t flag);
  void settle(int rank);  ///< of all flags

  // Messages carry what their sender knew.
  struct Knowledge {
    Clock clock;
    Seen seen;
  };
  Knowledge tell(int rank);
  void hear(int rank, const Knowledge& knowledge) { acquire(rank, knowledge.clock, knowledge.seen); }
  static constexpr std::byte junk{0xa5};  ///< what is in bytes that a rank may not read

 private:
  struct Value {
    std::uint64_t value;
    Clock clock;  // what an acquire that reads this learns
    Seen seen;
  };
  struct Flag {
    std::size_t number = 0;
    std::vector<Value> values;
    Seen in_kernel;
  };
  struct Write {
    std::size_t offset, bytes;
    std::uint32_t time;
  };
  struct RankState {
    Clock clock, acquirable,
        released;  // acquirable: read by relaxed loads; released: at the last release fence
    Seen seen, acquirable_seen, released_seen;
    std::array<std::size_t, most_ranks> heard{};  // of each rank's writes
    std::vector<Write> writes;
  };

  // Views lie so far apart that a wrong 32-bit offset leads into no other one.
  static constexpr std::size_t apart = std::size_t{5} << 30;
  static constexpr std::size_t block = 64;

  RankState& state(int rank) { return states_[static_cast<std::size_t>(rank)]; }
  const RankState& state(int rank) const { return states_[static_cast<std::size_t>(rank)]; }
  Flag& flag_at(std::size_t offset);
  void touch(std::size_t offset, std::size_t bytes);
  void clear_block(std::size_t number);
  void acquire(int rank, const Clock& clock, const Seen& seen);
  void learn(int rank);
  void show(int rank, const Write& write);
  std::optional<Trespass> check_write(int rank, std::size_t offset, std::size_t bytes) const;
  std::byte* shadow(int rank) { return shadows_.data() + static_cast<std::size_t>(rank) * bytes_; }

  int ranks_;
  std::size_t bytes_;
  std::byte* reserve_;              // the views, each in a region of its own
  std::vector<std::byte> shadows_;  // the views as they were when last looked at
  std::vector<std::byte> latest_;   // what was last written, by whomever
  std::vector<Moment> written_;     // by byte
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  // By byte, then rank: when it last read it. Large, and mostly never touched: so not a vector, which would
  // be.
  std::unique_ptr<std::uint32_t[], Free> read_;
  std::vector<bool> freed_;
  bool any_freed_ = false;
  std::vector<bool> touched_;             // by block
  std::vector<std::int16_t> flag_index_;  // by offset / 4
  std::vector<Flag> flags_;
  std::size_t flag_count_ = 0;
  std::vector<RankState> states_;
  Seen ordered_;  // what the last sequentially consistent fence knew
};

}  // namespace espalier::simulation::checker
