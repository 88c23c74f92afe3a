// Which transport carries a window's puts between nodes, and why.
#pragma once

#include <string>
#include <string_view>

namespace espalier::network {

enum class WindowTransport : int {
  memory,   ///< one node: loads and stores
  message,  ///< active messages over the transport
  rma,      ///< the host's puts, and its accumulate for the notification
  notify    ///< Intel MPI's puts that notify
};

const char* to_string(WindowTransport transport);

/// Which kinds of one-sided calls the host MPI has: in one process, or in all processes of a window.
struct WindowMeans {
  bool rma = false;
  bool notify = false;
};

struct WindowChoice {
  WindowTransport transport = WindowTransport::memory;
  std::string why;
};

/// `setting`: the text of ESPALIER_WINDOW_TRANSPORT. Never fails: a transport that is
/// not there is replaced, and `why` says so. A pure function, so that ranks with equal arguments choose the
/// same.
WindowChoice choose_window_transport(std::string_view setting, int nodes, const WindowMeans& means);

}  // namespace espalier::network
