// Error codes whose words are ours: what MPI_Error_string says of them.
#pragma once

#include <string>

namespace espalier::mpi::error_codes {

/// A code of which the host's MPI_Error_string says `text`, cut at MPI_MAX_ERROR_STRING, and MPI_Error_class
/// the predefined class `error_class`; a class of our own where the host gives words to codes of such classes
/// alone; the class itself where it gives none. There are few codes: one that was given out long ago says
/// something else by then. Thread-safe.
int code_of(int error_class, const std::string& text);

}  // namespace espalier::mpi::error_codes
