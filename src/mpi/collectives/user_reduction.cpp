#include "mpi/collectives/user_reduction.hpp"

#include <algorithm>
#include <climits>
#include <vector>

#include "mpi/host/callback.hpp"
#include "mpi/host/host.hpp"

namespace espalier::mpi {

using runtime::Communicator;

UserReduction::UserReduction(MPI_Op op, const Layout& layout, MPI_Comm comm)
    : op_(op), layout_(layout), comm_(comm) {}

runtime::UserOperation UserReduction::operation() {
  int commutative = 0;  // asked, too, to catch a handle that is no operator
  if (host.Op_commutative(op_, &commutative) != MPI_SUCCESS)
    throw Error("the host MPI does not know the operator of this reduction; has it been freed?");
  return {combine, this, commutative != 0};
}

/// right = left op right, on the user's datatype, in pieces that fit an int.
void UserReduction::apply(const void* left, void* right) {
  for (std::size_t done = 0; done < layout_.count;) {
    const std::size_t elements = std::min<std::size_t>(layout_.count - done, INT_MAX);
    const auto offset = static_cast<MPI_Count>(done) * layout_.extent;
    const int code = call_program([&] {
      return host.Reduce_local(static_cast<const std::byte*>(left) + offset,
                               static_cast<std::byte*>(right) + offset, static_cast<int>(elements),
                               layout_.type, op_);
    });
    if (code != MPI_SUCCESS)
      throw Error("the host's MPI_Reduce_local failed with code " + std::to_string(code) +
                  " on a user-defined operator");
    done += elements;
  }
}

void UserReduction::combine_unpacked(const void* left, void* right) {
  if (!left_) left_.emplace(layout_);
  if (!right_) right_.emplace(layout_);
  unpack(layout_, left, left_->address, comm_);
  unpack(layout_, right, right_->address, comm_);
  apply(left_->address, right_->address);
  pack(layout_, right_->address, right, comm_);
}

void UserReduction::combine(void* self, const void* left, void* right) {
  auto& reduction = *static_cast<UserReduction*>(self);
  if (!reduction.layout_.is_bare()) return reduction.combine_unpacked(left, right);
  reduction.apply(left, right);
}

/// Brings the data into packed form and back; `run(send, receive)` is the collective on it. The first
/// `results` elements come to `receive`, which may be anything where none do. Data at absolute addresses are
/// received at a null address (MPI_BOTTOM).
template <class Run>
bool UserReduction::run(const void* send, void* receive, std::size_t results, Run run) {
  const bool in_place = send == Communicator::in_place;
  const bool is_target = in_place || results > 0;
  if (layout_.packed) {
    const void* from = in_place ? send : static_cast<const std::byte*>(send) + layout_.true_lower;
    return run(from, is_target ? static_cast<std::byte*>(receive) + layout_.true_lower : nullptr);
  }
  const Buffer packed = allocate(layout_.bytes());
  pack(layout_, in_place ? receive : send, packed.get(), comm_);
  const bool done = is_target ? run(Communicator::in_place, packed.get()) : run(packed.get(), nullptr);
  if (!done || results == 0) return done;
  Layout result = layout_;
  result.count = results;
  unpack(result, packed.get(), receive, comm_);
  return done;
}

bool UserReduction::reduce(Communicator& communicator, const void* send, void* receive, int root) {
  const auto user = operation();
  const bool is_root = communicator.rank() == root;
  return run(send, is_root ? receive : nullptr, is_root ? layout_.count : 0, [&](const void* from, void* to) {
    return communicator.reduce(from, to, layout_.bytes(), user, root);
  });
}

bool UserReduction::allreduce(Communicator& communicator, const void* send, void* receive) {
  const auto user = operation();
  return run(send, receive, layout_.count, [&](const void* from, void* to) {
    return communicator.allreduce(from, to, layout_.bytes(), user);
  });
}

bool UserReduction::scan(Communicator& communicator, const void* send, void* receive) {
  const auto user = operation();
  return run(send, receive, layout_.count,
             [&](const void* from, void* to) { return communicator.scan(from, to, layout_.bytes(), user); });
}

bool UserReduction::exscan(Communicator& communicator, const void* send, void* receive) {
  const auto user = operation();
  const std::size_t results = communicator.rank() == 0 ? 0 : layout_.count;
  return run(send, receive, results, [&](const void* from, void* to) {
    return communicator.exscan(from, to, layout_.bytes(), user);
  });
}

bool UserReduction::reduce_scatter_block(Communicator& communicator, const void* send, void* receive) {
  const auto user = operation();
  const std::size_t own = layout_.count / static_cast<std::size_t>(communicator.size());
  return run(send, receive, own, [&](const void* from, void* to) {
    return communicator.reduce_scatter_block(from, to, own * layout_.size, user);
  });
}

bool UserReduction::reduce_scatter(Communicator& communicator, const void* send, void* receive,
                                   std::span<const std::size_t> counts) {
  const auto user = operation();
  std::vector<std::size_t> bytes(counts.size());
  std::transform(counts.begin(), counts.end(), bytes.begin(),
                 [&](std::size_t count) { return count * layout_.size; });
  const std::size_t own = counts[static_cast<std::size_t>(communicator.rank())];
  return run(send, receive, own,
             [&](const void* from, void* to) { return communicator.reduce_scatter(from, to, bytes, user); });
}

}  // namespace espalier::mpi
