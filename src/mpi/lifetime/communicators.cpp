// Makes, finds and retires the entries of the program's communicators.
#include "mpi/lifetime/communicators.hpp"

#include <algorithm>
#include <climits>
#include <deque>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "mpi/host/callback.hpp"
#include "mpi/host/host.hpp"
#include "mpi/lifetime/lifecycle.hpp"
#include "mpi/lifetime/recorded.hpp"
#include "mpi/lifetime/world_meeting.hpp"
#include "runtime/node/membership.hpp"

namespace espalier::mpi::communicators {

std::array<std::atomic<Entry*>, 1 << cache_bits> cache{};

namespace {

std::mutex mutex;  // of everything below
// Never destroyed: a child of fork() that exits runs our destructors, and it has no arena and must not free
// what is the parent's.
std::deque<Entry>& entries = *new std::deque<Entry>;
std::vector<Entry*>& unused = *new std::vector<Entry*>;
int keyval = MPI_KEYVAL_INVALID;
thread_local const Retirement* innermost = nullptr;

/// Takes the communicator out of an entry, so that it can be released without our lock.
std::unique_ptr<runtime::Communicator> take_communicator(Entry& entry) {
  if (entry.communicator) forget_recorded(entry.comm);
  entry.record = {};
  entry.neighbours.reset();
  entry.kinds.reset();
  // release: what this thread did with the entry stays before; a thread that reads 0 does not use the entry.
  entry.handle.store(0, std::memory_order_release);
  return std::move(entry.communicator);
}

/// The delete callback: the host frees the communicator, whichever function was called for it.
int on_delete(MPI_Comm, int, void* attribute, void*) {
  auto& entry = *static_cast<Entry*>(attribute);
  std::unique_ptr<runtime::Communicator> gone;
  {
    const std::lock_guard lock(mutex);
    gone = take_communicator(entry);
    entry.linked = entry.foreign = false;
    unused.push_back(&entry);
  }
  runtime::Communicator::release(std::move(gone));
  return MPI_SUCCESS;
}

/// A duplicate gets no entry here: it is another communicator, whose ranks meet at its first collective.
int on_copy(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

Entry* take_entry() {
  const std::lock_guard lock(mutex);
  if (unused.empty()) return &entries.emplace_back();
  Entry* entry = unused.back();
  unused.pop_back();
  return entry;
}

/// Communicators of several nodes whose ranks have not met: nonblocking calls on them are the host's until a blocking one
/// comes, or the handle is another one's. Direct-mapped, as `cache`.
std::array<std::atomic<Handle>, 1 << cache_bits> unmet;

std::atomic<Handle>& place_of_unmet(Handle handle) { return unmet[place_in_cache(handle)]; }
bool is_known_unmet(Handle handle) {
  // relaxed: a program uses a communicator in one thread at a time until its ranks have met.
  return place_of_unmet(normal(handle)).load(std::memory_order_relaxed) == normal(handle);
}
void forget_unmet(Handle handle) {
  if (is_known_unmet(handle)) place_of_unmet(normal(handle)).store(0, std::memory_order_relaxed);
}

void publish(Entry& entry, Handle handle) {
  forget_unmet(handle);
  // release, twice: pairs with the acquires in find(); everything about the entry is written before.
  entry.handle.store(handle, std::memory_order_release);
  slot(handle).store(&entry, std::memory_order_release);
}

Entry* linked_entry(MPI_Comm comm) {
  void* attribute = nullptr;
  int found = 0;
  if (host.Comm_get_attr(comm, keyval, &attribute, &found) != MPI_SUCCESS || !found) return nullptr;
  return static_cast<Entry*>(attribute);
}

void link(Entry& entry, MPI_Comm comm) {
  if (entry.linked) return;
  const int code = host.Comm_set_attr(comm, keyval, &entry);
  if (code != MPI_SUCCESS)
    throw Error("the host refused an attribute on a communicator (code " + std::to_string(code) + ")");
  entry.linked = true;
}

bool is_alone(MPI_Comm comm) {
  int ranks = 0;
  return host.Comm_size(comm, &ranks) == MPI_SUCCESS && ranks == 1;
}

bool is_intra(MPI_Comm comm) {
  int inter = 0;
  return host.Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter;
}

/// None: the communicator has no name, or spans jobs.
std::optional<runtime::Membership> membership_of(MPI_Comm comm, const Entry* entry,
                                                 const std::optional<std::vector<int>>& processes) {
  if (!entry || !entry->record.identity || !processes || processes->empty()) return std::nullopt;
  int rank = 0;
  host.Comm_rank(comm, &rank);
  return runtime::Membership{entry->record.identity, rank, *processes};
}

/// Ranks of a communicator with a name find their share by it, if all of them are on this node.
std::unique_ptr<runtime::Communicator> find_share(MPI_Comm comm, const Entry* entry,
                                                  const std::optional<std::vector<int>>& processes) {
  const auto membership = membership_of(comm, entry, processes);
  return membership ? runtime::Communicator::find(*membership) : nullptr;
}

/// That goes for MPI_COMM_WORLD, too, but its ranks agree, if they can: they say then where they run now, and it is made
/// once. If another rank has begun without that, the ranks call different things: by the name they find out.
std::unique_ptr<runtime::Communicator> make_world(const Entry* entry,
                                                  const std::optional<std::vector<int>>& processes) {
  const MPI_Comm world = host.constants.world;
  const auto membership = membership_of(world, entry, processes);
  const auto has_begun = [&] { return membership && runtime::Communicator::is_found(*membership); };
  try {
    return runtime::Communicator::create(meeting_of_world(has_begun));
  } catch (const BegunWithoutMeeting&) {
    return find_share(world, entry, processes);
  }
}

std::unique_ptr<runtime::Communicator> make(MPI_Comm comm, const Entry* entry,
                                            const std::optional<std::vector<int>>& processes) {
  if (comm == host.constants.world) return make_world(entry, processes);
  auto found = find_share(comm, entry, processes);
  return found ? std::move(found) : runtime::Communicator::create(bootstrap(comm));
}

/// Whether the host may serve calls that Espalier would serve, too.
bool has_choice(const runtime::Communicator& communicator) {
  return communicator.active() && communicator.size() > 1;
}

enum class Meeting { allowed, never };

/// nullptr: the ranks would have to meet.
Entry* create(MPI_Comm comm, Entry* entry, Meeting meeting) {
  const auto processes = has_world() ? processes_of(comm) : std::nullopt;
  const bool foreign = has_world() && !processes;
  std::unique_ptr<runtime::Communicator> communicator;
  if (!foreign) {
    const bool may_make = meeting == Meeting::allowed || is_alone(comm);
    communicator = may_make ? make(comm, entry, processes) : find_share(comm, entry, processes);
  }
  if (!communicator && !foreign) {
    // So the next one need not ask the host for all ranks.
    if (processes && runtime::Communicator::spans_nodes(*processes))
      place_of_unmet(normal(wide(comm))).store(normal(wide(comm)), std::memory_order_relaxed);
    return nullptr;
  }
  if (!entry) entry = take_entry();
  entry->comm = comm;
  entry->communicator = std::move(communicator);
  entry->foreign = foreign;
  if (guard::is_on && !foreign)
    entry->kinds = std::make_unique<guard::Kinds>(has_choice(*entry->communicator));
  link(*entry, comm);
  if (!foreign) record(comm, entry->record.identity, processes);
  return entry;
}

Entry* enter_by(Handle handle, void* caller, Meeting meeting) {
  if (resolve(caller) != Mode::active || Retirement::is_under_way(handle)) return nullptr;
  const auto comm = typed<MPI_Comm>(handle);
  if (comm == host.constants.comm_null || !lifecycle::ready(comm) || !is_intra(comm)) return nullptr;
  if (comm == host.constants.world) record_of(handle);  // it has its name from then on
  Entry* entry = linked_entry(comm);
  if (!entry || (!entry->communicator && !entry->foreign)) {
    if (is_revoked(handle)) return nullptr;
    entry = create(comm, entry, meeting);
  }
  if (!entry || entry->foreign) return nullptr;
  publish(*entry, wide(comm));
  return entry;
}

}  // namespace

// Spawned or connected processes may not have Espalier, so there is no rank to agree with. All ranks of such
// a communicator see that it leaves their job.
std::optional<std::vector<int>> processes_of(MPI_Comm comm) {
  MPI_Group job, group;
  if (host.Comm_group(host.constants.world, &job) != MPI_SUCCESS) return std::nullopt;
  if (host.Comm_group(comm, &group) != MPI_SUCCESS) return std::nullopt;
  int size = 0;
  host.Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size)), in_job(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  const int code = host.Group_translate_ranks(group, size, ranks.data(), job, in_job.data());
  host.Group_free(&group);
  host.Group_free(&job);
  if (code != MPI_SUCCESS || std::count(in_job.begin(), in_job.end(), MPI_UNDEFINED) > 0) return std::nullopt;
  // MPICH 5.0.2 gives a Cartesian communicator of some ranks the group of all of them.
  int ranks_of_comm = 0;
  if (host.Comm_size(comm, &ranks_of_comm) != MPI_SUCCESS || ranks_of_comm != size) in_job.clear();
  return in_job;
}

Record* record_of(Handle handle) {
  const auto comm = typed<MPI_Comm>(handle);
  if (keyval == MPI_KEYVAL_INVALID || comm == host.constants.comm_null) return nullptr;
  Entry* entry = find(handle);
  if (!entry) entry = linked_entry(comm);
  if (comm == host.constants.world && !(entry && entry->record.identity)) {
    name(comm, {1, 1});
    entry = linked_entry(comm);
  }
  return entry && entry->record.identity ? &entry->record : nullptr;
}

void name(MPI_Comm comm, const memory::Identity& identity) {
  forget_unmet(wide(comm));
  Entry* entry = linked_entry(comm);
  if (!entry) entry = take_entry();
  entry->comm = comm;
  entry->record.identity = identity;
  link(*entry, comm);
}

std::uint64_t count_by_group(Handle parent, const memory::Identity& ranks_and_tag) {
  Record* record = record_of(parent);
  const std::lock_guard lock(mutex);
  return ++record->by_group[ranks_and_tag];
}

runtime::Bootstrap bootstrap(MPI_Comm comm) {
  return bootstrap(comm, [comm](const void* mine, void* all, int bytes) {
    const MPI_Datatype byte = host.constants.byte;
    return call_program([&] { return host.Allgather(mine, bytes, byte, all, bytes, byte, comm); });
  });
}

runtime::Bootstrap bootstrap(MPI_Comm comm, HostAllgather allgather) {
  runtime::Bootstrap ranks;
  host.Comm_rank(comm, &ranks.rank);
  host.Comm_size(comm, &ranks.size);
  ranks.allgather = [allgather = std::move(allgather), rank = static_cast<std::size_t>(ranks.rank)](
                        const void* mine, void* all, std::size_t bytes) {
    if (bytes == 0) return;
    if (bytes > INT_MAX) throw Error("ranks cannot exchange more than 2 GiB each while they meet");
    const std::byte first = *static_cast<const std::byte*>(mine);
    std::byte& came = static_cast<std::byte*>(all)[bytes * rank];
    came = ~first;
    const int code = allgather(mine, all, static_cast<int>(bytes));
    if (code != MPI_SUCCESS)
      throw Error("the host's allgather failed with code " + std::to_string(code) + " while the ranks met");
    // MPICH 5 returns success also when it has failed, if it has called an error handler of the program. One
    // byte shows it; others may be padding, whose comparison valgrind would report.
    if (came != first) throw Error("the host's allgather brought nothing while the ranks met");
  };
  return ranks;
}

Entry* enter(Handle handle, void* caller) { return enter_by(handle, caller, Meeting::allowed); }

Entry* enter_alone(Handle handle, void* caller) {
  return is_known_unmet(handle) ? nullptr : enter_by(handle, caller, Meeting::never);
}

Retirement::Retirement(Handle handle) : handle_(normal(handle)), outer_(std::exchange(innermost, this)) {
  const auto comm = typed<MPI_Comm>(handle);
  const Constants& known = host.constants;
  if (keyval == MPI_KEYVAL_INVALID || comm == known.comm_null || comm == known.world || comm == known.self)
    return;
  forget_unmet(handle);
  lifecycle::tell_communicator_is_freed(comm);
  Entry* entry = find(handle);
  if (!entry) entry = linked_entry(comm);
  if (entry) runtime::Communicator::release(take_communicator(*entry));
}

Retirement::~Retirement() { innermost = outer_; }

bool Retirement::is_under_way(Handle handle) {
  for (const Retirement* each = innermost; each; each = each->outer_)
    if (each->handle_ == normal(handle)) return true;
  return false;
}

void leave_revoked(Handle handle) {
  const auto comm = typed<MPI_Comm>(handle);
  if (keyval == MPI_KEYVAL_INVALID || comm == host.constants.comm_null) return;
  Entry* entry = find(handle);
  if (!entry) entry = linked_entry(comm);
  if (!entry) entry = take_entry();
  entry->comm = comm;
  entry->foreign = true;
  const auto destroyed = take_communicator(*entry);  // without a lock
  link(*entry, comm);
}

bool is_revoked(Handle handle) {
  int flag = 0;
  return host.Comm_is_revoked && host.Comm_is_revoked(typed<MPI_Comm>(handle), &flag) == MPI_SUCCESS && flag;
}

void retire_all() {
  std::vector<std::unique_ptr<runtime::Communicator>> gone;
  const std::lock_guard lock(mutex);
  gone.reserve(entries.size());
  for (Entry& entry : entries) gone.push_back(take_communicator(entry));
  runtime::Communicator::forget_released();
}

bool open() {
  if (keyval != MPI_KEYVAL_INVALID) return true;
  return host.Comm_create_keyval(on_copy, on_delete, &keyval, nullptr) == MPI_SUCCESS;
}

void close() {
  if (keyval != MPI_KEYVAL_INVALID) host.Comm_free_keyval(&keyval);
  keyval = MPI_KEYVAL_INVALID;
}

}  // namespace espalier::mpi::communicators
