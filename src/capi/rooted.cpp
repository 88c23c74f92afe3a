// Bcast, gather(v) and scatter(v) of the C API.
#include "capi/checks.hpp"

using namespace espalier::capi;
using espalier::runtime::Blocks;

extern "C" {

int espalier_bcast(espalier_comm* comm, void* buffer, size_t bytes, int root) {
  const InCall in_call(Collective::bcast, number_of(comm), root, __builtin_return_address(0));
  return guarded([&] {
    Communicator& communicator = checked(comm, root);
    check_buffer(buffer, bytes, "buffer");
    check_done(communicator.bcast(buffer, bytes, root));
  });
}

int espalier_gather(espalier_comm* comm, const void* send, void* receive, size_t bytes, int root) {
  const InCall in_call(Collective::gather, number_of(comm), root, __builtin_return_address(0));
  return guarded([&] {
    Communicator& communicator = checked(comm, root);
    check_buffer(send, bytes, "send");
    if (communicator.rank() == root) check_buffer(receive, bytes, "receive");
    check_done(communicator.gather(source_of(send), receive, bytes, root));
  });
}

int espalier_gatherv(espalier_comm* comm, const void* send, size_t send_bytes, void* receive,
                     const size_t* bytes, const size_t* offsets, int root) {
  const InCall in_call(Collective::gatherv, number_of(comm), root, __builtin_return_address(0));
  return guarded([&] {
    Communicator& communicator = checked(comm, root);
    check_buffer(send, send_bytes, "send");
    const bool is_root = communicator.rank() == root;
    const Blocks blocks = is_root ? blocks_of(communicator, receive, bytes, offsets, "receive") : Blocks{};
    check_done(communicator.gatherv(source_of(send), send_bytes, receive, blocks, root));
  });
}

int espalier_scatter(espalier_comm* comm, const void* send, void* receive, size_t bytes, int root) {
  const InCall in_call(Collective::scatter, number_of(comm), root, __builtin_return_address(0));
  return guarded([&] {
    Communicator& communicator = checked(comm, root);
    if (communicator.rank() == root) check_buffer(send, bytes, "send");
    check_buffer(receive, bytes, "receive");
    check_done(communicator.scatter(send, target_of(receive), bytes, root));
  });
}

int espalier_scatterv(espalier_comm* comm, const void* send, const size_t* bytes, const size_t* offsets,
                      void* receive, size_t receive_bytes, int root) {
  const InCall in_call(Collective::scatterv, number_of(comm), root, __builtin_return_address(0));
  return guarded([&] {
    Communicator& communicator = checked(comm, root);
    const bool is_root = communicator.rank() == root;
    const Blocks blocks = is_root ? blocks_of(communicator, send, bytes, offsets, "send") : Blocks{};
    check_buffer(receive, receive_bytes, "receive");
    check_done(communicator.scatterv(send, blocks, target_of(receive), receive_bytes, root));
  });
}

}  // extern "C"
