// MPI_Request_get_status and MPI 4.1's forms for several requests, where some may be Espalier's. The latter
// also for hosts that do not have them: programs that look for these names weakly (mpi4py does) would help
// themselves if Espalier did not have them either.
#pragma once

#include "mpi/abi/abi.hpp"

namespace espalier::mpi::get_status {

// Each as the MPI function of that name; arrays are of this build's ABI.
int of_one(Handle request, int* flag, void* status);
int of_all(int count, const void* requests, int* flag, void* statuses);
int of_any(int count, const void* requests, int* index, int* flag, void* status);
int of_some(int count, const void* requests, int* outcount, int* indices, void* statuses);

}  // namespace espalier::mpi::get_status
