// What the rank that runs does to memory: each operation, and what is checked of it.
#include "simulation/checker/execution.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/format.hpp"

namespace espalier::simulation::checker {

std::uint64_t Execution::load(const void* flag, const char* name, std::memory_order order,
                              const std::source_location& where) {
  if (at(where, Operation::load, name, order) == Change::relaxed) order = std::memory_order_relaxed;
  point();
  const std::size_t offset = flag_of(flag);
  const std::size_t age = age_of_load(offset);
  const std::uint64_t value = memory_.load(running_, offset, age, order);
  if (with_log_)
    record(
        formatted("reads {} of {}: {}{}", name, describe(offset), value, age > 0 ? ", which is stale" : ""));
  return value;
}

void Execution::store(const void* flag, const char* name, std::uint64_t value, std::memory_order order,
                      const std::source_location& where) {
  if (at(where, Operation::store, name, order) == Change::relaxed) order = std::memory_order_relaxed;
  point();
  const std::uint64_t before = memory_.newest(flag_of(flag));
  memory_.store(running_, flag_of(flag), value, order);
  stored(flag_of(flag), before);
  if (with_log_) record(formatted("sets {} of {} to {}", name, describe(flag_of(flag)), value));
}

std::uint64_t Execution::add(const void* flag, const char* name, std::uint64_t value, std::memory_order order,
                             const std::source_location& where) {
  const Change change = at(where, Operation::add, name, order);
  if (change == Change::relaxed) order = std::memory_order_relaxed;
  if (change == Change::acquire_only) order = std::memory_order_acquire;
  if (change == Change::release_only) order = std::memory_order_release;
  point();
  if (change == Change::removed) value = 0;
  const std::size_t offset = flag_of(flag);
  std::uint64_t before = memory_.newest(offset);
  if (change == Change::in_two_steps) {
    before = memory_.load(running_, offset, age_of_load(offset), order);
    point();
    memory_.store(running_, offset, before + value, order);
  } else {
    memory_.exchange(running_, offset, before + value, order);
  }
  // That a rank goes to sleep is no news: one whose timed sleep ends, and who sleeps again, would be roused
  // for ever.
  if (std::string_view(name) != "sleepers") stored(offset, before);
  if (with_log_)
    record(formatted("adds {} to {} of {}, which was {}", static_cast<std::int64_t>(value), name,
                     describe(flag_of(flag)), static_cast<std::int64_t>(before)));
  return before;
}

std::size_t Execution::age_of_load(std::size_t flag) {
  const std::size_t count = memory_.readable(running_, flag);
  if (count <= 1) return 0;
  constexpr std::size_t most = 8;
  static constexpr std::array<int, most> ages = {0, 1, 2, 3, 4, 5, 6, 7};
  return chooser_->choose(Question::value, std::span(ages).first(std::min(count, most)));
}

std::uint64_t Execution::exchange(const void* flag, const char* name, std::uint64_t value,
                                  std::memory_order order, const std::source_location& where) {
  const Change change = at(where, Operation::exchange, name, order);
  if (change == Change::relaxed) order = std::memory_order_relaxed;
  if (change == Change::acquire_only) order = std::memory_order_acquire;
  if (change == Change::release_only) order = std::memory_order_release;
  point();
  const std::size_t offset = flag_of(flag);
  std::uint64_t before = memory_.newest(offset);
  if (change == Change::removed) {
    before = memory_.load(running_, offset, age_of_load(offset), order);
  } else if (change == Change::in_two_steps) {
    before = memory_.load(running_, offset, age_of_load(offset), order);
    point();
    memory_.store(running_, offset, value, order);
  } else {
    memory_.exchange(running_, offset, value, order);
  }
  stored(offset, before);
  if (with_log_) record(formatted("puts {} into {} {}, which was {}", value, name, describe(offset), before));
  return before;
}

// One that fails is a load, and as stale as any.
bool Execution::compare_exchange(const void* flag, const char* name, std::uint64_t& expected,
                                 std::uint64_t desired, bool weak, std::memory_order success,
                                 std::memory_order failure, const std::source_location& where) {
  const Change change = at(where, Operation::compare_exchange, name, success);
  if (change == Change::relaxed) success = std::memory_order_relaxed;
  if (change == Change::acquire_only) success = std::memory_order_acquire;
  if (change == Change::release_only) success = std::memory_order_release;
  if (change == Change::failure_relaxed) failure = std::memory_order_relaxed;
  point();
  const std::size_t offset = flag_of(flag);
  const bool matches = memory_.newest(offset) == expected && !(weak && ask(Question::value) == 1);
  if (matches && change != Change::in_two_steps) {
    memory_.exchange(running_, offset, desired, success);
    stored(offset, expected);
    if (with_log_)
      record(formatted("changes {} {} from {} to {}", name, describe(offset), expected, desired));
    return true;
  }
  const std::uint64_t wanted = expected;
  std::size_t age = matches ? 0 : age_of_load(offset);
  if (memory_.value(offset, age) == wanted) age = 0;  // what matches is changed, and that takes the newest
  expected = memory_.load(running_, offset, age, failure);
  if (with_log_) record(formatted("does not change {} {}: it is {}", name, describe(offset), expected));
  if (!matches) return false;
  point();
  memory_.store(running_, offset, desired, success);
  stored(offset, wanted);
  return expected == wanted;
}

// Others of the node that look at flags have something to look at, if it is something new.
void Execution::stored(std::size_t flag, std::uint64_t before) {
  if (memory_.newest(flag) == before) return;
  ++events_;
  hurries_ = false;
  for (int rank = 0; rank < scenario_.ranks; ++rank) {
    Rank& it = of(rank);
    if (rank == running_ || node_of_rank(rank) != node_of_rank(running_)) continue;
    ++it.news.stores;
    if (it.state == State::idles && it.looks_at_flags) it.state = State::runs;
  }
}

void Execution::fence(std::memory_order order, const std::source_location& where) {
  const Change change = at(where, Operation::fence, "", order);
  point();
  if (change == Change::removed) return;
  if (change == Change::acquire_only) order = std::memory_order_acquire;
  if (change == Change::release_only) order = std::memory_order_release;
  memory_.fence(running_, order);
  if (with_log_) record("fence");
}

void Execution::futex_wait(const void* flag, std::uint32_t seen, const std::source_location& where) {
  const Change change = at(where, Operation::futex_wait);
  if (change == Change::removed) return;
  point();
  const std::size_t offset = flag_of(flag);
  memory_.meet_in_kernel(running_, offset);
  const std::size_t count = memory_.readable(running_, offset);
  std::size_t age = 0;
  if (count > 1) {
    static constexpr std::array<int, 2> newest_or_oldest = {0, 1};
    age = chooser_->choose(Question::value, newest_or_oldest) == 0 ? 0 : count - 1;
  }
  const std::uint64_t value = memory_.load(running_, offset, age, std::memory_order_relaxed);
  if (static_cast<std::uint32_t>(value) != seen && change != Change::uncompared) {
    if (with_log_) record(formatted("does not sleep on {}: it is {}", describe(offset), value));
    return;
  }
  if (with_log_) record(formatted("sleeps on {}, which is {}", describe(offset), value));
  of(running_).sleeps_on = offset;
  of(running_).seen = seen;
  sleep();
  memory_.meet_in_kernel(running_, offset);
  if (with_log_) record("is awake");
}

void Execution::futex_wake(const void* flag, const std::source_location& where) {
  const Change change = at(where, Operation::futex_wake);
  if (change == Change::removed) return;
  point();
  const std::size_t offset = flag_of(flag);
  memory_.meet_in_kernel(running_, offset);
  for (Rank& rank : ranks_) {
    if (rank.state != State::sleeps || rank.sleeps_on != offset) continue;
    rank.state = State::runs;
    if (change == Change::one_only) break;
  }
  if (with_log_) record(formatted("wakes who sleeps on {}", describe(offset)));
}

void Execution::reads(const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  if (const auto other = messages_.met_by(running_, source, bytes, false))
    fail(Wrong::message, formatted("rank {} reads {} bytes where {} is under way", running_, bytes, *other));
  if (!memory_.is_near_view(running_, source)) return;
  const std::size_t offset = memory_.offset_of(running_, source);
  if (offset + bytes > memory_.bytes())
    fail(Wrong::error, formatted("rank {} reads {} bytes beyond the share, at {}", running_, bytes, offset));
  note_writes();
  check(memory_.read(running_, offset, bytes), "reads", bytes);
}

void Execution::writes(const void* target, std::size_t bytes) {
  if (bytes == 0) return;
  if (const auto other = messages_.met_by(running_, target, bytes, true))
    fail(Wrong::message, formatted("rank {} writes {} bytes where {} is under way", running_, bytes, *other));
  if (!memory_.is_near_view(running_, target)) return;
  check(memory_.wrote(running_, memory_.offset_of(running_, target), bytes), "writes", bytes);
}

void Execution::stream(void* target, const void* source, std::size_t bytes) {
  const Node& node = node_of(running_);
  const auto* data = static_cast<const std::byte*>(source);
  if (bytes == 0) return;
  if (memory_.offset_of(running_, target) < node.begin + node.layout.ring(0)) {  // rides in a line
    std::memcpy(target, source, bytes);
    return writes(target, bytes);
  }
  of(running_).streamed.push_back({static_cast<std::byte*>(target), {data, data + bytes}});
}

void Execution::settle_streams() {
  for (const Streamed& each : std::exchange(of(running_).streamed, {})) {
    std::memcpy(each.target, each.data.data(), each.data.size());
    writes(each.target, each.data.size());
  }
}

void Execution::may_write(const void* target, std::size_t bytes) {
  if (!memory_.is_near_view(running_, target)) return;
  const std::size_t offset = memory_.offset_of(running_, target);
  if (offset + bytes > memory_.bytes())
    fail(Wrong::error, formatted("rank {} writes {} bytes beyond the share, at {}", running_, bytes, offset));
}

std::uintptr_t Execution::position_of(int rank, const void* address) const {
  if (memory_.is_near_view(rank, address)) return memory_.offset_of(rank, address);
  return reinterpret_cast<std::uintptr_t>(address);
}

bool Execution::keeps(const void* address) const {
  for (int rank = 0; rank < scenario_.ranks; ++rank)
    if (memory_.is_near_view(rank, address)) return true;
  return std::any_of(kept_.begin(), kept_.end(), [&](const Kept& each) {
    return address >= each.begin.get() && address < each.begin.get() + each.bytes;
  });
}

bool Execution::expose(const void* source, std::size_t bytes) {
  exposed_.push_back({running_, static_cast<const std::byte*>(source), bytes, memory_.time_of(running_)});
  return true;
}

void Execution::pull(int owner, const void* source, std::size_t bytes) {
  point();
  const auto* begin = static_cast<const std::byte*>(source);
  for (const Exposed& e : exposed_) {
    if (e.owner != owner || begin < e.begin || begin + bytes > e.begin + e.bytes) continue;
    if (e.since > memory_.clock_of(running_)[owner]) break;
    pulled_.push_back({running_, owner, begin, bytes, memory_.time_of(running_)});
    return;
  }
  fail(Wrong::unordered,
       formatted("rank {} reads {} bytes of rank {}'s memory, which that has not shown to it, or has "
                 "taken back",
                 running_, bytes, owner));
}

void Execution::waits_for(const void* flag, std::uint64_t step) {
  of(running_).awaited_flag = flag_of(flag);
  of(running_).awaited_step = step;
}

Change Execution::at(const std::source_location& where, Operation operation, const char* name,
                     std::memory_order order) {
  const std::uint64_t hash =
      reinterpret_cast<std::uint64_t>(where.file_name()) * 31 +
      (std::uint64_t{where.line()} << 20 | where.column() << 8 | static_cast<std::uint64_t>(operation));
  if (known_sites_.insert(hash).second) sites_.insert(site_of(where, operation, name, order));
  if (!mutant_ || mutant_->site.line != where.line() || mutant_->site.column != where.column() ||
      mutant_->site.operation != operation)
    return Change::none;
  return site_of(where, operation, name, order) == mutant_->site ? mutant_->change : Change::none;
}

Change Execution::at(const Site& site) {
  sites_.insert(site);
  return mutant_ && mutant_->site == site ? mutant_->change : Change::none;
}

std::size_t Execution::ask(Question question) {
  static constexpr std::array<int, 2> options = {0, 1};
  return chooser_->choose(question, options);
}

}  // namespace espalier::simulation::checker
