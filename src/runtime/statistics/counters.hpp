// What a rank counts when statistics are on: rows of numbers that are there before the call, so that counting
// is a few additions without a lock.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/collective.hpp"
#include "plan/plan.hpp"

namespace espalier::runtime::statistics {

/// What carried a call's data.
enum class Carrier : unsigned char { shared_memory, messages, aggregation_nodes, host };

/// What of a call goes into the statistics.
struct Call {
  Collective collective;
  std::size_t bytes;
  plan::Algorithm algorithm;
  Carrier carrier = Carrier::shared_memory;
  /// Why the host served it, or why the aggregation nodes did not; null or empty: nothing to say.
  const std::string* why = nullptr;
  bool persistent = false;   ///< prepared once; then the algorithm says nothing
  bool nonblocking = false;  ///< the same of what is started and completed later

  /// All but collective, bytes and the words of the reason, in one number.
  std::uint32_t kind() const {
    return static_cast<std::uint32_t>(algorithm) | static_cast<std::uint32_t>(carrier) << 8 |
           std::uint32_t{persistent} << 16 | std::uint32_t{has_reason()} << 17 |
           std::uint32_t{nonblocking} << 18;
  }
  bool has_reason() const { return why && !why->empty(); }
  /// The bit width of the bytes.
  unsigned size_class() const { return static_cast<unsigned>(std::bit_width(bytes)); }
};

/// The least and the most bytes of a size class.
inline std::size_t first_bytes(unsigned size_class) {
  return size_class == 0 ? 0 : std::size_t{1} << (size_class - 1);
}
inline std::size_t last_bytes(unsigned size_class) {
  return size_class == 0 ? 0 : (first_bytes(size_class) - 1) * 2 + 1;
}

/// Written by one thread at a time, read by others at any time: relaxed, since nothing else hangs on it.
class Count {
 public:
  void add(std::uint64_t more) { value_.store(get() + more, std::memory_order_relaxed); }
  void set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// Calls of one kind on one communicator. Also a record of the file that outlives the process
/// (counters_file.hpp), which python/espalier/stats/parts.py reads: a change of what is where is a change of
/// its version.
struct Row {
  Count calls, ticks, spin, progress, yield, sleep;
  Count waited,
      last;     ///< ticks of waiting for the last rank, and calls in which this rank was it (arrivals.hpp)
  Count bytes;  ///< exactly, of the calls whose arrivals are counted
  /// Calls in which this rank was the last, by the bit width of the nanoseconds that the first one was before it; the
  /// last number is of all that are wider.
  std::array<Count, 31> spread;
  std::uint32_t kind = 0;
  std::int32_t communicator_size = 0;
  std::atomic<std::uint8_t> in_use{0};  ///< stored last (release), read first (acquire)
  std::uint8_t size_class = 0;
  std::uint8_t collective = 0;
  std::uint8_t by_host = 0;
  std::uint32_t unused = 0;
  char collective_name[24] = {};
  char algorithm[24] = {};
  char transport[40] = {};
  char why[344] = {};

  bool is_of(const Call& call, std::string_view words) const {
    return kind == call.kind() && collective == static_cast<std::uint8_t>(call.collective) &&
           size_class == call.size_class() && words == why;
  }
  bool is_like(const Row& other) const {
    return kind == other.kind && collective == other.collective && size_class == other.size_class &&
           communicator_size == other.communicator_size && std::string_view(why) == other.why;
  }
};
static_assert(sizeof(Row) == 768 && alignof(Row) == 8);

/// A new row; thread-safe.
Row* take_row(const Call& call, int communicator_size);
/// Its counts go to the process's, which keeps them; thread-safe.
void retire_row(Row* row);

/// The rows of one communicator; used by one thread at a time, as that is.
class Counters {
 public:
  /// Holds nothing when statistics are off.
  explicit Counters(int communicator_size);
  ~Counters();
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  /// Where such a call is counted; null when statistics are off: then a call does not even say what it is.
  [[gnu::always_inline]] Row* row(const Call& call) { return table_ ? known_row(call) : nullptr; }

 private:
  struct Table {
    int communicator_size;
    std::array<std::array<Row*, 65>, collective_count> last{};  ///< that calls of this size class went to
    std::vector<Row*> all;
  };
  // Out of line: it must cost nothing where statistics are off.
  [[gnu::noinline]] Row* known_row(const Call& call) {
    Row* last = table_->last[static_cast<std::size_t>(call.collective)][call.size_class()];
    const bool is_it = last && last->kind == call.kind() && (!call.has_reason() || *call.why == last->why);
    return is_it ? last : find(call);
  }
  Row* find(const Call& call);

  std::unique_ptr<Table> table_;
};

/// Calls visit(row) for each row in use. Takes no lock and no memory: a signal handler may do it.
template <class Visit>
void for_each_row(Visit visit);

/// A run of rows that lie behind each other, each run twice as long as the one before it.
inline constexpr std::size_t first_run = 128, most_runs = 24;
extern std::array<std::atomic<Row*>, most_runs> runs;

template <class Visit>
void for_each_row(Visit visit) {
  for (std::size_t i = 0; i < most_runs; ++i) {
    Row* run = runs[i].load(std::memory_order_acquire);  // pairs with the release in new_run()
    if (!run) return;
    for (std::size_t r = 0; r < first_run << i; ++r)
      if (run[r].in_use.load(std::memory_order_acquire))
        visit(run[r]);  // pairs with the release in take_row()
  }
}

}  // namespace espalier::runtime::statistics
