#include "memory/arena.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/format.hpp"
#include "memory/robust_lock.hpp"
#include "memory/thread_sanitizer.hpp"

namespace espalier::memory {

// One byte a unit (0 free, 1 taken) keeps the search plain. The sizes stand here for comparison with those that
// the joining process works out.
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

}  // namespace

std::size_t Arena::unit_for(std::size_t bytes) {
  constexpr std::size_t most_units = std::size_t{1} << 20;
  return std::max(least_unit, std::bit_ceil(bytes / most_units));
}

Arena::Arena(Segment segment, const Layout& layout) : segment_(std::move(segment)), layout_(layout) {}
Arena::~Arena() = default;
Arena::Header& Arena::header() const { return *reinterpret_cast<Header*>(segment_.base()); }

Arena::Layout Arena::layout_of(std::size_t segment_bytes, std::size_t notes_bytes) {
  const std::size_t unit = unit_for(segment_bytes);
  const std::size_t most_units = segment_bytes / unit;
  const std::size_t first_unit = round_up(sizeof(Header) + most_units + notes_bytes, unit);
  const std::size_t units = segment_bytes < first_unit ? 0 : (segment_bytes - first_unit) / unit;
  return {unit, units, first_unit, notes_bytes};
}

std::unique_ptr<Arena> Arena::found(Segment segment, std::size_t notes_bytes, std::string& why) {
  const Layout layout = layout_of(segment.size(), notes_bytes);
  if (layout.units == 0) {
    why = formatted("{} bytes are too few for an arena; the least is {}", segment.size(),
                    layout.first_unit + layout.unit);
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
  RobustLock::initialise(header->mutex);
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

// The map is read a free unit at a time, so that taken runs cost a scan of bytes.
std::size_t Arena::first_free_run(std::size_t wanted) const {
  const unsigned char* map = header().map;
  std::size_t begin = 0;
  while (begin + wanted <= layout_.units) {
    const void* free_unit = std::memchr(map + begin, 0, layout_.units - begin);
    if (!free_unit) break;
    begin = static_cast<std::size_t>(static_cast<const unsigned char*>(free_unit) - map);
    if (begin + wanted > layout_.units) break;
    const void* taken = std::memchr(map + begin, 1, wanted);
    if (!taken) return begin;
    begin = static_cast<std::size_t>(static_cast<const unsigned char*>(taken) - map);
  }
  return layout_.units;
}

Share Arena::allocate(std::size_t bytes) {
  Header& h = header();
  const std::size_t wanted = (bytes + layout_.unit - 1) / layout_.unit;
  const RobustLock lock(h.mutex);
  tell_of_return(segment_.base());
  const std::size_t first = first_free_run(wanted);
  if (first == layout_.units) return {};
  std::fill_n(h.map + first, wanted, 1);
  h.taken.fetch_add(wanted, std::memory_order_relaxed);  // a counter to print; the mutex orders the map
  return {layout_.first_unit + first * layout_.unit, bytes};
}

void Arena::free(Share share) {
  if (!holds(share)) return;
  Header& h = header();
  const std::size_t count = (share.bytes + layout_.unit - 1) / layout_.unit;
  const RobustLock lock(h.mutex);
  std::fill_n(h.map + (share.offset - layout_.first_unit) / layout_.unit, count, 0);
  h.taken.fetch_sub(count, std::memory_order_relaxed);
}

bool Arena::has_room(std::size_t bytes) const {
  const RobustLock lock(header().mutex);
  return first_free_run((bytes + layout_.unit - 1) / layout_.unit) != layout_.units;
}

bool Arena::holds(Share share) const {
  const std::size_t end = layout_.first_unit + layout_.units * layout_.unit;
  return share.offset >= layout_.first_unit && share.offset <= end && share.bytes <= end - share.offset &&
         (share.offset - layout_.first_unit) % layout_.unit == 0;
}

bool Arena::reserve(Share share, std::size_t begin, std::size_t bytes) const {
  if (!holds(share) || begin > share.bytes || bytes > share.bytes - begin) {
    errno = ERANGE;
    return false;
  }
  tell_of_return(segment_.base());  // before its first use by each rank, as in reserve_around()
  return segment_.reserve(share.offset + begin, bytes);
}

void Arena::map_now(Share share, std::size_t begin, std::size_t bytes, Use use) const {
#if defined(__linux__)
  // MADV_POPULATE_READ and _WRITE, since Linux 5.14; older headers lack the names.
  constexpr int populate_read = 22, populate_write = 23;
  madvise(at(share.offset + begin), bytes, use == Use::writing ? populate_write : populate_read);
#endif
}

bool Arena::reserve_around(Share share) {
  if (!holds(share)) return false;
  tell_of_return(segment_.base());
  constexpr std::size_t granule = 256 * 1024;
  const std::size_t end = share.offset + share.bytes;
  const std::lock_guard lock(around_);
  if (known_around_.empty()) known_around_.resize(segment_.size() / granule + 1);
  for (std::size_t at = share.offset / granule * granule; at < end; at += granule) {
    if (known_around_[at / granule]) continue;
    const std::size_t bytes = std::min(granule, segment_.size() - at);
    if (!segment_.reserve(at, bytes)) return segment_.reserve(share.offset, share.bytes);
    map_now({at, bytes}, 0, bytes, Use::writing);
    known_around_[at / granule] = true;
  }
  return true;
}

void Arena::share_with_children(Share share) const {
  segment_.share_with_children(share.offset, share.bytes);
}

std::size_t Arena::budget() const { return layout_.units * layout_.unit; }
std::size_t Arena::used() const { return header().taken.load(std::memory_order_relaxed) * layout_.unit; }
std::byte* Arena::notes() const { return segment_.base() + layout_.first_unit - layout_.notes_bytes; }
std::size_t Arena::notes_capacity() const { return layout_.notes_bytes; }

}  // namespace espalier::memory
