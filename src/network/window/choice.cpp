#include "network/window/choice.hpp"

namespace espalier::network {

const char* to_string(WindowTransport transport) {
  switch (transport) {
    case WindowTransport::memory:
      return "memory";
    case WindowTransport::message:
      return "message";
    case WindowTransport::rma:
      return "rma";
    case WindowTransport::notify:
      return "notify";
  }
  return "";
}

WindowChoice choose_window_transport(std::string_view setting, int nodes, const WindowMeans& means) {
  if (nodes <= 1) return {WindowTransport::memory, "all ranks are on one node, so puts are stores"};
  const std::string asked = "ESPALIER_WINDOW_TRANSPORT=" + std::string(setting);
  if (setting == "rma")
    return means.rma ? WindowChoice{WindowTransport::rma, asked}
                     : WindowChoice{WindowTransport::message,
                                    asked + ", but a rank's host MPI has no windows, so messages carry them"};
  if (setting == "notify")
    return means.notify
               ? WindowChoice{WindowTransport::notify, asked}
               : WindowChoice{
                     WindowTransport::message,
                     asked + ", but a rank's host MPI has no MPIX_Put_notify, so messages carry them"};
  if (setting == "message") return {WindowTransport::message, asked};
  return {WindowTransport::message,
          "messages serve every network and let a put start without waiting for its target; "
          "ESPALIER_WINDOW_TRANSPORT=rma is for networks that write remote memory by themselves"};
}

}  // namespace espalier::network
