// Reductions whose result is not the same on all ranks: scan, exscan, reduce_scatter_block, reduce_scatter.
// One checked call of each, for any type and operator.
#pragma once

#include "group.hpp"
#include "harness.hpp"

#include <vector>

namespace checked {

// The calls to make: `of(rank, elements)` is a rank's vector, `fold(left, right)` the operator on two
// vectors.
template <class T, class Of, class Fold>
struct Prefixes {
  const Group& group;
  MPI_Datatype type;
  MPI_Op op;
  const char* type_name;
  const char* op_name;
  Of of;
  Fold fold;
  bool in_place = false;
  bool large = false;  // the _c form

  std::vector<T> folded(int ranks, long count) const {
    std::vector<T> result = of(0, count);
    for (int rank = 1; rank < ranks; ++rank) result = fold(result, of(rank, count));
    return result;
  }

  void announce(const char* collective, long count) const {
    begin({collective, &group, -1, count, type_name, op_name});
  }

  void scan(long count) const {
    announce(in_place ? "scan in place" : "scan", count);
    std::vector<T> send = of(group.rank, count), before = send, receive(send.size());
    if (in_place) receive = send;
    const void* from = in_place ? MPI_IN_PLACE : send.data();
#if MPI_VERSION >= 4
    if (large)
      MPI_Scan_c(from, receive.data(), count, type, op, group.comm);
    else
#endif
      MPI_Scan(from, receive.data(), static_cast<int>(count), type, op, group.comm);
    compare(before, send);
    compare(folded(group.rank + 1, count), receive);
  }

  // Rank 0's result is undefined. (Its receive buffer means nothing, but MPICH wants one.)
  void exscan(long count) const {
    announce(in_place ? "exscan in place" : "exscan", count);
    std::vector<T> send = of(group.rank, count), before = send, receive(send.size());
    if (in_place) receive = send;
    const void* from = in_place ? MPI_IN_PLACE : send.data();
#if MPI_VERSION >= 4
    if (large)
      MPI_Exscan_c(from, receive.data(), count, type, op, group.comm);
    else
#endif
      MPI_Exscan(from, receive.data(), static_cast<int>(count), type, op, group.comm);
    compare(before, send);
    if (group.rank > 0) compare(folded(group.rank, count), receive);
  }

  void reduce_scatter_block(long count) const {
    announce(in_place ? "reduce_scatter_block in place" : "reduce_scatter_block", count);
    scatter(std::vector<long>(static_cast<std::size_t>(group.size), count), [&](const void* from, void* to) {
#if MPI_VERSION >= 4
      if (large)
        MPI_Reduce_scatter_block_c(from, to, count, type, op, group.comm);
      else
#endif
        MPI_Reduce_scatter_block(from, to, static_cast<int>(count), type, op, group.comm);
    });
  }

  // Every third rank gets nothing, others more than `count`.
  void reduce_scatter(long count) const {
    announce(in_place ? "reduce_scatter in place" : "reduce_scatter", count);
    std::vector<long> counts;
    for (int rank = 0; rank < group.size; ++rank) counts.push_back(rank % 3 == 1 ? 0 : count + rank);
    scatter(counts, [&](const void* from, void* to) {
#if MPI_VERSION >= 4
      if (large) {
        std::vector<MPI_Count> all(counts.begin(), counts.end());
        MPI_Reduce_scatter_c(from, to, all.data(), type, op, group.comm);
        return;
      }
#endif
      std::vector<int> all(counts.begin(), counts.end());
      MPI_Reduce_scatter(from, to, all.data(), type, op, group.comm);
    });
  }

  void all(long count) const {
    scan(count);
    exscan(count);
    reduce_scatter_block(count);
    reduce_scatter(count);
  }

 private:
  template <class Call>
  void scatter(const std::vector<long>& counts, Call call) const {
    long total = 0, before_mine = 0;
    for (int rank = 0; rank < group.size; ++rank) {
      if (rank == group.rank) before_mine = total;
      total += counts[static_cast<std::size_t>(rank)];
    }
    long mine = counts[static_cast<std::size_t>(group.rank)];
    std::vector<T> send = of(group.rank, total), before = send;
    std::vector<T> receive(static_cast<std::size_t>(in_place ? total : mine));
    if (in_place) receive = send;
    call(in_place ? MPI_IN_PLACE : send.data(), mine || in_place ? receive.data() : nullptr);
    compare(before, send);
    std::vector<T> whole = folded(group.size, total);
    compare(whole.data() + before_mine, receive.data(), mine);
  }
};

}  // namespace checked
