// A communicator whose ranks are on several nodes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collective/multinode/allgather.hpp"
#include "collective/multinode/allgather_window.hpp"
#include "collective/multinode/allreduce.hpp"
#include "collective/multinode/allreduce_notified.hpp"
#include "collective/multinode/bcast.hpp"
#include "collective/node/scan/scan.hpp"
#include "machine/fingerprint.hpp"
#include "network/endpoint.hpp"
#include "plan/selector.hpp"
#include "runtime/across/channel.hpp"
#include "runtime/communicator/communicator.hpp"
#include "runtime/communicator/persistent.hpp"
#include "runtime/communicator/wanted.hpp"
#include "runtime/failure/failure_notices.hpp"
#include "runtime/failure/node_failure.hpp"
#include "runtime/failure/recent_calls.hpp"
#include "runtime/multinode/aggregation.hpp"
#include "runtime/node/node_area.hpp"
#include "runtime/node/shared_state.hpp"
#include "runtime/setup/agreement.hpp"
#include "runtime/statistics/counters.hpp"
#include "runtime/window/window.hpp"

namespace espalier::runtime {

/// Node stages through shared memory where a node has it, else by messages; between the nodes the process's
/// transport. False without anything done also where the network rules say `host`.
class MultiNodeCommunicator final : public Communicator {
 public:
  MultiNodeCommunicator(const Agreement& agreement, int rank);
  ~MultiNodeCommunicator() override;

  std::string why_host(Collective collective) const override;
  bool refuse_own_block(const machine::CallFacts& call, std::size_t sent, std::size_t expected) override;
  bool barrier() override;
  bool bcast(void* buffer, std::size_t bytes, int root) override;
  bool reduce(const void* send, void* receive, std::size_t count, const reduce::Operation& operation,
              int root) override;
  bool allreduce(const void* send, void* receive, std::size_t count,
                 const reduce::Operation& operation) override;
  bool reduce(const void* send, void* receive, std::size_t bytes, const UserOperation& operation,
              int root) override;
  bool allreduce(const void* send, void* receive, std::size_t bytes, const UserOperation& operation) override;
  bool allgather(const void* send, void* receive, std::size_t bytes) override;
  bool allgatherv(const void* send, void* receive, const Blocks& blocks) override;
  bool allgatherv_shared(const void* send, std::span<const std::size_t> bytes,
                         SharedResult& shared_result) override;
  bool gather(const void* send, void* receive, std::size_t bytes, int root) override;
  bool gatherv(const void* send, std::size_t bytes, void* receive, const Blocks& blocks, int root) override;
  bool scatter(const void* send, void* receive, std::size_t bytes, int root) override;
  bool scatterv(const void* send, const Blocks& blocks, void* receive, std::size_t bytes, int root) override;
  bool alltoall(const void* send, void* receive, std::size_t bytes) override;
  bool alltoallv(const void* send, const Blocks& out, void* receive, const Blocks& in) override;
  bool reduce_scatter_block(const void* send, void* receive, std::size_t count,
                            const reduce::Operation& operation) override;
  bool reduce_scatter(const void* send, void* receive, std::span<const std::size_t> counts,
                      const reduce::Operation& operation) override;
  bool scan(const void* send, void* receive, std::size_t count, const reduce::Operation& operation) override;
  bool exscan(const void* send, void* receive, std::size_t count,
              const reduce::Operation& operation) override;
  bool reduce_scatter_block(const void* send, void* receive, std::size_t bytes,
                            const UserOperation& operation) override;
  bool reduce_scatter(const void* send, void* receive, std::span<const std::size_t> bytes,
                      const UserOperation& operation) override;
  bool scan(const void* send, void* receive, std::size_t bytes, const UserOperation& operation) override;
  bool exscan(const void* send, void* receive, std::size_t bytes, const UserOperation& operation) override;
  std::unique_ptr<Persistent> prepare(const Bootstrap& bootstrap, collective::PersistentSpec& spec,
                                      const std::string& unable, std::string& why) override;
  Refusal refuse_to_prepare(const collective::PersistentSpec&) override;
  bool schedules_pieces() const override { return true; }
  std::unique_ptr<SeparateCall> begin_across(across::Wanted wanted, std::string& why) override;
  std::unique_ptr<SeparateCall> prepare_across(const collective::PersistentSpec& spec,
                                               const reduce::Operation* operation, const std::string& unable,
                                               std::string& why) override;

