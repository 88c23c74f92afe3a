// The C entry points that ask whether something has come, beside those for requests: see repeat_test.hpp.
#include "mpi/bindings/c/export.hpp"
#include "mpi/host/repeat_test.hpp"

// A name, its parameters and the same as arguments.
#define ESPALIER_PROBE(symbol, parameters, arguments)                                           \
  extern "C" int export_##symbol parameters ESPALIER_EXPORT(MPI_##symbol);                      \
  extern "C" int export_##symbol parameters {                                                   \
    const Mode mode = resolve(__builtin_return_address(0));                                     \
    if (!host.next.symbol) return no_such_function("MPI_" #symbol);                             \
    if (runtime::asking::is_plain() || mode != Mode::active) return host.next.symbol arguments; \
    return ask_twice([&] { return host.next.symbol arguments; },                                \
                     [&] { return host.again.symbol arguments; }, [&] { return *flag != 0; });  \
  }

namespace espalier::mpi {

ESPALIER_PROBE(Iprobe, (int source, int tag, Handle comm, int* flag, void* status),
               (source, tag, comm, flag, status))
ESPALIER_PROBE(Improbe, (int source, int tag, Handle comm, int* flag, void* message, void* status),
               (source, tag, comm, flag, message, status))
ESPALIER_PROBE(Win_test, (Handle window, int* flag), (window, flag))
ESPALIER_PROBE(Parrived, (Handle request, int partition, int* flag), (request, partition, flag))

}  // namespace espalier::mpi
