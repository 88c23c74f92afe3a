#include "runtime/patience.hpp"

#include "base/config.hpp"

namespace espalier::runtime {

network::Patience patience_for(double ranks_per_core, bool over_nodes) {
  const std::string& mode = Config::instance().text("ESPALIER_WAIT");
  if (mode == "sleep") return {1, 0};
  const bool crowded = mode == "auto" ? ranks_per_core > 1 : mode != "spin";
  if (over_nodes) return network::between_nodes(crowded);
  return crowded ? network::Patience{4, 400} : network::Patience{1000, 2000};
}

}  // namespace espalier::runtime
