// Tells the ABIs of hosts apart by the symbols that their libraries have.
#include "mpi/abi/recognise.hpp"

#include "mpi/abi/abi.hpp"

namespace espalier::mpi::abi {
namespace {

/// A library of the standard ABI says version 1 or later; MPICH's and Intel's classic ones say -1 or lack the
/// function.
bool is_standard() {
  const auto version = reinterpret_cast<int (*)(int*, int*)>(host_symbol("PMPI_Abi_get_version"));
  int major = -1, minor = -1;
  return version && version(&major, &minor) == 0 && major >= 1;
}

/// Open MPI's predefined handles are addresses of data symbols of its library.
bool is_open_mpi() { return host_symbol("ompi_mpi_comm_world") != nullptr; }

}  // namespace

const char* of_host() {
  if (is_standard()) return "abi";
  return is_open_mpi() ? "ompi" : "mpich";
}

}  // namespace espalier::mpi::abi
