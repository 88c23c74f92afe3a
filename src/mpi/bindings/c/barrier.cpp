// The C entry points of barrier.
#include "mpi/bindings/c/export.hpp"
#include "mpi/collectives/collectives.hpp"

namespace espalier::mpi {

ESPALIER_COLLECTIVE(MPI_Barrier, (Handle comm), barrier, {.comm = comm})

}  // namespace espalier::mpi
