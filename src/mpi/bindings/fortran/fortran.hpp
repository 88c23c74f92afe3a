// What the Fortran entry points have in common. There are those whose libraries call PMPI directly, past the C
// ones: all of Open MPI's, and in MPICH and Intel MPI those of `use mpi_f08` that have no buffer. (Their
// others call the C functions, which are caught.)
//
// mpif.h and `use mpi` call mpi_x_ (or another spelling, by compiler). `use mpi_f08` calls mpi_x_f08_, whose
// handles are structures of one integer, passed by reference like integers, and whose last argument may be
// absent (null). So one body serves both.
#pragma once

#include <algorithm>
#include <iterator>

#include "mpi/abi/abi.hpp"
#include "mpi/host/handles.hpp"
#include "mpi/host/host.hpp"

namespace espalier::mpi::fortran {

/// Hosts can be built for longer Fortran integers; then see convertible().
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

/// Calls the host's function and returns its error code.
template <class... Pointers>
int ask(const Names& names, Pointers... pointers) {
  Int code = MPI_SUCCESS;
  forward(names, &code, pointers...);
  return code;
}

/// Handles can be converted, and integers are as long as this build takes them to be.
inline bool convertible() {
  if (!abi::converts_handles(host)) return false;
  if constexpr (abi::fortran_integers_vary) {
    int initialised = 0;
    if (host.Initialized(&initialised) != MPI_SUCCESS || !initialised) return false;
    static const bool fits = [] {
      const PredefinedType* integer = predefined_type(MPI_INTEGER);
      return integer && integer->size == sizeof(Int);
    }();
    return fits;
  }
  return true;
}

inline bool take(void* caller) { return resolve(caller) == Mode::active && convertible(); }

inline Handle comm_handle(const Int* comm) { return wide(abi::c_communicator(host, *comm)); }
inline Handle c_request(const Int* request) { return wide(abi::c_request(host, *request)); }

inline Handle op_handle(const Int* op) { return wide(abi::c_op(host, *op)); }

inline void set(Int* error, int code) {
  if (error) *error = code;
}

#if ESPALIER_FORTRAN_CALLS_PMPI

/// The addresses of a common block that stands for a constant of MPI.
class Sentinel {
 public:
  template <std::size_t spellings>
  explicit Sentinel(const char* const (&names)[spellings]) {
    static_assert(spellings == std::size(decltype(addresses_){}));
    std::transform(std::begin(names), std::end(names), std::begin(addresses_), host_symbol);
  }
  bool is(const void* address) const {
    return address &&
           std::find(std::begin(addresses_), std::end(addresses_), address) != std::end(addresses_);
  }

 private:
  void* addresses_[4] = {};
};

inline void* c_address(void* buffer) {
  static const Sentinel in_place{abi::fortran_in_place}, bottom{abi::fortran_bottom};
  if (in_place.is(buffer)) return MPI_IN_PLACE;
  return bottom.is(buffer) ? MPI_BOTTOM : buffer;
}

inline Handle type_handle(const Int* type) { return wide(abi::c_datatype(host, *type)); }

#endif

}  // namespace espalier::mpi::fortran

// A function is a name, its parameters, the body, and what the body gets.
#define ESPALIER_VISIBLE extern "C" __attribute__((visibility("default"), used))
#define ESPALIER_F08(lower, parameters, body, ...)         \
  ESPALIER_VISIBLE void lower##_f08_ parameters {          \
    static constexpr Names names{{#lower "_f08_"}};        \
    body(names, __VA_ARGS__, __builtin_return_address(0)); \
  }
#if ESPALIER_FORTRAN_CALLS_PMPI
#define ESPALIER_FORTRAN(lower, upper, parameters, body, ...)                    \
  ESPALIER_F08(lower, parameters, body, __VA_ARGS__)                             \
  ESPALIER_VISIBLE void lower##_ parameters {                                    \
    static constexpr Names names{{#lower "_", #lower "__", #lower, #upper}};     \
    body(names, __VA_ARGS__, __builtin_return_address(0));                       \
  }                                                                              \
  ESPALIER_VISIBLE void lower##__ parameters __attribute__((alias(#lower "_"))); \
  ESPALIER_VISIBLE void lower parameters __attribute__((alias(#lower "_")));     \
  ESPALIER_VISIBLE void upper parameters __attribute__((alias(#lower "_")));
#else
#define ESPALIER_FORTRAN(lower, upper, parameters, body, ...) \
  ESPALIER_F08(lower, parameters, body, __VA_ARGS__)
#endif
