// The Fortran entry points whose libraries call PMPI directly, past the C ones: all of Open MPI's, and in
// MPICH and Intel MPI those of `use mpi_f08` that have no buffer. (Their others call the C functions, which
// are caught.)
//
// mpif.h and `use mpi` call mpi_x_ (or another spelling, by compiler). `use mpi_f08` calls mpi_x_f08_, whose
// handles are structures of one integer, passed by reference like integers, and whose last argument may be
// absent (null). So one body serves both.
#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "mpi/abi.hpp"
#include "mpi/collectives.hpp"
#include "mpi/communicators.hpp"
#include "mpi/handles.hpp"
#include "mpi/host.hpp"
#include "mpi/initialise.hpp"
#include "mpi/lifecycle.hpp"

namespace espalier::mpi {
namespace {

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
bool convertible() {
  if (!host.Comm_f2c || !host.Type_f2c || !host.Op_f2c) return false;
  int initialised = 0;
  if (host.Initialized(&initialised) != MPI_SUCCESS || !initialised) return false;
  static const bool fits = [] {
    const PredefinedType* integer = predefined_type(MPI_INTEGER);
    return integer && integer->size == sizeof(Int);
  }();
  return fits;
}

MPI_Comm communicator(const Int* comm) { return host.Comm_f2c(*comm); }

#elif defined(ESPALIER_ABI_STANDARD)

bool convertible() { return host.Comm_fromint != nullptr; }
MPI_Comm communicator(const Int* comm) { return host.Comm_fromint(*comm); }

#else

// In MPICH a handle is the same integer in both languages.
bool convertible() { return true; }
MPI_Comm communicator(const Int* comm) { return *comm; }

#endif

bool take(void* caller) { return resolve(caller) == Mode::active && convertible(); }

Handle comm_handle(const Int* comm) { return wide(communicator(comm)); }

void set(Int* error, int code) {
  if (error) *error = code;
}

void init(const Names& names, Int* error, void* caller) {
  resolve(caller);
  initialise([&] {
    Int code = MPI_SUCCESS;
    forward(names, &code);
    set(error, code);
    return static_cast<int>(code);
  });
}

void init_thread(const Names& names, Int* required, Int* provided, Int* error, void* caller) {
  resolve(caller);
  initialise([&] {
    Int code = MPI_SUCCESS;
    forward(names, &code, required, provided);
    set(error, code);
    return static_cast<int>(code);
  });
}

void finalize(const Names& names, Int* error, void* caller) {
  if (resolve(caller) == Mode::active) lifecycle::end_world();
  forward(names, error);
}

void free_comm(const Names& names, Int* comm, Int* error, void* caller) {
  if (take(caller)) communicators::retire(comm_handle(comm));
  forward(names, error, comm);
}

void fortran_barrier(const Names& names, Int* comm, Int* error, void* caller) {
  if (!take(caller)) return forward(names, error, comm);
  set(error, barrier({.comm = comm_handle(comm)}, caller));
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

void* c_address(void* buffer) {
  static const Sentinel in_place{"mpi_fortran_in_place_", "mpi_fortran_in_place__", "mpi_fortran_in_place",
                                 "MPI_FORTRAN_IN_PLACE"};
  static const Sentinel bottom{"mpi_fortran_bottom_", "mpi_fortran_bottom__", "mpi_fortran_bottom",
                               "MPI_FORTRAN_BOTTOM"};
  if (in_place.is(buffer)) return MPI_IN_PLACE;
  return bottom.is(buffer) ? MPI_BOTTOM : buffer;
}

Handle type_handle(const Int* type) { return wide(host.Type_f2c(*type)); }
Handle op_handle(const Int* op) { return wide(host.Op_f2c(*op)); }

void fortran_bcast(const Names& names, void* buffer, Int* count, Int* type, Int* root, Int* comm, Int* error,
                   void* caller) {
  if (!take(caller)) return forward(names, error, buffer, count, type, root, comm);
  set(error, bcast({.receive = c_address(buffer),
                    .count = *count,
                    .type = type_handle(type),
                    .root = *root,
                    .comm = comm_handle(comm)},
                   caller));
}

void fortran_reduce(const Names& names, void* send, void* receive, Int* count, Int* type, Int* op, Int* root,
                    Int* comm, Int* error, void* caller) {
  if (!take(caller)) return forward(names, error, send, receive, count, type, op, root, comm);
  set(error, reduce({c_address(send), c_address(receive), *count, type_handle(type), op_handle(op), *root,
                     comm_handle(comm)},
                    caller));
}

void fortran_allreduce(const Names& names, void* send, void* receive, Int* count, Int* type, Int* op,
                       Int* comm, Int* error, void* caller) {
  if (!take(caller)) return forward(names, error, send, receive, count, type, op, comm);
  set(error, allreduce({c_address(send), c_address(receive), *count, type_handle(type), op_handle(op), 0,
                        comm_handle(comm)},
                       caller));
}

#endif

}  // namespace

// A function is a name, its parameters, the body above, and what the body gets.
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

// clang-format off
ESPALIER_FORTRAN(mpi_init, MPI_INIT, (Int* error), init, error)
ESPALIER_FORTRAN(mpi_init_thread, MPI_INIT_THREAD, (Int* required, Int* provided, Int* error),
                 init_thread, required, provided, error)
ESPALIER_FORTRAN(mpi_finalize, MPI_FINALIZE, (Int* error), finalize, error)
ESPALIER_FORTRAN(mpi_comm_free, MPI_COMM_FREE, (Int* comm, Int* error), free_comm, comm, error)
ESPALIER_FORTRAN(mpi_comm_disconnect, MPI_COMM_DISCONNECT, (Int* comm, Int* error), free_comm, comm, error)
ESPALIER_FORTRAN(mpi_barrier, MPI_BARRIER, (Int* comm, Int* error), fortran_barrier, comm, error)
#ifdef ESPALIER_ABI_OMPI
ESPALIER_FORTRAN(mpi_bcast, MPI_BCAST, (void* buffer, Int* count, Int* type, Int* root, Int* comm, Int* error),
                 fortran_bcast, buffer, count, type, root, comm, error)
ESPALIER_FORTRAN(mpi_reduce, MPI_REDUCE,
                 (void* send, void* receive, Int* count, Int* type, Int* op, Int* root, Int* comm, Int* error),
                 fortran_reduce, send, receive, count, type, op, root, comm, error)
ESPALIER_FORTRAN(mpi_allreduce, MPI_ALLREDUCE,
                 (void* send, void* receive, Int* count, Int* type, Int* op, Int* comm, Int* error),
                 fortran_allreduce, send, receive, count, type, op, comm, error)
#endif
// clang-format on

}  // namespace espalier::mpi
