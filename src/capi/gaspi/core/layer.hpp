// What the GASPI layer knows between its calls: the job, its groups, segments and queues.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "capi/gaspi/core/deadline.hpp"
#include "capi/gaspi/errors/failure.hpp"
#include "espalier/espalier_window.h"

namespace espalier::capi::gaspi {

inline constexpr int most_groups = 32, queues = 8, queue_depth = 1024, most_elements = 255;
inline constexpr std::size_t longest_block = 2040;  // 255 elements of 8 bytes
inline constexpr unsigned ids_of_segment = 65536;   // notifications of a rank

/// A lock whose waiters get it in the order in which they came, so that a thread that waits in slices of time
/// lets the others in.
class TurnLock {
 public:
  void lock();
  /// False: it was not this thread's turn until then. Throws nothing.
  bool lock_until(std::chrono::steady_clock::time_point end);
  void unlock();

 private:
  std::mutex mutex_;
  std::condition_variable turn_;
  unsigned long next_ = 0, now_ = 0;
  std::set<unsigned long> given_up_;  ///< turns that will not be taken
};

/// A collective that a timeout has interrupted, or that is under way.
struct Running {
  std::uint32_t kind = 0;  ///< which call with what arguments, as call_kind() makes it; 0: none is under way
  int next_child = 0;
  bool sent_up = false, has_result = false;
  std::array<std::byte, 2048> folded{}, result{};
};

/// A gather_over() that a timeout has interrupted: what is there of it.
struct Gathering {
  std::size_t begin = 0;             ///< of what is gathered next
  std::vector<unsigned char> whole;  ///< empty: none is under way
};

struct Group {
  bool committed = false;
  std::vector<int> ranks;  ///< of the job, ascending
  int index = -1;          ///< of this rank among them
  Running running;
  Gathering gathering;
  espalier_comm* comm = nullptr;  ///< of its windows; made with the first
};

struct Segment {
  espalier_window* window = nullptr;
  int group = 0;
  bool deleted = false;
  std::size_t stride = 0;            ///< of the parts of the ranks of a node
  std::map<int, std::size_t> bytes;  ///< by rank of the job
};

struct Queue {
  unsigned posted = 0;
  std::vector<espalier_window*> windows;  ///< that it has posted to since its last wait
};

/// Where a rank of the job lives.
struct Place {
  int node = 0, local = 0;
};

struct Layer {
  TurnLock lock;
  bool initialized = false;
  int rank = -1, size = 0, levels = 0;
  espalier_comm* world = nullptr;
  espalier_window* control = nullptr;  ///< carries the groups' collectives
  std::vector<Place> places;
  std::map<int, Group> groups;
  std::map<int, Segment> segments;        ///< by id; deleted ones, too
  std::vector<espalier_window*> windows;  ///< of segments, in the order in which they were made
  std::array<Queue, queues> queue;

  Group& group(int number);
  Group& committed_group(int number);
  Segment& segment(int id);
  Queue& queue_of(int number);
  /// Throws Failure if the job has no such rank.
  const Place& place(int of_rank) const;
  /// The size of a rank's segment. Throws Failure if the rank is not in the segment's group.
  std::size_t bytes_of(const Segment& segment, int of_rank) const;
};

extern Layer& layer;

/// Runs body(deadline) under the lock, between gaspi_proc_init and gaspi_proc_term. The timeout begins with the wait for
/// the lock.
template <class Body>
gaspi_return_t locked_until(const char* function, gaspi_timeout_t timeout, Body body) noexcept {
  return guarded(function, [&] {
    const Deadline deadline(timeout);
    if (deadline.blocks())
      layer.lock.lock();
    else if (!layer.lock.lock_until(deadline.end()))
      throw TimedOut{};
    const std::lock_guard guard(layer.lock, std::adopt_lock);
    if (!layer.initialized)
      throw Failure(GASPI_ERR_NOINIT, "call it between gaspi_proc_init and gaspi_proc_term");
    body(deadline);
  });
}

/// The same of a call without a timeout.
template <class Body>
gaspi_return_t locked(const char* function, Body body) noexcept {
  return locked_until(function, GASPI_BLOCK, [&](const Deadline&) { body(); });
}

/// Until one of these notifications of this node has come: its id. Throws TimedOut. The lock is free now and then.
int await_some(espalier_window* window, int first, int count, const Deadline& deadline);
/// Until this rank's transfers are done. Throws TimedOut. The lock is free now and then.
void flush(espalier_window* window, const Deadline& deadline);

}  // namespace espalier::capi::gaspi
