#include "capi/describe/window.hpp"

#include <nlohmann/json.hpp>

#include "base/config.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "network/window/choice.hpp"

namespace espalier::capi {

using nlohmann::json;

json describe_window(const json& request) {
  const int nodes = request.value("nodes", 1);
  if (nodes < 1) throw Error(formatted("{} nodes: need at least 1", nodes));
  const ConfigValue& setting = Config::instance().value("ESPALIER_WINDOW_TRANSPORT");
  const network::WindowMeans means{request.value("rma", true), request.value("notify", true)};
  const network::WindowChoice choice = network::choose_window_transport(setting.text, nodes, means);
  std::string why = choice.why;
  if (choice.transport == network::WindowTransport::notify)
    why += "; where a rank's host is not an Intel MPI with MPIX_Put_notify, messages carry them instead";
  return {{"transport", to_string(choice.transport)},
          {"why", why},
          {"setting", setting.text},
          {"origin", setting.origin},
          {"nodes", nodes}};
}

}  // namespace espalier::capi
