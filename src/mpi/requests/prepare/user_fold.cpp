#include "mpi/requests/prepare/user_fold.hpp"

#include <cstring>
#include <numeric>
#include <vector>

#include "mpi/collectives/serve_reduction.hpp"
#include "mpi/requests/held_operator.hpp"
#include "mpi/requests/prepare/blocks.hpp"

namespace espalier::mpi::persistent {
namespace {

/// A range of a vector, in elements.
struct Range {
  std::size_t begin, count;
};

/// The datatype of the request, by the program's own handle, which its operator may compare. A datatype that is made of
/// it keeps it alive: hosts count who uses it, and the handle stays what it is until the last one has gone.
class SameType {
 public:
  explicit SameType(MPI_Datatype type) : type_(type) {
    if (predefined_type(type)) return;
    if (host.Type_contiguous(1, type, &holder_) != MPI_SUCCESS)
      throw Error("the host cannot keep a datatype");
    is_held_ = true;
  }
  ~SameType() {
    if (is_held_) host.Type_free(&holder_);
  }
  SameType(const SameType&) = delete;
  SameType& operator=(const SameType&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_, holder_{};
  bool is_held_ = false;
};

/// Of one request: what it needs of the program's objects, and memory for what comes.
class UserFold {
 public:
  UserFold(MPI_Op op, const Layout& layout, MPI_Comm comm)
      : op_(op), type_(layout.type), layout_(layout), comm_(comm), own_(layout.bytes()) {
    layout_.type = type_.get();
    folded_ = layout_;
    operation_ = reduction_.operation();
  }

  /// `send` and, on a target, `receive`: the program's buffers. `part`: of the vector that is folded here, those of the
  /// ranks before `ranks`; in `taken`, which holds it, they come.
  void set(const void* send, void* receive, int rank, int ranks, const Range& part, const Range& taken) {
    send_ = send;
    receive_ = receive;
    rank_ = rank;
    ranks_ = ranks;
    part_ = part;
    taken_ = taken;
    folded_.count = part.count;
    vectors_.resize(bytes_of(taken.count) * static_cast<std::size_t>(ranks));
  }

  Block own(const Range& part) { return {own_.data() + bytes_of(part.begin), bytes_of(part.count)}; }
  Block place_of(int rank) {
    return {vectors_.data() + bytes_of(taken_.count) * static_cast<std::size_t>(rank),
            bytes_of(taken_.count)};
  }

  /// Before a start: this rank's vector in packed form.
  void load() {
    if (layout_.packed)
      std::memcpy(own_.data(), static_cast<const std::byte*>(send_) + layout_.true_lower, own_.size());
    else
      pack(layout_, send_, own_.data(), comm_);
  }

  /// All is there.
  void fold() {
    if (ranks_ == 0 || part_.count == 0) return;
    if (rank_ < ranks_) std::memcpy(place_of(rank_).data, own(taken_).data, bytes_of(taken_.count));
    for (int i = 1; i < ranks_; ++i) operation_.combine(operation_.context, at(i - 1), at(i));
    const std::byte* const folded = at(ranks_ - 1);
    if (layout_.packed)
      std::memcpy(static_cast<std::byte*>(receive_) + layout_.true_lower, folded, folded_.bytes());
    else
      unpack(folded_, folded, receive_, comm_);
  }

 private:
  std::size_t bytes_of(std::size_t elements) const { return elements * layout_.size; }
  std::byte* at(int rank) { return place_of(rank).data + bytes_of(part_.begin - taken_.begin); }

  HeldOperator op_;
  SameType type_;
  Layout layout_;  ///< of this rank's vector
  MPI_Comm comm_;
  Layout folded_;  ///< of what is folded here
  UserReduction reduction_{op_.get(), folded_, comm_};
  runtime::UserOperation operation_;
  const void* send_ = nullptr;
  void* receive_ = nullptr;
  int rank_ = 0, ranks_ = 0;
  Range part_{}, taken_{};
  std::vector<std::byte> own_, vectors_;
};

/// The vectors of how many ranks, from rank 0 on, `rank` folds.
int folds_of(int rank, const RankInfo& info, const Draft& draft) {
  switch (draft.spec.collective) {
    case Collective::scan:
      return rank + 1;
    case Collective::exscan:
      return rank;
    case Collective::reduce:
      return rank == draft.spec.root ? info.size : 0;
    default:
      return info.size;
  }
}

/// What rank `rank` folds.
Range part_of(int rank, const FoldShape& shape) {
  if (shape.counts.empty()) return {0, static_cast<std::size_t>(shape.elements)};
  const auto before = shape.counts.first(static_cast<std::size_t>(rank));
  return {std::accumulate(before.begin(), before.end(), std::size_t{0}),
          shape.counts[static_cast<std::size_t>(rank)]};
}

bool is_valid(const Call& call, const FoldShape& shape, Collective collective, Layout& layout) {
  const auto type = typed<MPI_Datatype>(call.type);
  return shape.elements >= 0 && type != host.constants.datatype_null &&
         typed<MPI_Op>(call.op) != host.constants.op_null && lay_out(type, shape.elements, layout) &&
         (layout.bytes() == 0 || buffers_fit(call, shape.is_target, layout)) &&
         !is_alias_for_host(call, collective, shape.elements, shape.is_target);
}

}  // namespace

bool is_by_user(const Call& call) {
  const auto op = typed<MPI_Op>(call.op);
  return op != host.constants.op_null && !predefined_op(op);
}

void make_user_fold(const Call& call, Entry& entry, const FoldShape& shape, Draft& draft) {
  const collective::PersistentSpec& asked = draft.spec;
  const Collective collective = asked.collective;
  const int root = asked.root;
  const RankInfo info = rank_info_of(entry);
  Layout layout;
  if (fails(!is_valid(call, shape, collective, layout), draft)) return;
  const std::size_t bytes = layout.bytes();
  BlocksByRank out(info), in(info);
  if (bytes == 0) {  // nothing is moved
    draft.spec = collective::transfer_spec(info, collective, root, 0, {}, {});
    return;
  }
  // A vector that fits a flag line rides there whole: so every rank finds its part at the same place.
  const bool is_cut = !shape.counts.empty() && bytes > memory::inline_capacity;
  const Range whole{0, layout.count};
  const auto fold = std::make_shared<UserFold>(typed<MPI_Op>(call.op), layout, comm_for_packing(entry));
  const Range mine = part_of(info.rank, shape);
  const bool in_place = shape.is_target && source(call) == runtime::Communicator::in_place;
  const int folds = folds_of(info.rank, info, draft);
  fold->set(in_place ? call.receive : call.send, call.receive, info.rank, folds, mine, is_cut ? mine : whole);
  for (int peer = 0; peer < info.size; ++peer) {
    if (peer == info.rank) continue;
    if (info.rank < folds_of(peer, info, draft)) out[peer] = fold->own(is_cut ? part_of(peer, shape) : whole);
    if (peer < folds) in[peer] = fold->place_of(peer);
  }
  draft.spec =
      collective::transfer_spec(info, collective, root, bytes, out.span(), in.span(), std::move(draft.spec));
  draft.spec.operation = reduce::user_operation;
  draft.spec.cut = is_cut;
  draft.load = [fold = fold.get()] { fold->load(); };
  draft.store = [fold = fold.get()] { fold->fold(); };
  draft.sides = fold;
}

}  // namespace espalier::mpi::persistent
