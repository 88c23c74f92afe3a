// The formulas for node stages, one for each collective within a node.
#include "plan/cost/node.hpp"

#include <cmath>

#include "base/error.hpp"
#include "base/format.hpp"
#include "plan/cost/rounds.hpp"
#include "plan/cost/tree.hpp"
#include "tree/compose.hpp"

namespace espalier::plan {
namespace {

tree::Tree tree_over(int ranks, const tree::Spec& spec) {
  return tree::compose(topology::flat_group(ranks), spec, 0);
}

/// A node stage in shared memory: what the formulas below have in common.
struct Shared {
  const NodePiece& piece;
  const Plan& plan;
  const NodeCosts& costs;
  double bytes;

  int others() const { return piece.ranks - 1; }
  double chunk() const { return std::min(bytes, static_cast<double>(plan.chunk)); }
  /// Chunks as a number with a fraction, so that a byte more never costs a whole chunk more.
  double chunks_of(double count) const { return std::max(1.0, count / static_cast<double>(plan.chunk)); }
  /// The time to copy or fold `count` bytes.
  double copied(double count) const { return count * costs.copy_per_byte; }
  double folded(double count) const { return count * costs.fold_per_byte; }

  /// Flags as messages without bytes: a rank that waits for several fetches their lines one after the other.
  Wire flags() const { return {costs.flag, 0, costs.flag, 0, costs.fold_per_byte, costs.copy_per_byte}; }
  double flags_up(double count) const {
    return tree_up(tree_over(piece.ranks, plan.gather_tree), flags(), count).time;
  }
  /// RG III-B: children that read their parent's line do so at the same time.
  double flags_down() const {
    Wire wire = flags();
    if (plan.read_from_parent) wire.gap = 0;
    return tree_down(tree_over(piece.ranks, plan.release_tree), wire, 0).time;
  }
  /// Up and down again without data.
  double flags_both_ways() const { return flags_up(0) + flags_down(); }
  /// In groups: until a rank has read the flags of its own group, and then one of each other group.
  double flags_of_groups() const { return 2 * std::ceil(std::sqrt(piece.ranks)) * costs.flag; }
  /// Until every rank has read the flags of all others, or (`central`) the last rank has counted them.
  double meeting() const {
    return (plan.algorithm == Algorithm::central ? piece.ranks + 1 : others()) * costs.flag;
  }
};

// The root copies all chunks in; then the last one is announced and copied out.
double bcast(const Shared& s) {
  if (s.plan.algorithm == Algorithm::single_copy)
    return s.flags_down() + s.copied(s.bytes) + s.costs.flag;  // the root waits for its readers
  return s.copied(s.bytes) + s.flags_down() + s.copied(s.chunk());
}

// The first chunk goes up the whole tree. Each further one takes the time of the busiest rank.
double reduce(const Shared& s) {
  Wire wire = s.flags();
  wire.per_byte = 0;
  const Cost chunk = tree_up(tree_over(s.piece.ranks, s.plan.gather_tree), wire, s.chunk());
  const double pace = std::max(s.copied(s.chunk()), chunk.cpu + chunk.port);
  return s.copied(s.chunk()) + chunk.time + (s.chunks_of(s.bytes) - 1) * pace;
}

// The last rank waits for every rank and folds all; then it stores its node's total for the network stage.
double scan(const Shared& s) {
  const double aside = s.copied(s.bytes);
  if (s.plan.algorithm == Algorithm::tree)  // the root collects and folds all vectors
    return s.flags_both_ways() + s.copied(s.bytes * s.piece.ranks) + s.folded(s.bytes * s.others()) +
           s.copied(s.bytes) + aside;
  if (s.plan.algorithm == Algorithm::chain)  // a chunk from rank to rank, the others behind it
    return s.copied(s.chunk()) +
           (s.others() + s.chunks_of(s.bytes) - 1) * (s.costs.flag + s.folded(s.chunk())) +
           s.copied(s.chunk()) + aside;
  if (s.plan.algorithm == Algorithm::sliced)
    return 2 * s.copied(s.bytes) + 2 * s.chunks_of(s.bytes) * s.meeting() +
           s.folded(s.bytes * s.others() / s.piece.ranks) + aside;
  return s.copied(s.chunk()) + s.chunks_of(s.bytes) * s.meeting() + s.folded(s.bytes * s.others()) + aside;
}

double gather(const Shared& s) {
  return s.copied(s.chunk()) + s.chunks_of(s.bytes) * s.meeting() + s.copied(s.bytes * s.piece.ranks);
}

double scatter(const Shared& s) {
  return s.copied(s.bytes * s.piece.ranks) + s.costs.flag + s.copied(s.chunk());
}

double reduce_scatter(const Shared& s) {
  if (s.plan.algorithm == Algorithm::grouped)  // shown, collected, relayed, and taken
    return s.chunks_of(s.bytes) * s.flags_of_groups() + 4 * s.copied(s.bytes) +
           s.folded(s.bytes / s.piece.leaders * s.others());
  return s.copied(s.bytes) + s.chunks_of(s.bytes) * s.meeting() +
         s.folded(s.bytes / s.piece.leaders * s.others());
}

double allgather(const Shared& s) {
  const double slice = s.bytes / s.piece.leaders;
  if (s.plan.algorithm == Algorithm::single_copy)
    return 2 * s.meeting() + s.copied(s.bytes - slice);  // no rank leaves before all have read
  if (s.plan.algorithm == Algorithm::tree) return s.flags_both_ways() + s.copied(s.bytes) + s.copied(s.bytes);
  if (s.plan.algorithm == Algorithm::grouped)
    return s.chunks_of(slice) * s.flags_of_groups() +
           s.copied(s.bytes / std::ceil(std::sqrt(s.piece.ranks))) + s.copied(s.bytes);
  return s.copied(slice) + s.chunks_of(slice) * s.meeting() + s.copied(s.bytes - slice);
}

tree::Tree binomial(int ranks) {
  tree::Spec spec;
  spec.shape = tree::Shape::knomial(2);
  return tree_over(ranks, spec);
}

// The leader's messages to, or from, the other ranks come one after the other.
double to_or_from_leader(const Wire& wire, int others, double bytes) {
  return copy(wire, bytes).time + hop(wire, bytes) + (others - 1) * interval(wire, bytes);
}

}  // namespace

double shared_cost(const NodePiece& piece, const Plan& plan, const NodeCosts& costs, double bytes) {
  const Shared s = {piece, plan, costs, bytes};
  const bool alone = piece.ranks == 1;
  switch (piece.collective) {
    case Collective::barrier:
      return s.flags_up(0) + s.flags_down();
    case Collective::bcast:
      return alone ? 0 : bcast(s);
    case Collective::reduce:
      return alone ? s.copied(bytes) : reduce(s);
    case Collective::scan:
    case Collective::exscan:
      return alone ? 2 * s.copied(bytes) : scan(s);
    case Collective::gather:
      return alone ? s.copied(bytes) : gather(s);
    case Collective::scatter:
      return alone ? s.copied(bytes) : scatter(s);
    case Collective::reduce_scatter:
      return alone ? s.copied(bytes) : reduce_scatter(s);
    case Collective::allgatherv:
      return alone ? 0 : allgather(s);
    default:
      throw Error(formatted("{} is no node stage", to_string(piece.collective)));
  }
}

double message_cost(const NodePiece& piece, const NodeCosts& costs, double bytes) {
  const Wire& wire = costs.messages;
  const bool alone = piece.ranks == 1;
  const tree::Tree tree = binomial(piece.ranks);
  switch (piece.collective) {
    case Collective::barrier:
      return tree_up(tree, wire, 0).time + tree_down(tree, wire, 0).time;
    case Collective::bcast:
      return tree_down(tree, wire, bytes).time;
    case Collective::reduce:
      return copy(wire, bytes).time + tree_up(tree, wire, bytes).time;
    case Collective::scan:
    case Collective::exscan:
      return 3 * copy(wire, bytes).time + scan_doubling(wire, piece.ranks, bytes).time +
             (alone ? 0 : fold(wire, bytes).time);
    case Collective::gather:
    case Collective::scatter:
      return alone ? copy(wire, bytes).time : to_or_from_leader(wire, piece.ranks - 1, bytes);
    default:
      throw Error(formatted("{} is no node stage by messages", to_string(piece.collective)));
  }
}

}  // namespace espalier::plan