 private:
  using Peers = network::Peers;

  /// Who leads when `root` is the root, and this node's place among the leaders by one plan's tree.
  struct Roles {
    int leader;
    std::vector<int> leaders, leaders_from_root;
    collective::TreePosition position;
  };

  /// Buffers that are kept from call to call, because fresh pages cost more than what is done with them.
  class Room {
   public:
    std::byte* of(std::size_t bytes);

   private:
    std::unique_ptr<std::byte[]> memory_;
    std::size_t bytes_ = 0;
  };

  /// As in SharedState: what the call is, for the ranks of this node.
  template <class Body>
  bool serve(const machine::CallFacts& call, Body body);
  template <class Body>
  bool serve(Collective collective, std::size_t bytes, Body body);
  template <class Body>
  bool serve_rooted(Collective collective, std::size_t bytes, int root, Body body);
  template <class Body>
  bool serve_as(plan::Algorithm ran, Collective collective, std::size_t bytes, Body body);
  template <class Body>
  bool serve_call(plan::Algorithm ran, const machine::CallFacts& call, Body body);
  template <class Body>
  void count_and_run(plan::Algorithm ran, const machine::CallFacts& call, const plan::NetworkPlan& plan,
                     Body body);
  void begin(const machine::CallFacts& call);
  template <class Body>
  void on_stage(Body body);
  /// Runs body(), which may throw and then leaves this communicator of no more use: the other ranks hear of
  /// it in their waits, and so all throw.
  template <class Body>
  auto guarded(Body body);
  /// Throws what another rank has told.
  void look_for_failure();
  /// Every later call fails with that.
  void stop(std::string_view why);
  /// The same, and the other ranks hear it: those in that call or a later one fail, too.
  void give_up(std::string_view why, std::uint64_t first_call);
  /// `tells`: in letters.
  void be_out_of_step(std::string_view why, bool tells);
  /// Whether the aggregation nodes do this call; null: a barrier. If not, passed_over_ says why.
  bool offloads(Collective collective, std::size_t bytes, const reduce::Operation* operation);
  std::string why_passed_over(Collective collective, const plan::NetworkPlan& plan);
  template <class Body>
  void offload(const machine::CallFacts& call, Body body);
  void barrier_offloaded();
  void allreduce_offloaded(const collective::Reduction& reduction);
  void reduce_offloaded(const collective::Reduction& reduction, int root);
  void meet_aggregation_nodes();
  const Roles& roles(const plan::NetworkPlan& plan, int root);
  const collective::TreePosition& place_without_root(const plan::NetworkPlan& plan);
  collective::multinode::Rooted<Peers> rooted(const Roles& roles);
  int my_node() const;
  int local_rank() const;
  /// Some ranks, one a node, as peers of this one.
  Peers one_a_node(const std::vector<int>& ranks);
  Peers all_ranks();
  int leaders_of(const plan::NetworkPlan& plan, std::size_t extent) const;
  /// Whether each node's ranks have an area of so many bytes in common; agreed by all ranks, which is a
  /// collective where the area has to grow.
  bool have_area(std::size_t bytes);
  /// True on all ranks if it is on all.
  bool agreed(bool mine);
  /// Whether there is a window for a notified ring that moves so much at once; agreed likewise. If not,
  /// no_ring_ says why.
  bool have_ring(std::size_t total);
  /// Who serves where the plan wants `wanted`, in a call that puts so much at once into a window if it goes
  /// through one.
  plan::Algorithm or_by_messages(plan::Algorithm wanted, std::size_t at_once);
  template <class Body>
  auto through_ring(Body body);
  bool grow_ring(std::size_t bytes, int ids);
  std::byte* ring_memory(std::size_t bytes);
  void leave_ring();
  NodePeers node_peers() const;
  void look_at_letters();
  void stop_letters(bool tells) noexcept;
  void open_mail();
  void open_channel();
  std::shared_ptr<across::Channel> open_stream(int stream);
  bool prepares_across() const;
  bool is_hosts_across(const machine::CallFacts& facts, bool by_nodes, std::string& why);
  Bootstrap own_bootstrap();
  template <class B>
  bool allgather_blocks(Collective collective, const void* send, void* receive, const B& blocks);
  /// Where the whole lies, in memory of the node's or of this rank's, until the next such call.
  template <class B>
  const std::byte* allgather_everywhere(const collective::multinode::Allgather<B>& call,
                                        Collective collective, const plan::NetworkPlan& plan);
  void reclaim();
  /// The same through the window.
  template <class B>
  const std::byte* allgather_notified(const collective::multinode::Allgather<B>& call, Collective collective,
                                      const plan::NetworkPlan& plan);
  /// Reductions whose operands must come to the kernel all at once (reduce/reproducible.hpp). False: a rule
  /// leaves what would move them to the host.
  template <class Body>
  bool serve_at_once(const machine::CallFacts& call, Collective collects, Body body);
  bool moves_at_once(std::initializer_list<Collective> moves, std::size_t bytes) const;
  bool is_short(const collective::Reduction& reduction) const;
  bool allreduce_at_once(const collective::Reduction& reduction);
  bool reduce_at_once(const collective::Reduction& reduction, int root);
  bool reduce_scatter_at_once(Collective collective, const collective::Reduction& reduction,
                              std::span<const std::size_t> edges);
  bool scan_at_once(Collective collective, const collective::Reduction& reduction);
  /// All ranks' vectors to all; where they are, one after the other.
  const std::byte* collect_vectors(const collective::Reduction& reduction);
  /// From each rank what of its vector is this one's, by the blocks' edges.
  const std::byte* collect_slices(const void* vector, std::span<const std::size_t> edges);
  void fold_at_once(const collective::Reduction& reduction, const std::byte* operands, std::size_t bytes,
                    int ranks, void* result);
  /// Scan or exscan.
  bool scan_of(Collective collective, const void* send, void* receive, std::size_t count,
               const reduce::Operation& operation);
  bool scan_of(Collective collective, const void* send, void* receive, std::size_t bytes,
               const UserOperation& operation);
  /// Of both kinds. `edges`: where each rank's block begins, in bytes, and where the last ends.
  bool reduce_scatter_of(Collective collective, const void* send, void* receive,
                         std::span<const std::size_t> edges, const reduce::Operation& operation);
  bool reduce_scatter_of(Collective collective, const void* send, void* receive,
                         std::span<const std::size_t> edges, const UserOperation& operation);
  template <class B>
  bool gather_blocks(Collective collective, const void* send, std::size_t bytes, void* receive,
                     const B& blocks, int root);
  template <class B>
  bool scatter_blocks(Collective collective, const void* send, const B& blocks, void* receive,
                      std::size_t bytes, int root);
  template <class B>
  bool alltoall_blocks(Collective collective, std::size_t bytes, const void* send, const B& out,
                       void* receive, const B& in);
  bool reduces_blocks(const plan::NetworkPlan& plan, std::size_t extent) const;
  void reduce_blocks(const void* send, void* receive, std::span<const std::size_t> edges,
                     const reduce::Operation& operation);
  /// False where the slots of the largest node are too small for what its ranks tell each other in front of
  /// the data.
  bool slots_hold(std::size_t head_for_each_rank) const;
  plan::Algorithm allreduce_algorithm(std::size_t bytes, std::size_t extent);
  collective::multinode::NotifiedSlices notified_slices(const plan::NetworkPlan& plan, std::size_t bytes,
                                                        std::size_t extent) const;
  /// An allreduce by the algorithm that allreduce_algorithm() says.
  void reduce_by(plan::Algorithm algorithm, const collective::Reduction& reduction,
                 const plan::NetworkPlan& plan);
  void reduce_everywhere(const collective::Reduction& reduction, const plan::NetworkPlan& plan);
  void reduce_notified(const collective::Reduction& reduction, const plan::NetworkPlan& plan,
                       plan::Algorithm algorithm);
  void reduce_whole_everywhere(const void* send, void* receive, std::size_t bytes,
                               const UserOperation& operation, const plan::NetworkPlan& plan);
  void reduce_whole(const void* send, void* receive, std::size_t bytes, const UserOperation& operation,
                    int root, const plan::NetworkPlan& plan);
  void reduce_by_nodes(const void* send, void* receive, std::size_t bytes, const UserOperation& operation,
                       int root, const plan::NetworkPlan& plan);
  void reduce_by_messages(const void* send, void* receive, std::size_t bytes, const UserOperation& operation,
                          int root);
  void scan_by_messages(collective::Prefix prefix, const void* send, void* receive, std::size_t bytes,
                        const UserOperation& operation);
  void scan_by_nodes(collective::Prefix prefix, const void* send, void* receive, std::size_t bytes,
                     const UserOperation& operation, const plan::NetworkPlan& plan);

