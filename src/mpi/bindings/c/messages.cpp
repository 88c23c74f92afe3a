// The C entry points that begin to send or receive. They are the host's; remembered is which long messages
// are on their way, because the other side may need this rank's progress (long_messages.hpp).
#include "mpi/bindings/c/export.hpp"
#include "mpi/host/host.hpp"
#include "mpi/requests/long_messages.hpp"

#if ESPALIER_NOTES_LONG_MESSAGES

// A name, its parameters, among them `count`, `type` and `request`, the same as arguments, and the other
// rank.
#define ESPALIER_MESSAGE(symbol, parameters, arguments, peer)                                          \
  extern "C" int export_##symbol parameters ESPALIER_EXPORT(MPI_##symbol);                             \
  extern "C" int export_##symbol parameters {                                                          \
    const Mode mode = resolve(__builtin_return_address(0));                                            \
    if (!host.next.symbol) return no_such_function("MPI_" #symbol);                                    \
    const int code = host.next.symbol arguments;                                                       \
    if (code == MPI_SUCCESS && mode == Mode::active) long_messages::begun(count, type, peer, request); \
    return code;                                                                                       \
  }
#define ESPALIER_SEND(symbol, Count)                                                                       \
  ESPALIER_MESSAGE(                                                                                        \
      symbol, (const void* data, Count count, Handle type, int peer, int tag, Handle comm, void* request), \
      (data, count, type, peer, tag, comm, request), peer)
#define ESPALIER_RECEIVE(symbol, Count)                                                                   \
  ESPALIER_MESSAGE(symbol,                                                                                \
                   (void* data, Count count, Handle type, int peer, int tag, Handle comm, void* request), \
                   (data, count, type, peer, tag, comm, request), peer)
#define ESPALIER_MATCHED_RECEIVE(symbol, Count)                                                  \
  ESPALIER_MESSAGE(symbol, (void* data, Count count, Handle type, void* message, void* request), \
                   (data, count, type, message, request), MPI_ANY_SOURCE)

namespace espalier::mpi {

ESPALIER_SEND(Isend, int)
ESPALIER_SEND(Issend, int)
ESPALIER_SEND(Irsend, int)
ESPALIER_RECEIVE(Irecv, int)
ESPALIER_MATCHED_RECEIVE(Imrecv, int)

ESPALIER_SEND(Isend_c, MPI_Count)
ESPALIER_SEND(Issend_c, MPI_Count)
ESPALIER_SEND(Irsend_c, MPI_Count)
ESPALIER_RECEIVE(Irecv_c, MPI_Count)
ESPALIER_MATCHED_RECEIVE(Imrecv_c, MPI_Count)

}  // namespace espalier::mpi
#endif
