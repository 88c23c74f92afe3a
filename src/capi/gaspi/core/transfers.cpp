// Writes, reads, atomic operations and notifications.
#include <algorithm>

#include "capi/gaspi/core/layer.hpp"

using namespace espalier::capi::gaspi;

namespace {

// A window carries so much in the request itself; requests of one rank to a node are served in their order. Longer data
// would go beside them, and a later notification could come first.
constexpr std::size_t longest_in_order = 4096;

std::size_t part_of(const Segment& segment, int rank) {
  return segment.stride * static_cast<std::size_t>(layer.place(rank).local);
}

// Where `bytes` at `offset` of a rank's segment lie in its node's. Throws Failure.
std::size_t locate(const Segment& segment, int rank, std::size_t offset, std::size_t bytes,
                   gaspi_return_t code) {
  const std::size_t all = layer.bytes_of(segment, rank);
  if (offset > all || bytes > all - offset)
    throw Failure(code, std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                            " leave the segment of " + std::to_string(all) + " bytes of rank " +
                            std::to_string(rank));
  return part_of(segment, rank) + offset;
}

std::byte* local_place(const Segment& segment, std::size_t offset, std::size_t bytes) {
  return static_cast<std::byte*>(espalier_window_memory(segment.window)) +
         locate(segment, layer.rank, offset, bytes, GASPI_ERR_INV_LOC_OFF);
}

int id_of(int rank, unsigned id) {
  return static_cast<int>(static_cast<unsigned>(layer.place(rank).local) * ids_of_segment + id);
}

void check_value(gaspi_notification_t value) {
  if (value == 0)
    throw Failure(GASPI_ERR_INV_NOTIF_VAL, "a notification of the value 0, which stands for none");
}

void post(int number, espalier_window* window) {
  Queue& queue = layer.queue_of(number);
  if (queue.posted >= queue_depth)
    throw Failure(GASPI_QUEUE_FULL, "queue " + std::to_string(number) + " has " +
                                        std::to_string(queue_depth) + " requests; gaspi_wait makes room");
  ++queue.posted;
  if (std::find(queue.windows.begin(), queue.windows.end(), window) == queue.windows.end())
    queue.windows.push_back(window);
}

struct Request {
  gaspi_segment_id_t local, remote;
  std::size_t local_offset, remote_offset, bytes;
  int rank;
};

struct Located {
  espalier_window* window;
  int node;
  std::byte* here;
  std::size_t there;
};

Located locate(const Request& request) {
  if (request.bytes == 0) throw Failure(GASPI_ERR_INV_COMMSIZE, "a transfer of 0 bytes");
  const Segment& remote = layer.segment(request.remote);
  const std::size_t there =
      locate(remote, request.rank, request.remote_offset, request.bytes, GASPI_ERR_INV_REM_OFF);
  return {remote.window, layer.place(request.rank).node,
          local_place(layer.segment(request.local), request.local_offset, request.bytes), there};
}

// A word of a rank's segment.
struct Word {
  espalier_window* window;
  int node;
  std::size_t there;
};

Word locate_word(gaspi_segment_id_t id, std::size_t offset, int rank, const gaspi_atomic_value_t* old) {
  check_place(old);
  if (offset % 8 != 0)
    throw Failure(GASPI_ERR_UNALIGN_OFF, "offset " + std::to_string(offset) + " is no multiple of 8");
  const Segment& segment = layer.segment(id);
  return {segment.window, layer.place(rank).node, locate(segment, rank, offset, 8, GASPI_ERR_INV_REM_OFF)};
}

// In pieces that stay in order; the last one is left to the caller.
std::size_t write_but_last(const Located& at, std::size_t bytes) {
  std::size_t begin = 0;
  const bool here = at.node == layer.place(layer.rank).node;
  for (; !here && bytes - begin > longest_in_order; begin += longest_in_order)
    check(espalier_window_put(at.window, at.node, at.there + begin, at.here + begin, longest_in_order));
  return begin;
}

}  // namespace

