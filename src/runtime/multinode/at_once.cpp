// Reductions over nodes whose bits must not depend on the nodes (reduce/reproducible.hpp): the ranks' vectors are
// moved as they are, and the operands of an element come together at one rank, which folds them in one call of the
// kernel. Short vectors go whole to all who want the result; of long ones each rank folds a slice, so that it
// receives no more than one vector, and the work is divided. No partial result is moved: it would depend on which
// ranks a node has.
#include <vector>

#include "base/error.hpp"
#include "runtime/communicator/block_edges.hpp"
#include "runtime/multinode/serve.hpp"

namespace espalier::runtime {

using collective::Blocks;
using collective::Reduction;
using plan::Algorithm;

namespace {

/// All ranks' short vectors together have no more: what a rank receives costs about a message's latency.
constexpr std::size_t most_vectors_bytes = 32 * 1024;

/// Sets a flag, and back at the end.
class Within {
 public:
  explicit Within(bool& flag) : flag_(flag) { flag_ = true; }
  ~Within() { flag_ = false; }
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;

 private:
  bool& flag_;
};

/// The parts of a vector that ranks fold: of about the same length.
struct SliceEdges : BlockEdges {
  SliceEdges(const Reduction& reduction, int ranks) : BlockEdges(ranks, 0) {
    const std::size_t elements = reduction.bytes / reduction.operation.extent;
    for (std::size_t i = 0; i < size(); ++i)
      (*this)[i] = elements * i / static_cast<std::size_t>(ranks) * reduction.operation.extent;
  }
};

/// Blocks between edges.
struct SliceBlocks {
  std::vector<std::size_t> bytes;
  std::span<const std::size_t> edges;

  explicit SliceBlocks(std::span<const std::size_t> all) : edges(all.first(all.size() - 1)) {
    for (std::size_t i = 0; i + 1 < all.size(); ++i) bytes.push_back(all[i + 1] - all[i]);
  }
  Blocks view() const { return {bytes, edges}; }
};

/// Blocks of one length, one after the other, of the ranks from `first` on; none of those before.
struct EqualSlices {
  std::vector<std::size_t> bytes, offsets;

