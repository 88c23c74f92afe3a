// Puts, gets, atomic operations and notifications of a window.

#include <chrono>

#include "base/format.hpp"
#include "capi/checks.hpp"
#include "capi/window.hpp"

using namespace espalier::capi;
using espalier::formatted;
using espalier::network::NodeWindow;

namespace {

template <class Value>
void check_result(const Value* place, const char* name) {
  if (!place) throw CodedError(ESPALIER_ERR_ARGUMENT, formatted("the place for {} is NULL", name));
}

std::string ids_text(int first, int count) {
  return count == 1 ? formatted("notification {} has not", first)
                    : formatted("none of notifications {} to {} has", first, first + count - 1);
}

int wait_some(espalier_window* window, int first, int count, int timeout_ms) {
  NodeWindow& view = checked(window);
  if (timeout_ms < 0) return view.wait_some(first, count);
  const int id = view.wait_some_for(first, count, std::chrono::milliseconds(timeout_ms));
  if (id < 0)
    throw CodedError(ESPALIER_ERR_TIMEOUT,
                     formatted("{} come to node {} within {} ms (asked by rank {}; puts come by {})",
                               ids_text(first, count), view.node(), timeout_ms, window->window->rank(),
                               to_string(window->window->transport())));
  return id;
}

// What the window itself finds wrong in a call is an argument out of place, or the network.
template <class Body>
int on_window(Body body) {
  return guarded([&] {
    try {
      body();
    } catch (const espalier::network::WindowArgument& error) {
      throw CodedError(ESPALIER_ERR_ARGUMENT, error.what());
    }
  });
}

}  // namespace

extern "C" {

int espalier_window_put(espalier_window* window, int node, size_t offset, const void* source, size_t bytes) {
  return on_window([&] {
    check_buffer(source, bytes, "source");
    checked(window).put(node, offset, source, bytes);
  });
}

int espalier_window_put_notify(espalier_window* window, int node, size_t offset, const void* source,
                               size_t bytes, int id, uint32_t value) {
  return on_window([&] {
    check_buffer(source, bytes, "source");
    checked(window).put_notify(node, offset, source, bytes, id, value);
  });
}

int espalier_window_notify(espalier_window* window, int node, int id, uint32_t value) {
  return on_window([&] { checked(window).notify(node, id, value); });
}

int espalier_window_get(espalier_window* window, int node, size_t offset, void* target, size_t bytes) {
  return on_window([&] {
    check_buffer(target, bytes, "target");
    checked(window).get(node, offset, target, bytes);
  });
}

int espalier_window_flush(espalier_window* window) {
  return on_window([&] { checked(window).flush(); });
}

int espalier_window_flush_within(espalier_window* window, int timeout_ms) {
  return on_window([&] {
    NodeWindow& view = checked(window);
    if (timeout_ms < 0) return view.flush();
    if (!view.flush_for(std::chrono::milliseconds(timeout_ms)))
      throw CodedError(ESPALIER_ERR_TIMEOUT,
                       formatted("transfers of rank {} are still under way after {} ms (they go by {})",
                                 window->window->rank(), timeout_ms, to_string(window->window->transport())));
  });
}

int espalier_window_fetch_add(espalier_window* window, int node, size_t offset, uint64_t value,
                              uint64_t* old) {
  return on_window([&] {
    check_result(old, "the old value");
    *old = checked(window).fetch_add(node, offset, value);
  });
}

int espalier_window_compare_swap(espalier_window* window, int node, size_t offset, uint64_t expected,
                                 uint64_t desired, uint64_t* old) {
  return on_window([&] {
    check_result(old, "the old value");
    *old = checked(window).compare_swap(node, offset, expected, desired);
  });
}

int espalier_window_notify_test(espalier_window* window, int id, uint32_t* value) {
  return on_window([&] {
    check_result(value, "the value");
    *value = checked(window).test(id);
  });
}

int espalier_window_notify_waitsome(espalier_window* window, int first, int count, int timeout_ms, int* id) {
  return on_window([&] {
    check_result(id, "the id");
    *id = wait_some(window, first, count, timeout_ms);
  });
}

int espalier_window_notify_reset(espalier_window* window, int id, uint32_t* old) {
  return on_window([&] {
    check_result(old, "the old value");
    *old = checked(window).reset(id);
  });
}

}  // extern "C"