extern "C" {

gaspi_return_t gaspi_write(gaspi_segment_id_t local, gaspi_offset_t local_offset, gaspi_rank_t rank,
                           gaspi_segment_id_t remote, gaspi_offset_t remote_offset, gaspi_size_t bytes,
                           gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  return locked_until(__func__, timeout, [&](const Deadline&) {
    const Located at = locate({local, remote, local_offset, remote_offset, bytes, rank});
    post(queue, at.window);
    const std::size_t begin = write_but_last(at, bytes);
    check(espalier_window_put(at.window, at.node, at.there + begin, at.here + begin, bytes - begin));
  });
}

gaspi_return_t gaspi_write_notify(gaspi_segment_id_t local, gaspi_offset_t local_offset, gaspi_rank_t rank,
                                  gaspi_segment_id_t remote, gaspi_offset_t remote_offset, gaspi_size_t bytes,
                                  gaspi_notification_id_t id, gaspi_notification_t value,
                                  gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  return locked_until(__func__, timeout, [&](const Deadline&) {
    const Located at = locate({local, remote, local_offset, remote_offset, bytes, rank});
    check_value(value);
    post(queue, at.window);
    const std::size_t begin = write_but_last(at, bytes);
    check(espalier_window_put_notify(at.window, at.node, at.there + begin, at.here + begin, bytes - begin,
                                     id_of(rank, id), value));
  });
}

gaspi_return_t gaspi_read(gaspi_segment_id_t local, gaspi_offset_t local_offset, gaspi_rank_t rank,
                          gaspi_segment_id_t remote, gaspi_offset_t remote_offset, gaspi_size_t bytes,
                          gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  return locked_until(__func__, timeout, [&](const Deadline&) {
    const Located at = locate({local, remote, local_offset, remote_offset, bytes, rank});
    post(queue, at.window);
    check(espalier_window_get(at.window, at.node, at.there, at.here, bytes));
  });
}

gaspi_return_t gaspi_notify(gaspi_segment_id_t remote, gaspi_rank_t rank, gaspi_notification_id_t id,
                            gaspi_notification_t value, gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  return locked_until(__func__, timeout, [&](const Deadline&) {
    const Segment& segment = layer.segment(remote);
    locate(segment, rank, 0, 0, GASPI_ERR_INV_REM_OFF);
    check_value(value);
    post(queue, segment.window);
    check(espalier_window_notify(segment.window, layer.place(rank).node, id_of(rank, id), value));
  });
}

gaspi_return_t gaspi_notify_waitsome(gaspi_segment_id_t id, gaspi_notification_id_t first, gaspi_number_t num,
                                     gaspi_notification_id_t* found, gaspi_timeout_t timeout) {
  return locked_until(__func__, timeout, [&](const Deadline& deadline) {
    check_place(found);
    if (num == 0) return;  // nothing can come, as the specification has it
    if (num > ids_of_segment - first)
      throw Failure(GASPI_ERR_INV_NOTIF_ID, "notifications " + std::to_string(first) + " to " +
                                                std::to_string(first + num - 1) + ": the ids are 0 to 65535");
    const int begin = id_of(layer.rank, first);
    const int came = await_some(layer.segment(id).window, begin, static_cast<int>(num), deadline);
    *found = static_cast<gaspi_notification_id_t>(first + static_cast<unsigned>(came - begin));
  });
}

gaspi_return_t gaspi_notify_reset(gaspi_segment_id_t segment, gaspi_notification_id_t id,
                                  gaspi_notification_t* old) {
  return locked(__func__, [&] {
    check_place(old);
    check(espalier_window_notify_reset(layer.segment(segment).window, id_of(layer.rank, id), old));
  });
}

gaspi_return_t gaspi_atomic_fetch_add(gaspi_segment_id_t id, gaspi_offset_t offset, gaspi_rank_t rank,
                                      gaspi_atomic_value_t value, gaspi_atomic_value_t* old,
                                      gaspi_timeout_t timeout) {
  return locked_until(__func__, timeout, [&](const Deadline&) {
    const Word word = locate_word(id, offset, rank, old);
    check(espalier_window_fetch_add(word.window, word.node, word.there, value, old));
  });
}

gaspi_return_t gaspi_atomic_compare_swap(gaspi_segment_id_t id, gaspi_offset_t offset, gaspi_rank_t rank,
                                         gaspi_atomic_value_t comparator, gaspi_atomic_value_t value,
                                         gaspi_atomic_value_t* old, gaspi_timeout_t timeout) {
  return locked_until(__func__, timeout, [&](const Deadline&) {
    const Word word = locate_word(id, offset, rank, old);
    check(espalier_window_compare_swap(word.window, word.node, word.there, comparator, value, old));
  });
}

}  // extern "C"
