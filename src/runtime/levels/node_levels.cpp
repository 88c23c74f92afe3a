#include "runtime/levels/node_levels.hpp"

#include <limits>

#include "runtime/levels/remote_operations.hpp"
#include "runtime/process/node.hpp"
#include "runtime/process/process.hpp"

namespace espalier::runtime {
namespace {

using machine::GroupSegment;
using machine::LevelsLayout;
using machine::SegmentOperations;

constexpr unsigned looks_between_notes = 8;

}  // namespace

/// What the ranks have agreed on.
struct NodeLevels::Plan {
  LevelsLayout layout;
  collective::multinode::Placement placement;
  std::vector<LevelsCard> cards;
  std::vector<int> order;  ///< of the window's ranks
  int rank;

  const std::vector<int>& here() const {
    return placement.ranks_of[static_cast<std::size_t>(placement.node_of[static_cast<std::size_t>(rank)])];
  }
  std::vector<ProcessMark> marks() const {
    std::vector<ProcessMark> marks;
    marks.reserve(here().size());
    for (const int other : here()) marks.push_back(cards[static_cast<std::size_t>(other)].mark);
    return marks;
  }
  std::size_t self() const {
    return static_cast<std::size_t>(placement.local_rank_of[static_cast<std::size_t>(rank)]);
  }
  /// A node's memory: [watch][segment][segment]...
  std::size_t watch_bytes() const { return (LevelsWatch::bytes(placement.largest()) + 127) / 128 * 128; }
  std::size_t bytes() const { return watch_bytes() + layout.bytes(); }
  /// Where the window has the node of one of its ranks.
  int node_in(const network::WindowTeam& team, int other) const {
    for (int node = 0; node < team.nodes(); ++node)
      for (const int one : team.ranks[static_cast<std::size_t>(node)])
        if (order[static_cast<std::size_t>(one)] == other) return node;
    return -1;
  }
};

std::unique_ptr<NodeLevels> NodeLevels::create(const Bootstrap& bootstrap, const LevelsRequest& request,
                                               std::string flaw) {
  if (flaw.empty() && !request.tree.empty()) try {
      tree::parse_groups(request.tree, bootstrap.size);
    } catch (const Error& error) {
      flaw = error.what();
    }
  auto cards = agree_on_request(bootstrap, request, flaw);
  std::vector<std::uint64_t> nodes;
  nodes.reserve(cards.size());
  for (const LevelsCard& card : cards) nodes.push_back(card.node);
  auto placement = collective::multinode::place_by(nodes);
  const topology::Group groups = groups_for(bootstrap, request, cards, placement);
  auto order = speakers_first(tree::level_groups(groups, request.root), placement.node_of);
  const Plan plan{{groups, request.root, request.shared_bytes, request.member_bytes, placement.node_of},
                  std::move(placement),
                  std::move(cards),
                  std::move(order),
                  bootstrap.rank};
  // Messages keep the order that base cases are promised.
  auto window = Window::create(reordered(bootstrap, plan.order), {plan.bytes(), 1, nullptr, true});
  std::unique_ptr<NodeLevels> levels(new NodeLevels(plan, std::move(window)));
  exchange(bootstrap, std::int32_t{1});  // no rank ends before all have seen it run
  return levels;
}

NodeLevels::NodeLevels(const Plan& plan, std::unique_ptr<Window> window)
    : Levels(plan.layout, plan.rank),
      window_(std::move(window)),
      watch_((*window_)->local(), plan.self(), plan.marks(), plan.here()) {
  take_own([&](const GroupSegment& segment, int place) { return operations_on(plan, segment, place); });
}

std::unique_ptr<machine::GroupOperations> NodeLevels::operations_on(const Plan& plan,
                                                                    const GroupSegment& segment, int place) {
  network::NodeWindow& window = **window_;
  const std::size_t offset = plan.watch_bytes() + segment.offset;
  if (segment.over_nodes) {
    const int node = plan.node_in(window.team(), segment.group.members.front());
    over_nodes_.push_back(std::make_unique<OverNodes>(
        segment.group.level, place == 0, MemberNotes(window, node, plan.watch_bytes(), segment, place)));
    MemberNotes& notes = over_nodes_.back()->notes;
    if (place > 0)
      return std::make_unique<RemoteOperations>(window, node, offset, segment.bytes, [this, &notes] {
        look();
        look_at(notes);
      });
  }
  auto* const waits = reinterpret_cast<machine::GroupWaits*>(window.local() + plan.watch_bytes() +
                                                             LevelsLayout::waits_of(segment));
  if (place == 0) waits->begin(Process::instance().node()->ranks_per_core() > 1);
  return std::make_unique<SegmentOperations>(
      SegmentOperations::Memory{window.local() + offset, segment.bytes, {nullptr, 0}}, !segment.over_nodes,
      [this, waits](const SegmentOperations::Done& done) { wait(done, waits); }, waits);
}

// On one node nothing is under way: the memory goes with the last rank that has it mapped.
NodeLevels::~NodeLevels() {
  try {
    for (const auto& group : over_nodes_) group->notes.leave();
    watch_.leave();
    if ((*window_)->nodes() > 1) window_->close();
  } catch (const Error&) {  // the network has failed: no rank can be told
  }
}

void NodeLevels::wait(const SegmentOperations::Done& done, machine::GroupWaits* waits) {
  const auto has_come = [&] {
    if (done()) return true;
    try {
      look();
    } catch (const OutOfStep&) {
      // The rank that is gone may have stored the word before it went.
      if (done()) return true;
      throw;
    }
    return false;
  };
  if (waits == nullptr) return (*window_)->drive_until(has_come);
  (*window_)->drive_until(has_come, [&](network::Wait& wait) {
    wait.pass([&](std::chrono::microseconds limit) { waits->sleep(done, limit); });
  });
}

// The notes of groups that this rank leads lie on its own node.
void NodeLevels::look() {
  try {
    watch_.look();
  } catch (const OutOfStep&) {
    tell_members(watch_.told(std::numeric_limits<std::uint64_t>::max()));
    throw;
  }
  for (const auto& group : over_nodes_)
    if (group->leads) look_at(group->notes);
}

void NodeLevels::look_at(MemberNotes& notes) {
  if (++looks_ % looks_between_notes != 0) return;
  const std::string why = notes.trouble(traversal());
  if (why.empty()) return;
  fail(why);
  watch_.check(traversal());
}

void NodeLevels::begin() {
  try {
    watch_.begin(traversal() + 1);
  } catch (const OutOfStep&) {
    tell_members(watch_.told(traversal() + 1));
    throw;
  }
  Levels::begin();
}

void NodeLevels::leave(const machine::OwnGroup& own) {
  for (const auto& group : over_nodes_) {
    if (group->level != own.group.level) continue;
    if (group->leads) wait([&] { return group->notes.all_finished(traversal()); });
    group->notes.finish(traversal());
  }
}

void NodeLevels::fail(std::string_view why) {
  watch_.tell(why);
  tell_members(why);
}

void NodeLevels::tell_members(std::string_view why) {
  for (const auto& group : over_nodes_) group->notes.fail(why);
}

}  // namespace espalier::runtime
