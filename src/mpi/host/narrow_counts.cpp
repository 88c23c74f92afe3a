#include "mpi/host/narrow_counts.hpp"

#include <climits>
#include <cstdio>

#include "mpi/host/host.hpp"

namespace espalier::mpi {
namespace {

using Question = int (*)(Handle, int*);

int answer(Question question, Handle comm) {
  int number = 0;
  if (question) question(comm, &number);
  return number;
}

}  // namespace

bool fits_int(std::int64_t number) { return number >= INT_MIN && number <= INT_MAX; }

int too_large() {
  std::fprintf(stderr,
               "espalier: a call with a number beyond 2147483647, but this host MPI has no MPI_..._c "
               "functions; use smaller counts or a larger datatype\n");
  return MPI_ERR_COUNT;
}

Narrow::Narrow(const Numbers& numbers, int count) {
  if (!numbers.is_wide() || !numbers.data()) {
    values_ = numbers.ints();
    return;
  }
  for (int i = 0; i < count; ++i) {
    fits_ = fits_ && fits_int(numbers[i]);
    copy_.push_back(static_cast<int>(numbers[i]));
  }
  values_ = copy_.data();
}

int local_ranks(Handle comm) { return answer(host.next.Comm_size, comm); }

int peers(Handle comm) {
  const bool inter = answer(host.next.Comm_test_inter, comm) != 0;
  return answer(inter ? host.next.Comm_remote_size : host.next.Comm_size, comm);
}

NeighbourCounts neighbours(Handle comm) {
  const Next& next = host.next;
  NeighbourCounts counts;
  switch (answer(next.Topo_test, comm)) {
    case MPI_CART:
      counts.sources = counts.destinations = 2 * answer(next.Cartdim_get, comm);
      break;
    case MPI_GRAPH:
      if (next.Graph_neighbors_count)
        next.Graph_neighbors_count(comm, answer(next.Comm_rank, comm), &counts.sources);
      counts.destinations = counts.sources;
      break;
    case MPI_DIST_GRAPH: {
      int weighted = 0;
      if (next.Dist_graph_neighbors_count)
        next.Dist_graph_neighbors_count(comm, &counts.sources, &counts.destinations, &weighted);
      break;
    }
    default:
      break;
  }
  return counts;
}

int peers_of_root(Handle comm, int root) {
  const bool inter = answer(host.next.Comm_test_inter, comm) != 0;
  const bool is_root = inter ? root == MPI_ROOT : answer(host.next.Comm_rank, comm) == root;
  return is_root ? peers(comm) : 0;
}

}  // namespace espalier::mpi
