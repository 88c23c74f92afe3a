// What passes within a node: flags and data in what its ranks share.
#include <algorithm>

#include "simulation/engine/engine.hpp"

namespace espalier::simulation {

// From the nearest core that has the line, when it has it and gives it to no other reader. A read that did not
// wait for what came before it was under way already: so many are at a time.
void Engine::fetch(int rank, Holders& holders, double earliest, double bytes) {
  const NodeModel& node = model_.node;
  const int core = core_of_rank(rank);
  Rank& it = ranks_[index(rank)];
  if (holders.has(core)) {
    it.clock = std::max(it.clock, earliest);
    return spend(rank, bytes * node.own_copy_ns_per_byte);
  }
  const auto [holder, level] = holders.nearest(node, core);
  const double latency = node.read_ns(*level);
  const double can_begin = it.fetched == it.clock ? it.next_fetch : it.clock;
  const double begin = std::max({can_begin, earliest, holder->ready, holder->busy});
  holder->busy = begin + node.reader_gap_ns;
  const int source = holder->core;  // holders may move
  it.clock = std::max(it.clock, begin + latency);
  const double line_there = it.clock;
  spend(rank, bytes * level->copy_ns_per_byte);
  if (bytes > 0) it.clock = std::max(it.clock, through_controller(rank, source, begin, bytes));
  it.fetched = it.clock;
  it.next_fetch = begin + latency / node.reads_under_way + (it.clock - line_there);
  holders.add(node, core, it.clock);
}

// Until when a memory controller or a shared cache has given so many bytes, of all that ask it.
double Engine::through_controller(int rank, int core, double begin, double bytes) {
  if (controllers_free_.empty()) return begin;
  const NodeModel& node = model_.node;
  const int controllers = (node.cores() + node.controller_cores - 1) / node.controller_cores;
  double& free = controllers_free_[index(shape_.node_of(rank) * controllers + core / node.controller_cores)];
  return free = std::max(free, begin) + bytes * node.controller_ns_per_byte;
}

void Engine::copy(int rank, int place, double bytes) {
  Holders* const holders =
      place == own_memory ? nullptr : places_[index(shape_.node_of(rank))].holders_of(place, bytes);
  if (holders == nullptr) return spend(rank, bytes * model_.node.own_copy_ns_per_byte);
  fetch(rank, *holders, 0, bytes);
}

// The bytes are paid for where they come from. What is charged here is that other cores have their lines.
void Engine::write(int rank, int place, double bytes) {
  const NodeModel& node = model_.node;
  double taken = 0;
  places_[index(shape_.node_of(rank))].write(node, place, bytes, core_of_rank(rank), clock(rank),
                                             [&](const CoreLevel& level, int lines) {
                                               taken += lines * node.claim_ns(level) / node.stores_under_way;
                                             });
  spend(rank, taken);
}

// When others see a store for which the line must be taken from cores so far away. Its rank goes on meanwhile:
// stores wait in a buffer, which they leave in order. While one is under way the next lines are claimed, too;
// but from a rank that polls its line such a claim is in vain: it has it back before the store's turn.
double Engine::store(int rank, const CoreLevel* from, bool polled) {
  const NodeModel& node = model_.node;
  Rank& it = ranks_[index(rank)];
  const double begin = std::max(it.clock, it.next_store);
  const double claim = from != nullptr ? node.claim_ns(*from) : 0;
  it.last_store = std::max(it.last_store, begin + claim);
  it.next_store = polled ? it.last_store : begin + claim / node.stores_under_way;
  return it.last_store;
}

void Engine::publish(int rank, int flag_number, std::uint64_t value) {
  Flag& flag = flags_[flag_index(shape_.node_of(rank), index(flag_number))];
  if (value > flag.value) flag.value = value;
  const int core = core_of_rank(rank);
  flag.visible =
      store(rank, flag.holders.farthest(model_.node, core), cores_.empty() && flag.first_waiter != none);
  flag.holders.be_written(core, flag.visible);
  wake_waiters(flag);
}

void Engine::wake_waiters(Flag& flag) {
  std::int32_t* link = &flag.first_waiter;
  while (*link != none) {
    const int waiter = *link;
    Rank& it = ranks_[index(waiter)];
    if (it.awaited > flag.value) {
      link = &it.next_waiter;
      continue;
    }
    *link = it.next_waiter;
    it.woken = true;
    fetch(waiter, flag.holders, flag.visible, 0);
    it.fetched = -1;  // what it reads next it could not know before
    schedule(it.clock, waiter);
  }
  // Who waits for a later value polls, and has the line again.
  for (std::int32_t left = flag.first_waiter; left != none; left = ranks_[index(left)].next_waiter)
    flag.holders.add(model_.node, core_of_rank(left), flag.visible);
}

bool Engine::await(int rank, int flag_number, std::uint64_t value) {
  Rank& it = ranks_[index(rank)];
  if (it.woken) return it.woken = false, true;  // paid when it was woken
  Flag& flag = flags_[flag_index(shape_.node_of(rank), index(flag_number))];
  if (flag.value >= value) {
    if (!flag.holders.empty()) fetch(rank, flag.holders, flag.visible, 0);
    return true;
  }
  // A line that no core has had counts as this one's.
  if (flag.holders.empty()) flag.holders.be_written(core_of_rank(rank), 0);
  flag.holders.add(model_.node, core_of_rank(rank), it.clock);
  it.awaited = value;
  it.next_waiter = none;
  std::int32_t* link = &flag.first_waiter;
  while (*link != none) link = &ranks_[index(*link)].next_waiter;
  *link = rank;
  return false;
}

std::optional<std::uint64_t> Engine::add(int rank, int flag_number, std::uint64_t value) {
  if (!has_core(rank) || !wait_for_turn(rank)) return {};
  Flag& flag = flags_[flag_index(shape_.node_of(rank), index(flag_number))];
  const std::uint64_t before = flag.value;
  const int core = core_of_rank(rank);
  Rank& it = ranks_[index(rank)];
  // It takes the line, with its value, and waits for that.
  it.clock = std::max({it.clock, it.next_store, flag.visible});
  if (const CoreLevel* level = flag.holders.farthest(model_.node, core)) it.clock += level->line_ns;
  flag.value = before + value;
  flag.visible = it.clock;
  flag.holders.be_written(core, it.clock);
  wake_waiters(flag);
  return before;
}

}  // namespace espalier::simulation
