// The three ways in which MPI has a collective: blocking, nonblocking, and prepared once.
#pragma once

#include "harness.hpp"

#include <mpi.h>

#include <cstdlib>
#include <vector>

namespace checked {

enum class Manner { blocking, nonblocking, persistent };

inline const char* name_of(Manner manner) {
  constexpr const char* names[] = {"", "nonblocking", "persistent"};
  return names[static_cast<int>(manner)];
}

// How often one check has the call done: a prepared one is started again with other data.
inline int rounds_of(Manner manner) { return manner == Manner::persistent ? 3 : 1; }

// Calls one of MPI's functions of a collective. `request` is none after a blocking call.
template <class Blocking, class Nonblocking, class Init, class... Arguments>
void call_in(Manner manner, MPI_Request* request, Blocking blocking, Nonblocking nonblocking, Init init,
             Arguments... arguments) {
  *request = MPI_REQUEST_NULL;
  if (manner == Manner::blocking)
    blocking(arguments...);
  else if (manner == Manner::nonblocking)
    nonblocking(arguments..., request);
  else
    init(arguments..., MPI_INFO_NULL, request);
}

// The datatypes that a call gets: copies, which the program frees when the request is made; the array has to
// stay. Not where the host serves the call: Open MPI 5.0.11 does not keep datatypes.
class TypesOfCall {
 public:
  TypesOfCall(const MPI_Datatype* types, int count, Manner manner) : types_(types, types + count) {
    if (manner == Manner::blocking || on_bare_host() || std::getenv("ESPALIER_NODES")) return;
    for (MPI_Datatype& type : types_) MPI_Type_dup(type, &type);
    are_copies_ = true;
  }
  void free() {
    if (are_copies_)
      for (MPI_Datatype type : types_) MPI_Type_free(&type);
    are_copies_ = false;
  }
  TypesOfCall(const TypesOfCall&) = delete;
  TypesOfCall& operator=(const TypesOfCall&) = delete;
  const MPI_Datatype* data() const { return types_.data(); }

 private:
  std::vector<MPI_Datatype> types_;
  bool are_copies_ = false;
};

}  // namespace checked
