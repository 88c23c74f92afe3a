// What happens to a call that Espalier does not serve, and to one that fails.
#pragma once

#include <cstddef>
#include <string>

#include "base/collective.hpp"
#include "mpi/lifetime/communicators.hpp"

namespace espalier::mpi {

/// Which of MPI's functions for a collective the program has called.
enum class Form { blocking, nonblocking, persistent };

/// A wanted call that goes to the host: recorded, and reported as ESPALIER_FALLBACK says. Returns MPI_SUCCESS
/// if the host shall do it, else the error code that the call returns (policy `error`, raised through the
/// communicator's handler).
int allow_fallback(const Entry& entry, Collective collective, std::size_t bytes, const std::string& why,
                   Form form = Form::blocking);

/// Prints one line and raises a code of that class, of which MPI_Error_string says the same, through the
/// communicator's error handler; returns the code.
int raise_error(MPI_Comm comm, Collective collective, std::size_t bytes, const std::string& what,
                int error_class = MPI_ERR_OTHER, Form form = Form::blocking);

/// "MPI_Allreduce", "MPI_Iallreduce", "MPI_Allreduce_init".
std::string call_name(Collective collective, Form form);

}  // namespace espalier::mpi
