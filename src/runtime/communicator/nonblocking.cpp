#include "runtime/communicator/nonblocking.hpp"

#include <cstring>
#include <utility>

#include "collective/schedule/claims.hpp"
#include "collective/schedule/length_check.hpp"
#include "machine/host_platform.hpp"
#include "network/window/platform.hpp"
#include "runtime/communicator/collective_progress.hpp"
#include "runtime/communicator/share_release.hpp"
#include "runtime/process/node.hpp"
#include "runtime/process/process.hpp"
#include "runtime/progress/missed_tests.hpp"
#include "runtime/progress/only_thread.hpp"
#include "runtime/progress/progress_thread.hpp"
#include "runtime/statistics/sites.hpp"
#include "runtime/statistics/statistics.hpp"

namespace espalier::runtime {
namespace {

using machine::Layout;

using Pages = collective::LinePages<ArenaBuffers>;

/// What the share has: the lines of a communicator, of which only those are used on which ranks say what they
/// have finished, and the first pages of lines for calls.
std::size_t share_bytes(const Layout& layout) { return layout.bytes() + 2 * Pages::bytes(layout.ranks); }

/// A word in the line of a share's life. In the communicator's: where the share of its nonblocking calls is;
/// 1: there was no memory for one. In that share: the first of the buffers that ranks have left behind.
std::atomic<std::uint64_t>& word_of(std::byte* share, const Layout& layout) {
  auto* line = reinterpret_cast<memory::FlagLine*>(share + layout.life());
  return *reinterpret_cast<std::atomic<std::uint64_t>*>(line->payload);
}
constexpr std::uint64_t refused = 1;
/// The word after it, in the share of nonblocking calls: the last number that was claimed.
std::uint64_t& claimed_in(std::byte* share, const Layout& layout) {
  return *reinterpret_cast<std::uint64_t*>(&word_of(share, layout) + 1);
}

machine::CallFacts facts_of(const Nonblocking::Call& call) {
  return {call.spec.collective, call.spec.root, call.spec.bytes, call.spec.operation};
}

/// What a buffer that is left behind says in a line of its own, of which others read the step alone.
struct LeftBehind {
  std::uint64_t next, bytes;
};
std::byte* note_in(std::byte* buffer) {
  return reinterpret_cast<memory::FlagLine*>(buffer + collective::BufferParts::taken)->payload;
}

}  // namespace

void forget_nonblocking_share(const memory::Arena& arena, memory::Share share, const Layout& layout) {
  word_of(arena.at(share.offset), layout).store(0, std::memory_order_relaxed);  // under the directory's lock
}

// Short ones lie close together, and are mapped with all around them.
std::byte* ArenaBuffers::allocate(std::size_t bytes) const {
  constexpr std::size_t most_around = 64 * 1024;
  const memory::Share share = arena_->allocate(bytes);
  if (!share) return nullptr;
  const bool is_backed =
      bytes <= most_around ? arena_->reserve_around(share) : arena_->reserve(share, 0, bytes);
  if (!is_backed) {
    arena_->free(share);
    return nullptr;
  }
  if (bytes > most_around) arena_->map_now(share, 0, bytes, memory::Arena::Use::writing);
  return arena_->at(share.offset);
}

void ArenaBuffers::free(std::byte* data, std::size_t bytes) const {
  arena_->free({static_cast<std::size_t>(data - arena_->at(0)), bytes});
}

bool ArenaBuffers::has_room(std::size_t bytes) const { return arena_->has_room(bytes); }

Layout Nonblocking::layout_for(int ranks) {
  Layout layout;
  layout.ranks = ranks;
  layout.slots = 2;
  layout.slot_bytes = 0;
  layout.has_pairwise = false;
  layout.compact = true;
  return layout;
}

/// Its offset in the arena; 0: there is no memory. For all ranks, from what the communicator's share says.
std::uint64_t Nonblocking::make(const NonblockingPlace& place, const Layout& layout) {
  const memory::Share share = place.arena.allocate(share_bytes(layout));
  if (!share) return 0;
  if (!place.arena.reserve_around(share)) {
    place.arena.free(share);
    return 0;
  }
  std::byte* const base = place.arena.at(share.offset);
  std::memset(base, 0, share_bytes(layout));
  const std::byte* const known = place.arena.at(place.share.offset);
  for (int rank = 0; rank < layout.ranks; ++rank)
    std::memcpy(base + layout.process(rank), known + place.layout.process(rank), Layout::process_bytes);
  return share.offset;
}

inline bool Nonblocking::look_at(Call& call) {
  const bool is_done = calls_.advance(call);
  if (completion_signal_) [[unlikely]]
    completion_signal_->tell(calls_.completed());
  return is_done;
}

inline void Nonblocking::look_at_all() {
  calls_.advance_all();
  if (completion_signal_) [[unlikely]]
    completion_signal_->tell(calls_.completed());
}

std::unique_ptr<CompletionSignal> CompletionSignal::if_wanted(machine::WaitPolicy policy) {
  if (!CollectiveProgress::start_thread()) return nullptr;
  return std::unique_ptr<CompletionSignal>(new CompletionSignal(policy));
}

KeptNonblocking Nonblocking::open(const NonblockingPlace& place, int rank, machine::WaitPolicy policy,
                                  bool by_thread, std::vector<int> names) {
  const Layout layout = layout_for(place.layout.ranks);
  auto& word = word_of(place.arena.at(place.share.offset), place.layout);
  // acquire: pairs with the release below; the share is whole before another rank finds it.
  std::uint64_t offset = word.load(std::memory_order_acquire);
  if (offset == 0) {
    const std::uint64_t made = make(place, layout);
    if (word.compare_exchange_strong(offset, made != 0 ? made : refused, std::memory_order_acq_rel))
      offset = made != 0 ? made : refused;
    else if (made != 0)
      place.arena.free({made, share_bytes(layout)});
  }
  if (offset == refused) return {};
  const memory::Share share = {offset, share_bytes(layout)};
  if (!place.arena.holds(share)) throw Error("the share of a communicator in the node's memory is damaged");
  place.arena.reserve_around(share);  // backed it is; this maps it
  std::shared_ptr<Nonblocking> made(
      new Nonblocking(place.arena, share, layout, rank, policy, by_thread, std::move(names)));
  CollectiveProgress::instance().add(made);
  made->self_ = made;
  return KeptNonblocking(*made);
}

Nonblocking::Nonblocking(memory::Arena& arena, memory::Share share, const Layout& layout, int rank,
                         machine::WaitPolicy policy, bool by_thread, std::vector<int> names)
    : arena_(arena),
      share_(share),
      layout_(layout),
      mismatch_detection_(arena.at(share.offset), layout, rank, std::move(names),
                          Process::instance().node()->sees_processes(), {}),
      machine_(arena.at(share.offset), layout, rank, policy, {}),
      completion_signal_(by_thread ? CompletionSignal::if_wanted(policy) : nullptr),
      calls_(machine_, {{arena.at(0), arena.bytes()},
                        arena.at(share.offset + layout.bytes()),
                        ArenaBuffers(arena),
                        arena.budget() / 4,
                        collective::usual_log2_chunk,
                        Process::instance().node()->single_copy(),
                        collective::least_exposed(Process::instance().node()->known_ranks_per_core()),
                        completion_signal_ ? left_to_thread_from : collective::never_later}),
      counters_(layout.ranks) {
  machine_.on_mistake(mismatch_detection_.mistake());
}

// Buffers of this rank go on a list in shared memory, whether others still read them or not.
Nonblocking::~Nonblocking() {
  mismatch_detection_.leave();
  auto& first = word_of(arena_.at(share_.offset), layout_);
  for (const collective::GivenBuffer& each : calls_.buffers().all()) {
    LeftBehind note{first.load(std::memory_order_relaxed), each.bytes};
    const auto place = static_cast<std::uint64_t>(each.data - arena_.at(0));
    do std::memcpy(note_in(each.data), &note, sizeof note);
    while (!first.compare_exchange_weak(note.next, place, std::memory_order_release));
  }
  if (is_last_to_leave(arena_, share_, layout_)) give_back_all();
}

// All ranks have left: their notes are ordered before by the count of those that have. Where the memory is
// damaged nothing more is given back than what can be.
void Nonblocking::give_back_all() try {
  std::uint64_t place = word_of(arena_.at(share_.offset), layout_).load(std::memory_order_acquire);
  for (std::size_t most = arena_.bytes() / memory::Arena::least_unit; place != 0 && most > 0; --most) {
    LeftBehind note;
    if (!arena_.holds({place, collective::BufferParts::table})) return;
    std::memcpy(&note, note_in(arena_.at(place)), sizeof note);
    arena_.free({place, note.bytes});
    place = note.next;
  }
  calls_.pages().for_each_allocated(machine_, [&](std::byte* page) {
    arena_.free({static_cast<std::size_t>(page - arena_.at(0)), Pages::bytes(layout_.ranks)});
  });
  arena_.free(share_);
} catch (const Error&) {  // of for_each_allocated()
}

bool Nonblocking::start_part(Call& call, const machine::CallFacts& facts) {
  const CallLock lock(mutex_);
  call.fingerprint = mismatch_detection_.begin(facts);
  return calls_.start(call);
}

void Nonblocking::note_call(const machine::CallFacts& facts) {
  const CallLock lock(mutex_);
  mismatch_detection_.begin(facts);
}

bool Nonblocking::start(Call& call) {
  const CallLock lock(mutex_);
  const machine::CallFacts facts = facts_of(call);
  call.fingerprint = mismatch_detection_.begin(facts);
  if (!calls_.start(call)) return false;
  if (call.is_long) [[unlikely]]
    CollectiveProgress::wake_thread();
  statistics::Call counted{facts.collective, facts.bytes, plan::Algorithm::exchange};
  counted.nonblocking = true;
  if (statistics::Row* row = counters_.row(counted)) statistics::count_untimed(*row);
  return true;
}

machine::Agreed Nonblocking::start_meeting(Call& call, const machine::CallFacts& facts,
                                           const std::function<std::uint64_t()>& offer) {
  const CallLock lock(mutex_);
  call.fingerprint = mismatch_detection_.begin(facts);
  return calls_.start_agreeing(call, offer, machine_.waiter().policy().fast_spins);
}

// What is thrown here complete() throws again.
bool Nonblocking::is_ready(Call& call) try {
  {
    const CallLock lock(mutex_, std::try_to_lock);
    if (lock && look_at(call)) return true;
  }
  work_in_wait();
  if (machine_.waiter().policy().fenced)
    machine::HostPlatform::yield();  // the awaited rank may need this core
  const CallLock lock(mutex_, std::try_to_lock);
  return lock && call.done;
} catch (const Error&) {
  return true;
}

/// True: the call is done. Else `lack` is what it needs next, and has not come in the first polls either.
bool Nonblocking::step(Call& call, Call::Lack& lack) {
  const CallLock lock(mutex_);
  call.awaited = false;
  do {
    if (look_at(call)) return true;
    lack = call.published ? call.lack : Call::Lack{};
  } while (lack.line && comes_at_once(lack));
  if (call.is_long) [[unlikely]]
    lack = {completion_signal_->completed(), calls_.completed() + 1, lack.peer};
  else
    call.awaited = lack.line != nullptr;
  return false;
}

/// With the lock, which saves a short call most of what a wait costs.
bool Nonblocking::comes_at_once(const Call::Lack& lack) {
  for (int i = 0; i < machine_.waiter().policy().fast_spins; ++i)
    if (machine_.reached_at(lack.line, lack.step)) return true;
  return false;
}

void Nonblocking::complete(Call& call) {
  Call::Lack lack;
  if (!step(call, lack)) wait(call, lack);
  asking::note_collective();
  if (const Call::Excess& excess = call.excess; excess.peer >= 0) [[unlikely]]
    collective::refuse_excess(machine_.rank(), excess.wanted, excess.peer, excess.given);
}

// Without the lock: another thread of this process may have to start what the awaited rank waits for. The
// waiter is this wait's own.
void Nonblocking::wait(Call& call, Call::Lack lack) {
  const machine::ProgressHook hook = {[](void* self) { static_cast<Nonblocking*>(self)->work_in_wait(); },
                                      this, Process::instance().progress_in_waits()};
  machine::Waiter waiter(machine_.waiter().policy(), hook);
  do {
    if (lack.line) {
      waiter.await(*reinterpret_cast<memory::FlagLine*>(lack.line), lack.step, lack.peer);
    } else {
      work_in_wait();
      machine::HostPlatform::yield();
    }
  } while (!step(call, lack));
}

void Nonblocking::work_in_wait() {
  Process::instance().make_progress();  // which advances all nonblocking calls, too
  const machine::ProgressHook look = mismatch_detection_.hook();
  const CallLock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  look_at_all();
  look.function(look.context);
}

bool Nonblocking::advance(Call& call) {
  const CallLock lock(mutex_);
  return look_at(call);
}

bool Nonblocking::claim(std::uint64_t number) {
  return collective::claim_number<network::HostPlatform>(claimed_in(arena_.at(share_.offset), layout_),
                                                         number);
}

std::string Nonblocking::failure(std::uint64_t& from) {
  const CallLock lock(mutex_);
  from = mismatch_detection_.failed_from();
  return mismatch_detection_.failure();
}

void Nonblocking::forget(const Call& call) {
  const CallLock lock(mutex_);
  calls_.forget(call);
}

void Nonblocking::advance_aside() {
  const CallLock lock(mutex_, std::try_to_lock);
  if (!lock || calls_.is_empty()) return;
  look_at_all();
}

bool Nonblocking::advance_in_thread() {
  const CallLock lock(mutex_, std::try_to_lock);
  if (!lock) return true;
  if (!calls_.has_long()) return false;
  look_at_all();
  return calls_.has_long();
}

}  // namespace espalier::runtime
