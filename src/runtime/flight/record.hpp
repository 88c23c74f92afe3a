// What a rank leaves in shared memory about its calls, for a process that looks from outside. The layout is read by
// python/espalier/who/record.py: a change of what is where is a change of `version`.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace espalier::runtime::flight {

/// Written by one thread, read by other processes at any time: relaxed, but where it says otherwise.
using Word = std::atomic<std::uint64_t>;

/// One call; its line of the cache.
struct alignas(64) Entry {
  Word site;                              ///< return address in the code that called; 0: not known
  Word communicator;                      ///< its handle, as in CommunicatorLine
  std::atomic<std::int32_t> root;         ///< 0 where there is none
  std::atomic<std::uint32_t> collective;  ///< as base/collective.hpp numbers them
  Word call;   ///< its number among the communicator's calls, host_call of the host's; 0: not known (yet)
  Word bytes;  ///< by which rules choose; means nothing while `call` is 0
  Word timed;  ///< of a call that has times: the ring's state while it lasted
  Word begin, end;  ///< ticks; mean nothing in other calls
};
static_assert(sizeof(Entry) == 64);

/// In Entry::call: the host serves it, and the rest counts the communicator's calls that it has served.
inline constexpr std::uint64_t host_call = std::uint64_t{1} << 63;

/// The last calls of one thread. The call with number n is in entries[n % kept]; numbers begin with 1.
struct alignas(64) Ring {
  static constexpr std::uint64_t kept = 64;
  std::array<Entry, kept> entries;  // first, which makes their address one addition
  Word state;       ///< twice the number of calls so far, and 1 while the thread is in the last one
  Word timed;       ///< state in the last call that has times
  Word next_timed;  ///< the call that begins with this state or a later one has times
  Word
      waits_at;  ///< return address of the call that may wait for requests, in which the thread is; 0: in none
  Word thread;   ///< its number for the kernel; 0: no thread has this ring
  Word looked_ticks, looked_state;  ///< of the last call that had times because of `next_timed`
  Word unused;

  /// Of the call that the thread is in, or was in last.
  [[gnu::always_inline]] Entry& entry(std::uint64_t of_state) { return entries[of_state / 2 % kept]; }
};

/// A communicator that the process has used.
struct CommunicatorLine {
  Word handle;                      ///< 0: the line is free; stored last (release)
  std::array<std::uint64_t, 2> id;  ///< equal on its ranks, unlike others of the job
  std::int32_t size, rank;
  std::int32_t first,
      stride;  ///< rank r is rank first + r * stride of the job; stride 0: it is not that plain
  std::array<char, 24> name;
};
static_assert(sizeof(CommunicatorLine) == 64);

/// Two clocks at one moment.
struct Moment {
  Word ticks, nanoseconds;  ///< base/ticks.hpp, CLOCK_MONOTONIC
};

struct Header {
  std::array<char, 16> magic;  ///< written last
  std::uint32_t version, bytes;
  std::uint64_t job, node;            ///< equal on its processes, unlike others
  std::uint64_t started;              ///< of the process: field 22 of /proc/PID/stat
  std::int32_t process, rank, ranks;  ///< of the job
  std::int32_t node_rank, node_ranks;
  std::atomic<std::uint32_t> has_left;  ///< it makes no more calls: MPI_Finalize
  Moment first, last;                   ///< how long a tick is follows from the two
  std::array<char, 80> host;
  std::array<char, 16> build;
};
static_assert(sizeof(Header) <= 256);

/// Those of all ranks of a node lie behind each other in its arena, on pages of their own.
struct alignas(64) Record {
  static constexpr std::size_t rings_of_threads = 3, most_communicators = 48;
  static constexpr std::uint32_t version = 2;
  union {
    Header header;
    std::array<char, 256> header_room;
  };
  std::array<CommunicatorLine, most_communicators> communicators;
  /// The last one belongs to all threads that found no other: what it says may be of several calls.
  std::array<Ring, rings_of_threads> rings;
};

/// Whole pages for each.
inline constexpr std::size_t record_bytes = 16384;
static_assert(sizeof(Record) <= record_bytes);

}  // namespace espalier::runtime::flight
