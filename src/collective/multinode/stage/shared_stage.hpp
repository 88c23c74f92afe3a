// Node stages through shared memory: the collectives of one node, by their own plans.
#pragma once

#include <vector>

#include "base/collective.hpp"
#include "collective/dispatch.hpp"
#include "collective/multinode/stage/stage.hpp"
#include "collective/node/all_to_all/alltoallv.hpp"
#include "collective/node/reductions/reduce_whole.hpp"
#include "collective/node/scan/scan_whole.hpp"

namespace espalier::collective::multinode {

/// `Plans` looks up the node's plans and places: plan(collective, bytes), positions(plan, root) in the plan's
/// trees, contiguous_position(root).
template <Machine M, class Plans>
class SharedStage {
 public:
  SharedStage(M& m, Plans plans) : m_(m), plans_(plans) {}

  int rank() const { return m_.rank(); }
  int size() const { return m_.size(); }

  template <class AtTop>
  void meet(int leader, AtTop at_top) {
    const Plan& plan = plans_.plan(Collective::barrier, 0);
    const TreePositionPair position = plans_.positions(plan, leader);
    barrier_tree(m_, position.gather, position.release, plan, at_top);
  }

  void bcast(int leader, void* data, std::size_t bytes) {
    const Plan& plan = plans_.plan(Collective::bcast, bytes);
    by_plan::bcast(m_, plans_.positions(plan, leader).release, data, bytes, plan);
  }

  void reduce(int leader, const void* send, void* result, std::size_t bytes,
              const reduce::Operation& operation) {
    const Plan& plan = plans_.plan(Collective::reduce, bytes);
    by_plan::reduce(m_, plans_.positions(plan, leader).gather, {send, result, bytes, operation}, plan);
  }

  void reduce_whole(int leader, const void* send, void* result, std::size_t bytes,
                    const WholeOperation& operation) {
    collective::reduce_whole(m_, plans_.contiguous_position(leader), send, result, bytes, operation,
                             plans_.plan(Collective::reduce, bytes));
  }

  void scan(const void* send, void* result, std::size_t bytes, const reduce::Operation& operation,
            Prefix prefix) {
    by_plan::scan(m_, trees(), {send, result, bytes, operation}, prefix,
                  plans_.plan(collective_of(prefix), bytes));
  }

  void scan_whole(const void* send, void* result, std::size_t bytes, const WholeOperation& operation,
                  Prefix prefix) {
    collective::scan_whole(m_, send, result, bytes, prefix, operation,
                           plans_.plan(collective_of(prefix), bytes));
  }

  void gather(int leader, const void* send, void* blocks, std::size_t bytes) {
    collective::gather(m_, leader, send, blocks, bytes, plans_.plan(Collective::gather, bytes));
  }
  void scatter(int leader, const void* blocks, void* receive, std::size_t bytes) {
    collective::scatter(m_, leader, blocks, receive, bytes, plans_.plan(Collective::scatter, bytes));
  }

  void gatherv(int leader, const void* send, std::size_t bytes, void* target, const Blocks& blocks) {
    by_plan::gatherv(m_, leader, send, bytes, target, blocks, plans_.plan(Collective::gatherv, 0));
  }
  void scatterv(int leader, const void* source, const Blocks& blocks, void* receive, std::size_t bytes) {
    by_plan::scatterv(m_, leader, source, blocks, receive, bytes, plans_.plan(Collective::scatterv, 0));
  }
  void alltoallv(const void* send, const Blocks& out, void* receive, const Blocks& in) {
    collective::alltoallv(m_, send, out, receive, in, plans_.plan(Collective::alltoallv, 0));
  }

  void reduce_scatter(const void* send, void* block, const Blocks& blocks, std::size_t bytes,
                      const reduce::Operation& operation) {
    by_plan::reduce_scatter(m_, {send, block, bytes, operation}, blocks,
                            plans_.plan(Collective::reduce_scatter, bytes));
  }
  void reduce_scatter(const void* send, void* vector, const Slices& slices,
                      const reduce::Operation& operation) {
    const SliceBlocks blocks(slices, size());
    void* result = at(vector, blocks.offsets[static_cast<std::size_t>(rank())]);
    const std::size_t bytes = slices.begin(slices.count());
    by_plan::reduce_scatter(m_, {send, result, bytes, operation}, blocks.view(),
                            plans_.plan(Collective::reduce_scatter, bytes));
  }

  void allgather(void* vector, const Slices& slices) {
    const SliceBlocks blocks(slices, size());
    const std::size_t bytes = slices.begin(slices.count());
    by_plan::allgather(m_, trees(), at(vector, blocks.offsets[static_cast<std::size_t>(rank())]), vector,
                       blocks.view(), plans_.plan(Collective::allgatherv, bytes));
  }

 private:
  struct SliceBlocks {
    std::vector<std::size_t> bytes, offsets;
    SliceBlocks(const Slices& slices, int ranks) {
      for (int rank = 0; rank < ranks; ++rank) {
        const int slice = std::min(rank, slices.count());
        offsets.push_back(slices.begin(slice));
        bytes.push_back(rank < slices.count() ? slices.bytes(slice) : 0);
      }
    }
    Blocks view() const { return {bytes, offsets}; }
  };

  auto trees() const {
    return [this](const Plan& plan, int root) { return plans_.positions(plan, root); };
  }

  static Collective collective_of(Prefix prefix) {
    return prefix == Prefix::inclusive ? Collective::scan : Collective::exscan;
  }

  M& m_;
  Plans plans_;
};

}  // namespace espalier::collective::multinode
