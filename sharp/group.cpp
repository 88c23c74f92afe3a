#include "sharp/group.hpp"

#include <algorithm>

#include <sharp/api/sharp_coll.h>

#include "base/format.hpp"
#include "sharp/operations.hpp"

namespace espalier::sharp {
namespace {

constexpr std::size_t longest_text =
    512;  // of a failure: it has to go into the shortest payload of a stranger

}  // namespace

std::string Child::who() const {
  if (name.empty()) return formatted("rank {}", first);
  if (last - first == 1) return formatted("aggregation node {} with rank {}", name, first);
  return formatted("aggregation node {} with ranks {} to {}", name, first, last - 1);
}

Group::Group(Id id, std::uint32_t members, std::vector<Child> children, bool has_parent, const Limits& limits,
             Budget& budget, Send send)
    : id_(id),
      members_(members),
      children_(std::move(children)),
      has_parent_(has_parent),
      limits_(limits),
      budget_(budget),
      send_(std::move(send)) {
  hold(static_cast<std::ptrdiff_t>(children_.size() * sizeof(Child)));
}

void Group::hold(std::ptrdiff_t more) {
  const auto bytes = static_cast<std::size_t>(more < 0 ? -more : more);
  more < 0 ? budget_.give(bytes) : budget_.take(bytes);
  held_ += static_cast<std::size_t>(more);
}

void Group::hold(Slot& slot, std::ptrdiff_t more) {
  slot.held += static_cast<std::size_t>(more);
  hold(more);
}

bool Group::all_left() const {
  return std::all_of(children_.begin(), children_.end(), [](const Child& child) { return child.has_left; });
}

bool Group::includes(Connection connection) const {
  return std::any_of(children_.begin(), children_.end(),
                     [&](const Child& child) { return child.connection == connection && !child.has_left; });
}

void Group::add_connections(std::set<Connection>& all) const {
  for (const Child& child : children_)
    if (!child.has_left) all.insert(child.connection);
}

Child* Group::child_of(Connection connection) {
  const auto found = std::find_if(children_.begin(), children_.end(),
                                  [&](const Child& child) { return child.connection == connection; });
  return found == children_.end() ? nullptr : &*found;
}

Frame Group::frame_of(Kind kind) const {
  Frame frame;
  frame.kind = kind;
  frame.job = id_.job;
  frame.group = id_.group;
  return frame;
}

std::optional<Failure> Group::join(Connection from, const std::string& name, const Frame& frame) {
  if (frame.size != members_)
    return Failure{SHARP_COLL_EINVAL, frame.rank,
                   formatted("rank {} says that the group has {} members, others that it has {}", frame.rank,
                             frame.size, members_)};
  const auto child = std::find_if(children_.begin(), children_.end(),
                                  [&](const Child& each) { return each.covers(frame.rank); });
  if (child == children_.end() || child->name != name)
    return Failure{SHARP_COLL_EGROUP_JOIN, frame.rank,
                   formatted("rank {} does not belong below this aggregation node", frame.rank)};
  if (child->connection != no_connection || child_of(from))
    return Failure{SHARP_COLL_EGROUP_JOIN, frame.rank, formatted("{} has joined twice", child->who())};
  child->connection = from;
  return std::nullopt;
}

bool Group::is_complete() const {
  return std::none_of(children_.begin(), children_.end(),
                      [](const Child& child) { return child.connection == no_connection; });
}

std::vector<const Child*> Group::missing_nodes() const {
  std::vector<const Child*> missing;
  for (const Child& child : children_)
    if (!child.name.empty() && child.connection == no_connection) missing.push_back(&child);
  return missing;
}

void Group::ask_parent(Connection parent) const {
  Frame join = frame_of(Kind::join);
  join.size = members_;
  join.rank = children_.front().first;
  join.flags = locked_ ? wants_lock : 0;
  send_(parent, join);
}

void Group::start() {
  stands_ = true;
  for (const Child& child : children_) send_(child.connection, frame_of(Kind::joined));
}

/// Everything that one contribution can get wrong by itself.
std::optional<Failure> Group::check(const Child& child, const Frame& frame) const {
  const auto wrong = [&](std::int32_t code, const std::string& what) {
    return Failure{code, child.first, formatted("{} {}", child.who(), what)};
  };
  if (!stands_) return wrong(SHARP_COLL_EINVAL, "contributes to a group that does not stand yet");
  if (child.has_left || frame.sequence != child.next)
    return wrong(SHARP_COLL_EINVAL,
                 formatted("contributes to operation {} where {} is next", frame.sequence, child.next));
  if (frame.sequence >= finished_ + limits_.slots_per_group)
    return wrong(SHARP_COLL_ENO_RESOURCE,
                 formatted("has more than {} operations under way", limits_.slots_per_group));
  if (frame.size > longest())
    return wrong(SHARP_COLL_EINVAL, formatted("sends more than {} bytes", longest()));
  const bool reduces = frame.operation == Operation::allreduce || frame.operation == Operation::reduce;
  const bool is_rooted = frame.operation == Operation::bcast || frame.operation == Operation::reduce;
  if (is_rooted && frame.root >= members_) return wrong(SHARP_COLL_EINVAL, "names a root that is no member");
  const bool has_data = reduces || (frame.operation == Operation::bcast && child.covers(frame.root));
  if (frame.payload.size() != (has_data ? frame.size : 0))
    return wrong(SHARP_COLL_EINVAL,
                 formatted("sends {} bytes for an operation of {}", frame.payload.size(), frame.size));
  if (!reduces) return std::nullopt;
  const bool is_known = frame.op < 64 && frame.type < 64 && (limits_.ops >> frame.op & 1) != 0 &&
                        (limits_.types >> frame.type & 1) != 0 && kernel_of(frame.op, frame.type);
  if (!is_known)
    return wrong(SHARP_COLL_ENOT_SUPP, formatted("asks for operator {} on type {}", frame.op, frame.type));
  if (frame.payload.size() % extent_of(frame.type) != 0)
    return wrong(SHARP_COLL_EINVAL, "sends a part of an element");
  return std::nullopt;
}

std::optional<Failure> Group::compare(const Child& child, const Frame& frame, const Slot& slot) const {
  const auto what = [](const Frame& f) {
    constexpr const char* names[] = {"a barrier", "an allreduce", "a reduce", "a bcast"};
    return formatted("{} of {} bytes (operator {}, type {}, root {})", names[static_cast<int>(f.operation)],
                     f.size, f.op, f.type, f.root);
  };
  const Frame& first = slot.first;
  if (frame.operation == first.operation && frame.op == first.op && frame.type == first.type &&
      frame.size == first.size && frame.root == first.root)
    return std::nullopt;
  return Failure{SHARP_COLL_EINVAL, child.first,
                 formatted("operation {} of the group is {} for {}, {} for rank {}", frame.sequence,
                           what(frame), child.who(), what(first), first.rank)};
}

/// Folds what has come, as far as none before it is missing: the order is that of the ranks, whenever they
/// come.
void Group::fold_on(Slot& slot) {
  const reduce::Operation* operation = kernel_of(slot.first.op, slot.first.type);
  for (; slot.folded < children_.size() && slot.waiting[slot.folded]; ++slot.folded) {
    std::vector<std::byte> next = std::move(*slot.waiting[slot.folded]);
    if (slot.vector.empty())
      slot.vector = std::move(next);
    else if (!next.empty()) {
      const void* sources[] = {slot.vector.data(), next.data()};
      operation->kernel(slot.vector.data(), sources, 2, next.size() / operation->extent);
      hold(slot, -static_cast<std::ptrdiff_t>(next.size()));
    }
    slot.waiting[slot.folded]->clear();
  }
}

std::optional<Failure> Group::contribute(Connection from, Frame& frame, Connection parent) {
  Child* child = child_of(from);
  if (!child) return Failure{SHARP_COLL_EINVAL, no_rank, "a contribution from a process that is no member"};
  frame.rank = child->first;
  if (auto wrong = check(*child, frame)) return wrong;
  const bool is_new = !slots_.contains(frame.sequence);
  if (!budget_.has(frame.payload.size() + (is_new ? held_by_slot() : 0)))
    return Failure{SHARP_COLL_ENO_RESOURCE, child->first,
                   "the aggregation node holds as much as it may (\"memory\") for all groups together"};
  const auto [place, is_first] = slots_.try_emplace(frame.sequence);
  Slot& slot = place->second;
  if (is_first) {
    slot.waiting.resize(children_.size());
    hold(slot, static_cast<std::ptrdiff_t>(held_by_slot()));
    std::vector<std::byte> payload = std::move(frame.payload);
    slot.first = frame;
    frame.payload = std::move(payload);
  } else if (auto differs = compare(*child, frame, slot)) {
    return differs;
  }
  ++child->next;
  hold(slot, static_cast<std::ptrdiff_t>(frame.payload.size()));
  slot.waiting[static_cast<std::size_t>(child - children_.data())] = std::move(frame.payload);
  fold_on(slot);
  if (++slot.came < children_.size()) return missed_by_leavers();
  Slot done = std::move(slot);
  hold(-static_cast<std::ptrdiff_t>(done.held));
  slots_.erase(place);
  pass_on(done.first, std::move(done.vector), parent);
  return std::nullopt;
}

void Group::pass_on(const Frame& like, std::vector<std::byte>&& vector, Connection parent) {
  if (!has_parent_) return send_results(like, std::move(vector));
  Frame up = like;
  up.rank = children_.front().first;
  above_.emplace(like.sequence, up);
  up.payload = std::move(vector);
  send_(parent, up);
}

/// A reduce's result goes to the root alone; the others only hear that it is done.
void Group::send_results(const Frame& like, std::vector<std::byte>&& vector) {
  Frame down = frame_of(Kind::result);
  down.operation = like.operation;
  down.sequence = like.sequence;
  down.size = like.size;
  down.root = like.root;
  Frame nothing = down;
  down.payload = std::move(vector);
  ++finished_;
  for (const Child& child : children_) {
    const bool wants = like.operation != Operation::reduce || child.covers(like.root);
    send_(child.connection, wants ? down : nothing);
  }
}

std::optional<Failure> Group::result(const Frame& frame) {
  const auto asked = above_.find(frame.sequence);
  if (asked == above_.end())
    return Failure{
        SHARP_COLL_ERROR, no_rank,
        formatted("the aggregation node above answers operation {}, which it was not asked", frame.sequence)};
  const Frame like = asked->second;
  above_.erase(asked);
  const bool brings = like.operation != Operation::barrier &&
                      (like.operation != Operation::reduce ||
                       (children_.front().first <= like.root && like.root < children_.back().last));
  if (frame.payload.size() != (brings ? like.size : 0))
    return Failure{SHARP_COLL_ERROR, no_rank,
                   formatted("the aggregation node above answers operation {} with {} bytes", frame.sequence,
                             frame.payload.size())};
  send_results(like, std::vector<std::byte>(frame.payload));
  return std::nullopt;
}

std::optional<Failure> Group::leave(Connection from) {
  Child* child = child_of(from);
  if (!child) return std::nullopt;
  child->has_left = true;
  return missed_by_leavers();
}

/// Who has left will never contribute to what the others have begun.
std::optional<Failure> Group::missed_by_leavers() const {
  if (slots_.empty()) return std::nullopt;
  const std::uint64_t last = slots_.rbegin()->first;
  for (const Child& child : children_)
    if (child.has_left && child.next <= last)
      return Failure{SHARP_COLL_ERROR, child.first,
                     formatted("{} has left the group before operation {}", child.who(), last)};
  return std::nullopt;
}

Failure Group::lost(Connection connection) const {
  for (const Child& child : children_)
    if (child.connection == connection)
      return {SHARP_COLL_ERROR, child.first,
              formatted("{} of the group is gone: its connection ended", child.who())};
  return {SHARP_COLL_ECONN_TREE, no_rank, "the connection to the aggregation node above ended"};
}

Failure Group::late() const {
  constexpr std::size_t most_named = 8;
  std::vector<std::string> missing;
  std::size_t unnamed = 0;
  std::uint32_t culprit = no_rank;
  for (const Child& child : children_)
    if (child.connection == no_connection) {
      missing.size() < most_named ? missing.push_back(child.who()) : static_cast<void>(++unnamed);
      culprit = std::min(culprit, child.first);
    }
  if (missing.empty())
    return {SHARP_COLL_EGROUP_JOIN, no_rank, "the aggregation node above did not answer in time"};
  if (unnamed > 0) missing.push_back(formatted("{} more", unnamed));
  return {SHARP_COLL_EGROUP_JOIN, culprit,
          formatted("{} did not join the group within {} s", joined(missing, ", "), limits_.join_seconds)};
}

void Group::fail(const Failure& failure, Connection parent) {
  if (failure_) return;
  failure_ = failure;
  if (failure_->text.size() > longest_text)
    failure_->text.resize(longest_text);  // it may come from another node
  Frame frame = frame_of(Kind::failed);
  frame.code = failure.code;
  frame.rank = failure.culprit;
  frame.set_text(failure_->text);
  for (const Child& child : children_)
    if (child.connection != no_connection && !child.has_left) send_(child.connection, frame);
  if (has_parent_ && parent != no_connection) send_(parent, frame);
  // A group that is over may be remembered for long: of it only the failure is.
  slots_ = {};
  above_ = {};
  children_ = {};
  hold(-static_cast<std::ptrdiff_t>(held_));
}

}  // namespace espalier::sharp
