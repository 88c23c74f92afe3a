// MPI_Alloc_mem hands out memory that the other ranks of the node can map (memory/heap/shared_heap.hpp), so
// that collectives read blocks there without a copy into slots. What a caller wants something special of is
// the host's.
#include "mpi/bindings/c/memory.hpp"

#include <cstdio>
#include <string>

#include "base/format.hpp"
#include "generated/mpi/bindings/c/entry_points.hpp"
#include "memory/heap/shared_heap.hpp"
#include "mpi/host/error_codes.hpp"
#include "mpi/host/host.hpp"

namespace espalier::mpi {

using memory::SharedHeap;

namespace {

void* allocate(MPI_Aint bytes, Handle info) {
  SharedHeap* heap = bytes > 0 && info == wide(host.constants.info_null) ? SharedHeap::instance() : nullptr;
  return heap ? heap->allocate(static_cast<std::size_t>(bytes)) : nullptr;
}

}  // namespace

bool is_of_shared_heap(const void* base) {
  const SharedHeap* heap = SharedHeap::instance();
  return heap && heap->owns(base);
}

int free_shared(void* base) {
  if (SharedHeap::instance()->free(base)) return MPI_SUCCESS;
  const std::string line = formatted(
      "MPI_Free_mem: nothing that MPI_Alloc_mem returned begins at {}, or it was freed before", base);
  print_to(stderr, "espalier: {}\n", line);
  // MPI-4.1 9.3: errors without a communicator are MPI_COMM_SELF's.
  const int code = error_codes::code_of(MPI_ERR_BASE, "Espalier: " + line);
  host.Comm_call_errhandler(host.constants.self, code);
  return code;
}

extern "C" {

int export_Alloc_mem(MPI_Aint bytes, Handle info, void* base) {
  if (resolve(__builtin_return_address(0)) == Mode::active && base)
    if (void* block = allocate(bytes, info)) {
      *static_cast<void**>(base) = block;
      return MPI_SUCCESS;
    }
  return host.next.Alloc_mem ? host.next.Alloc_mem(bytes, info, base) : no_such_function("MPI_Alloc_mem");
}

int export_Free_mem(void* base) {
  if (resolve(__builtin_return_address(0)) == Mode::active && is_of_shared_heap(base))
    return free_shared(base);
  return host.next.Free_mem ? host.next.Free_mem(base) : no_such_function("MPI_Free_mem");
}

}  // extern "C"

}  // namespace espalier::mpi
