// Operators that the program may free before a reduction is complete that was started with them. MPI has no duplicate
// of an operator, so the host's is freed when the last such reduction is complete.
#pragma once

#include "mpi/abi/abi.hpp"

namespace espalier::mpi {

/// Keeps an operator for as long as it lives. Thread-safe.
class HeldOperator {
 public:
  explicit HeldOperator(MPI_Op op);
  ~HeldOperator();
  HeldOperator(const HeldOperator&) = delete;
  HeldOperator& operator=(const HeldOperator&) = delete;
  MPI_Op get() const { return op_; }

 private:
  MPI_Op op_;
};

namespace held_operators {

/// The program frees an operator. True: it is held, and will be freed when it is no more; else the host is to free it.
bool free_later(MPI_Op op);

}  // namespace held_operators

}  // namespace espalier::mpi
