// Reduce, allreduce and reduce_scatter(_block) of the C API.
#include <algorithm>

#include "capi/checks.hpp"

using namespace espalier::capi;

extern "C" {

int espalier_reduce(espalier_comm* comm, const void* send, void* receive, size_t count, espalier_type type,
                    espalier_op op, int root) {
  const InCall in_call(Collective::reduce, number_of(comm), root, __builtin_return_address(0));
  return guarded([&] {
    Communicator& communicator = checked(comm, root);
    const auto& operation = operation_of(type, op);
    check_buffer(send, count * operation.extent, "send");
    if (communicator.rank() == root) check_buffer(receive, count * operation.extent, "receive");
    check_done(communicator.reduce(source_of(send), receive, count, operation, root));
  });
}

int espalier_allreduce(espalier_comm* comm, const void* send, void* receive, size_t count, espalier_type type,
                       espalier_op op) {
  const InCall in_call(Collective::allreduce, number_of(comm), 0, __builtin_return_address(0));
  return guarded([&] {
    Communicator& communicator = checked(comm);
    const auto& operation = operation_of(type, op);
    check_buffer(send, count * operation.extent, "send");
    check_buffer(receive, count * operation.extent, "receive");
    check_done(communicator.allreduce(source_of(send), receive, count, operation));
  });
}

int espalier_reduce_scatter_block(espalier_comm* comm, const void* send, void* receive, size_t count,
                                  espalier_type type, espalier_op op) {
  const InCall in_call(Collective::reduce_scatter_block, number_of(comm), 0, __builtin_return_address(0));
  return guarded([&] {
    Communicator& communicator = checked(comm);
    const auto& operation = operation_of(type, op);
    check_buffer(send, count * operation.extent, "send");
    check_buffer(receive, count * operation.extent, "receive");
    check_done(communicator.reduce_scatter_block(source_of(send), receive, count, operation));
  });
}

int espalier_reduce_scatter(espalier_comm* comm, const void* send, void* receive, const size_t* counts,
                            espalier_type type, espalier_op op) {
  const InCall in_call(Collective::reduce_scatter, number_of(comm), 0, __builtin_return_address(0));
  return guarded([&] {
    Communicator& communicator = checked(comm);
    const auto& operation = operation_of(type, op);
    if (!counts) throw CodedError(ESPALIER_ERR_ARGUMENT, "the array of counts is NULL");
    const std::span<const std::size_t> all(counts, static_cast<std::size_t>(communicator.size()));
    check_buffer(send, *std::max_element(all.begin(), all.end()) * operation.extent, "send");
    check_buffer(receive, all[static_cast<std::size_t>(communicator.rank())] * operation.extent, "receive");
    check_done(communicator.reduce_scatter(source_of(send), receive, all, operation));
  });
}

}  // extern "C"
