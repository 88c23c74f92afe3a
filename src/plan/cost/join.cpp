#include "plan/cost/join.hpp"

#include <algorithm>
#include <array>

#include "plan/plan.hpp"

namespace espalier::plan {
namespace {

/// A leader in the loop of collective/multinode/stage/join.hpp.
class Leader {
 public:
  void gather_and_start(std::size_t index, const SegmentCost& segment) {
    double& lane = done_[index % segments_under_way];
    clock_ = std::max(clock_, lane) + segment.gather;  // the lane's former segment
    const double begin = std::max(clock_, port_free_);
    port_free_ = begin + segment.network.port;
    lane = begin + segment.network.time;
    clock_ += segment.network.cpu;
  }

  void release(std::size_t index, const SegmentCost& segment) {
    clock_ = std::max(clock_, done_[index % segments_under_way]) + segment.release;
  }

  double end() const { return std::max(clock_, *std::max_element(done_.begin(), done_.end())); }

 private:
  std::array<double, segments_under_way> done_ = {};
  double clock_ = 0, port_free_ = 0;
};

}  // namespace

double joined_time(const SegmentCost& segment, std::size_t full, const SegmentCost& last) {
  const std::size_t count = full + 1;
  const std::size_t ahead = std::min(segments_under_way - 1, count);
  const auto cost_of = [&](std::size_t index) -> const SegmentCost& { return index < full ? segment : last; };
  Leader leader;
  for (std::size_t i = 0; i < count + ahead; ++i) {
    if (i < count) leader.gather_and_start(i, cost_of(i));
    if (i >= ahead) leader.release(i - ahead, cost_of(i - ahead));
  }
  return leader.end();
}

}  // namespace espalier::plan
