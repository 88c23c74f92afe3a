// Queues: what has been posted, and its local completion.
#include "capi/gaspi/core/layer.hpp"

using namespace espalier::capi::gaspi;

namespace {

template <class Place, class Value>
gaspi_return_t say(const char* function, Place* place, Value value) {
  return guarded(function, [&] {
    check_place(place);
    *place = static_cast<Place>(value);
  });
}

}  // namespace

extern "C" {

// Other threads may post to the queue whenever the lock is free: what they post is waited for, too.
gaspi_return_t gaspi_wait(gaspi_queue_id_t number, gaspi_timeout_t timeout) {
  return locked_until(__func__, timeout, [&](const Deadline& deadline) {
    Queue& queue = layer.queue_of(number);
    while (!queue.windows.empty()) {
      espalier_window* const window = queue.windows.back();
      flush(window, deadline);
      std::erase(queue.windows, window);
    }
    queue.posted = 0;
  });
}

gaspi_return_t gaspi_queue_size(gaspi_queue_id_t number, gaspi_number_t* posted) {
  return locked(__func__, [&] {
    check_place(posted);
    *posted = layer.queue_of(number).posted;
  });
}

gaspi_return_t gaspi_queue_num(gaspi_number_t* number) { return say(__func__, number, queues); }
gaspi_return_t gaspi_queue_max(gaspi_number_t* most) { return say(__func__, most, queues); }
gaspi_return_t gaspi_queue_size_max(gaspi_number_t* most) { return say(__func__, most, queue_depth); }
gaspi_return_t gaspi_notification_num(gaspi_number_t* number) {
  return say(__func__, number, ids_of_segment);
}
gaspi_return_t gaspi_transfer_size_min(gaspi_size_t* bytes) { return say(__func__, bytes, 1); }
gaspi_return_t gaspi_transfer_size_max(gaspi_size_t* bytes) { return say(__func__, bytes, 1UL << 30); }

}  // extern "C"
