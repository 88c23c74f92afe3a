// Segments: each is a window whose segment on a node has a part for each of the node's ranks.
#include <algorithm>

#include "capi/gaspi/core/group_exchange.hpp"
#include "capi/gaspi/core/layer.hpp"

using namespace espalier::capi::gaspi;

namespace {

constexpr std::size_t page = 4096;

// The most ranks of the job on one node: a part of the window for each, so that a part's place follows from the rank.
int parts() {
  int most = 0;
  for (const Place& place : layer.places) most = std::max(most, place.local + 1);
  return most;
}

int gather_for_comm(const void* mine, void* all, std::size_t bytes, void* group) {
  try {
    gather_over(*static_cast<int*>(group), Purpose::communicator, mine, all, bytes, Deadline(GASPI_BLOCK));
    return 0;
  } catch (const std::exception&) {
    return 1;
  }
}

espalier_comm* comm_of(int number) {
  if (number == GASPI_GROUP_ALL) return layer.world;
  Group& group = layer.group(number);
  if (!group.comm)
    check(espalier_comm_create(group.index, static_cast<int>(group.ranks.size()), gather_for_comm, &number,
                               &group.comm));
  return group.comm;
}

void check_new(int id) {
  const auto found = layer.segments.find(id);
  if (found != layer.segments.end() && !found->second.deleted)
    throw Failure(GASPI_ERR_INV_SEG, "segment " + std::to_string(id) + " exists; delete it first");
}

// A window may be freed only by all of its ranks: those that create the id anew in the same group are the same.
void free_former(int id, int group) {
  const auto found = layer.segments.find(id);
  if (found == layer.segments.end()) return;
  if (found->second.group == group) {
    std::erase(layer.windows, found->second.window);
    check(espalier_window_free(found->second.window));
  }
  layer.segments.erase(found);
}

// Only the arrival of all ranks has a timeout: what follows takes as long as it takes.
std::vector<std::size_t> gather_sizes(std::size_t bytes, int group, const Deadline& deadline) {
  std::vector<std::size_t> sizes(layer.committed_group(group).ranks.size());
  gather_over(group, Purpose::segment, &bytes, sizes.data(), sizeof bytes, deadline);
  return sizes;
}

Segment create(const std::vector<std::size_t>& sizes, int group) {
  const Group& members = layer.committed_group(group);
  Segment segment;
  segment.group = group;
  segment.stride = (*std::max_element(sizes.begin(), sizes.end()) + page - 1) / page * page;
  for (std::size_t i = 0; i < sizes.size(); ++i) segment.bytes[members.ranks[i]] = sizes[i];
  const auto count = static_cast<std::size_t>(parts());
  check(espalier_window_create(comm_of(group), segment.stride * count,
                               static_cast<int>(ids_of_segment * count), &segment.window));
  layer.windows.push_back(segment.window);
  return segment;
}

}  // namespace

extern "C" {

gaspi_return_t gaspi_segment_create(gaspi_segment_id_t id, gaspi_size_t bytes, gaspi_group_t group,
                                    gaspi_timeout_t timeout, gaspi_alloc_t) {
  return locked_until(__func__, timeout, [&](const Deadline& deadline) {
    if (bytes == 0) throw Failure(GASPI_ERR_INV_SEGSIZE, "a segment of 0 bytes");
    check_new(id);
    const std::vector<std::size_t> sizes = gather_sizes(bytes, group, deadline);
    free_former(id, group);
    layer.segments.emplace(id, create(sizes, group));
  });
}

gaspi_return_t gaspi_segment_delete(gaspi_segment_id_t id) {
  return locked(__func__, [&] { layer.segment(id).deleted = true; });
}

gaspi_return_t gaspi_segment_ptr(gaspi_segment_id_t id, gaspi_pointer_t* pointer) {
  return locked(__func__, [&] {
    check_place(pointer);
    const Segment& segment = layer.segment(id);
    *pointer = static_cast<std::byte*>(espalier_window_memory(segment.window)) +
               segment.stride * static_cast<std::size_t>(layer.place(layer.rank).local);
  });
}

gaspi_return_t gaspi_segment_size(gaspi_segment_id_t id, gaspi_rank_t rank, gaspi_size_t* bytes) {
  return locked(__func__, [&] {
    check_place(bytes);
    *bytes = layer.bytes_of(layer.segment(id), rank);
  });
}

gaspi_return_t gaspi_segment_num(gaspi_number_t* number) {
  return locked(__func__, [&] {
    check_place(number);
    *number =
        static_cast<gaspi_number_t>(std::count_if(layer.segments.begin(), layer.segments.end(),
                                                  [](const auto& entry) { return !entry.second.deleted; }));
  });
}

gaspi_return_t gaspi_segment_max(gaspi_number_t* most) {
  return guarded(__func__, [&] {
    check_place(most);
    *most = 256;
  });
}

gaspi_return_t gaspi_segment_list(gaspi_number_t num, gaspi_segment_id_t* segments) {
  return locked(__func__, [&] {
    check_place(segments);
    for (const auto& [id, segment] : layer.segments)
      if (!segment.deleted && num-- > 0)
        *segments++ = static_cast<gaspi_segment_id_t>(id);
      else if (!segment.deleted)
        return;
  });
}

}  // extern "C"
