#include "memory/arena.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <new>

#include "base/format.hpp"
#include "memory/robust_lock.hpp"

namespace espalier::memory {

// One byte a unit (0 free, 1 taken) keeps the search plain.
struct Arena::Header {
  std::uint64_t magic;
  std::uint32_t layout_version;
  std::size_t unit;
  std::size_t units;       // after the header
  std::size_t first_unit;  // offset of unit 0 in the segment
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

Arena::Arena(Segment segment) : segment_(std::move(segment)) {}
Arena::~Arena() = default;
Arena::Header& Arena::header() const { return *reinterpret_cast<Header*>(segment_.base()); }

std::unique_ptr<Arena> Arena::found(Segment segment, std::size_t notes_bytes, std::string& why) {
  const std::size_t unit = unit_for(segment.size());
  const std::size_t units = segment.size() / unit;
  const std::size_t first_unit = round_up(sizeof(Header) + units + notes_bytes, unit);
  if (segment.size() < first_unit + unit) {
    why = formatted("{} bytes are too few for an arena; the least is {}", segment.size(), first_unit + unit);
    return nullptr;
  }
  if (!segment.reserve(0, first_unit)) {
    why = formatted("no space for the arena's first {} bytes", first_unit);
    return nullptr;
  }
  auto arena = std::unique_ptr<Arena>(new Arena(std::move(segment)));
  auto* header = new (arena->segment_.base()) Header{};
  header->layout_version = layout_version;
  header->unit = unit;
  header->units = (arena->segment_.size() - first_unit) / unit;
  header->first_unit = first_unit;
  header->notes_bytes = notes_bytes;
  RobustLock::initialise(header->mutex);
  header->magic = magic_number;
  return arena;
}

std::unique_ptr<Arena> Arena::join(Segment segment, std::string& why) {
  const auto* header = reinterpret_cast<const Header*>(segment.base());
  if (header->magic != magic_number || header->layout_version != layout_version) {
    why = "the node's arena was laid out by another version of Espalier; use one version on all ranks";
    return nullptr;
  }
  return std::unique_ptr<Arena>(new Arena(std::move(segment)));
}

// Which runs of units are free: the map is read a free unit at a time, so that taken runs cost a scan of bytes.
std::size_t Arena::first_free_run(std::size_t wanted) const {
  const Header& h = header();
  std::size_t begin = 0;
  while (begin + wanted <= h.units) {
    const void* free_unit = std::memchr(h.map + begin, 0, h.units - begin);
    if (!free_unit) break;
    begin = static_cast<std::size_t>(static_cast<const unsigned char*>(free_unit) - h.map);
    if (begin + wanted > h.units) break;
    const void* taken = std::memchr(h.map + begin, 1, wanted);
    if (!taken) return begin;
    begin = static_cast<std::size_t>(static_cast<const unsigned char*>(taken) - h.map);
  }
  return h.units;
}

Share Arena::allocate(std::size_t bytes) {
  Header& h = header();
  const std::size_t wanted = (bytes + h.unit - 1) / h.unit;
  const RobustLock lock(h.mutex);
  const std::size_t first = first_free_run(wanted);
  if (first == h.units) return {};
  std::fill_n(h.map + first, wanted, 1);
  h.taken.fetch_add(wanted, std::memory_order_relaxed);  // a counter to print; the mutex orders the map
  return {h.first_unit + first * h.unit, bytes};
}

void Arena::free(Share share) {
  if (!share) return;
  Header& h = header();
  const std::size_t count = (share.bytes + h.unit - 1) / h.unit;
  const RobustLock lock(h.mutex);
  std::fill_n(h.map + (share.offset - h.first_unit) / h.unit, count, 0);
  h.taken.fetch_sub(count, std::memory_order_relaxed);
}

bool Arena::reserve(Share share, std::size_t begin, std::size_t bytes) const {
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

std::size_t Arena::budget() const { return header().units * header().unit; }
std::size_t Arena::used() const { return header().taken.load(std::memory_order_relaxed) * header().unit; }
std::byte* Arena::notes() const { return segment_.base() + header().first_unit - notes_capacity(); }
std::size_t Arena::notes_capacity() const { return header().notes_bytes; }

}  // namespace espalier::memory
