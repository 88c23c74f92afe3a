#include "runtime/flight/recorder.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/ticks.hpp"
#include "memory/segment.hpp"

namespace espalier::runtime::flight {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

/// Zero at first, and touched by no process that calls no collective.
constinit Record own_record{};
/// Where this process records now: memory of its own until join() and after leave().
constinit std::atomic<Record*> record{&own_record};

void record_at(Record& place) {
  record.store(&place, relaxed);
  detail::first.ring.store(&place.rings[0], relaxed);
}

std::mutex record_mutex;  // of what follows, of the communicators and the header
// Not destroyed: threads may still be in calls while the process ends.
memory::Segment& own_segment = *new memory::Segment;

// Two readings of the clock are nothing beside calls that are so far apart (20 to 30 us).
constexpr std::uint64_t far_apart_ticks = 65536;
constexpr std::uint64_t calls_without = 32;

// Of time_all(). Read where a call is timed, which is rare unless it was asked for.
constinit std::atomic<std::uint64_t> calls_between{calls_without};
constinit std::atomic<std::uint64_t> last_state{
    ~std::uint64_t{0}};  ///< a call of a later one is one too many
constinit std::atomic<void (*)() noexcept> after_last{nullptr};

/// Of time_call().
struct TimedCall {
  const Entry* entry = nullptr;
  std::uint64_t state = 0, began = 0;
  void (*then)(std::uint64_t, std::uint64_t) noexcept = nullptr;
};
constinit thread_local TimedCall timed_call;
constinit std::atomic<bool> any_timed_call{false};  // of any thread, ever

void take_moment(Moment& moment) {
  moment.nanoseconds.store(ticks::nanoseconds(), relaxed);
  moment.ticks.store(ticks::now(), relaxed);
}

constexpr std::size_t ring_of_all = Record::rings_of_threads - 1;

/// Which threads have the rings behind the first; null: the ring is free. The last ring is of all others.
constinit std::array<std::atomic<const void*>, ring_of_all - 1> threads_behind{};

std::atomic<const void*>& thread_of(std::size_t ring) {
  return ring == 0 ? detail::first.thread : threads_behind[ring - 1];
}

/// Gives the ring of a thread back, when that ends. `self`: its this_thread().
void give_back(void* self) {
  for (std::size_t i = 0; i < ring_of_all; ++i) {
    if (thread_of(i).load(relaxed) != self) continue;
    record.load(relaxed)->rings[i].thread.store(0, relaxed);
    thread_of(i).store(nullptr, relaxed);
  }
}

/// Not by a destructor of a thread-local object: that of the main thread would run when the process ends, and after
/// it the program's static objects may make calls.
void give_back_at_end(const void* self) {
  static pthread_key_t key;
  static const bool made = pthread_key_create(&key, give_back) == 0;
  if (made) pthread_setspecific(key, self);
}

void forget_in_child() {
  record_at(own_record);  // the arena is not the child's
}

void watch_forks() {
  static const int registered = pthread_atfork(nullptr, nullptr, forget_in_child);
  static_cast<void>(registered);
}

std::byte* memory_of_its_own() {
  std::string why;
  own_segment = memory::Segment::create_memfd(record_bytes, why);
  return own_segment && own_segment.reserve(0, record_bytes) ? own_segment.base() : nullptr;
}

template <std::size_t room>
void put_text(std::array<char, room>& field, const std::string& text) {
  field.fill(0);
  text.copy(field.data(), room - 1);
}

void fill(Header& header, const Author& author) {
  header.version = Record::version;
  header.bytes = record_bytes;
  header.job = author.job;
  header.node = author.node;
  header.started = author.started;
  header.process = getpid();
  header.rank = author.rank;
  header.ranks = author.ranks;
  header.node_rank = author.node_rank;
  header.node_ranks = author.node_ranks;
  take_moment(header.first);
  std::atomic_thread_fence(std::memory_order_release);  // the name says that the rest is there
  header.magic = {"espalier flight"};
}

void time_begins(Ring& ring, std::uint64_t state, std::uint64_t now) {
  Entry& entry = ring.entry(state);
  entry.begin.store(now, relaxed);
  entry.end.store(0, relaxed);
  entry.timed.store(state, relaxed);
  ring.timed.store(state, relaxed);
}

/// A call under way ends where it has begun (InCall), so what goes along has ended.
void take_along(const Record& before, Record& fresh) {
  std::memcpy(static_cast<void*>(&fresh.rings), static_cast<const void*>(&before.rings), sizeof fresh.rings);
  for (Ring& ring : fresh.rings) ring.state.store(ring.state.load(relaxed) & ~std::uint64_t{1}, relaxed);
}

CommunicatorLine* line_of(std::uint64_t handle) {
  for (CommunicatorLine& line : record.load(relaxed)->communicators)
    if (line.handle.load(relaxed) == handle) return &line;
  return nullptr;
}

/// A call is over, maybe that of time_call().
void tell(const Entry& entry, std::uint64_t now) noexcept {
  if (timed_call.entry != &entry || timed_call.state != entry.timed.load(relaxed)) return;
  timed_call.entry = nullptr;
  timed_call.then(entry.communicator.load(relaxed), now - timed_call.began);
}

[[gnu::cold, gnu::noinline]] void end_timing() noexcept {
  last_state.store(~std::uint64_t{0}, relaxed);
  calls_between.store(calls_without, relaxed);
  if (auto* then = after_last.exchange(nullptr, relaxed)) then();
}

}  // namespace

