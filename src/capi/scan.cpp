// Scan and exscan of the C API.
#include "capi/checks.hpp"

using namespace espalier::capi;

extern "C" {

int espalier_scan(espalier_comm* comm, const void* send, void* receive, size_t count, espalier_type type,
                  espalier_op op) {
  const InCall in_call(Collective::scan, number_of(comm), 0, __builtin_return_address(0));
  return guarded([&] {
    Communicator& communicator = checked(comm);
    const auto& operation = operation_of(type, op);
    check_buffer(send, count * operation.extent, "send");
    check_buffer(receive, count * operation.extent, "receive");
    check_done(communicator.scan(source_of(send), receive, count, operation));
  });
}

int espalier_exscan(espalier_comm* comm, const void* send, void* receive, size_t count, espalier_type type,
                    espalier_op op) {
  const InCall in_call(Collective::exscan, number_of(comm), 0, __builtin_return_address(0));
  return guarded([&] {
    Communicator& communicator = checked(comm);
    const auto& operation = operation_of(type, op);
    check_buffer(send, count * operation.extent, "send");
    if (communicator.rank() > 0) check_buffer(receive, count * operation.extent, "receive");
    check_done(communicator.exscan(source_of(send), receive, count, operation));
  });
}

}  // extern "C"
