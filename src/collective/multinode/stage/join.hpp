// The join of node stage and network stage, segment by segment: what the node has gathered travels while the
// next is gathered, and what arrives is released while the next travels.
#pragma once

#include <algorithm>
#include <array>

#include "collective/core/chunks.hpp"
#include "collective/multinode/network/vector.hpp"

namespace espalier::collective::multinode {

using plan::segments_under_way;
/// The lane of messages within a node.
inline constexpr int node_lane = static_cast<int>(segments_under_way);

/// A message cut into segments of whole elements; all ranks cut alike.
class Segments {
 public:
  /// `segment`: bytes of a segment at most, but at least one `grain`, the bytes of an element.
  Segments(std::size_t bytes, std::size_t segment, std::size_t grain = 1)
      : bytes_(bytes), segment_(std::max(std::min(segment, bytes) / grain * grain, grain)) {}

  std::size_t count() const { return (bytes_ + segment_ - 1) / segment_; }
  std::size_t longest() const { return segment_; }
  std::size_t offset(std::size_t index) const { return index * segment_; }
  std::size_t bytes(std::size_t index) const { return std::min(segment_, bytes_ - offset(index)); }

 private:
  std::size_t bytes_, segment_;
};

/// gather(i) and release(i) are the node stages of segment i, which all ranks of the node do in this order;
/// start(i, lane, arrived) begins its network stage and returns it: no task on ranks that do not lead. A
/// network stage may say by `arrived` that its data may be released before it is done itself.
template <Network N, class Gather, class Start, class Release>
void join(const N& net, std::size_t count, Gather gather, Start start, Release release) {
  struct Stage {
    Task task;
    bool arrived = false;
  };
  std::array<Stage, segments_under_way> stages;
  const std::size_t ahead = std::min(segments_under_way - 1, count);
  for (std::size_t i = 0; i < count + ahead; ++i) {
    if (i < count) {
      Stage& stage = stages[i % segments_under_way];
      net.drive_until([&] { return stage.task.done(); });  // the lane's former segment
      stage.arrived = false;
      gather(i);
      stage.task = start(i, static_cast<int>(i % segments_under_way), stage.arrived);
    }
    if (i >= ahead) {
      const Stage& stage = stages[(i - ahead) % segments_under_way];
      net.drive_until([&] { return stage.arrived || stage.task.done(); });
      release(i - ahead);
    }
  }
  for (const Stage& stage : stages) net.drive_until([&] { return stage.task.done(); });
}

}  // namespace espalier::collective::multinode
