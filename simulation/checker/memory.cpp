#include "simulation/checker/memory.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "base/error.hpp"
#include "base/format.hpp"

namespace espalier::simulation::checker {
namespace {

bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}
bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

}  // namespace

Memory::Memory(int ranks, std::size_t bytes)
    : ranks_(ranks),
      bytes_((bytes + block - 1) / block * block),
      shadows_(bytes_ * static_cast<std::size_t>(ranks)),
      latest_(bytes_),
      written_(bytes_),
      read_(static_cast<std::uint32_t*>(std::calloc(bytes_ * most_ranks, sizeof(std::uint32_t)))),
      freed_(bytes_),
      touched_(bytes_ / block),
      flag_index_(bytes_ / 4, -1),
      states_(static_cast<std::size_t>(ranks)) {
  if (ranks > most_ranks)
    throw Error(formatted("the checking machine has {} ranks at most, not {}", most_ranks, ranks));
  if (!read_) throw Error(formatted("no memory to watch {} bytes of {} ranks", bytes_, ranks));
  const std::size_t space = apart * static_cast<std::size_t>(ranks);
  void* memory = mmap(nullptr, space, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw Error(
        formatted("no address space for {} views: {}; check with fewer ranks", ranks, std::strerror(errno)));
  reserve_ = static_cast<std::byte*>(memory);
  for (int rank = 0; rank < ranks; ++rank)
    if (mprotect(view(rank), bytes_, PROT_READ | PROT_WRITE) != 0)
      throw Error(formatted("no memory for the view of rank {}: {}", rank, std::strerror(errno)));
  reset();
}

Memory::~Memory() { munmap(reserve_, apart * static_cast<std::size_t>(ranks_)); }

void Memory::reset() {
  for (std::size_t number = 0; number < touched_.size(); ++number)
    if (touched_[number]) clear_block(number);
  if (any_freed_) freed_.assign(freed_.size(), false);
  any_freed_ = false;
  std::fill(flag_index_.begin(), flag_index_.end(), std::int16_t{-1});
  flag_count_ = 0;
  ordered_ = {};
  for (int rank = 0; rank < ranks_; ++rank) {
    RankState& own = state(rank);
    std::vector<Write> writes = std::move(own.writes);
    writes.clear();
    own = {};
    own.writes = std::move(writes);
    own.clock[rank] = 1;
  }
}

void Memory::clear_block(std::size_t number) {
  const std::size_t begin = number * block;
  for (int rank = 0; rank < ranks_; ++rank) {
    std::memset(view(rank) + begin, 0, block);
    std::memset(shadow(rank) + begin, 0, block);
  }
  std::memset(latest_.data() + begin, 0, block);
  std::fill_n(written_.begin() + static_cast<std::ptrdiff_t>(begin), block, Moment());
  std::fill_n(read_.get() + begin * most_ranks, block * most_ranks, 0u);
  touched_[number] = false;
}

void Memory::touch(std::size_t offset, std::size_t bytes) {
  for (std::size_t number = offset / block; number * block < offset + bytes; ++number)
    touched_[number] = true;
}

void Memory::put(std::size_t offset, const void* data, std::size_t bytes) {
  touch(offset, bytes);
  std::memcpy(latest_.data() + offset, data, bytes);
  for (int rank = 0; rank < ranks_; ++rank) {
    std::memcpy(view(rank) + offset, data, bytes);
    std::memcpy(shadow(rank) + offset, data, bytes);
  }
}

std::optional<Trespass> Memory::read(int rank, std::size_t offset, std::size_t bytes) {
  touch(offset, bytes);
  const RankState& own = state(rank);
  const std::uint32_t now = own.clock[rank];
  for (std::size_t at = offset; at < offset + bytes; ++at) {
    if (written_[at].is_never()) return Trespass{at, Moment(), false};
    if (freed_[at] || !written_[at].is_before(own.clock)) return Trespass{at, written_[at], true};
    read_[at * most_ranks + static_cast<std::size_t>(rank)] = now;
  }
  return {};
}

std::optional<Trespass> Memory::check_write(int rank, std::size_t offset, std::size_t bytes) const {
  const Clock& clock = state(rank).clock;
  for (std::size_t at = offset; at < offset + bytes; ++at) {
    if (freed_[at] || !written_[at].is_before(clock)) return Trespass{at, written_[at], true};
    for (int reader = 0; reader < ranks_; ++reader) {
      const std::uint32_t time = read_[at * most_ranks + static_cast<std::size_t>(reader)];
      if (time > clock[reader]) return Trespass{at, Moment(reader, time), false};
    }
  }
  return {};
}

std::optional<Trespass> Memory::wrote(int rank, std::size_t offset, std::size_t bytes) {
  if (bytes == 0) return {};
  touch(offset, bytes);
  const auto trespass = check_write(rank, offset, bytes);
  RankState& own = state(rank);
  const std::uint32_t now = own.clock[rank];
  std::fill_n(written_.begin() + static_cast<std::ptrdiff_t>(offset), bytes, Moment(rank, now));
  std::memcpy(latest_.data() + offset, view(rank) + offset, bytes);
  std::memcpy(shadow(rank) + offset, view(rank) + offset, bytes);
  own.writes.push_back({offset, bytes, now});
  for (int other = 0; other < ranks_; ++other) {
    if (other == rank) continue;
    std::memset(view(other) + offset, static_cast<int>(junk), bytes);
    std::memset(shadow(other) + offset, static_cast<int>(junk), bytes);
  }
  return trespass;
}

std::optional<Trespass> Memory::find_writes(int rank, std::size_t offset, std::size_t bytes) {
  std::optional<Trespass> first;
  const std::byte *now = view(rank), *before = shadow(rank);
  if (std::memcmp(now + offset, before + offset, bytes) == 0) return {};
  for (std::size_t begin = offset; begin < offset + bytes; begin += block) {
    const std::size_t end = std::min(begin + block, offset + bytes);
    if (std::memcmp(now + begin, before + begin, end - begin) == 0) continue;
    for (std::size_t at = begin; at < end; ++at) {
      if (now[at] == before[at]) continue;
      const auto trespass = wrote(rank, at, 1);
      if (!first) first = trespass;
    }
  }
  return first;
}

std::size_t Memory::stray_write(int rank) {
  if (std::memcmp(view(rank), shadow(rank), bytes_) == 0) return bytes_;
  std::size_t at = 0;
  while (view(rank)[at] == shadow(rank)[at]) ++at;
  touch(0, bytes_);  // more may have been written anywhere: reset() must clear all
  return at;
}

std::optional<Trespass> Memory::freed(int rank, std::size_t offset, std::size_t bytes) {
  const auto trespass = wrote(rank, offset, bytes);
  std::fill_n(freed_.begin() + static_cast<std::ptrdiff_t>(offset), bytes, true);
  any_freed_ = true;
  return trespass;
}

Memory::Flag& Memory::flag_at(std::size_t offset) {
  std::int16_t& index = flag_index_[offset / 4];
  if (index < 0) {
    if (flag_count_ == most_flags)
      throw Error(formatted("more than {} flags are in use: check with fewer ranks or slots", most_flags));
    if (flag_count_ == flags_.size()) flags_.emplace_back();
    Flag& fresh = flags_[flag_count_];
    fresh.number = flag_count_;
    fresh.values.clear();
    fresh.values.push_back({});  // zero from the start, known to all
    fresh.in_kernel = {};
    index = static_cast<std::int16_t>(flag_count_++);
  }
  return flags_[static_cast<std::size_t>(index)];
}

std::size_t Memory::readable(int rank, std::size_t flag) {
  const Flag& it = flag_at(flag);
  return it.values.size() - state(rank).seen.of[it.number];
}

void Memory::acquire(int rank, const Clock& clock, const Seen& seen) {
  RankState& own = state(rank);
  own.clock.join(clock);
  own.seen.join(seen, flag_count_);
  learn(rank);
}

void Memory::learn(int rank) {
  RankState& own = state(rank);
  for (int writer = 0; writer < ranks_; ++writer) {
    if (writer == rank) continue;
    const std::vector<Write>& writes = state(writer).writes;
    std::size_t& heard = own.heard[static_cast<std::size_t>(writer)];
    for (; heard < writes.size() && writes[heard].time <= own.clock[writer]; ++heard)
      show(rank, writes[heard]);
  }
}

// Bytes that have been written again since, by a write that this rank does not know of, stay junk.
void Memory::show(int rank, const Write& write) {
  const Clock& clock = state(rank).clock;
  for (std::size_t at = write.offset; at < write.offset + write.bytes; ++at)
    if (written_[at].is_before(clock)) view(rank)[at] = shadow(rank)[at] = latest_[at];
}

std::uint64_t Memory::load(int rank, std::size_t flag, std::size_t age, std::memory_order order) {
  Flag& it = flag_at(flag);
  const std::size_t index = it.values.size() - 1 - age;
  RankState& own = state(rank);
  own.seen.of[it.number] = static_cast<std::uint16_t>(index);
  const Value& value = it.values[index];
  if (acquires(order)) {
    acquire(rank, value.clock, value.seen);
  } else {
    own.acquirable.join(value.clock);
    own.acquirable_seen.join(value.seen, flag_count_);
  }
  return value.value;
}

void Memory::store(int rank, std::size_t flag, std::uint64_t value, std::memory_order order) {
  Flag& it = flag_at(flag);
  RankState& own = state(rank);
  own.seen.of[it.number] = static_cast<std::uint16_t>(it.values.size());
  if (releases(order)) {
    it.values.push_back({value, own.clock, own.seen});
    ++own.clock[rank];
  } else {
    it.values.push_back({value, own.released, own.released_seen});
  }
}

std::uint64_t Memory::exchange(int rank, std::size_t flag, std::uint64_t value, std::memory_order order) {
  const std::uint64_t before = load(rank, flag, 0, order);
  store(rank, flag, value, order);
  // The new value continues the release sequence of the value that it replaces.
  std::vector<Value>& values = flag_at(flag).values;
  const Value& replaced = values[values.size() - 2];
  values.back().clock.join(replaced.clock);
  values.back().seen.join(replaced.seen, flag_count_);
  return before;
}

void Memory::fence(int rank, std::memory_order order) {
  RankState& own = state(rank);
  if (acquires(order)) acquire(rank, own.acquirable, own.acquirable_seen);
  if (order == std::memory_order_seq_cst) {
    own.seen.join(ordered_, flag_count_);
    ordered_ = own.seen;
  }
  if (releases(order)) {
    own.released = own.clock;
    own.released_seen = own.seen;
    ++own.clock[rank];
  }
}

void Memory::meet_in_kernel(int rank, std::size_t flag) {
  Flag& it = flag_at(flag);
  state(rank).seen.join(it.in_kernel, flag_count_);
  it.in_kernel = state(rank).seen;
}

void Memory::settle(int rank, std::size_t flag) {
  const Flag& it = flag_at(flag);
  state(rank).seen.of[it.number] = static_cast<std::uint16_t>(it.values.size() - 1);
}

void Memory::settle(int rank) {
  for (std::size_t i = 0; i < flag_count_; ++i)
    state(rank).seen.of[i] = static_cast<std::uint16_t>(flags_[i].values.size() - 1);
}

Memory::Knowledge Memory::tell(int rank) {
  RankState& own = state(rank);
  Knowledge knowledge{own.clock, own.seen};
  ++own.clock[rank];
  return knowledge;
}

}  // namespace espalier::simulation::checker
