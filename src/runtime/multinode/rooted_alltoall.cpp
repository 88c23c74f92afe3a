// Gather(v), scatter(v) and alltoall(v) over nodes.
#include "collective/multinode/alltoall.hpp"
#include "collective/multinode/gather.hpp"
#include "collective/multinode/scatter.hpp"
#include "runtime/multinode/serve.hpp"

namespace espalier::runtime {

using collective::EqualBlocks;
using collective::nodes::RootedBlocks;
using plan::NetworkPlan;

bool Spanning::slots_hold(std::size_t head_for_each_rank) const {
  const auto ranks = static_cast<int>(nodes_.placement.largest());
  const machine::Layout layout = layout_for(ranks);
  return (static_cast<std::size_t>(ranks) + 1) * head_for_each_rank <=
         static_cast<std::size_t>(layout.slots) * layout.slot_bytes;
}

template <class B>
bool Spanning::gather_blocks(Collective collective, const void* send, std::size_t bytes, void* receive,
                             const B& blocks, int root) {
  constexpr bool equal = std::is_same_v<B, EqualBlocks>;
  return serve_rooted(collective, equal ? bytes : 0, root, [&](const NetworkPlan& plan) {
    const RootedBlocks call = {rank_, root, nodes_.placement, plan.segment, equal};
    if (equal && bytes == 0) return;
    on_stage([&](auto& stage) {
      if (rank_ != root)
        return collective::nodes::gather_from_here(stage, everybody().on(0), call, send, bytes,
                                                   [&](std::size_t room) { return whole_.of(room); });
      const void* own = send == Communicator::in_place ? at_offset(receive, blocks.offset_of(root)) : send;
      collective::nodes::gather_at_root(stage, everybody().on(0), call, own, receive, blocks,
                                        whole_.of(collective::nodes::all_short_blocks(call, blocks)));
    });
  });
}

template <class B>
bool Spanning::scatter_blocks(Collective collective, const void* send, const B& blocks, void* receive,
                              std::size_t bytes, int root) {
  constexpr bool equal = std::is_same_v<B, EqualBlocks>;
  return serve_rooted(collective, equal ? bytes : 0, root, [&](const NetworkPlan& plan) {
    const RootedBlocks call = {rank_, root, nodes_.placement, plan.segment, equal};
    if (equal && bytes == 0) return;
    on_stage([&](auto& stage) {
      if (rank_ != root)
        return collective::nodes::scatter_to_here(stage, everybody().on(0), call, receive, bytes,
                                                  [&](std::size_t room) { return whole_.of(room); });
      void* own = receive;
      if (receive == Communicator::in_place)  // not written: it lies there
        own = const_cast<std::byte*>(at_offset(send, blocks.offset_of(root)));
      collective::nodes::scatter_at_root(stage, everybody().on(0), call, send, own, blocks,
                                         whole_.of(collective::nodes::all_short_blocks(call, blocks)));
    });
  });
}

template <class B>
bool Spanning::alltoall_blocks(Collective collective, std::size_t bytes, const void* send, const B& out,
                               void* receive, const B& in) {
  constexpr bool equal = std::is_same_v<B, EqualBlocks>;
  return serve(collective, bytes, [&](const NetworkPlan& plan) {
    if (equal && bytes == 0) return;
    const auto room = [this](std::size_t which, std::size_t some) { return exchanged_[which].of(some); };
    on_stage([&]<class Stage>(Stage& stage) {
      using Exchange = collective::nodes::Alltoall<Stage, Peers, B, B, decltype(room)>;
      Exchange(stage, everybody().on(0),
               {rank_, nodes_.placement, plan.segment, equal, send, out, receive, in}, room)
          .run();
    });
  });
}

bool Spanning::gather(const void* send, void* receive, std::size_t bytes, int root) {
  return gather_blocks(Collective::gather, send, bytes, receive, EqualBlocks{bytes}, root);
}

bool Spanning::gatherv(const void* send, std::size_t bytes, void* receive, const Blocks& blocks, int root) {
  return gather_blocks(Collective::gatherv, send, bytes, receive, blocks, root);
}

bool Spanning::scatter(const void* send, void* receive, std::size_t bytes, int root) {
  if (!slots_hold(sizeof(std::uint64_t))) return false;
  return scatter_blocks(Collective::scatter, send, EqualBlocks{bytes}, receive, bytes, root);
}

bool Spanning::scatterv(const void* send, const Blocks& blocks, void* receive, std::size_t bytes, int root) {
  if (!slots_hold(sizeof(std::uint64_t))) return false;
  return scatter_blocks(Collective::scatterv, send, blocks, receive, bytes, root);
}

bool Spanning::alltoall(const void* send, void* receive, std::size_t bytes) {
  if (!slots_hold(2 * sizeof(std::uint64_t))) return false;
  const EqualBlocks blocks{bytes};
  const std::size_t total = blocks.offset_of(nodes_.placement.ranks());
  if (send != Communicator::in_place)
    return alltoall_blocks(Collective::alltoall, total, send, blocks, receive, blocks);
  // What is sent lies where what is received goes.
  if (selector_(Collective::alltoall, total).algorithm == plan::Algorithm::host) return false;
  std::byte* kept = vectors_.of(total);
  copy_alone(kept, receive, total);
  return alltoall_blocks(Collective::alltoall, total, kept, blocks, receive, blocks);
}

bool Spanning::alltoallv(const void* send, const Blocks& out, void* receive, const Blocks& in) {
  if (!slots_hold(2 * sizeof(std::uint64_t))) return false;
  if (send != Communicator::in_place)
    return alltoall_blocks(Collective::alltoallv, 0, send, out, receive, in);
  if (selector_(Collective::alltoallv, 0).algorithm == plan::Algorithm::host) return false;
  collective::nodes::BlocksOfSome kept_blocks;
  std::size_t total = 0;
  for (const std::size_t bytes : in.bytes) {
    kept_blocks.add(bytes, total);
    total += bytes;
  }
  std::byte* kept = vectors_.of(total);
  for (int rank = 0; rank < nodes_.placement.ranks(); ++rank)
    copy_alone(kept + kept_blocks.view().offset_of(rank), at_offset(receive, in.offset_of(rank)),
               in.bytes_of(rank));
  return alltoall_blocks(Collective::alltoallv, 0, kept, kept_blocks.view(), receive, in);
}

}  // namespace espalier::runtime
