// The interface of communicators: what the interposer and the C API call.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/collective.hpp"
#include "collective/core/blocks.hpp"
#include "collective/pieces/piece_blocks.hpp"
#include "collective/schedule/persistent_spec.hpp"
#include "reduce/operation.hpp"
#include "runtime/communicator/persistent_meeting.hpp"
#include "runtime/process/bootstrap.hpp"

namespace espalier::runtime {

/// An operator that only the caller can apply (user-defined operators, through MPI_Reduce_local): works on
/// whole vectors in packed form, all ranks alike: right = left op right. Called on the calling thread only.
struct UserOperation {
  void (*combine)(void* context, const void* left, void* right) = nullptr;
  void* context = nullptr;
  bool commutative = false;  ///< equal on all ranks; then nodes may be folded in any order
};

using collective::Blocks;

/// What the ranks of a node read in common. No rank writes there.
struct SharedResult {
  const std::byte* whole = nullptr;
  std::vector<std::size_t> offsets;  ///< of each rank's block from there
};

class KeptNonblocking;
class Nonblocking;
class Persistent;
class SeparateCall;
struct Membership;

namespace across {
struct Wanted;
}

namespace statistics {
class Counters;
}

/// A communicator and its collectives, which one of its kinds implements: one rank alone (SelfCommunicator),
/// ranks of one node (NodeCommunicator) or of several (MultiNodeCommunicator), or none (RefusedCommunicator).
/// A communicator is used by one thread at a time, as MPI demands.
///
/// The collectives return true when they have been done, and false when this call is the host's (the
/// communicator was refused, or a rule says `host`): then nothing has been read or written, and all ranks get
/// the same answer, because it depends on (collective, bytes, communicator) only. Buffers may be null when
/// nothing is to be moved. `send == in_place` stands for MPI_IN_PLACE.
///
/// The bytes by which rules choose are those that one rank contributes: the block of an allgather or gather
/// (the mean block of an allgatherv), the block that a rank gets of a scatter, all blocks together of an
/// alltoall, the whole vector of a reduction. Where ranks know only their own share (gatherv, scatterv,
/// alltoallv) they are 0.
class Communicator {
 public:
  /// Collective over the communicator. Never fails for want of a feature: see active().
  static std::unique_ptr<Communicator> create(const Bootstrap& bootstrap);
  /// Local: where each rank knows all others and shares memory with them, no rank has to ask. Null, on all
  /// ranks alike: create() is to be called.
  static std::unique_ptr<Communicator> find(const Membership& membership);
  /// Local: whether another rank has.
  static bool is_found(const Membership& membership);
  /// Local: whether find() finds nothing, now and later, because these ranks are on several nodes.
  static bool spans_nodes(const std::vector<int>& processes);
  /// Local: this rank makes no more calls on the communicator. What the next one of the same ranks can use is
  /// kept for it.
  static void release(std::unique_ptr<Communicator> communicator);
  /// What was kept is given up: the job ends.
  static void forget_released();
  /// Local: the arena share is given back when the last rank has left.
  virtual ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// False: every collective of this communicator is the host's; refusal() says why (the same on all ranks).
  bool active() const { return refusal_.empty(); }
  const std::string& refusal() const { return refusal_; }
  /// Why a call was left to the host.
  virtual std::string why_host(Collective collective) const;
  /// In a call this rank sends itself `sent` bytes, and takes fewer. Throws Truncated where the ranks do the call, which
  /// the others hear; false: the host does it, and finds that out.
  virtual bool refuse_own_block(const machine::CallFacts& call, std::size_t sent, std::size_t expected);
  /// Local: how long this rank waits for others in a call from now on, in milliseconds; 0: without end. Only among
  /// ranks of one node; elsewhere false, and nothing is done.
  virtual bool limit_waits(int timeout_ms);
  /// Local: whether this rank sleeps where it waits for others, and does not yield, from its next call on. Only among ranks of one
  /// node; elsewhere false, and nothing is done.
  virtual bool sleep_in_waits(bool on);
  /// Local: MismatchDetection::set_label, and name_labels. Only among ranks of one node; elsewhere false, and nothing is done.
  virtual bool set_label(std::uint16_t label);
  virtual bool name_labels(std::vector<std::string> names);
  /// For the statistics: the host does a call that was wanted. Nothing when they are off.
  void count_host(Collective collective, std::size_t bytes, const std::string& why);

