#include "memory/arena.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>

#include "base/format.hpp"

namespace espalier::memory {

// One byte a unit (0 free, 1 taken) keeps the search plain; a terabyte of budget would be 16 MiB of it. The
// sizes stand here for comparison with those that the joining process works out.
struct Arena::Header {
  std::uint64_t magic;
  std::uint32_t layout_version;
  std::size_t units;
  std::size_t first_unit;
  std::size_t notes_bytes;
  std::atomic<std::size_t> taken;
  pthread_mutex_t mutex;
  unsigned char map[];
};

namespace {

constexpr std::uint64_t magic_number = 0x7265696c61707365ull;  // "espalier"
constexpr std::uint32_t layout_version = 1;

std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// A robust lock: when its holder died, the next one repairs (the map is always consistent enough: at worst
// the dead process's run of units stays taken). It is tried again and again, not waited for: where a filter of
// system calls refuses futex(), pthread_mutex_lock() ends the program. It is held for microseconds.
class Guard {
 public:
  explicit Guard(pthread_mutex_t& mutex) : mutex_(mutex) {
    constexpr int most_yields = 16;
    for (int tries = 0;; ++tries) {
      const int status = pthread_mutex_trylock(&mutex_);
      if (status == EOWNERDEAD) pthread_mutex_consistent(&mutex_);
      if (status != EBUSY) return;
      if (tries < most_yields)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
  ~Guard() { pthread_mutex_unlock(&mutex_); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

void init_mutex(pthread_mutex_t& mutex) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

}  // namespace

Arena::Arena(Segment segment, const Layout& layout) : segment_(std::move(segment)), layout_(layout) {}
Arena::~Arena() = default;
Arena::Header& Arena::header() const { return *reinterpret_cast<Header*>(segment_.base()); }

Arena::Layout Arena::layout_of(std::size_t segment_bytes, std::size_t notes_bytes) {
  const std::size_t most_units = segment_bytes / unit;
  const std::size_t first_unit = round_up(sizeof(Header) + most_units + notes_bytes, unit);
  const std::size_t units = segment_bytes < first_unit ? 0 : (segment_bytes - first_unit) / unit;
  return {units, first_unit, notes_bytes};
}

std::unique_ptr<Arena> Arena::found(Segment segment, std::size_t notes_bytes, std::string& why) {
  const Layout layout = layout_of(segment.size(), notes_bytes);
  if (layout.units == 0) {
    why = formatted("{} bytes are too few for an arena; the least is {}", segment.size(),
                    layout.first_unit + unit);
    return nullptr;
  }
  if (!segment.reserve(0, layout.first_unit)) {
    why = formatted("no space for the arena's first {} bytes (fallocate: {})", layout.first_unit,
                    std::strerror(errno));
    return nullptr;
  }
  auto arena = std::unique_ptr<Arena>(new Arena(std::move(segment), layout));
  auto* header = new (arena->segment_.base()) Header{};
  header->layout_version = layout_version;
  header->units = layout.units;
  header->first_unit = layout.first_unit;
  header->notes_bytes = layout.notes_bytes;
  init_mutex(header->mutex);
  header->magic = magic_number;
  return arena;
}

std::unique_ptr<Arena> Arena::join(Segment segment, std::size_t notes_bytes, std::string& why) {
  const Layout layout = layout_of(segment.size(), notes_bytes);
  const auto* header = reinterpret_cast<const Header*>(segment.base());
  if (layout.units == 0 || header->magic != magic_number || header->layout_version != layout_version ||
      header->units != layout.units || header->first_unit != layout.first_unit ||
      header->notes_bytes != layout.notes_bytes) {
    why = "the node's arena was laid out by another version of Espalier; use one version on all ranks";
    return nullptr;
  }
  return std::unique_ptr<Arena>(new Arena(std::move(segment), layout));
}

Share Arena::allocate(std::size_t bytes) {
  Header& h = header();
  const std::size_t wanted = (bytes + unit - 1) / unit;
  const Guard guard(h.mutex);
  std::size_t run = 0;
  for (std::size_t i = 0; i < layout_.units; ++i) {
    run = h.map[i] ? 0 : run + 1;
    if (run == wanted) {
      const std::size_t first = i + 1 - wanted;
      std::fill_n(h.map + first, wanted, 1);
      h.taken.fetch_add(wanted, std::memory_order_relaxed);  // a counter to print; the mutex orders the map
      return {layout_.first_unit + first * unit, bytes};
    }
  }
  return {};
}

void Arena::free(Share share) {
  if (!holds(share)) return;
  Header& h = header();
  const std::size_t count = (share.bytes + unit - 1) / unit;
  const Guard guard(h.mutex);
  std::fill_n(h.map + (share.offset - layout_.first_unit) / unit, count, 0);
  h.taken.fetch_sub(count, std::memory_order_relaxed);
}

bool Arena::holds(Share share) const {
  const std::size_t end = layout_.first_unit + layout_.units * unit;
  return share.offset >= layout_.first_unit && share.offset <= end && share.bytes <= end - share.offset &&
         (share.offset - layout_.first_unit) % unit == 0;
}

bool Arena::reserve(Share share, std::size_t begin, std::size_t bytes) const {
  if (!holds(share) || begin > share.bytes || bytes > share.bytes - begin) {
    errno = ERANGE;
    return false;
  }
  return segment_.reserve(share.offset + begin, bytes);
}

void Arena::map_now(Share share, std::size_t begin, std::size_t bytes, Use use) const {
#if defined(__linux__)
  // MADV_POPULATE_READ and _WRITE, since Linux 5.14; older headers lack the names.
  constexpr int populate_read = 22, populate_write = 23;
  madvise(at(share.offset + begin), bytes, use == Use::writing ? populate_write : populate_read);
#endif
}

void Arena::share_with_children(Share share) const {
  segment_.share_with_children(share.offset, share.bytes);
}

std::size_t Arena::budget() const { return layout_.units * unit; }
std::size_t Arena::used() const { return header().taken.load(std::memory_order_relaxed) * unit; }
std::byte* Arena::notes() const { return segment_.base() + layout_.first_unit - layout_.notes_bytes; }
std::size_t Arena::notes_capacity() const { return layout_.notes_bytes; }

}  // namespace espalier::memory
