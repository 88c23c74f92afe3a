// Datatypes that the program passes as an array.
#pragma once

#include <vector>

#include "mpi/abi/abi.hpp"

namespace espalier::mpi {

/// The datatype of a handle of Fortran's.
MPI_Datatype type_of_fortran(int type);

/// An array of handles of C, or of Fortran where that has others. Not owned, not looked at until asked.
class Types {
 public:
  Types() = default;
  explicit Types(const void* values) : values_(values) {}
  static Types of_fortran(const void* values) {
    Types types(values);
    types.is_fortran_ = true;
    return types;
  }

  /// Only of a host that has this build's ABI.
  MPI_Datatype operator[](int index) const {
    if (is_fortran_) return type_of_fortran(static_cast<const int*>(values_)[index]);
    return static_cast<const MPI_Datatype*>(values_)[index];
  }
  const void* data() const { return values_; }
  bool is_fortran() const { return is_fortran_; }

 private:
  const void* values_ = nullptr;
  bool is_fortran_ = false;
};

/// The same for the host's C function. Handles of C are passed through, not looked at.
class PlainTypes {
 public:
  PlainTypes(const Types& types, int count) : values_(types.data()) {
    if (!types.is_fortran()) return;
    for (int i = 0; i < count; ++i) copy_.push_back(types[i]);
    values_ = copy_.data();
  }
  const void* data() const { return values_; }

 private:
  std::vector<MPI_Datatype> copy_;
  const void* values_;
};

}  // namespace espalier::mpi
