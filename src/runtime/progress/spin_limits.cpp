#include "runtime/progress/spin_limits.hpp"

#include "base/config.hpp"
#include "runtime/progress/progress_needs.hpp"

namespace espalier::runtime {

namespace {

network::SpinLimits by_mode(double ranks_per_core, bool over_nodes) {
  const std::string& mode = Config::instance().text("ESPALIER_WAIT");
  if (mode == "sleep") return {1, 0};
  const bool oversubscribed = mode == "auto" ? ranks_per_core > 1 : mode != "spin";
  if (over_nodes) return network::between_nodes(oversubscribed);
  return oversubscribed ? network::SpinLimits{4, 400} : network::SpinLimits{1000, 2000};
}

}  // namespace

network::SpinLimits spin_limits_for(double ranks_per_core, bool over_nodes) {
  network::SpinLimits spin_limits = by_mode(ranks_per_core, over_nodes);
  spin_limits.needs = &progress_needs;
  return spin_limits;
}

}  // namespace espalier::runtime
