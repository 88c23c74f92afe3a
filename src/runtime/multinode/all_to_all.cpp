// Allgather(v) and alltoall(v) over nodes. The window of the notified ring is in ring_window.cpp.
#include <numeric>

#include "collective/multinode/allgather_shared.hpp"
#include "collective/multinode/alltoall.hpp"
#include "runtime/failure/call_text.hpp"
#include "runtime/multinode/serve.hpp"

namespace espalier::runtime {

using collective::EqualBlocks;
using plan::NetworkPlan;

namespace {

// What is longer goes in several passes, so that it needs no more memory besides.
constexpr std::size_t most_at_once = std::size_t{32} << 20;

// For a few bytes of each rank, whatever the rules say.
const NetworkPlan& exchange_plan() {
  static const NetworkPlan& plan = *[] {  // never destroyed, as Config
    auto* short_ones = new NetworkPlan;
    short_ones->algorithm = plan::Algorithm::dissemination;
    return short_ones;
  }();
  return plan;
}

}  // namespace

template <class B>
const std::byte* MultiNodeCommunicator::allgather_everywhere(const collective::multinode::Allgather<B>& call,
                                                             Collective collective, const NetworkPlan& plan) {
  const std::size_t total = call.order.total();
  reclaim();
  const bool together = have_area(total);
  const auto most = static_cast<int>(counterparts_.size());
  const bool splits = together && collective::multinode::goes_around(plan, call.order);
  const int carriers = !splits ? 1 : plan.leaders == 0 ? most : std::min(plan.leaders, most);
  if (together && state_) {
    const auto number = static_cast<std::size_t>(std::min(local_rank(), carriers - 1));
    const auto mean = total / static_cast<std::size_t>(nodes_.placement.ranks());
    collective::multinode::allgather_shared(state_->machine, state_->area.area,
                                            one_a_node(counterparts_[number]), carriers, call,
                                            state_->selector(collective, mean), plan);
    return state_->area.area.memory;
  }
  std::byte* whole = whole_.of(total);
  on_stage([&](auto& stage) {
    collective::multinode::allgather_by_leaders(stage, one_a_node(counterparts_.front()), call, whole, plan);
  });
  return whole;
}

// Ranks of the node may still read what the call before has exposed them, until they are in this one.
void MultiNodeCommunicator::reclaim() {
  if (std::exchange(is_exposed_, false) && state_) on_stage([](auto& stage) { stage.meet(0, [] {}); });
}

template <class B>
const std::byte* MultiNodeCommunicator::allgather_notified(const collective::multinode::Allgather<B>& call,
                                                           Collective collective, const NetworkPlan& plan) {
  const auto go = [&](auto node, memory::Step& last) {
    const int carriers = plan.leaders == 0 ? node.size() : plan.leaders;
    collective::multinode::AllgatherWindow ring(**ring_, ring_use_, call, node, carriers,
                                                collective::multinode::ring_block(plan));
    last = ring.run();
    return ring.whole();
  };
  return through_ring([&] {
    memory::Step alone = 0;
    if (!state_) return go(collective::multinode::NodeOfOne(), alone);
    const auto mean = call.order.total() / static_cast<std::size_t>(nodes_.placement.ranks());
    return go(collective::multinode::NodeRanks(state_->machine, state_->selector(collective, mean)),
              state_->ring.area.last);
  });
}

Bootstrap MultiNodeCommunicator::own_bootstrap() {
  return {rank(), nodes_.placement.ranks(), [this](const void* mine, void* all, std::size_t bytes) {
            const collective::EqualBlocks blocks{bytes};
            const auto order = collective::multinode::in_node_order(nodes_.placement, blocks);
            allgather_everywhere(
                collective::multinode::Allgather<collective::EqualBlocks>{rank(), mine, all, blocks,
                                                                          nodes_.placement, order},
                Collective::allgather, exchange_plan());
          }};
}

template <class B>
bool MultiNodeCommunicator::allgather_blocks(Collective collective, const void* send, void* receive,
                                             const B& blocks) {
  const int ranks = nodes_.placement.ranks();
  const std::size_t total = collective::bytes_below(blocks, ranks);
  const std::size_t mean = collective::mean_block(total, static_cast<std::size_t>(ranks));
  const plan::Algorithm algorithm =
      or_by_messages(selector_(collective, mean).algorithm, std::min(total, most_through_a_window));
  const bool notified = algorithm == plan::Algorithm::notified_ring;
  return serve_as(algorithm, collective, mean, [&](const NetworkPlan& plan) {
    const void* own = send == Communicator::in_place ? at_offset(receive, blocks.offset_of(rank())) : send;
    std::size_t from = 0;
    for (std::size_t left = total; left > 0;) {
      const std::size_t to = collective::multinode::end_of_pass(
          blocks, ranks, from, notified ? most_through_a_window : most_at_once);
      using Parts = collective::multinode::PartsOfBlocks<B>;
      const Parts parts{blocks, from, to};
      const collective::multinode::NodeOrder order =
          collective::multinode::in_node_order(nodes_.placement, parts);
      const void* rest = parts.bytes_of(rank()) > 0 ? at_offset(own, from) : own;
      const collective::multinode::Allgather<Parts> call{rank(),           rest, receive, parts,
                                                         nodes_.placement, order};
      if (notified)
        allgather_notified(call, collective, plan);
      else
        allgather_everywhere(call, collective, plan);
      left -= order.total();
      from = to;
    }
  });
}

// In one pass, whatever the length: what a former one has put together would be overwritten by the next.
bool MultiNodeCommunicator::allgatherv_shared(const void* send, std::span<const std::size_t> bytes,
                                              SharedResult& shared_result) {
  const std::size_t total = std::accumulate(bytes.begin(), bytes.end(), std::size_t{0});
  const std::size_t mean = collective::mean_block(total, bytes.size());
  const plan::Algorithm algorithm = or_by_messages(selector_(Collective::allgatherv, mean).algorithm, total);
  return serve_as(algorithm, Collective::allgatherv, mean, [&](const NetworkPlan& plan) {
    const Blocks blocks{bytes, bytes};  // there are no offsets: no rank receives
    const collective::multinode::NodeOrder order =
        collective::multinode::in_node_order(nodes_.placement, blocks);
    shared_result = {nullptr, order.begin};
    if (total == 0) return;
    const collective::multinode::Allgather<Blocks> call{rank(),           send, nullptr, blocks,
                                                        nodes_.placement, order};
    shared_result.whole = algorithm == plan::Algorithm::notified_ring
                              ? allgather_notified(call, Collective::allgatherv, plan)
                              : allgather_everywhere(call, Collective::allgatherv, plan);
    is_exposed_ = true;
  });
}

bool MultiNodeCommunicator::allgather(const void* send, void* receive, std::size_t bytes) {
  return allgather_blocks(Collective::allgather, send, receive, collective::EqualBlocks{bytes});
}

bool MultiNodeCommunicator::allgatherv(const void* send, void* receive, const Blocks& blocks) {
  return allgather_blocks(Collective::allgatherv, send, receive, blocks);
}

template <class B>
bool MultiNodeCommunicator::alltoall_blocks(Collective collective, std::size_t bytes, const void* send,
                                            const B& out, void* receive, const B& in) {
  constexpr bool equal = std::is_same_v<B, EqualBlocks>;
  return serve(collective, bytes, [&](const NetworkPlan& plan) {
    if (equal && bytes == 0) return;
    const auto room = [this](std::size_t which, std::size_t some) { return exchanged_[which].of(some); };
    on_stage([&]<class Stage>(Stage& stage) {
      using Exchange = collective::multinode::Alltoall<Stage, Peers, B, B, decltype(room)>;
      Exchange(stage, all_ranks().on(0),
               {rank(), nodes_.placement, plan.segment, equal, send, out, receive, in}, room)
          .run();
    });
  });
}

bool MultiNodeCommunicator::alltoall(const void* send, void* receive, std::size_t bytes) {
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

bool MultiNodeCommunicator::alltoallv(const void* send, const Blocks& out, void* receive, const Blocks& in) {
  if (!slots_hold(2 * sizeof(std::uint64_t))) return false;
  if (send != Communicator::in_place) {
    const auto own = static_cast<std::size_t>(rank());
    if (out.bytes[own] == in.bytes[own]) [[likely]]
      return alltoall_blocks(Collective::alltoallv, 0, send, out, receive, in);
    std::vector<std::size_t> bytes(in.bytes.begin(), in.bytes.end());
    bytes[own] = out.bytes[own];  // less than is expected is delivered
    return alltoall_blocks(Collective::alltoallv, 0, send, out, receive, Blocks{bytes, in.offsets});
  }
  if (selector_(Collective::alltoallv, 0).algorithm == plan::Algorithm::host) return false;
  collective::multinode::BlocksOfSome kept_blocks;
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

bool MultiNodeCommunicator::refuse_own_block(const machine::CallFacts& call, std::size_t sent,
                                             std::size_t expected) {
  return serve(call, [&](const NetworkPlan&) {
    throw Truncated(formatted("{}; {}", print_lengths(call, rank(), sent, rank(), expected), equal_counts));
  });
}

std::string MultiNodeCommunicator::why_host(Collective collective) const {
  return traits(collective).node_only
             ? "its ranks are on several nodes, and it goes through the memory of one"
             : Communicator::why_host(collective);
}

}  // namespace espalier::runtime
