// Allgather(v) and alltoall(v) of the C API.
#include <algorithm>

#include "capi/checks.hpp"

using namespace espalier::capi;
using espalier::runtime::Blocks;

extern "C" {

int espalier_allgather(espalier_comm* comm, const void* send, void* receive, size_t bytes) {
  const InCall in_call(Collective::allgather, number_of(comm), 0, __builtin_return_address(0));
  return guarded([&] {
    Communicator& communicator = checked(comm);
    check_buffer(send, bytes, "send");
    check_buffer(receive, bytes, "receive");
    check_done(communicator.allgather(source_of(send), receive, bytes));
  });
}

int espalier_allgatherv(espalier_comm* comm, const void* send, void* receive, const size_t* bytes,
                        const size_t* offsets) {
  const InCall in_call(Collective::allgatherv, number_of(comm), 0, __builtin_return_address(0));
  return guarded([&] {
    Communicator& communicator = checked(comm);
    const Blocks blocks = blocks_of(communicator, receive, bytes, offsets, "receive");
    check_buffer(send, blocks.bytes_of(communicator.rank()), "send");
    check_done(communicator.allgatherv(source_of(send), receive, blocks));
  });
}

int espalier_allgatherv_lent(espalier_comm* comm, const void* send, const size_t* bytes, const void** whole,
                             size_t* offsets) {
  const InCall in_call(Collective::allgatherv, number_of(comm), 0, __builtin_return_address(0));
  return guarded([&] {
    Communicator& communicator = checked(comm);
    if (!bytes || !whole || !offsets)
      throw CodedError(ESPALIER_ERR_ARGUMENT, "bytes, whole and offsets must not be NULL");
    if (send == ESPALIER_IN_PLACE)
      throw CodedError(ESPALIER_ERR_ARGUMENT, "send is ESPALIER_IN_PLACE, and there is no receive buffer");
    const std::span<const std::size_t> all(bytes, static_cast<std::size_t>(communicator.size()));
    check_buffer(send, all[static_cast<std::size_t>(communicator.rank())], "send");
    espalier::runtime::SharedResult shared_result;
    check_done(communicator.allgatherv_shared(send, all, shared_result));
    *whole = shared_result.whole;
    std::copy(shared_result.offsets.begin(), shared_result.offsets.end(), offsets);
  });
}

int espalier_alltoall(espalier_comm* comm, const void* send, void* receive, size_t bytes) {
  const InCall in_call(Collective::alltoall, number_of(comm), 0, __builtin_return_address(0));
  return guarded([&] {
    Communicator& communicator = checked(comm);
    check_buffer(send, bytes, "send");
    check_buffer(receive, bytes, "receive");
    check_done(communicator.alltoall(source_of(send), receive, bytes));
  });
}

int espalier_alltoallv(espalier_comm* comm, const void* send, const size_t* send_bytes,
                       const size_t* send_offsets, void* receive, const size_t* receive_bytes,
                       const size_t* receive_offsets) {
  const InCall in_call(Collective::alltoallv, number_of(comm), 0, __builtin_return_address(0));
  return guarded([&] {
    Communicator& communicator = checked(comm);
    const Blocks in = blocks_of(communicator, receive, receive_bytes, receive_offsets, "receive");
    const bool in_place = send == ESPALIER_IN_PLACE;
    const Blocks out = in_place ? in : blocks_of(communicator, send, send_bytes, send_offsets, "send");
    check_done(communicator.alltoallv(source_of(send), out, receive, in));
  });
}

}  // extern "C"
