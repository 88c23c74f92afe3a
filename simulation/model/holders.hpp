// Which cores of a node have a copy of a cache line, or of some lines that are read together.
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/model/model.hpp"

namespace espalier::simulation {

/// How far apart two cores are; nullptr: they are one.
const CoreLevel* distance(const NodeModel& node, int one, int other);

/// A core that gives the data to others.
struct Holder {
  int core = 0;
  double ready = 0;  ///< from when on it has them
  double busy = 0;   ///< until when it gives them to a reader
};

/// Since the last store. Of the cores of one innermost domain one holder stands for all: the others' readers
/// get the data from there.
class Holders {
 public:
  bool empty() const { return givers_.empty(); }
  /// A store: no other core has the data any more.
  void be_written(int core, double visible);
  bool has(int core) const {
    const auto word = static_cast<std::size_t>(core) / 64;
    return word < has_.size() && (has_[word] >> (core % 64) & 1) != 0;
  }
  void add(const NodeModel& node, int core, double ready);

  struct Source {
    Holder* holder = nullptr;
    const CoreLevel* level = nullptr;
  };
  /// From where a core that does not have the data gets them. There must be a holder.
  Source nearest(const NodeModel& node, int core);
  /// The farthest other core that a store must take the data from; nullptr: no other core has them.
  const CoreLevel* farthest(const NodeModel& node, int core) const;

 private:
  std::vector<Holder> givers_;  // the writer first
  std::vector<std::uint64_t> has_;
};

}  // namespace espalier::simulation
