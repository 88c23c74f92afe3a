// Reproducible reductions where Espalier has no moves of its own: ranks that cannot share memory, rules for the host.
#include <algorithm>
#include <vector>

#include "mpi/collectives/serve_reduction.hpp"

namespace espalier::mpi {
namespace {

/// All ranks' pieces together have about so many bytes.
constexpr std::size_t most_at_once = std::size_t{4} << 20;

/// What this rank is to get: the fold of the vectors of the ranks below `ranks`, elements `first` to `end`.
struct Wanted {
  int ranks;
  std::size_t first, end;
};

Wanted wanted_by(const runtime::Communicator& communicator, const Call& call, const Shape& shape) {
  const auto all = static_cast<std::size_t>(shape.elements);
  const int rank = communicator.rank();
  switch (shape.collective) {
    case Collective::scan:
      return {rank + 1, 0, all};
    case Collective::exscan:
      return {rank, 0, all};
    case Collective::reduce:
      return {rank == call.root ? communicator.size() : 0, 0, all};
    case Collective::reduce_scatter_block: {
      const auto own = static_cast<std::size_t>(call.count), first = own * static_cast<std::size_t>(rank);
      return {communicator.size(), first, first + own};
    }
    case Collective::reduce_scatter: {
      MPI_Count first = 0;
      for (int below = 0; below < rank; ++below) first += call.counts[below];
      return {communicator.size(), static_cast<std::size_t>(first),
              static_cast<std::size_t>(first + call.counts[rank])};
    }
    default:
      return {communicator.size(), 0, all};
  }
}

// In place is safe: a piece is with all ranks before its result, or one of elements below it, is written.
int fold_at_once(const Entry& entry, const Call& call, const Shape& shape,
                 const reduce::Operation& operation) {
  runtime::Communicator& communicator = *entry.communicator;
  const std::size_t extent = operation.extent, elements = static_cast<std::size_t>(shape.elements);
  communicator.count_host(shape.collective, elements * extent,
                          communicator.why_host(shape.collective) + "; it moves the vectors, Espalier folds");
  const bool in_place = shape.is_target && source(call) == runtime::Communicator::in_place;
  const auto* const vector = static_cast<const std::byte*>(in_place ? call.receive : call.send);
  const Wanted wanted = wanted_by(communicator, call, shape);
  const auto ranks = static_cast<std::size_t>(communicator.size());
  const std::size_t piece = std::min(elements, std::max<std::size_t>(1, most_at_once / (ranks * extent)));
  std::vector<std::byte> all(ranks * piece * extent);
  std::vector<const void*> sources(ranks);
  for (std::size_t begin = 0; begin < elements; begin += piece) {
    const std::size_t count = std::min(piece, elements - begin), bytes = count * extent;
    const int code = host.Allgather(vector + begin * extent, static_cast<int>(bytes), host.constants.byte,
                                    all.data(), static_cast<int>(bytes), host.constants.byte, entry.comm);
    if (code != MPI_SUCCESS) return code;
    const std::size_t first = std::max(begin, wanted.first), end = std::min(begin + count, wanted.end);
    if (wanted.ranks == 0 || first >= end) continue;
    for (std::size_t rank = 0; rank < ranks; ++rank)
      sources[rank] = all.data() + rank * bytes + (first - begin) * extent;
    operation.kernel(static_cast<std::byte*>(call.receive) + (first - wanted.first) * extent, sources.data(),
                     wanted.ranks, end - first);
  }
  return MPI_SUCCESS;
}

}  // namespace

int not_served(const Entry& entry, const Call& call, const Shape& shape, const reduce::Operation& operation,
               std::size_t bytes) {
  return operation.at_once ? fold_at_once(entry, call, shape, operation)
                           : refuse_by_plan(entry, shape.collective, bytes);
}

}  // namespace espalier::mpi
