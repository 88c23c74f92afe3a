// The C entry point that frees windows.
#include "generated/mpi/bindings/c/entry_points.hpp"
#include "mpi/host/host.hpp"
#include "runtime/progress/progress_needs.hpp"

namespace espalier::mpi {

extern "C" int export_Win_free(void* window) {
  resolve(__builtin_return_address(0));
  if (!host.next.Win_free) return no_such_function("MPI_Win_free");
  const int code = host.next.Win_free(window);
  if (code == MPI_SUCCESS) runtime::remove_host_window();
  return code;
}

}  // namespace espalier::mpi
