// Windows: their life, and who is where. What they carry is in window_transfers.cpp.
#include "runtime/window/window.hpp"

#include "base/format.hpp"
#include "capi/checks.hpp"
#include "capi/window.hpp"
#include "runtime/multinode/communicator_bootstrap.hpp"

using namespace espalier::capi;
using espalier::formatted;
using espalier::runtime::Window;
using espalier::runtime::WindowRequest;

namespace {

// A refusal of the runtime is the same on all ranks.
espalier_window* create(espalier_comm* comm, const WindowRequest& request) {
  auto made = std::make_unique<espalier_window>();
  try {
    made->window = Window::create(espalier::runtime::bootstrap_of(checked(comm)), request);
  } catch (const CodedError&) {
    throw;
  } catch (const espalier::Error& error) {
    throw CodedError(ESPALIER_ERR_REFUSED, error.what());
  }
  return made.release();
}

void check_request(const WindowRequest& request, espalier_window** window) {
  if (!window) throw CodedError(ESPALIER_ERR_ARGUMENT, "the place for the window is NULL");
  if (request.ids < 1 || request.ids > ESPALIER_WINDOW_IDS)
    throw CodedError(ESPALIER_ERR_ARGUMENT, formatted("a window of {} notifications: need 1 to {}",
                                                      request.ids, ESPALIER_WINDOW_IDS));
}

const espalier::network::WindowTeam& team(const espalier_window* window) { return (*window->window)->team(); }

}  // namespace

extern "C" {

int espalier_window_create(espalier_comm* comm, size_t bytes, int ids, espalier_window** window) {
  return guarded([&] {
    const WindowRequest request{bytes, ids, nullptr};
    check_request(request, window);
    *window = create(comm, request);
  });
}

int espalier_window_bind(espalier_comm* comm, void* memory, size_t bytes, int ids, espalier_window** window) {
  return guarded([&] {
    const WindowRequest request{bytes, ids, memory};
    check_request(request, window);
    if (!memory) throw CodedError(ESPALIER_ERR_ARGUMENT, "the memory to bind is NULL");
    *window = create(comm, request);
  });
}

int espalier_window_free(espalier_window* window) {
  return guarded([&] {
    if (!window) return;
    const std::unique_ptr<espalier_window> going(window);
    window->window->close();
  });
}

void* espalier_window_memory(espalier_window* window) {
  return window ? (*window->window)->local() : nullptr;
}
size_t espalier_window_bytes(const espalier_window* window) {
  return window ? (*window->window)->bytes() : 0;
}
int espalier_window_nodes(const espalier_window* window) { return window ? team(window).nodes() : -1; }
int espalier_window_node(const espalier_window* window) { return window ? team(window).node : -1; }

int espalier_window_node_of(const espalier_window* window, int rank) {
  if (!window) return -1;
  for (int node = 0; node < team(window).nodes(); ++node)
    for (const int other : team(window).ranks[static_cast<std::size_t>(node)])
      if (other == rank) return node;
  return -1;
}

int espalier_window_local_size(const espalier_window* window, int node) {
  return window && node >= 0 && node < team(window).nodes() ? team(window).size_of(node) : -1;
}
int espalier_window_local_rank(const espalier_window* window) { return window ? team(window).local : -1; }

const char* espalier_window_transport(const espalier_window* window) {
  return window ? to_string(window->window->transport()) : "";
}
const char* espalier_window_why(const espalier_window* window) {
  return window ? window->window->why().c_str() : "";
}

}  // extern "C"
