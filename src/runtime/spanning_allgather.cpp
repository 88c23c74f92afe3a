// Allgather and allgatherv over nodes.
#include "collective/nodes/allgather_shared.hpp"
#include "runtime/spanning_serve.hpp"

namespace espalier::runtime {

using plan::NetworkPlan;

namespace {

// What is longer goes in several passes, so that it needs no more memory besides.
constexpr std::size_t most_at_once = std::size_t{32} << 20;

}  // namespace

template <class B>
void Spanning::allgather_everywhere(const collective::nodes::Allgather<B>& call, Collective collective,
                                    const NetworkPlan& plan) {
  const std::size_t total = call.order.total();
  const bool together = have_area(total);
  const auto most = static_cast<int>(counterparts_.size());
  const bool splits = together && collective::nodes::goes_around(plan, call.order);
  const int carriers = !splits ? 1 : plan.leaders == 0 ? most : std::min(plan.leaders, most);
  if (together && state_) {
    const auto number = static_cast<std::size_t>(std::min(local_rank(), carriers - 1));
    const auto mean = total / static_cast<std::size_t>(nodes_.placement.ranks());
    return collective::nodes::allgather_shared(state_->machine, state_->area,
                                               one_a_node(counterparts_[number]), carriers, call,
                                               state_->selector(collective, mean), plan);
  }
  std::byte* whole = whole_.of(total);
  on_stage([&](auto& stage) {
    collective::nodes::allgather_by_leaders(stage, one_a_node(counterparts_.front()), call, whole, plan);
  });
}

template <class B>
bool Spanning::allgather_blocks(Collective collective, const void* send, void* receive, const B& blocks) {
  const int ranks = nodes_.placement.ranks();
  std::size_t total = 0;
  for (int rank = 0; rank < ranks; ++rank) total += blocks.bytes_of(rank);
  const std::size_t mean = (total + static_cast<std::size_t>(ranks) - 1) / static_cast<std::size_t>(ranks);
  return serve(collective, mean, [&](const NetworkPlan& plan) {
    const void* own = send == Communicator::in_place ? at_offset(receive, blocks.offset_of(rank_)) : send;
    std::size_t from = 0;
    for (std::size_t left = total; left > 0;) {
      const std::size_t to = collective::nodes::end_of_pass(blocks, ranks, from, most_at_once);
      using Parts = collective::nodes::PartsOfBlocks<B>;
      const Parts parts{blocks, from, to};
      const collective::nodes::NodeOrder order = collective::nodes::in_node_order(nodes_.placement, parts);
      const void* rest = parts.bytes_of(rank_) > 0 ? at_offset(own, from) : own;
      allgather_everywhere(
          collective::nodes::Allgather<Parts>{rank_, rest, receive, parts, nodes_.placement, order},
          collective, plan);
      left -= order.total();
      from = to;
    }
  });
}

bool Spanning::allgather(const void* send, void* receive, std::size_t bytes) {
  return allgather_blocks(Collective::allgather, send, receive, collective::EqualBlocks{bytes});
}

bool Spanning::allgatherv(const void* send, void* receive, const Blocks& blocks) {
  return allgather_blocks(Collective::allgatherv, send, receive, blocks);
}

}  // namespace espalier::runtime
