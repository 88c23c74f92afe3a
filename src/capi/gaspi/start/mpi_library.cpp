// The host MPI, found at run time. The functions used here have no handles, so they are the same in every ABI.
#include "capi/gaspi/start/mpi_library.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "capi/gaspi/errors/failure.hpp"

namespace espalier::capi::gaspi {
namespace {

bool begun = false;

// A launcher of MPICH's family (also Intel MPI's) sets the first, one of Open MPI the second.
const char* const hydra_variable = "PMI_SIZE";
const char* const open_mpi_variable = "OMPI_COMM_WORLD_SIZE";

// The interposer has MPI_Init whether or not an MPI is there; PMPI_Init is the host's alone.
bool loaded() { return dlsym(RTLD_DEFAULT, "PMPI_Init") != nullptr; }

// The linker leaves an MPI out of a program that calls none of its functions, so the launcher's is loaded here.
// RTLD_GLOBAL: the interposer looks for the host in the global scope.
bool load() {
  const char* const hydra[] = {"libmpi.so.12", "libmpi.so"};
  const char* const open_mpi[] = {"libmpi.so.40", "libmpi.so"};
  for (const char* name : std::getenv(open_mpi_variable) ? open_mpi : hydra)
    if (dlopen(name, RTLD_LAZY | RTLD_GLOBAL) && loaded()) return true;
  return false;
}

template <class Function>
Function* find(const char* name) {
  auto* function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  if (!function) throw Failure(GASPI_ERR_ENV, std::string("the MPI library has no ") + name);
  return function;
}

bool asked(const char* name) {
  int yes = 0;
  find<int(int*)>(name)(&yes);
  return yes != 0;
}

}  // namespace

bool mpi_is_there() { return loaded() || std::getenv(hydra_variable) || std::getenv(open_mpi_variable); }

void begin_mpi() {
  if (!loaded() && !load())
    throw Failure(
        GASPI_ERR_ENV,
        "an MPI launcher has started this program, and its library libmpi.so is not found; link the program "
        "with it (mpicc -Wl,--no-as-needed), or name its folder in LD_LIBRARY_PATH");
  if (asked("MPI_Finalized")) throw Failure(GASPI_ERR_ENV, "MPI_Finalize has been called already");
  if (asked("MPI_Initialized")) return;
  if (find<int(int*, char***)>("MPI_Init")(nullptr, nullptr) != 0)
    throw Failure(GASPI_ERR_ENV, "MPI_Init failed");
  begun = true;
}

void end_mpi() {
  if (!begun || asked("MPI_Finalized")) return;
  begun = false;
  find<int()>("MPI_Finalize")();
}

}  // namespace espalier::capi::gaspi