namespace detail {

constinit First first{nullptr, &own_record.rings[0]};

Ring& ring_of_another() noexcept {
  Record& now = *record.load(relaxed);
  const void* self = this_thread();
  for (std::size_t i = 0; i < ring_of_all; ++i)
    if (thread_of(i).load(relaxed) == self) return now.rings[i];
  for (std::size_t i = 0; i < ring_of_all; ++i) {
    const void* free = nullptr;
    if (thread_of(i).load(relaxed) || !thread_of(i).compare_exchange_strong(free, self, relaxed)) continue;
    now.rings[i].thread.store(static_cast<std::uint64_t>(syscall(SYS_gettid)), relaxed);
    give_back_at_end(self);
    return now.rings[i];
  }
  return now.rings[ring_of_all];
}

// How far apart calls are is known from the last one that came here.
void note_begin(Ring& ring, std::uint64_t state) noexcept {
  if (state > last_state.load(relaxed)) [[unlikely]]
    end_timing();
  const std::uint64_t now = ticks::now();
  const std::uint64_t calls = (state - ring.looked_state.load(relaxed)) / 2;
  const bool is_far = now - ring.looked_ticks.load(relaxed) > calls * far_apart_ticks;
  ring.next_timed.store(is_far ? 0 : state + 2 * calls_between.load(relaxed), relaxed);
  ring.looked_ticks.store(now, relaxed);
  ring.looked_state.store(state, relaxed);
  time_begins(ring, state, now);
}

void note_end(Entry& entry) noexcept {
  const std::uint64_t now = ticks::now();
  entry.end.store(now, relaxed);
  if (any_timed_call.load(relaxed)) tell(entry, now);
}

}  // namespace detail

void note_host_call(std::uint64_t call, std::uint64_t bytes) noexcept {
  if (detail::ring().state.load(relaxed) % 2 == 1) note_call(host_call | call, bytes);
}

void note_wait() noexcept {
  Ring& ring = detail::ring();
  const std::uint64_t state = ring.state.load(relaxed);
  if (state % 2 == 0 || ring.timed.load(relaxed) == state) return;
  take_moment(record.load(relaxed)->header.last);
  time_begins(ring, state, ticks::now());
  ring.next_timed.store(0, relaxed);  // what comes after a long wait may be far apart
}

void time_call(void (*then)(std::uint64_t communicator, std::uint64_t ticks) noexcept) noexcept {
  Ring& ring = detail::ring();
  const std::uint64_t state = ring.state.load(relaxed), now = ticks::now();
  if (state % 2 == 0) return;  // it began before join()
  if (ring.timed.load(relaxed) != state) time_begins(ring, state, now);
  timed_call = {&ring.entry(state), state, now, then};
  any_timed_call.store(true, relaxed);
}

void time_all(std::uint64_t calls, void (*then)() noexcept) {
  after_last.store(then, relaxed);
  last_state.store(calls >= ~std::uint64_t{0} / 2 ? ~std::uint64_t{0} : 2 * calls + 1, relaxed);
  calls_between.store(0, relaxed);
  for (Ring& ring : record.load(relaxed)->rings) ring.next_timed.store(0, relaxed);
}

void join(std::byte* place, const Author& author) {
  const std::lock_guard lock(record_mutex);
  ticks::choose();
  watch_forks();
  if (!place) place = memory_of_its_own();
  auto* fresh = place ? reinterpret_cast<Record*>(place) : &own_record;
  const Record* before = record.load(relaxed);
  if (fresh != before) take_along(*before, *fresh);
  fill(fresh->header, author);
  record_at(*fresh);
}

void leave() noexcept {
  const std::lock_guard lock(record_mutex);
  Record* left = record.load(relaxed);
  left->header.has_left.store(1, std::memory_order_release);
  if (left == &own_record) return;
  for (std::size_t i = 0; i < Record::rings_of_threads; ++i) {
    own_record.rings[i].state.store(0, relaxed);
    own_record.rings[i].thread.store(left->rings[i].thread.load(relaxed), relaxed);
  }
  record_at(own_record);
  own_segment = {};
}

const char* mark_now() noexcept {
  Record* now = record.load(relaxed);
  if (now == &own_record) return nullptr;
  take_moment(now->header.last);
  return reinterpret_cast<const char*>(now);
}

void name_host(const std::string& host, const std::string& build) {
  const std::lock_guard lock(record_mutex);
  put_text(record.load(relaxed)->header.host, host);
  put_text(record.load(relaxed)->header.build, build);
}

void add_communicator(const Named& communicator) {
  const std::lock_guard lock(record_mutex);
  CommunicatorLine* line = line_of(communicator.handle);
  if (!line) line = line_of(0);
  if (!line) return;
  line->handle.store(0, relaxed);
  line->id = {communicator.high, communicator.low};
  line->size = communicator.size;
  line->rank = communicator.rank;
  line->first = communicator.first;
  line->stride = communicator.stride;
  put_text(line->name, communicator.name);
  line->handle.store(communicator.handle, std::memory_order_release);
  take_moment(record.load(relaxed)->header.last);
}

void forget_communicator(std::uint64_t handle) noexcept {
  const std::lock_guard lock(record_mutex);
  if (CommunicatorLine* line = handle != 0 ? line_of(handle) : nullptr) line->handle.store(0, relaxed);
}

}  // namespace espalier::runtime::flight
