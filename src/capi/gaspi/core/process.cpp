// GASPI's processes: how the job begins and ends, and who this rank is.
#include <bit>
#include <chrono>
#include <cstdarg>
#include <cstdio>

#include "capi/gaspi/core/group_exchange.hpp"
#include "capi/gaspi/core/layer.hpp"
#include "capi/gaspi/start/world.hpp"

using namespace espalier::capi::gaspi;

namespace {

// Only a window says which ranks share a node, and how many there are at most.
int find_places() {
  espalier_window* probe = nullptr;
  check(espalier_window_create(layer.world, 8, 1, &probe));
  layer.places.assign(static_cast<std::size_t>(layer.size), {});
  std::vector<int> on_node(static_cast<std::size_t>(espalier_window_nodes(probe)), 0);
  int most = 0;
  for (int rank = 0; rank < layer.size; ++rank) {
    const int node = espalier_window_node_of(probe, rank);
    int& number = on_node[static_cast<std::size_t>(node)];
    layer.places[static_cast<std::size_t>(rank)] = {node, number++};
    most = std::max(most, number);
  }
  check(espalier_window_free(probe));
  return most;
}

// Writes of a rank to a node must come in order, since notifications come after them: docs/gaspi.md.
void check_order() {
  const std::string transport = espalier_window_transport(layer.control);
  if (transport != "memory" && transport != "message")
    throw Failure(GASPI_ERR_ENV,
                  "ESPALIER_WINDOW_TRANSPORT=" + transport +
                      " does not keep the order of writes; leave it out, or set it to message");
}

void begin(gaspi_timeout_t timeout) {
  layer.world = open_world(bounded_ms(timeout));
  layer.rank = espalier_comm_rank(layer.world);
  layer.size = espalier_comm_size(layer.world);
  layer.levels = std::bit_width(static_cast<unsigned>(layer.size - 1));
  const int most = find_places();
  check(espalier_window_create(layer.world, control_bytes() * static_cast<std::size_t>(most),
                               control_ids() * most, &layer.control));
  check_order();
  Group all;
  for (int rank = 0; rank < layer.size; ++rank) all.ranks.push_back(rank);
  all.index = layer.rank;
  all.committed = true;
  layer.groups.emplace(GASPI_GROUP_ALL, std::move(all));
  layer.initialized = true;
}

// All ranks free the windows of their groups in the order in which they have made them, so none waits in a circle.
void end() {
  for (espalier_window* window : layer.windows) check(espalier_window_free(window));
  check(espalier_window_free(layer.control));
  for (auto& [number, group] : layer.groups) espalier_comm_free(group.comm);
  espalier_comm_free(layer.world);
  layer.windows.clear();
  layer.segments.clear();
  layer.groups.clear();
  layer.queue = {};
  layer.world = nullptr;
  layer.control = nullptr;
  layer.initialized = false;
  close_world();
}

}  // namespace

extern "C" {

gaspi_return_t gaspi_proc_init(gaspi_timeout_t timeout) {
  return guarded(__func__, [&] {
    const std::lock_guard guard(layer.lock);
    if (layer.initialized) throw Failure(GASPI_ERR_INITED, "it has been called already");
    begin(timeout);
  });
}

gaspi_return_t gaspi_proc_term(gaspi_timeout_t) {
  return locked(__func__, [] { end(); });
}

gaspi_return_t gaspi_proc_rank(gaspi_rank_t* rank) {
  return locked(__func__, [&] {
    check_place(rank);
    *rank = static_cast<gaspi_rank_t>(layer.rank);
  });
}

gaspi_return_t gaspi_proc_num(gaspi_rank_t* number) {
  return locked(__func__, [&] {
    check_place(number);
    *number = static_cast<gaspi_rank_t>(layer.size);
  });
}

gaspi_return_t gaspi_initialized(gaspi_number_t* initialized) {
  return guarded(__func__, [&] {
    check_place(initialized);
    const std::lock_guard guard(layer.lock);
    *initialized = layer.initialized;
  });
}

gaspi_return_t gaspi_connect(gaspi_rank_t rank, gaspi_timeout_t) {
  return locked(__func__, [&] { layer.place(rank); });
}
gaspi_return_t gaspi_disconnect(gaspi_rank_t rank, gaspi_timeout_t) {
  return locked(__func__, [&] { layer.place(rank); });
}

gaspi_return_t gaspi_version(gaspi_float* version) {
  return guarded(__func__, [&] {
    check_place(version);
    *version = 17.1F;
  });
}

gaspi_return_t gaspi_time_get(gaspi_time_t* milliseconds) {
  return guarded(__func__, [&] {
    check_place(milliseconds);
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    *milliseconds = std::chrono::duration<double, std::milli>(now).count();
  });
}

void gaspi_printf(const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  std::printf("[%d] %s", layer.rank, text);  // one call: lines of several ranks stay whole
  std::fflush(stdout);
}

}  // extern "C"