  virtual bool barrier() = 0;
  /// `bytes` of packed data from the root's buffer to every rank's.
  virtual bool bcast(void* buffer, std::size_t bytes, int root) = 0;
  /// count elements of operation.extent bytes; `receive` is read and written at the root only.
  virtual bool reduce(const void* send, void* receive, std::size_t count, const reduce::Operation& operation,
                      int root) = 0;
  virtual bool allreduce(const void* send, void* receive, std::size_t count,
                         const reduce::Operation& operation) = 0;
  /// The same for operators that only the caller can apply: `bytes` of packed data.
  virtual bool reduce(const void* send, void* receive, std::size_t bytes, const UserOperation& operation,
                      int root) = 0;
  virtual bool allreduce(const void* send, void* receive, std::size_t bytes,
                         const UserOperation& operation) = 0;

  /// `bytes` of each rank, in rank order. In place: the own block is in its place in `receive`.
  virtual bool allgather(const void* send, void* receive, std::size_t bytes) = 0;
  /// blocks.bytes[rank()] of this rank; `blocks` says how long all blocks are and where they go.
  virtual bool allgatherv(const void* send, void* receive, const Blocks& blocks) = 0;
  /// The same without a copy for each rank: the blocks, which have bytes[rank] bytes, are put together once
  /// on each node, and `lent` says where, until this rank's next collective on the communicator. Where a node
  /// has no memory for that, each rank has the whole to itself.
  virtual bool allgatherv_shared(const void* send, std::span<const std::size_t> bytes,
                                 SharedResult& shared_result) = 0;
  /// The same at the root alone: `receive` and `blocks` mean nothing elsewhere.
  virtual bool gather(const void* send, void* receive, std::size_t bytes, int root) = 0;
  virtual bool gatherv(const void* send, std::size_t bytes, void* receive, const Blocks& blocks,
                       int root) = 0;
  /// The root's blocks, one to each rank; `send` and `blocks` mean nothing elsewhere. `receive == in_place`
  /// at the root: its own block stays where it is.
  virtual bool scatter(const void* send, void* receive, std::size_t bytes, int root) = 0;
  virtual bool scatterv(const void* send, const Blocks& blocks, void* receive, std::size_t bytes,
                        int root) = 0;
  /// `bytes` from each rank to each. In place: what is to be sent lies in `receive`, and is replaced.
  virtual bool alltoall(const void* send, void* receive, std::size_t bytes) = 0;
  /// In place: the same by the blocks `in`.
  virtual bool alltoallv(const void* send, const Blocks& out, void* receive, const Blocks& in) = 0;

  /// Pieces of any layouts, of alltoallw or of what neighbours exchange, which `collective` says: to each rank
  /// what is in its block of `out`, from each what fills its block of `in`, a stream of packed bytes either
  /// way. Not by all kinds of communicators: then takes_pieces() is false, on all ranks.
  virtual bool takes_pieces() const { return false; }
  /// The same of nonblocking and persistent ones, begun as below.
  virtual bool schedules_pieces() const { return takes_pieces(); }
  virtual bool exchange_pieces(Collective, const collective::PieceBlocks& /*out*/,
                               const collective::PieceBlocks& /*in*/) {
    return false;
  }

