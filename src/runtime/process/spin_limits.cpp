#include "runtime/process/spin_limits.hpp"

#include "base/config.hpp"
#include "runtime/process/progress_needs.hpp"

namespace espalier::runtime {

namespace {

network::Patience by_mode(double ranks_per_core, bool over_nodes) {
  const std::string& mode = Config::instance().text("ESPALIER_WAIT");
  if (mode == "sleep") return {1, 0};
  const bool crowded = mode == "auto" ? ranks_per_core > 1 : mode != "spin";
  if (over_nodes) return network::between_nodes(crowded);
  return crowded ? network::Patience{4, 400} : network::Patience{1000, 2000};
}

}  // namespace

network::Patience patience_for(double ranks_per_core, bool over_nodes) {
  network::Patience patience = by_mode(ranks_per_core, over_nodes);
  patience.needs = &progress_needs;
  return patience;
}

}  // namespace espalier::runtime
