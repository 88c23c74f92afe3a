// The C entry points that make and free windows. They are the host's; counted is how many there are, because
// a rank with windows is needed by others also while it waits in a collective of Espalier's.
#include <climits>

#include "mpi/bindings/c/export.hpp"
#include "mpi/host/host.hpp"
#include "runtime/process/progress_needs.hpp"

namespace espalier::mpi {
namespace {

/// Calls what makes a window, if there is such a function.
template <class Function, class... Arguments>
int make(const char* name, Function* function, Arguments... arguments) {
  if (!function) return no_such_function(name);
  const int code = function(arguments...);
  if (code == MPI_SUCCESS) runtime::add_host_window();
  return code;
}

#if ESPALIER_HAS_LARGE_COUNT
bool fits(MPI_Aint unit) { return unit >= INT_MIN && unit <= INT_MAX; }
#endif

}  // namespace
}  // namespace espalier::mpi

// A name, its parameters, and the same as arguments.
#define ESPALIER_WINDOW(symbol, parameters, ...)                           \
  extern "C" int export_##symbol parameters ESPALIER_EXPORT(MPI_##symbol); \
  extern "C" int export_##symbol parameters {                              \
    resolve(__builtin_return_address(0));                                  \
    return make("MPI_" #symbol, host.next.symbol, __VA_ARGS__);            \
  }
// The _c form, whose unit is an MPI_Aint; a host that is too old for it gets the plain call if the unit fits.
#define ESPALIER_LARGE_WINDOW(symbol, parameters, unit, large, ...)                                      \
  extern "C" int export_##symbol##_c parameters ESPALIER_EXPORT(MPI_##symbol##_c);                       \
  extern "C" int export_##symbol##_c parameters {                                                        \
    resolve(__builtin_return_address(0));                                                                \
    if (!host.next.symbol##_c && fits(unit)) return make("MPI_" #symbol, host.next.symbol, __VA_ARGS__); \
    return make("MPI_" #symbol "_c", host.next.symbol##_c, ESPALIER_UNPACK large);                       \
  }
#define ESPALIER_UNPACK(...) __VA_ARGS__

namespace espalier::mpi {

ESPALIER_WINDOW(Win_create, (void* base, MPI_Aint bytes, int unit, Handle info, Handle comm, void* window),
                base, bytes, unit, info, comm, window)
ESPALIER_WINDOW(Win_allocate, (MPI_Aint bytes, int unit, Handle info, Handle comm, void* base, void* window),
                bytes, unit, info, comm, base, window)
ESPALIER_WINDOW(Win_allocate_shared,
                (MPI_Aint bytes, int unit, Handle info, Handle comm, void* base, void* window), bytes, unit,
                info, comm, base, window)
ESPALIER_WINDOW(Win_create_dynamic, (Handle info, Handle comm, void* window), info, comm, window)

#if ESPALIER_HAS_LARGE_COUNT
ESPALIER_LARGE_WINDOW(Win_create,
                      (void* base, MPI_Aint bytes, MPI_Aint unit, Handle info, Handle comm, void* window),
                      unit, (base, bytes, unit, info, comm, window), base, bytes, static_cast<int>(unit),
                      info, comm, window)
ESPALIER_LARGE_WINDOW(Win_allocate,
                      (MPI_Aint bytes, MPI_Aint unit, Handle info, Handle comm, void* base, void* window),
                      unit, (bytes, unit, info, comm, base, window), bytes, static_cast<int>(unit), info,
                      comm, base, window)
ESPALIER_LARGE_WINDOW(Win_allocate_shared,
                      (MPI_Aint bytes, MPI_Aint unit, Handle info, Handle comm, void* base, void* window),
                      unit, (bytes, unit, info, comm, base, window), bytes, static_cast<int>(unit), info,
                      comm, base, window)
#endif

extern "C" int export_win_free(void* window) ESPALIER_EXPORT(MPI_Win_free);
extern "C" int export_win_free(void* window) {
  resolve(__builtin_return_address(0));
  if (!host.next.Win_free) return no_such_function("MPI_Win_free");
  const int code = host.next.Win_free(window);
  if (code == MPI_SUCCESS) runtime::remove_host_window();
  return code;
}

}  // namespace espalier::mpi
