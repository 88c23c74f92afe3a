// Where data lie in what the ranks of a node share: who wrote them, and who has read them since.
#pragma once

#include <algorithm>
#include <map>

#include "simulation/model/holders.hpp"

namespace espalier::simulation {

/// Stretches of a node's share, by the number of their first line.
class Places {
 public:
  static constexpr double line_bytes = 64;

  /// Calls lose(level, lines) for what a store takes from other cores: so many lines from cores so far away.
  template <class Lose>
  void write(const NodeModel& node, int first, double bytes, int core, double when, Lose lose) {
    const int end = first + lines_of(bytes);
    auto it = stretches_.lower_bound(first);
    // What begins before ends where this begins: a chunk is written over by one that begins elsewhere.
    if (it != stretches_.begin() && std::prev(it)->second.end > first) {
      Stretch& before = std::prev(it)->second;
      if (const CoreLevel* level = before.holders.farthest(node, core))
        lose(*level, std::min(before.end, end) - first);
      before.end = first;
    }
    while (it != stretches_.end() && it->first < end) {
      if (const CoreLevel* level = it->second.holders.farthest(node, core))
        lose(*level, std::min(it->second.end, end) - it->first);
      it = stretches_.erase(it);
    }
    Stretch& fresh = stretches_[first];
    fresh.end = end;
    fresh.holders.be_written(core, when);
  }

  /// Who has what begins at this line; nullptr: no rank has written it.
  Holders* holders_of(int first, double bytes) {
    auto it = stretches_.upper_bound(first);
    if (it == stretches_.begin()) return nullptr;
    --it;
    if (it->second.end <= first) return nullptr;
    if (it->first != first) it = split(it, first);
    // Of what was written at once readers may share parts among themselves.
    const int end = first + lines_of(bytes);
    if (end < it->second.end) split(it, end);
    return &it->second.holders;
  }

 private:
  struct Stretch {
    int end = 0;  // behind its last line
    Holders holders;
  };
  using Stretches = std::map<int, Stretch>;

  static int lines_of(double bytes) { return static_cast<int>((bytes + line_bytes - 1) / line_bytes); }
  /// The same holders on both sides of that line. Returns what begins there.
  Stretches::iterator split(Stretches::iterator it, int at) {
    const auto after = stretches_.emplace(at, it->second).first;
    it->second.end = at;
    return after;
  }

  Stretches stretches_;
};

}  // namespace espalier::simulation
