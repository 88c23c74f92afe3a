// Functions of the specification that this layer does not have: each fails, and says what to use.
#include "capi/gaspi/errors/failure.hpp"

using espalier::capi::gaspi::Failure;
using espalier::capi::gaspi::guarded;

namespace {

gaspi_return_t refuse(const char* function, const char* text) {
  return guarded(function, [&] { throw Failure(GASPI_ERROR, std::string("not supported; ") + text); });
}

const char* const by_notification = "use gaspi_write_notify and gaspi_notify_waitsome";
const char* const by_create = "use gaspi_segment_create";
const char* const fixed_queues = "the queues are 0 to 7";

}  // namespace

extern "C" {

gaspi_return_t gaspi_passive_send(gaspi_segment_id_t, gaspi_offset_t, gaspi_rank_t, gaspi_size_t,
                                  gaspi_timeout_t) {
  return refuse(__func__, by_notification);
}
gaspi_return_t gaspi_passive_receive(gaspi_segment_id_t, gaspi_offset_t, gaspi_rank_t*, gaspi_size_t,
                                     gaspi_timeout_t) {
  return refuse(__func__, by_notification);
}
gaspi_return_t gaspi_proc_kill(gaspi_rank_t, gaspi_timeout_t) {
  return refuse(__func__, "the launcher ends ranks");
}
gaspi_return_t gaspi_segment_alloc(gaspi_segment_id_t, gaspi_size_t, gaspi_alloc_t) {
  return refuse(__func__, by_create);
}
gaspi_return_t gaspi_segment_register(gaspi_segment_id_t, gaspi_rank_t, gaspi_timeout_t) {
  return refuse(__func__, by_create);
}
gaspi_return_t gaspi_segment_bind(gaspi_segment_id_t, gaspi_pointer_t, gaspi_size_t,
                                  gaspi_memory_description_t) {
  return refuse(__func__, by_create);
}
gaspi_return_t gaspi_segment_use(gaspi_segment_id_t, gaspi_pointer_t, gaspi_size_t, gaspi_group_t,
                                 gaspi_timeout_t, gaspi_memory_description_t) {
  return refuse(__func__, by_create);
}
gaspi_return_t gaspi_queue_create(gaspi_queue_id_t*, gaspi_timeout_t) {
  return refuse(__func__, fixed_queues);
}
gaspi_return_t gaspi_queue_delete(gaspi_queue_id_t) { return refuse(__func__, fixed_queues); }
gaspi_return_t gaspi_state_vec_get(gaspi_state_vector_t) {
  return refuse(__func__, "a rank that ends is seen by the launcher, which ends the job");
}
gaspi_return_t gaspi_statistic_counter_max(gaspi_number_t*) {
  return refuse(__func__, "see docs/statistics.md");
}

}  // extern "C"