  /// One half of a window may hold so much; what is longer goes in several passes.
  static constexpr std::size_t most_through_a_window = std::size_t{8} << 20;
  static constexpr std::size_t blocks_of_any_window = 4096;  // at least; a call has half of the notifications

  NodesShare nodes_;
  plan::NetworkSelector selector_;
  network::Endpoint endpoint_;
  OwnCalls calls_;  // that have begun
  FailureNotices notices_;
  std::uint64_t call_ = 0;              // the number of the one that is under way, which may not have begun
  std::shared_ptr<across::Mail> mail_;  // of nonblocking calls, once there has been one
  std::shared_ptr<across::Channel> channel_;   // likewise
  std::shared_ptr<across::Channel> meetings_;  // of ranks that prepare persistent ones
  int streams_ = across::meetings_stream;      // each persistent one has its own
  std::string failed_;                         // why no call can do anything any more; empty: they can
  std::unique_ptr<SharedState> state_;         // null: this node's ranks have messages only
  NodeFailure failure_;
  statistics::Counters counters_{nodes_.placement.ranks()};
  std::vector<int> all_ranks_;
  std::vector<std::vector<int>> counterparts_;  // by rank on its node: that rank of each node
  std::vector<int> last_ranks_;                 // of each node
  std::map<std::pair<const plan::NetworkPlan*, int>, Roles> roles_;
  std::optional<plan::NetworkSelector> with_sharp_;  // where the job has aggregation nodes
  std::unique_ptr<Offload> offload_;
  std::string passed_over_;  // why they did not do the call that is under way
  Room vectors_, scratch_, whole_;
  Room operands_, folded_;            // of reductions at once
  std::vector<const void*> sources_;  // of their kernel's calls
  bool is_within_call_ = false;       // what is called now is a part of a call that is counted already
  bool is_exposed_ = false;           // the last allgather's whole, to this node's ranks
  Room alone_;                        // a window's memory where this rank is alone on its node
  Window* ring_ = nullptr;            // of notified rings; kept by the process (WindowCache)
  collective::multinode::WindowUse ring_use_;
  std::string no_ring_;       // why the last call that wanted a notified ring got none
  std::string ring_refusal_;  // of the last window that failed
  std::size_t no_ring_of_ = std::numeric_limits<std::size_t>::max();  // so long a window failed
  std::array<Room, 4> exchanged_;                                     // what an alltoall sets aside
  std::size_t area_bytes_ = 0;                                        // that all nodes have
  std::size_t no_area_of_ = std::numeric_limits<std::size_t>::max();  // so much a node could not give
};

}  // namespace espalier::runtime