  EqualSlices(int ranks, std::size_t block, int first = 0) {
    for (int rank = 0; rank < ranks; ++rank) {
      bytes.push_back(rank < first ? 0 : block);
      offsets.push_back(static_cast<std::size_t>(rank) * block);
    }
  }
  Blocks view() const { return {bytes, offsets}; }
};

/// Of pairs the kernel leaves the padding alone; what comes from other ranks has theirs.
bool has_padding(const Reduction& reduction) { return reduction.operation.op >= reduce::Op::maxloc; }

/// The whole result, which has come from other ranks, where it belongs.
void deliver(const Reduction& reduction, const void* whole) {
  if (whole != reduction.receive)
    reduction.operation.kernel(reduction.receive, &whole, 1, reduction.bytes / reduction.operation.extent);
}

void must(bool done) {
  if (!done) throw Error("a part of a reproducible reduction was left to the host");  // moves_at_once() asked
}

}  // namespace

// Slices are moved as blocks of which a rank knows its own alone (0 bytes), vectors as equal ones.
bool MultiNodeCommunicator::moves_at_once(std::initializer_list<Collective> moves, std::size_t bytes) const {
  for (const Collective move : moves)
    if (selector_(move, bytes).algorithm == Algorithm::host) return false;
  return slots_hold(2 * sizeof(std::uint64_t));
}

bool MultiNodeCommunicator::is_short(const Reduction& reduction) const {
  return reduction.bytes <= most_vectors_bytes / static_cast<std::size_t>(size());
}

/// Runs body() for a call whose operands `collects` brings together.
template <class Body>
bool MultiNodeCommunicator::serve_at_once(const machine::CallFacts& call, Collective collects, Body body) {
  const Algorithm ran = collects == Collective::alltoallv ? Algorithm::transpose : Algorithm::gather_all;
  count_and_run(ran, call, selector_(call.collective, call.bytes), [&](const plan::NetworkPlan&) {
    if (call.bytes == 0) return;
    const Within within(is_within_call_);
    body();
  });
  return true;
}

const std::byte* MultiNodeCommunicator::collect_vectors(const Reduction& reduction) {
  std::byte* const all = operands_.of(reduction.bytes * static_cast<std::size_t>(size()));
  must(allgather(reduction.send, all, reduction.bytes));
  return all;
}

const std::byte* MultiNodeCommunicator::collect_slices(const void* vector,
                                                       std::span<const std::size_t> edges) {
  const auto me = static_cast<std::size_t>(rank());
  const SliceBlocks out(edges);
  const EqualSlices in(size(), out.bytes[me]);
  std::byte* const all = operands_.of(out.bytes[me] * static_cast<std::size_t>(size()));
  must(alltoallv(vector, out.view(), all, in.view()));
  return all;
}

/// The first `ranks` of the operands, which lie one after the other.
void MultiNodeCommunicator::fold_at_once(const Reduction& reduction, const std::byte* operands,
                                         std::size_t bytes, int ranks, void* result) {
  if (bytes == 0 || ranks == 0) return;
  sources_.resize(static_cast<std::size_t>(size()));
  for (int i = 0; i < ranks; ++i)
    sources_[static_cast<std::size_t>(i)] = operands + static_cast<std::size_t>(i) * bytes;
  reduction.operation.kernel(result, sources_.data(), ranks, bytes / reduction.operation.extent);
}

bool MultiNodeCommunicator::allreduce_at_once(const Reduction& reduction) {
  const machine::CallFacts call = {Collective::allreduce, 0, reduction.bytes, reduction.operation.code};
  if (is_short(reduction)) {
    if (!moves_at_once({Collective::allgather}, reduction.bytes)) return false;
    return serve_at_once(call, Collective::allgather, [&] {
      fold_at_once(reduction, collect_vectors(reduction), reduction.bytes, size(), reduction.receive);
    });
  }
  const SliceEdges edges(reduction, size());
  const std::size_t mean = collective::mean_block(edges.total(), static_cast<std::size_t>(size()));
  if (!moves_at_once({Collective::alltoallv}, 0) || !moves_at_once({Collective::allgatherv}, mean))
    return false;
  return serve_at_once(call, Collective::alltoallv, [&] {
    const SliceBlocks slices(edges);
    const auto me = static_cast<std::size_t>(rank());
    const std::byte* const operands = collect_slices(reduction.send, edges);
    std::byte* const whole =
        has_padding(reduction) ? folded_.of(reduction.bytes) : static_cast<std::byte*>(reduction.receive);
    fold_at_once(reduction, operands, slices.bytes[me], size(), whole + edges[me]);
    must(allgatherv(Communicator::in_place, whole, slices.view()));
    deliver(reduction, whole);
  });
}

bool MultiNodeCommunicator::reduce_at_once(const Reduction& reduction, int root) {
  const machine::CallFacts call = {Collective::reduce, root, reduction.bytes, reduction.operation.code};
  const bool is_root = rank() == root;
  if (is_short(reduction)) {
    if (!moves_at_once({Collective::gather}, reduction.bytes)) return false;
    return serve_at_once(call, Collective::gather, [&] {
      const std::size_t room = is_root ? reduction.bytes * static_cast<std::size_t>(size()) : 0;
      std::byte* const all = operands_.of(room);
      must(gather(reduction.send, all, reduction.bytes, root));
      if (is_root) fold_at_once(reduction, all, reduction.bytes, size(), reduction.receive);
    });
  }
  if (!moves_at_once({Collective::alltoallv, Collective::gatherv}, 0)) return false;
  return serve_at_once(call, Collective::alltoallv, [&] {
    const SliceEdges edges(reduction, size());
    const SliceBlocks slices(edges);
    const std::size_t own = slices.bytes[static_cast<std::size_t>(rank())];
    const std::byte* const operands = collect_slices(reduction.send, edges);
    const bool direct = is_root && !has_padding(reduction);
    std::byte* const mine = folded_.of(own + (is_root && !direct ? reduction.bytes : 0));
    fold_at_once(reduction, operands, own, size(), mine);
    void* const whole = direct ? reduction.receive : mine + own;
    must(gatherv(mine, own, whole, slices.view(), root));
    if (is_root) deliver(reduction, whole);
  });
}

bool MultiNodeCommunicator::reduce_scatter_at_once(Collective collective, const Reduction& reduction,
                                                   std::span<const std::size_t> edges) {
  if (!moves_at_once({Collective::alltoallv}, 0)) return false;
  const auto me = static_cast<std::size_t>(rank());
  const std::size_t own = edges[me + 1] - edges[me];
  return serve_at_once({collective, 0, reduction.bytes, reduction.operation.code}, Collective::alltoallv,
                       [&] {
                         const std::byte* const operands = collect_slices(reduction.send, edges);
                         fold_at_once(reduction, operands, own, size(), reduction.receive);
                       });
}

bool MultiNodeCommunicator::scan_at_once(Collective collective, const Reduction& reduction) {
  const machine::CallFacts call = {collective, 0, reduction.bytes, reduction.operation.code};
  const bool inclusive = collective == Collective::scan;
  const auto operands_of = [inclusive](int rank) { return inclusive ? rank + 1 : rank; };
  if (is_short(reduction)) {
    if (!moves_at_once({Collective::allgather}, reduction.bytes)) return false;
    return serve_at_once(call, Collective::allgather, [&] {
      fold_at_once(reduction, collect_vectors(reduction), reduction.bytes, operands_of(rank()),
                   reduction.receive);
    });
  }
  if (!moves_at_once({Collective::alltoallv}, 0)) return false;
  return serve_at_once(call, Collective::alltoallv, [&] {
    const int first = inclusive ? 0 : 1;  // that gets a result
    const SliceEdges edges(reduction, size());
    const SliceBlocks slices(edges);
    const std::size_t own = slices.bytes[static_cast<std::size_t>(rank())];
    const std::byte* const operands = collect_slices(reduction.send, edges);
    const std::size_t all = own * static_cast<std::size_t>(size());
    const bool direct = rank() >= first && !has_padding(reduction);
    std::byte* const results = folded_.of(all + (direct ? 0 : reduction.bytes));
    for (int to = 0; to < size(); ++to)
      fold_at_once(reduction, operands, own, operands_of(to), results + static_cast<std::size_t>(to) * own);
    const EqualSlices out(size(), own, first);
    SliceBlocks in(edges);
    if (rank() < first) in.bytes.assign(in.bytes.size(), 0);
    void* const whole = direct ? reduction.receive : results + all;
    must(alltoallv(results, out.view(), whole, in.view()));
    if (rank() >= first) deliver(reduction, whole);
  });
}

}  // namespace espalier::runtime
