// What Fortran's entry points that make communicators have in common, as bindings/c/communicators.hpp.
#pragma once

#include "mpi/bindings/fortran/fortran.hpp"
#include "mpi/lifetime/creation.hpp"

namespace espalier::mpi::fortran {

template <class... Pointers>
void make_communicator(const Names& names, Int* error, void* caller, Creation kind, const Int* parent,
                       const Int* tag, const Int* made, Pointers... pointers) {
  if (!take(caller)) return forward(names, error, pointers...);
  const Creating creating(kind, comm_handle(parent), tag ? *tag : 0);
  const int code = ask(names, pointers...);
  if (code == MPI_SUCCESS && made) creating.made(comm_handle(made));
  set(error, code);
}

}  // namespace espalier::mpi::fortran