  /// Rank r gets block r of the reduced vector: `count` elements each, or counts[r]. In place: the whole
  /// vector is in `receive`, the result goes to its start. On one node all that follow fold in rank order,
  /// from left to right.
  virtual bool reduce_scatter_block(const void* send, void* receive, std::size_t count,
                                    const reduce::Operation& operation) = 0;
  virtual bool reduce_scatter(const void* send, void* receive, std::span<const std::size_t> counts,
                              const reduce::Operation& operation) = 0;
  /// The reduction over the ranks up to this one, and (exscan) without it: rank 0's `receive` is left alone.
  virtual bool scan(const void* send, void* receive, std::size_t count,
                    const reduce::Operation& operation) = 0;
  virtual bool exscan(const void* send, void* receive, std::size_t count,
                      const reduce::Operation& operation) = 0;
  /// The same for operators that only the caller can apply: bytes of packed data in place of elements.
  virtual bool reduce_scatter_block(const void* send, void* receive, std::size_t bytes,
                                    const UserOperation& operation) = 0;
  virtual bool reduce_scatter(const void* send, void* receive, std::span<const std::size_t> bytes,
                              const UserOperation& operation) = 0;
  virtual bool scan(const void* send, void* receive, std::size_t bytes, const UserOperation& operation) = 0;
  virtual bool exscan(const void* send, void* receive, std::size_t bytes, const UserOperation& operation) = 0;

  /// Collective over the communicator, whose ranks `bootstrap` has: a collective to be started again and
  /// again, which waits only when it is to be completed. Takes the lists of `spec`. `unable`: why this rank
  /// cannot, or empty. Null, on all ranks: it is the host's, and `why` says why, the same on all of them.
  /// Throws Error on all ranks when they have not asked for the same.
  virtual std::unique_ptr<Persistent> prepare(const Bootstrap& bootstrap, collective::PersistentSpec& spec,
                                              const std::string& unable, std::string& why) = 0;

  /// Local: begins the same, if all that the ranks must tell each other rides in flag lines and memory for it
  /// is there; takes `spec`, which this rank can do. Null, on all ranks alike: prepare() does it.
  virtual std::unique_ptr<PersistentMeeting> begin_to_prepare(collective::PersistentSpec& spec);

  /// Local: this rank's arguments are wrong, whatever they are to ask for; tells the others, who come to
  /// prepare() or begin_to_prepare() with the same collective and length as `spec`. Not of v forms, of which the ranks
  /// ask each other.
  virtual Refusal refuse_to_prepare(const collective::PersistentSpec&) { return Refusal::left_to_host; }

  /// Local: what carries a nonblocking collective like that. Null, on all ranks alike, because they have the
  /// same of `spec` that CallFacts has: it is the host's, and `why` says why; empty: there is no reason to
  /// report.
  virtual KeptNonblocking nonblocking(const collective::PersistentSpec& spec, std::string& why);

  /// Local: whether a rule leaves all such calls to the host, whatever their arguments are.
  bool leaves_nonblocking() const { return leaves_nonblocking_; }

  /// Local: this rank begins such a call of the program's. Other ranks compare its place among all calls.
  virtual void note_nonblocking(Collective collective);

  /// Local: what carries one over nodes, not started. Null, as above, with `why` as it was where there is nothing to
  /// say of such calls.
  virtual std::unique_ptr<SeparateCall> begin_across(across::Wanted wanted, std::string& why);

  /// Collective over the communicator: the same of a collective to be started again and again, where prepare() has said
  /// no; `unable`, `why` as there. `operation`: of a reduction by a kernel. Copies `spec`. Null, on all ranks: it is the
  /// host's, and `why` says why, or nothing, or what it said before. Throws as prepare() does.
  virtual std::unique_ptr<SeparateCall> prepare_across(const collective::PersistentSpec& spec,
                                                       const reduce::Operation* operation,
                                                       const std::string& unable, std::string& why);

  static const void* const in_place;

 protected:
  /// `refusal`: empty if the collectives are served.
  Communicator(int rank, int size, std::string refusal = "");

  bool leaves_nonblocking_ = false;

 private:
  const int rank_, size_;
  const std::string refusal_;
  std::unique_ptr<statistics::Counters> host_calls_;  ///< made when there is one to count
  std::uint64_t calls_of_host_ = 0;                   ///< for the flight record
};

}  // namespace espalier::runtime
