// Reductions with an operator that the user made, or a predefined one without a kernel, applied by the host
// through MPI_Reduce_local.
#pragma once

#include <optional>
#include <span>

#include "mpi/datatype/datatype.hpp"
#include "runtime/communicator/communicator.hpp"

namespace espalier::mpi {

/// One call. The runtime moves packed data; the operator wants the user's datatype, and may read and write
/// all from an element's lower to its upper bound: so elements with gaps, in the data or around them, are
/// unpacked for it and packed again.
class UserReduction {
 public:
  UserReduction(MPI_Op op, const Layout& layout, MPI_Comm comm);
  UserReduction(const UserReduction&) = delete;
  UserReduction& operator=(const UserReduction&) = delete;

  /// For packed vectors of `layout`; of no more use without this object. Throws Error when there is no such operator.
  runtime::UserOperation operation();

  /// As Communicator's: buffers are the user's, of the layout given; `send` may be Communicator::in_place.
  bool reduce(runtime::Communicator& communicator, const void* send, void* receive, int root);
  bool allreduce(runtime::Communicator& communicator, const void* send, void* receive);
  bool scan(runtime::Communicator& communicator, const void* send, void* receive);
  /// `receive == nullptr` on a rank that gets nothing, here and in reduce_scatter.
  bool exscan(runtime::Communicator& communicator, const void* send, void* receive);
  /// The layout is that of the whole vector; `counts` are elements of each rank.
  bool reduce_scatter_block(runtime::Communicator& communicator, const void* send, void* receive);
  bool reduce_scatter(runtime::Communicator& communicator, const void* send, void* receive,
                      std::span<const std::size_t> counts);

 private:
  template <class Run>
  bool run(const void* send, void* receive, std::size_t results, Run run);
  static void combine(void* self, const void* left, void* right);
  void combine_unpacked(const void* left, void* right);
  void apply(const void* left, void* right);

  MPI_Op op_;
  const Layout& layout_;
  MPI_Comm comm_;
  std::optional<TypedBuffer> left_, right_;
};

}  // namespace espalier::mpi
