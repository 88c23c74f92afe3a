// What the Fortran entry points have in common. One body serves mpif.h, `use mpi` and `use mpi_f08`: see
// fortran.cpp.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "mpi/host/abi.hpp"
#include "mpi/host/handles.hpp"
#include "mpi/host/host.hpp"

namespace espalier::mpi::fortran {

/// Open MPI and MPICH can be built for longer Fortran integers; then see convertible().
using Int = int;

/// The spellings of one function; the host has all of them or only its compiler's.
struct Names {
  const char* spelling[4];
};

/// Calls the host's own Fortran function.
template <class... Pointers>
void forward(const Names& names, Int* error, Pointers... pointers) {
  for (const char* name : names.spelling)
    if (name)
      if (void* function = next_function(name))
        return reinterpret_cast<void (*)(Pointers..., Int*)>(function)(pointers..., error);
  const int code = no_such_function(names.spelling[0]);
  if (error) *error = code;
}

#if defined(ESPALIER_ABI_OMPI)

/// Handles can be converted, and integers are as long as this build takes them to be.
inline bool convertible() {
  if (!host.Comm_f2c || !host.Type_f2c || !host.Op_f2c || !host.Request_f2c) return false;
  int initialised = 0;
  if (host.Initialized(&initialised) != MPI_SUCCESS || !initialised) return false;
  static const bool fits = [] {
    const PredefinedType* integer = predefined_type(MPI_INTEGER);
    return integer && integer->size == sizeof(Int);
  }();
  return fits;
}

inline MPI_Comm communicator(const Int* comm) { return host.Comm_f2c(*comm); }
inline MPI_Request c_request(const Int* request) { return host.Request_f2c(*request); }

#elif defined(ESPALIER_ABI_STANDARD)

inline bool convertible() { return host.Comm_fromint && host.Request_fromint && host.Request_toint; }
inline MPI_Comm communicator(const Int* comm) { return host.Comm_fromint(*comm); }
inline MPI_Request c_request(const Int* request) { return host.Request_fromint(*request); }
inline Int fortran_request(MPI_Request request) { return host.Request_toint(request); }

#else

// In MPICH a handle is the same integer in both languages.
inline bool convertible() { return true; }
inline MPI_Comm communicator(const Int* comm) { return *comm; }
inline MPI_Request c_request(const Int* request) { return *request; }
inline Int fortran_request(MPI_Request request) { return request; }

#endif

inline bool take(void* caller) { return resolve(caller) == Mode::active && convertible(); }

inline Handle comm_handle(const Int* comm) { return wide(communicator(comm)); }

inline void set(Int* error, int code) {
  if (error) *error = code;
}

#ifdef ESPALIER_ABI_OMPI

/// Fortran's MPI_IN_PLACE and MPI_BOTTOM are addresses of common blocks, spelled as the compiler spells
/// names.
class Sentinel {
 public:
  explicit Sentinel(std::initializer_list<const char*> names) {
    std::transform(names.begin(), names.end(), std::begin(addresses_), host_data);
  }
  bool is(const void* address) const {
    return address &&
           std::find(std::begin(addresses_), std::end(addresses_), address) != std::end(addresses_);
  }

 private:
  void* addresses_[4] = {};
};

inline void* c_address(void* buffer) {
  static const Sentinel in_place{"mpi_fortran_in_place_", "mpi_fortran_in_place__", "mpi_fortran_in_place",
                                 "MPI_FORTRAN_IN_PLACE"};
  static const Sentinel bottom{"mpi_fortran_bottom_", "mpi_fortran_bottom__", "mpi_fortran_bottom",
                               "MPI_FORTRAN_BOTTOM"};
  if (in_place.is(buffer)) return MPI_IN_PLACE;
  return bottom.is(buffer) ? MPI_BOTTOM : buffer;
}

inline Handle type_handle(const Int* type) { return wide(host.Type_f2c(*type)); }
inline Handle op_handle(const Int* op) { return wide(host.Op_f2c(*op)); }

#endif

}  // namespace espalier::mpi::fortran

// A function is a name, its parameters, the body, and what the body gets.
#define ESPALIER_VISIBLE extern "C" __attribute__((visibility("default"), used))
#define ESPALIER_F08(lower, parameters, body, ...)                      \
  ESPALIER_VISIBLE void lower##_f08_ parameters {                       \
    body({{#lower "_f08_"}}, __VA_ARGS__, __builtin_return_address(0)); \
  }
#ifdef ESPALIER_ABI_OMPI
#define ESPALIER_FORTRAN(lower, upper, parameters, body, ...)                                    \
  ESPALIER_F08(lower, parameters, body, __VA_ARGS__)                                             \
  ESPALIER_VISIBLE void lower##_ parameters {                                                    \
    body({{#lower "_", #lower "__", #lower, #upper}}, __VA_ARGS__, __builtin_return_address(0)); \
  }                                                                                              \
  ESPALIER_VISIBLE void lower##__ parameters __attribute__((alias(#lower "_")));                 \
  ESPALIER_VISIBLE void lower parameters __attribute__((alias(#lower "_")));                     \
  ESPALIER_VISIBLE void upper parameters __attribute__((alias(#lower "_")));
#else
#define ESPALIER_FORTRAN(lower, upper, parameters, body, ...) \
  ESPALIER_F08(lower, parameters, body, __VA_ARGS__)
#endif
