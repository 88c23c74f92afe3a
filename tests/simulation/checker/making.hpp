// How scenarios are made: their shapes, plans, trees and values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/format.hpp"
#include "collective/node/reductions/reduce.hpp"
#include "simulation/checker/machine.hpp"
#include "tree/compose.hpp"

namespace espalier::testing {

using collective::Reduction;
using collective::TreePosition;
using plan::Algorithm;
using plan::Plan;
using simulation::checker::CheckingMachine;
using simulation::checker::Execution;
using simulation::checker::Scenario;
using Body = std::function<void(CheckingMachine&)>;

/// Slots and their bytes.
struct Ring {
  int slots;
  std::size_t slot_bytes;
};
constexpr Ring narrow{4, 64}, two{2, 64}, one{1, 64};
/// For calls that cut by no less than 4 KiB: two chunks.
constexpr Ring wide{4, 2048};

inline Scenario make(const std::string& name, int ranks, bool fenced, const Ring& ring, Body body) {
  return {formatted("{}, {} ranks{}", name, ranks, fenced ? "" : ", no fences"),
          ranks,
          ring.slots,
          ring.slot_bytes,
          simulation::checker::short_ladder(fenced),
          std::move(body)};
}

/// The same where more than two ranks trade cells.
inline Scenario pairwise(Scenario scenario) {
  scenario.name += ", pairwise cells";
  scenario.many_pairwise = true;
  return scenario;
}

/// The same where waits drive the host all the time.
inline Scenario serving(Scenario scenario) {
  scenario.name += ", waits serve others";
  scenario.serves_others = true;
  return scenario;
}

/// The same where reads of other ranks' memory are refused now and then.
inline Scenario refusing(Scenario scenario) {
  scenario.name += ", reads refused";
  scenario.refuses_reads = true;
  return scenario;
}

inline Plan plan_for(Algorithm algorithm, std::size_t chunk = 64) {
  Plan plan;
  plan.algorithm = algorithm;
  plan.chunk = chunk;
  return plan;
}

/// Places of all ranks for all roots; shared by the body that uses them, since slots refer to them as lists
/// of readers.
class Trees {
 public:
  Trees(int ranks, const char* text) : ranks_(ranks) {
    for (int root = 0; root < ranks; ++root) {
      const tree::Tree tree = tree::compose(topology::flat_group(ranks), tree::parse_spec(text), root);
      for (int rank = 0; rank < ranks; ++rank)
        places_.push_back(collective::gathering_position_of(tree, rank));
    }
  }
  const TreePosition& of(int rank, int root) const {
    return places_[static_cast<std::size_t>(root * ranks_ + rank)];
  }
  /// In both trees of a plan, which are of this shape and have root 0.
  collective::TreePositionPair pair_of(int rank) const { return {of(rank, 0), of(rank, 0)}; }

 private:
  int ranks_;
  std::vector<TreePosition> places_;
};
inline std::shared_ptr<const Trees> trees(int ranks, const char* text) {
  return std::make_shared<const Trees>(ranks, text);
}

using Words = std::vector<std::uint64_t>;

/// A value that depends on everything.
inline std::uint64_t word(int rank, std::size_t index, int round) {
  return static_cast<std::uint64_t>(rank + 1) * 1000003 + index * 7919 +
         static_cast<std::uint64_t>(round) * 104729;
}
inline Words words(int rank, std::size_t count, int round) {
  Words all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = word(rank, i, round);
  return all;
}
inline Words sum(int first, int last, std::size_t count, int round) {
  Words all(count, 0);
  for (int rank = first; rank <= last; ++rank)
    for (std::size_t i = 0; i < count; ++i) all[i] += word(rank, i, round);
  return all;
}
inline const reduce::Operation& sum_of_words() {
  return *reduce::find(reduce::Op::sum, reduce::Type::uint64);
}

/// Checks a result, and that it does not depend on the schedule.
inline void expect(const Words& got, const Words& wanted, const char* what) {
  Execution::current().expect(got == wanted, what);
  Execution::current().result(got.data(), got.size() * 8);
}

/// Element counts: one; what rides inline; three slots and a bit.
inline const std::vector<std::size_t> counts = {1, 14, 27};

}  // namespace espalier::testing
