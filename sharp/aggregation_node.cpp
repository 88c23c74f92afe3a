#include "sharp/aggregation_node.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include <sharp/api/sharp_coll.h>

#include "base/format.hpp"

namespace espalier::sharp {
namespace {

constexpr Seconds hello_timeout = 5;
// So long a failed group is remembered, for members that come late; and so many of them.
constexpr std::size_t most_remembered = 1024;

Group::Id id_of(const Frame& frame) { return {frame.job, frame.group}; }

}  // namespace

Position position_of(const TreeFile& tree, int node) {
  const auto at = [&](int index) -> const TreeNode& { return tree.nodes[static_cast<std::size_t>(index)]; };
  const auto number = [](int leaf) { return static_cast<std::uint32_t>(leaf); };
  const TreeNode& own = at(node);
  Position position{own.name,
                    own.parent < 0 ? "" : at(own.parent).name,
                    number(static_cast<int>(tree.leaves.size())),
                    number(own.first_leaf),
                    number(own.last_leaf),
                    {}};
  for (const int child : own.children)
    position.below.push_back({at(child).name, number(at(child).first_leaf), number(at(child).last_leaf)});
  return position;
}

AggregationNode::AggregationNode(Position position, Limits limits, std::string token, Nonces nonces)
    : position_(std::move(position)),
      limits_(limits),
      token_(std::move(token)),
      nonces_(std::move(nonces)),
      budget_(limits.memory / 2) {}  // the other half is for what peers have not read

std::vector<AggregationNode::Output> AggregationNode::take_output() { return std::exchange(output_, {}); }

std::size_t AggregationNode::groups() const {
  return static_cast<std::size_t>(std::count_if(
      groups_.begin(), groups_.end(), [](const auto& each) { return !each.second.group->is_over(); }));
}

/// Who has not proved anything holds no place of those who have: of too many the one that came first goes.
void AggregationNode::accepted(Connection number, Seconds now) {
  const auto strangers =
      std::count_if(peers_.begin(), peers_.end(), [](const auto& each) { return !each.second.is_known; });
  if (static_cast<std::size_t>(strangers) >= limits_.connections) drop_a_stranger();
  Peer& peer = peers_[number];
  peer.since = peer.heard = now;
}

bool AggregationNode::drop_a_stranger() {
  const auto oldest = std::find_if(peers_.begin(), peers_.end(),  // numbers grow
                                   [](const auto& each) { return !each.second.is_known; });
  if (oldest == peers_.end()) return false;
  output_.push_back({oldest->first, {}, true, true});
  return true;
}

void AggregationNode::reached_parent(Connection number, Seconds now) {
  parent_ = number;
  parent_is_known_ = false;
  parent_heard_ = parent_asked_ = now;
  introduction_.emplace(token_, position_.parent, position_.name, 0, 0, nonces_());
  send(number, introduction_->hello());
}

void AggregationNode::drop(Connection connection, std::int32_t code, const std::string& why) {
  Frame frame;
  frame.kind = Kind::refused;
  frame.code = code;
  frame.set_text(why);
  output_.push_back({connection, frame});
  output_.push_back({connection, {}, true});
}

void AggregationNode::examine(Connection from, Peer& peer, const Frame& frame) {
  if (!peer.examination) {
    try {
      peer.examination.emplace(frame, nonces_());
    } catch (const ProtocolError& error) {
      return drop(from, SHARP_COLL_EINVAL, error.what());
    }
    return send(from, peer.examination->challenge(token_, position_.name));
  }
  if (!peer.examination->is_passed_by(frame, token_, position_.name))
    return drop(from, SHARP_COLL_EJOB_CREATE, "the proof that it knows the token is wrong");
  let_in(from, peer);
}

void AggregationNode::let_in(Connection from, Peer& peer) {
  peer.role = peer.examination->role();
  peer.job = peer.examination->job();
  peer.name = peer.examination->name();
  peer.examination.reset();
  if (peer.role == Role::node && !welcome_child(from, peer)) return;
  if (!make_room())
    return drop(from, SHARP_COLL_ENO_RESOURCE,
                formatted("this node takes no more than {} connections", limits_.connections));
  peer.is_known = true;
  Frame answer = status(Kind::welcome);
  answer.payload = pack(limits_);
  send(from, answer);
}

/// Of the processes that belong to no group the one that has been silent the longest can come again.
bool AggregationNode::make_room() {
  const auto known =
      std::count_if(peers_.begin(), peers_.end(), [](const auto& each) { return each.second.is_known; });
  if (static_cast<std::size_t>(known) < limits_.connections) return true;
  std::set<Connection> busy;
  for (const auto& [id, group] : groups_) group.group->add_connections(busy);
  auto idlest = peers_.end();
  for (auto each = peers_.begin(); each != peers_.end(); ++each)
    if (each->second.is_known && each->second.role == Role::process && !busy.contains(each->first) &&
        (idlest == peers_.end() || each->second.heard < idlest->second.heard))
      idlest = each;
  if (idlest == peers_.end()) return false;
  output_.push_back({idlest->first, {}, true, true});
  return true;
}

Frame AggregationNode::status(Kind kind) const {
  Frame frame;
  frame.kind = kind;
  frame.code = reaches_all_above() ? 0 : SHARP_COLL_ECONN_TREE;
  return frame;
}

/// So every node knows at once whether all above it can be reached, and can say so before a group is made.
void AggregationNode::tell_children_of_change() {
  if (std::exchange(told_reaches_all_, reaches_all_above()) == reaches_all_above()) return;
  for (const auto& [number, peer] : peers_)
    if (peer.is_known && peer.role == Role::node) send(number, status(Kind::pong));
}

bool AggregationNode::has_child(const std::string& name) const {
  return std::any_of(peers_.begin(), peers_.end(), [&](const auto& each) {
    return each.second.is_known && each.second.role == Role::node && each.second.name == name;
  });
}

/// A child that is not connected will not join: the others need not wait for it.
std::optional<Failure> AggregationNode::cut_off(const Group& group) const {
  for (const Child* child : group.missing_nodes())
    if (!has_child(child->name))
      return Failure{SHARP_COLL_ECONN_TREE, child->first,
                     formatted("{} does not reach {} above it", child->who(), position_.name)};
  return std::nullopt;
}

/// One that comes again was restarted: of its former life nothing is left.
bool AggregationNode::welcome_child(Connection from, const Peer& peer) {
  if (std::none_of(position_.below.begin(), position_.below.end(),
                   [&](const Position::Below& below) { return below.name == peer.name; })) {
    drop(from, SHARP_COLL_ETREE_INFO, formatted("this node has no child called {}", peer.name));
    return false;
  }
  for (const auto& [number, other] : peers_)
    if (number != from && other.is_known && other.role == Role::node && other.name == peer.name)
      output_.push_back({number, {}, true});
  return true;
}

void AggregationNode::received(Connection from, Frame frame, Seconds now) {
  if (from == parent_ && from != no_connection) {
    parent_heard_ = now;
    return from_parent(frame);
  }
  const auto found = peers_.find(from);
  if (found == peers_.end()) return;
  found->second.heard = now;
  if (!found->second.is_known) return examine(from, found->second, frame);
  if (frame.kind == Kind::ping) {
    Frame answer = status(Kind::pong);
    answer.sequence = frame.sequence;
    return send(from, answer);
  }
  if (found->second.role == Role::process && frame.job != found->second.job)
    return drop(from, SHARP_COLL_EINVAL, "a frame for another job than the hello's");
  from_below(from, found->second, frame, now);
}

void AggregationNode::from_below(Connection from, const Peer& peer, Frame& frame, Seconds now) {
  if (frame.kind == Kind::join) return join(from, peer, frame, now);
  const bool is_about_group =
      frame.kind == Kind::contribute || frame.kind == Kind::leave || frame.kind == Kind::failed;
  if (!is_about_group) return drop(from, SHARP_COLL_EINVAL, "a frame that does not come from below");
  const auto known = groups_.find(id_of(frame));
  Group* group = known == groups_.end() ? nullptr : known->second.group.get();
  const Failure none = {
      SHARP_COLL_EGROUP_ID, no_rank,
      formatted("aggregation node {} knows no such group; was it restarted?", position_.name)};
  if (frame.kind == Kind::failed) {
    // The child has refused a group that this node need not know yet: it is remembered for the members to
    // come.
    if (peer.role != Role::node)
      return drop(from, SHARP_COLL_EINVAL, "only aggregation nodes declare a group over");
    if (!group) group = this->found(frame, now, false).group.get();
    return end(*group, {frame.code, frame.rank, frame.text()});
  }
  if (!group) {
    if (frame.kind == Kind::contribute) refuse(from, frame, none);
    return;
  }
  if (group->is_over()) return;  // it has been told
  if (!group->includes(from))
    return drop(from, SHARP_COLL_EINVAL, "a frame for a group that it is no member of");
  if (const auto wrong =
          frame.kind == Kind::leave ? group->leave(from) : group->contribute(from, frame, parent_))
    return end(*group, *wrong);
  if (!group->all_left()) return;
  if (group->has_parent()) {
    Frame up = frame;
    up.kind = Kind::leave;
    up.payload.clear();
    send(parent_, up);
  }
  groups_.erase(known);
}

/// What comes before the parent has proved that it is the parent, and nothing else is believed.
void AggregationNode::greet_parent(const Frame& frame) {
  const std::optional<Frame> proof = introduction_->answer(frame);
  if (!proof) return output_.push_back({parent_, {}, true});
  introduction_.reset();
  send(parent_, *proof);
}

void AggregationNode::from_parent(const Frame& frame) {
  if (introduction_) return greet_parent(frame);
  if (frame.kind == Kind::welcome || (frame.kind == Kind::pong && parent_is_known_)) {
    parent_is_known_ = true;
    parent_reaches_all_ = frame.code == 0;
    return tell_children_of_change();
  }
  if (frame.kind == Kind::refused) {
    output_.push_back({parent_, {}, true});
    return;
  }
  const auto known = groups_.find(id_of(frame));
  if (known == groups_.end() || known->second.group->is_over()) return;
  Group& group = *known->second.group;
  if (!group.has_parent()) return;
  if (frame.kind == Kind::failed) return end(group, {frame.code, frame.rank, frame.text()}, true);
  if (frame.kind == Kind::joined && group.is_complete() && !group.stands()) return group.start();
  if (frame.kind != Kind::result) return;
  if (const auto wrong = group.result(frame)) end(group, *wrong);
}

std::optional<Failure> AggregationNode::no_room(const Frame& frame) const {
  const auto failure = [&](std::int32_t code, const std::string& what) {
    return Failure{code, no_rank, formatted("aggregation node {} has {}", position_.name, what)};
  };
  const std::size_t others = groups();
  if (frame.size == 0 || frame.size > limits_.members)
    return failure(SHARP_COLL_EINVAL,
                   formatted("room for {} members of a group, not {}", limits_.members, frame.size));
  if (others >= limits_.groups)
    return failure(SHARP_COLL_EQUOTA, formatted("all of its {} groups in use", limits_.groups));
  if ((others + 1) * limits_.slots_per_group > limits_.slots)
    return failure(SHARP_COLL_ENO_RESOURCE, formatted("no slots left: {} for each group, {} in all",
                                                      limits_.slots_per_group, limits_.slots));
  // Each process below a leaf has a connection of its own.
  const auto [first, last] = share_of(frame.size);
  if (position_.below.empty() && last - first > limits_.connections)
    return failure(SHARP_COLL_ENO_RESOURCE,
                   formatted("room for {} connections, not {}", limits_.connections, last - first));
  if (!budget_.has((position_.below.empty() ? last - first : position_.below.size()) * sizeof(Child)))
    return failure(SHARP_COLL_ENO_RESOURCE, "no memory left (\"memory\") for another group");
  return std::nullopt;
}

std::optional<Failure> AggregationNode::no_lock(const Frame& frame, const Group::Id& id) const {
  if ((frame.flags & wants_lock) == 0) return std::nullopt;
  if (limits_.locked_payload == 0)
    return Failure{SHARP_COLL_ENOTREE, no_rank, "this aggregation tree has no lock (\"locked_payload\")"};
  for (const auto& [other, known] : groups_)
    if (other != id && known.group->holds_lock() && !known.group->is_over())
      return Failure{SHARP_COLL_ELOCK_FAILED, no_rank,
                     formatted("another group holds the lock of aggregation node {}", position_.name)};
  return std::nullopt;
}

/// The members of a group that are below this node: from the first up to, without, the second.
std::pair<std::uint32_t, std::uint32_t> AggregationNode::share_of(std::uint32_t members) const {
  return {first_member(position_.first_leaf, members, position_.leaves),
          first_member(position_.last_leaf, members, position_.leaves)};
}

std::vector<Child> AggregationNode::children_of(std::uint32_t members) const {
  const auto first_of = [&](std::uint32_t leaf) { return first_member(leaf, members, position_.leaves); };
  std::vector<Child> children;
  if (position_.below.empty())
    for (auto [rank, last] = share_of(members); rank < last; ++rank)
      children.push_back({rank, rank + 1, "", no_connection, 0, false});
  for (const Position::Below& below : position_.below)
    if (first_of(below.first_leaf) < first_of(below.last_leaf))
      children.push_back(
          {first_of(below.first_leaf), first_of(below.last_leaf), below.name, no_connection, 0, false});
  return children;
}

/// The group of a frame, which is founded if it is the first.
/// `has_room`: else it is only remembered to have failed.
AggregationNode::Known& AggregationNode::found(const Frame& frame, Seconds now, bool has_room) {
  if (groups_.size() > limits_.groups + 2 * most_remembered) forget(now);
  const auto [place, is_new] = groups_.try_emplace(id_of(frame));
  if (!is_new) return place->second;
  const bool has_all = frame.kind == Kind::join && share_of(frame.size) == std::pair{0u, frame.size};
  const bool has_parent = !position_.parent.empty() && !has_all;
  place->second = {
      std::make_unique<Group>(id_of(frame), frame.size, children_of(has_room ? frame.size : 0), has_parent,
                              limits_, budget_, [this](Connection to, const Frame& f) { send(to, f); }),
      now};
  return place->second;
}

void AggregationNode::join(Connection from, const Peer& peer, const Frame& frame, Seconds now) {
  const Group::Id id = id_of(frame);
  const bool is_first = !groups_.contains(id);
  std::optional<Failure> wrong;
  if (is_first) wrong = no_room(frame);
  if (!wrong && is_first) wrong = no_lock(frame, id);
  Group& group = *found(frame, now, !wrong).group;
  if (group.is_over()) return refuse(from, frame, *group.failure());
  if (!wrong && is_first && (frame.flags & wants_lock) != 0) group.set_lock();
  if (!wrong && group.holds_lock() != ((frame.flags & wants_lock) != 0))
    wrong = Failure{SHARP_COLL_EINVAL, frame.rank,
                    "some members of the group want the tree's lock, others do not"};
  if (!wrong) wrong = group.join(from, peer.name, frame);
  if (wrong) {
    if (!group.includes(from)) refuse(from, frame, *wrong);
    return end(group, *wrong);
  }
  if (group.is_complete()) return go_on(group);
  if (const auto missing = cut_off(group)) end(group, *missing);
}

/// All members below this node have come.
void AggregationNode::go_on(Group& group) {
  if (!group.has_parent()) return group.start();
  if (parent_ == no_connection || !parent_is_known_)
    return end(group, {SHARP_COLL_ECONN_TREE, no_rank,
                       formatted("aggregation node {} does not reach {} above it", position_.name,
                                 position_.parent)});
  group.ask_parent(parent_);
}

void AggregationNode::end(Group& group, const Failure& failure, bool parent_knows) {
  group.fail(failure, parent_knows || !parent_is_known_ ? no_connection : parent_);
}

void AggregationNode::refuse(Connection to, const Frame& frame, const Failure& failure) {
  Frame answer;
  answer.kind = Kind::failed;
  answer.job = frame.job;
  answer.group = frame.group;
  answer.code = failure.code;
  answer.rank = failure.culprit;
  answer.set_text(failure.text);
  send(to, answer);
}

void AggregationNode::closed(Connection number, Seconds now) {
  const bool was_parent = number == parent_ && number != no_connection;
  if (was_parent) {
    parent_ = no_connection;
    parent_is_known_ = false;
    introduction_.reset();
    tell_children_of_change();
  } else {
    peers_.erase(number);
  }
  for (auto& [id, known] : groups_) {
    Group& group = *known.group;
    if (group.is_over()) continue;
    if (was_parent ? group.has_parent() : group.includes(number))
      end(group, group.lost(number), was_parent);
    else if (const auto missing = cut_off(group))
      end(group, *missing);
  }
  forget(now);
}

void AggregationNode::tick(Seconds now) {
  // Who was stopped itself for so long (by a debugger, or its machine was) has heard nothing meanwhile.
  if (now - ticked_ > limits_.silence_seconds / 4.0) parent_heard_ = now;
  ticked_ = now;
  for (const auto& [number, peer] : peers_)
    if (!peer.is_known && now - peer.since > hello_timeout) output_.push_back({number, {}, true});
  for (auto& [id, known] : groups_)
    if (!known.group->is_over() && !known.group->stands() && now - known.since > limits_.join_seconds)
      end(*known.group, known.group->late());
  if (parent_ != no_connection && now - parent_heard_ > limits_.silence_seconds)
    output_.push_back({parent_, {}, true});
  if (parent_ != no_connection && now - parent_asked_ > limits_.silence_seconds / 4.0) {
    parent_asked_ = now;
    if (parent_is_known_) send(parent_, Frame{});
  }
  forget(now);
}

/// Groups that are over are remembered as long as members may come; of too many the oldest go first.
void AggregationNode::forget(Seconds now) {
  std::erase_if(groups_, [&](const auto& each) {
    return each.second.group->is_over() && now - each.second.since > 2.0 * limits_.join_seconds;
  });
  while (groups_.size() - groups() > most_remembered) {
    auto oldest = groups_.end();
    for (auto each = groups_.begin(); each != groups_.end(); ++each)
      if (each->second.group->is_over() &&
          (oldest == groups_.end() || each->second.since < oldest->second.since))
        oldest = each;
    groups_.erase(oldest);
  }
}

std::vector<std::byte> pack(const Limits& limits) {
  std::vector<std::byte> payload(sizeof limits);
  std::memcpy(payload.data(), &limits, sizeof limits);
  return payload;
}

Limits unpack_limits(const std::vector<std::byte>& payload) {
  Limits limits;
  if (payload.size() != sizeof limits) throw ProtocolError("a welcome without the tree's limits");
  std::memcpy(&limits, payload.data(), sizeof limits);
  return limits;
}

}  // namespace espalier::sharp
