// Calls of the program's functions from within a collective: a user-defined operator, or an error handler
// that the host calls, may throw, and what it throws is the program's to catch.
#pragma once

#include <utility>

namespace espalier::mpi {

namespace detail {
inline thread_local bool program_threw = false;
}

/// Whether the exception that is being handled came out of the program's function. Clears the note, so it is
/// called once for each exception that reaches the end of a call (serve.hpp).
inline bool take_program_threw() { return std::exchange(detail::program_threw, false); }

/// Runs a function that may call back into the program, and notes it if that leaves by an exception. Notes it
/// in a destructor: a catch clause here would count the exception in this library's own C++ runtime, which is
/// not the program's.
template <class Function>
auto call_program(Function function) {
  struct Note {
    bool left = true;
    ~Note() {
      if (left) detail::program_threw = true;
    }
  } note;
  auto result = function();
  note.left = false;
  return result;
}

}  // namespace espalier::mpi
