#include "simulation/simgrid/player.hpp"

#include "base/error.hpp"
#include "base/format.hpp"

namespace espalier::simulation {

namespace sg = simgrid::s4u;

namespace {

// In SimGrid an empty message takes no time, so a barrier's messages count as one byte.
std::uint64_t size_of(std::uint64_t bytes) { return std::max<std::uint64_t>(bytes, 1); }

void check(const Recording& recording, int nodes) {
  const Shape& shape = recording.shape();
  if (shape.ranks_per_node != 1 || shape.nodes > nodes)
    throw Error(formatted("SimGrid's cluster has {} nodes of one rank; the recording {} of {}", nodes,
                          shape.nodes, shape.ranks_per_node));
  for (int rank = 0; rank < shape.ranks(); ++rank)
    for (const Operation& o : recording.of(rank))
      if (o.act == Act::await || o.act == Act::aggregate)
        throw Error(formatted("rank {} does not only send and receive: nothing for SimGrid", rank));
}

/// One rank: does its program's operations, each for as long as the model says. Its card sends one message
/// after the other, as in LogGP; without that, SimGrid would divide the card's bandwidth among all messages
/// under way, and all would be late.
class Player {
 public:
  Player(const Model& model, const Recording& recording, int rank)
      : model_(model), program_(recording.of(rank)), rank_(rank), ranks_(recording.shape().ranks()) {}

  /// So that messages travel as soon as they are sent, SimGrid must know their receiver. Called before any
  /// rank sends.
  void open() {
    for (const Operation& o : program_)
      if (o.act == Act::receive) mailbox(peer_of(o), rank_, o.lane)->set_receiver(sg::Actor::self());
  }
  void run() {
    for (const Operation& o : program_) perform(o);
  }

 private:
  int peer_of(const Operation& o) const { return (rank_ + o.peer) % ranks_; }
  static sg::Mailbox* mailbox(int from, int to, int lane) {
    return sg::Mailbox::by_name(formatted("{} {} {}", from, to, lane));
  }
  static void spend(double ns) {
    if (ns > 0) sg::this_actor::sleep_for(ns / ns_of_second);
  }

  void perform(const Operation& o) {
    const auto amount = static_cast<double>(o.amount);
    switch (o.act) {
      case Act::work:
        return spend(amount / 16);  // the amount is in 1/16 ns
      case Act::copy:
        return spend(amount * model_.node.own_copy_ns_per_byte);
      case Act::fold:
        return spend(amount * model_.node.reduce_ns_per_byte);
      case Act::publish:
        return;  // there is one rank a node: no other rank reads it
      case Act::send:
        return send(o);
      case Act::receive:
        messages_.push_back(mailbox(peer_of(o), rank_, o.lane)->get_async(&received_));
        return;
      case Act::complete:
        return complete(messages_.at(static_cast<std::size_t>(o.peer)));
      case Act::await:
      case Act::aggregate:
        return;  // refused by check()
    }
  }
  void send(const Operation& o) {
    if (next_send_ > sg::Engine::get_clock()) sg::this_actor::sleep_until(next_send_);
    const double bytes_last = static_cast<double>(o.amount) * model_.network.wire.per_byte / ns_of_second;
    next_send_ = sg::Engine::get_clock() + bytes_last;
    spend(model_.network.wire.overhead);
    mailbox(rank_, peer_of(o), o.lane)->put_init(&payload_, size_of(o.amount))->detach();
    messages_.push_back(nullptr);
  }
  void complete(sg::CommPtr& message) {
    if (!message) return;  // one that was sent
    message->wait();
    message = nullptr;
    spend(model_.network.wire.overhead);
  }

  const Model& model_;
  const Program& program_;
  int rank_, ranks_;
  double next_send_ = 0;  // when the card takes the next message
  char payload_ = 0;
  char* received_ = nullptr;
  std::vector<sg::CommPtr> messages_;
};

/// All ranks of a recording; called by an actor. They begin together one second of SimGrid's clock later,
/// when all have opened.
std::vector<double> play(Cluster& cluster, const Recording& recording) {
  const int ranks = recording.shape().ranks();
  const double begin = sg::Engine::get_clock() + 1;
  std::vector<double> ended(static_cast<std::size_t>(ranks));
  std::vector<sg::ActorPtr> actors;
  for (int rank = 0; rank < ranks; ++rank)
    actors.push_back(sg::Actor::create("rank", cluster.host(rank), [&, rank] {
      Player player(cluster.model(), recording, rank);
      player.open();
      sg::this_actor::sleep_until(begin);
      player.run();
      ended[static_cast<std::size_t>(rank)] = (sg::Engine::get_clock() - begin) * ns_of_second;
    }));
  for (const sg::ActorPtr& actor : actors) actor->join();
  return ended;
}

}  // namespace

std::vector<std::vector<double>> play_in_simgrid(Cluster& cluster, const std::vector<Recording>& recordings) {
  std::vector<std::vector<double>> all;
  for (const Recording& recording : recordings) check(recording, cluster.nodes());
  sg::Actor::create("director", cluster.host(0), [&] {
    for (const Recording& recording : recordings) all.push_back(play(cluster, recording));
  });
  cluster.engine().run();
  return all;
}

}  // namespace espalier::simulation
