// From the user's communicator to Espalier's: one look-up without a lock.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "memory/share_directory.hpp"
#include "mpi/abi/abi.hpp"
#include "mpi/guard/kinds.hpp"
#include "mpi/neighbours/neighbours.hpp"
#include "reduce/operation.hpp"
#include "runtime/communicator/communicator.hpp"
#include "runtime/process/bootstrap.hpp"

namespace espalier::mpi {

namespace communicators {

/// What a communicator with a name has (creation.hpp).
struct Record {
  memory::Identity identity;                           ///< none: it has no name
  std::uint64_t children = 0;                          ///< that its ranks have made together
  std::map<memory::Identity, std::uint64_t> by_group;  ///< how many some of them have made, by whom and tag
};

}  // namespace communicators

/// A datatype and an operator that MPI predefines, so their handles never mean another, and the kernel for them.
struct LastReduction {
  Handle type = 0, op = 0;
  const reduce::Operation* kernel = nullptr;
};

/// One intra-communicator of the user. Entries are never given back to the system, only used again for
/// another communicator, so that a reader with an old pointer reads an entry, whatever it says by now.
struct Entry {
  /// The normal() form of the handle, 0 while no thread may find this entry. Written last (release), read
  /// first (acquire).
  std::atomic<Handle> handle{0};
  MPI_Comm comm{};
  std::unique_ptr<runtime::Communicator> communicator;
  std::unique_ptr<const Neighbours> neighbours;  ///< made by the first call that needs them
  std::unique_ptr<guard::Kinds> kinds;           ///< with ESPALIER_GUARD
  LastReduction last_reduction;                  ///< most programs reduce by the same ones again
  bool foreign = false;  ///< with ranks outside this job: never served, never found in the cache
  bool linked = false;   ///< the communicator's attribute points here
  communicators::Record record;
};

namespace communicators {

/// A direct-mapped cache of entries. A slot that holds another communicator's entry is a miss.
inline constexpr int cache_bits = 8;
extern std::array<std::atomic<Entry*>, 1 << cache_bits> cache;

inline std::size_t place_in_cache(Handle handle) {
  return (handle * 0x9E3779B97F4A7C15u) >> (64 - cache_bits);
}
inline std::atomic<Entry*>& slot(Handle handle) { return cache[place_in_cache(handle)]; }

/// The entry of a communicator that has been used before, or nullptr: then ask enter(). A communicator is
/// created, used and freed by one thread at a time (MPI demands it), so its own entry does not change under
/// this call; another communicator's entry in the same slot may, and then its handle does not match, whatever
/// is read.
inline Entry* find(Handle handle) {
  const Handle wanted = normal(handle);
  // acquire: pairs with the release in publish(), so that the entry's first use is seen.
  Entry* entry = slot(wanted).load(std::memory_order_acquire);
  // acquire: pairs with the release of `handle` in publish(), so that the other fields are this
  // communicator's.
  if (entry && entry->handle.load(std::memory_order_acquire) == wanted) [[likely]]
    return entry;
  return nullptr;
}

/// The slow way, at a communicator's first collective and after a cache conflict. The first collective is
/// collective over the communicator here too: its ranks meet in shared memory. nullptr: the call is the
/// host's alone (Espalier is off, MPI is not initialised, no intra-communicator). `caller` as in resolve().
/// Throws Error.
Entry* enter(Handle handle, void* caller);

/// The same without a word to other ranks: nullptr also where they would have to meet, on all of them alike.
Entry* enter_alone(Handle handle, void* caller);

/// The record of a communicator that has a name; null: it has none.
Record* record_of(Handle handle);
/// The communicator, which is new, gets a name.
void name(MPI_Comm comm, const memory::Identity& identity);
/// How many communicators have been made from `parent` by these ranks alone, this one included.
std::uint64_t count_by_group(Handle parent, const memory::Identity& ranks_and_tag);
/// The ranks, as MPI_COMM_WORLD numbers them; none: some are of another job, or there is no world. Empty: they are of
/// this job, but the host does not say which.
std::optional<std::vector<int>> processes_of(MPI_Comm comm);

/// Lives while the host frees a communicator. What Espalier has of it is gone before the host's function is
/// called, without the host's locks held: the arena takes locks of its own. Until that function returns, this
/// thread's calls on the communicator are the host's: they come from the program's delete callbacks, and what
/// they would enter here would outlive the communicator, and be found by the next one of that handle.
class Retirement {
 public:
  /// MPI_COMM_NULL and the predefined communicators, which the host refuses to free, are left alone.
  explicit Retirement(Handle handle);
  ~Retirement();
  Retirement(const Retirement&) = delete;
  Retirement& operator=(const Retirement&) = delete;

  /// Whether this thread is within the freeing of that communicator.
  static bool is_under_way(Handle handle);

 private:
  Handle handle_;
  const Retirement* outer_;  ///< a delete callback may free another one
};

/// This rank has revoked the communicator (the fault tolerance of MPI-5, MPIX_Comm_revoke): all calls on it
/// are the host's from now on. A rank that waits in a collective of Espalier's finds that this one has left.
/// Throws Error.
void leave_revoked(Handle handle);
/// Whether some rank has. False where the host cannot tell.
[[gnu::cold]] bool is_revoked(Handle handle);

/// All of them, at finalize.
void retire_all();

/// The keyval that ties entries to communicators.
bool open();
void close();

/// The ranks of a communicator, exchanging data through the host.
runtime::Bootstrap bootstrap(MPI_Comm comm);
/// The same by an allgather of so many bytes of each rank that returns an MPI error code.
using HostAllgather = std::function<int(const void* mine, void* all, int bytes)>;
runtime::Bootstrap bootstrap(MPI_Comm comm, HostAllgather allgather);

}  // namespace communicators
}  // namespace espalier::mpi
