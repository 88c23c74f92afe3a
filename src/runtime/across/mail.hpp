// The letters of a communicator over nodes: they come in any order, and wait here for the call that wants them.
#pragma once

#include <compare>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "collective/multinode/stage/placement.hpp"
#include "network/transport.hpp"
#include "runtime/across/letter.hpp"
#include "runtime/across/sent_letters.hpp"
#include "runtime/across/streams.hpp"
#include "runtime/failure/node_peers.hpp"

namespace espalier::runtime::across {

/// Whose letter it is: as its head says.
struct From {
  int node, part, piece = 0;
  auto operator<=>(const From&) const = default;
};

/// Those of one call.
using Arrived = std::map<From, Letter>;

/// The communicator as its letters see it.
struct MailPlace {
  collective::multinode::Placement placement;
  std::vector<int> processes;  ///< of the ranks, as the transport numbers them
  int rank;
  int tag;            ///< no other messages have it
  std::uint64_t use;  ///< of the tag
  NodePeers peers{};
};

/// Outlives the communicator as long as calls are under way. Used with its lock held.
///
/// It compares what ranks call as soon as a letter says it, whether a call wants that letter or not. What has failed on
/// one rank it tells all others, by letters as well.
class Mail {
 public:
  Mail(network::Transport& transport, SentLetters& sent, MailPlace place)
      : transport_(transport), sent_(sent), place_(std::move(place)) {}
  ~Mail();
  Mail(const Mail&) = delete;
  Mail& operator=(const Mail&) = delete;

  std::mutex& mutex() { return mutex_; }
  const collective::multinode::Placement& placement() const { return place_.placement; }
  /// From now on the communicator's block of tags is given back with this.
  void take_tags(int block) { tags_ = block; }
  /// Letters may come that no call takes: no other communicator may have the tags.
  void lose_tags() { may_give_back_ = false; }

  /// This rank's next call of a stream; its number. Throws AlreadyTold where the stream has failed.
  std::uint64_t begin(int stream, const machine::CallFacts& facts);
  /// Of all calls up to that one, which is under way.
  machine::Fingerprint history_of(int stream, std::uint64_t call) const;
  void send(int rank, const std::shared_ptr<const Letter>& letter);
  /// Takes in what has come; true if there was something.
  bool collect();
  /// The same from time to time, for a rank that has no call under way: others may ask it, and wait for no other.
  void listen();
  /// Drops letters that have gone.
  void look_at_sent() { sent_.look(); }
  /// What has come for a call, which grows.
  Arrived& of_call(int stream, std::uint64_t call) { return arrived_[{stream, call}]; }
  void forget(int stream, std::uint64_t call) { arrived_.erase({stream, call}); }
  /// This rank makes no more calls of the stream.
  void close(int stream);
  /// Each letter that has come, or begins to come, a call has taken.
  bool is_empty() const { return coming_.empty() && arrived_.empty() && strays_ == 0; }

  /// A letter begins to come.
  bool is_receiving() const { return !coming_.empty(); }

  /// A rank has failed in that call, or never makes it. `tells`: all others hear of it, unless they have.
  void fail(int stream, std::uint64_t from, const std::string& why, bool tells = true);
  /// This rank makes no more calls of the kinds that all ranks begin in one order. `tells`: as above.
  void stop(const std::string& why, bool tells);
  /// Null: the call can be done.
  const Failure* failure(int stream, std::uint64_t call) const { return streams_.failure(stream, call); }

  /// Tells all others which ranks of this node have ended: those of other nodes cannot see it.
  void look_at_node();
  /// This rank waits in a call for those ranks: they compare what they do. `what`: the call, which may have been begun longer
  /// ago than the streams remember.
  void ask(int stream, std::uint64_t call, const Streams::Call& what, const std::vector<int>& ranks);
  /// Whether the process of that rank was seen, or said, to have ended when this was asked before, too: what it sent must be
  /// here by now.
  bool is_gone(int rank);
  /// So many blocking calls this rank has begun.
  void note_blocking(std::uint64_t calls) { streams_.note_blocking(calls); }
  /// Why the ranks begin the calls of all kinds in different orders; empty: they do not, as far as is known.
  const std::string& other_order() const { return other_order_; }

 private:
  struct Coming {
    network::Ticket ticket;
    std::unique_ptr<Letter> letter;
  };
  void take_in(Letter letter);
  bool is_valid(const Letter& letter) const;
  int sender_of(const Head& head) const;
  /// False: this rank has made another call there, and now all know.
  bool compare(const Head& head);
  bool compare_recent(const Head& head, const SentCalls& theirs);
  void hear_notice(const Letter& letter);
  void hear_question(const Letter& letter);
  void hear_position(const Head& head, const Position& theirs);
  Head head_without_data(int stream, std::uint64_t call, const Streams::Call& what, std::int32_t kind) const;
  void tell(int stream, std::uint64_t from, const std::string& why, int dead = -1);
  void send_if_possible(int rank, const std::shared_ptr<const Letter>& letter);

  network::Transport& transport_;
  SentLetters& sent_;
  std::mutex mutex_;
  MailPlace place_;
  int tags_ = -1;
  bool may_give_back_ = true;
  std::list<Coming> coming_;
  std::map<std::pair<int, std::uint64_t>, Arrived> arrived_;  // with an entry for each call under way
  std::map<std::pair<int, std::uint64_t>, std::vector<Head>>
      early_;               // questions of calls that this rank has not begun
  std::size_t strays_ = 0;  // letters of calls that are complete
  Streams streams_;
  unsigned listened_ = 0;
  std::int64_t listens_at_ns_ = 0;
  std::map<int, int> ended_;  // how often such a rank was asked for; 1: it was said
  std::string other_order_;
};

}  // namespace espalier::runtime::across
