// Record and replay: every rank runs once, alone, against a sink that writes down what it does; then the
// engine replays the lists. For calls whose control flow depends neither on data nor on time, to a million
// ranks.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "simulation/engine/call.hpp"
#include "simulation/engine/live.hpp"

namespace espalier::simulation {

/// Programs of all ranks; equal ones are kept once. Partners of messages are kept as distances, so that ranks
/// that do the same at other places are equal; so are the ranks of different nodes with the same number.
class Recording {
 public:
  explicit Recording(const Shape& shape)
      : shape_(shape), program_of_(static_cast<std::size_t>(shape.ranks())) {}

  const Shape& shape() const { return shape_; }
  void put(int rank, Program program);
  /// A rank that does the same as another one whose program is there.
  void put_same(int rank, int as) { program_of_[at(rank)] = program_of_[at(as)]; }
  const Program& of(int rank) const { return programs_[program_of_[at(rank)]]; }
  std::size_t distinct() const { return programs_.size(); }
  /// Flags that programs name, numbered from 0 without gaps. Called once, when all programs are there.
  void number_flags();
  std::size_t flags() const { return flags_; }

 private:
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

  Shape shape_;
  std::vector<Program> programs_;
  std::vector<std::uint32_t> program_of_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
  std::size_t flags_ = 0;
};

/// Records `calls` calls in a row, on trees over the cores of `node`. Throws Error for a call that cannot be
/// recorded.
Recording record(const Call& call, const Shape& shape, const NodeModel& node, int calls = 1);

/// Replays; what it gives is, bit for bit, what run_live() gives for the same calls.
Times replay(const Model& model, const Recording& recording, std::uint64_t seed, bool with_timeline = false);

}  // namespace espalier::simulation
