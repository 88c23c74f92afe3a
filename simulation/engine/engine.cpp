#include "simulation/engine/engine.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/format.hpp"
#include "plan/cost/call_cost.hpp"

namespace espalier::simulation {

Engine::Engine(const Model& model, const Shape& shape, std::size_t flags, std::uint64_t seed)
    : model_(model),
      shape_(shape),
      flags_per_node_(flags),
      ranks_(index(shape.ranks())),
      flags_(index(shape.nodes) * flags),
      places_(index(shape.nodes)),
      cards_out_(index(shape.nodes * model.network.cards)),
      cards_in_(cards_out_.size()) {
  const NodeModel& node = model_.node;
  if (shape.ranks_per_node > node.cores()) cores_.resize(index(shape.nodes * node.cores()));
  const int controllers = (node.cores() + node.controller_cores - 1) / node.controller_cores;
  if (node.controller_ns_per_byte > 0) controllers_free_.resize(index(shape.nodes * controllers));
  const std::uint64_t first = SmallRandom(seed).next();
  for (int rank = 0; rank < shape.ranks(); ++rank) {
    Rank& it = ranks_[index(rank)];
    it.random = SmallRandom(SmallRandom(first + static_cast<std::uint64_t>(rank)).next());
    it.clock = model_.noise.skew_ns > 0 ? it.random.fraction() * model_.noise.skew_ns : 0;
    it.noise.start(model_.noise, it.random);
    schedule(it.clock, rank);
  }
}

bool Engine::perform(int rank, const Operation& operation) {
  if (!has_core(rank)) return false;
  const double begin = clock(rank);
  const auto amount = static_cast<double>(operation.amount);
  switch (operation.act) {
    case Act::work:
      spend(rank, amount / 16);
      break;
    case Act::copy:
      if (operation.peer != own_memory && !wait_for_turn(rank)) return false;
      copy(rank, operation.peer, amount);
      break;
    case Act::write:
      if (!wait_for_turn(rank)) return false;
      write(rank, operation.peer, amount);
      break;
    case Act::fold:
      spend(rank, amount * model_.node.reduce_ns_per_byte);
      break;
    case Act::publish:
      if (!wait_for_turn(rank)) return false;
      publish(rank, operation.peer, operation.amount);
      break;
    case Act::await:
      if (!wait_for_turn(rank)) return false;
      if (!await(rank, operation.peer, operation.amount)) return leave_core(rank), false;
      break;
    case Act::send:
      if (!wait_for_turn(rank)) return false;
      send(rank, operation);
      break;
    case Act::receive:
      if (!wait_for_turn(rank)) return false;
      receive(rank, operation);
      break;
    case Act::complete:
      if (!complete(rank, static_cast<std::uint32_t>(operation.peer))) return leave_core(rank), false;
      break;
    case Act::aggregate:
      if (!wait_for_turn(rank)) return false;
      if (!aggregate(rank, amount)) return leave_core(rank), false;
      break;
  }
  if (keeps_timeline_) note(rank, begin, operation.act);
  return true;
}

// What others see or do must happen in the order of time: a rank whose clock has run ahead comes later.
bool Engine::wait_for_turn(int rank) {
  if (is_turn_of(rank)) return true;
  schedule(clock(rank), rank);
  return false;
}

Engine::Core& Engine::core_under(int rank) {
  const int cores = model_.node.cores();
  return cores_[index(shape_.node_of(rank) * cores + shape_.local(rank) % cores)];
}

// True at once where every rank has a core. Else the rank takes its own if no rank has it, or gets its turn
// when it is left. Who comes back to a core that no other rank has had in between was polling there: no
// switch.
bool Engine::has_core(int rank) {
  if (cores_.empty()) return true;
  Core& core = core_under(rank);
  if (core.running == rank) return true;
  Rank& it = ranks_[index(rank)];
  if (core.running != none || (core.promised != none && core.promised != rank)) {
    it.next_waiter = none;  // it waits for nothing else
    std::int32_t* link = &core.first_ready;
    while (*link != none) link = &ranks_[index(*link)].next_waiter;
    *link = rank;
    return false;
  }
  const bool switches = core.last != none && core.last != rank;
  it.clock = std::max(it.clock, core.free) + (switches ? model_.node.wake_ns : 0);
  core.running = core.last = rank;
  core.promised = none;
  return true;
}

void Engine::leave_core(int rank) {
  if (cores_.empty()) return;
  Core& core = core_under(rank);
  if (core.running != rank) return;
  core.running = none;
  core.free = clock(rank);
  if (core.first_ready == none) return;
  const std::int32_t next = core.first_ready;
  core.first_ready = ranks_[index(next)].next_waiter;
  core.promised = next;
  schedule(std::max(clock(next), core.free), next);
}

void Engine::spend(int rank, double duration) {
  Rank& it = ranks_[index(rank)];
  it.clock = it.noise.end_of(it.clock, duration, model_.noise, it.random);
}

void Engine::note(int rank, double begin, Act act) {
  if (clock(rank) > begin) timeline_.push_back({rank, begin, clock(rank), act});
}

// --- between nodes ---

double Engine::latency(int from_node, int to_node) const {
  double total = model_.network.wire.latency;
  for (const SwitchLevel& level : model_.network.switches) {
    if (from_node / level.nodes == to_node / level.nodes) break;
    total += level.latency_ns;
  }
  return total;
}

std::size_t Engine::card_of(int rank) const {
  const int cards = model_.network.cards;
  return index(shape_.node_of(rank) * cards + shape_.local(rank) % cards);
}

std::int32_t Engine::fresh_message() {
  if (free_messages_.empty()) {
    messages_.emplace_back();
    return static_cast<std::int32_t>(messages_.size() - 1);
  }
  const std::int32_t message = free_messages_.back();
  free_messages_.pop_back();
  messages_[index(message)] = {};
  return message;
}

void Engine::append(int rank, std::int32_t message) {
  std::int32_t* link = &ranks_[index(rank)].first_message;
  while (*link != none) link = &messages_[index(*link)].next;
  *link = message;
}

std::int32_t Engine::post_send(int rank, const Operation& operation, double ready) {
  const std::int32_t own = fresh_message();
  messages_[index(own)] = {
      ready, operation.amount, rank, operation.peer, none, ranks_[index(rank)].next_id++, operation.lane,
      true};
  append(rank, own);
  const std::int32_t flying = fresh_message();
  messages_[index(flying)] = {unknown, operation.amount, rank, operation.peer, none,
                              0,       operation.lane,   false};
  return flying;
}

// LogGP: o at the sender, then the bytes leave; L and bG later the last is there.
void Engine::send(int rank, const Operation& operation) {
  if (are_neighbours(rank, operation.peer)) return send_to_neighbour(rank, operation);
  const plan::Wire& wire = model_.network.wire;
  const auto bytes = static_cast<double>(operation.amount);
  Rank& it = ranks_[index(rank)];
  it.clock = std::max(it.clock, it.next_send);
  spend(rank, wire.overhead);
  double& card = cards_out_[card_of(rank)];
  const double leaves = std::max(it.clock, card);
  card = leaves + bytes * model_.network.link_ns_per_byte;
  it.next_send = leaves - wire.overhead + std::max(wire.gap, bytes * wire.per_byte);

  const std::int32_t flying = post_send(rank, operation, leaves + bytes * wire.per_byte);
  const double way =
      latency(shape_.node_of(rank), shape_.node_of(operation.peer)) + plan::handshake(wire, bytes);
  schedule(leaves + way, -1 - flying);
}

// Within a node both ranks copy: the sender into cells that they share, the receiver out of them while the
// sender goes on. Half of what is left of the time of a message is the sender's.
void Engine::send_to_neighbour(int rank, const Operation& operation) {
  const plan::Wire& wire = model_.node.messages;
  spend(rank, wire.latency / 2 + static_cast<double>(operation.amount) * wire.per_byte);
  schedule(clock(rank), -1 - post_send(rank, operation, clock(rank)));
}

// The first byte is at the receiver's card, which takes one message after the other, as its rank does. Of a
// neighbour's message the last byte is in its cell.
double Engine::take_in(const Message& message) {
  const auto bytes = static_cast<double>(message.bytes);
  Rank& it = ranks_[index(message.to)];
  if (are_neighbours(message.from, message.to)) {
    const double copying = bytes * model_.node.messages.per_byte;
    const double begin = std::max(now_ - copying, it.next_receive);
    const double queued = through_controller(message.to, core_of(shape_.local(message.from)), begin, bytes);
    return it.next_receive = std::max(begin + copying, queued);
  }
  const plan::Wire& wire = model_.network.wire;
  double& card = cards_in_[card_of(message.to)];
  const double begins = std::max({now_, card, it.next_receive});
  const double ready = begins + bytes * wire.per_byte;
  card = begins + bytes * model_.network.link_ns_per_byte;
  it.next_receive = std::max(begins + wire.gap, ready);
  return ready;
}

void Engine::arrive(std::size_t message_number) {
  const Message message = messages_[message_number];
  const double ready = take_in(message);
  Rank& it = ranks_[index(message.to)];
  for (std::int32_t* link = &it.first_message; *link != none; link = &messages_[index(*link)].next) {
    Message& posted = messages_[index(*link)];
    if (!posted.posted || posted.ready != unknown || posted.from != message.from ||
        posted.lane != message.lane)
      continue;
    posted.ready = ready;
    if (it.waits_for == posted.id) schedule(std::max(it.clock, ready), message.to);
    free_messages_.push_back(static_cast<std::int32_t>(message_number));
    return;
  }
  messages_[message_number].ready = ready;
  append(message.to, static_cast<std::int32_t>(message_number));
}

void Engine::receive(int rank, const Operation& operation) {
  Rank& it = ranks_[index(rank)];
  const std::uint32_t id = it.next_id++;
  for (std::int32_t link = it.first_message; link != none; link = messages_[index(link)].next) {
    Message& there = messages_[index(link)];
    if (there.posted || there.from != operation.peer || there.lane != operation.lane) continue;
    there.posted = true;
    there.id = id;
    return;
  }
  const std::int32_t message = fresh_message();
  messages_[index(message)] = {unknown, operation.amount, operation.peer, rank, none, id, operation.lane,
                               true};
  append(rank, message);
}

bool Engine::complete(int rank, std::uint32_t id) {
  Rank& it = ranks_[index(rank)];
  for (std::int32_t* link = &it.first_message; *link != none; link = &messages_[index(*link)].next) {
    const std::int32_t number = *link;
    const Message message = messages_[index(number)];
    if (!message.posted || message.id != id) continue;
    if (message.ready == unknown) return it.waits_for = id, false;
    it.waits_for = no_message;
    *link = message.next;
    free_messages_.push_back(number);
    if (message.from == rank) return true;  // the card has it; no rank waits for that
    it.clock = std::max(it.clock, message.ready);
    spend(rank, are_neighbours(message.from, rank) ? model_.node.messages.latency / 2
                                                   : model_.network.wire.overhead);
    return true;
  }
  throw Error(formatted("rank {} completes its message {}, which is not under way", rank, id));
}

bool Engine::aggregate(int rank, double bytes) {
  Rank& it = ranks_[index(rank)];
  if (it.woken) {
    it.woken = false;
    spend(rank, model_.aggregation.overhead_ns);
    return true;
  }
  if (model_.aggregation.radix == 0)
    throw Error(formatted("{}: has no aggregation nodes (simulate.aggregation)", model_.file));
  if (aggregation_.empty()) aggregation_.emplace_back(model_.aggregation, shape_.nodes);
  spend(rank, model_.aggregation.overhead_ns);
  aggregating_.push_back(rank);
  if (!aggregation_[0].post(shape_.node_of(rank), it.clock, bytes)) return false;
  for (const int waiting : aggregating_) {
    Rank& other = ranks_[index(waiting)];
    other.woken = true;
    other.clock = std::max(other.clock, aggregation_[0].result());
    schedule(other.clock, waiting);
  }
  aggregating_.clear();
  return false;
}

}  // namespace espalier::simulation
