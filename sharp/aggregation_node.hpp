// An aggregation node as a state machine: frames and events go in, frames come out. The daemon gives it
// sockets and a clock, the tests neither.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sharp/group.hpp"
#include "sharp/introduction.hpp"
#include "sharp/tree_file.hpp"

namespace espalier::sharp {

/// Where a node stands in its tree.
struct Position {
  std::string name, parent;  ///< no parent: the root
  std::uint32_t leaves = 1;  ///< of the whole tree
  std::uint32_t first_leaf = 0, last_leaf = 1;
  struct Below {
    std::string name;
    std::uint32_t first_leaf, last_leaf;
  };
  std::vector<Below> below;  ///< none: processes connect here
};
Position position_of(const TreeFile& tree, int node);

/// Seconds since any moment.
using Seconds = double;

/// Used by one thread. What it holds is bounded by the limits, whatever comes in: `memory` for all groups, and
/// twice `connections` peers.
class AggregationNode {
 public:
  AggregationNode(Position position, Limits limits, std::string token, Nonces nonces = random_nonce);

  struct Output {
    Connection to;
    Frame frame;
    bool close = false;    ///< instead of a frame: end this connection
    bool at_once = false;  ///< though the peer has not read all that was sent
  };

  /// A peer has connected here; `number` is new and not `no_connection`.
  void accepted(Connection number, Seconds now);
  /// This node has connected to its parent.
  void reached_parent(Connection number, Seconds now);
  /// A frame has come. What does not keep to the protocol ends the connection.
  void received(Connection from, Frame frame, Seconds now);
  void closed(Connection number, Seconds now);
  /// To be called a few times a second.
  void tick(Seconds now);
  /// Drops the connection that has owed its proof the longest, if one does.
  bool drop_a_stranger();

  /// What is to be sent, in this order; empties the list.
  std::vector<Output> take_output();

  /// The parent has let it in, and reaches all above itself; the root has none.
  bool reaches_all_above() const {
    return position_.parent.empty() || (parent_is_known_ && parent_reaches_all_);
  }
  std::size_t groups() const;  ///< that are not over
  std::size_t connections() const { return peers_.size(); }
  std::size_t held() const { return budget_.held(); }  ///< bytes, for groups
  /// The parent has proved that it knows the token, and has let this node in.
  bool knows_parent() const { return parent_is_known_; }
  const Limits& limits() const { return limits_; }

 private:
  struct Peer {
    bool is_known = false;
    Role role = Role::process;
    std::uint64_t job = 0;
    std::string name;                        // of an aggregation node
    std::optional<Examination> examination;  // between its hello and its proof
    Seconds since = 0, heard = 0;
  };
  struct Known {
    std::unique_ptr<Group> group;
    Seconds since;
  };
  using Groups = std::map<Group::Id, Known>;

  void send(Connection to, const Frame& frame) { output_.push_back({to, frame}); }
  void drop(Connection connection, std::int32_t code, const std::string& why);
  void examine(Connection from, Peer& peer, const Frame& frame);
  void let_in(Connection from, Peer& peer);
  bool make_room();
  void greet_parent(const Frame& frame);
  bool welcome_child(Connection from, const Peer& peer);
  void from_below(Connection from, const Peer& peer, Frame& frame, Seconds now);
  void from_parent(const Frame& frame);
  void join(Connection from, const Peer& peer, const Frame& frame, Seconds now);
  Known& found(const Frame& frame, Seconds now, bool has_room);
  std::pair<std::uint32_t, std::uint32_t> share_of(std::uint32_t members) const;
  std::optional<Failure> no_room(const Frame& frame) const;
  std::optional<Failure> no_lock(const Frame& frame, const Group::Id& id) const;
  std::vector<Child> children_of(std::uint32_t members) const;
  void go_on(Group& group);
  void end(Group& group, const Failure& failure, bool parent_knows = false);
  void refuse(Connection to, const Frame& frame, const Failure& failure);
  void forget(Seconds now);
  Frame status(Kind kind) const;
  void tell_children_of_change();
  bool has_child(const std::string& name) const;
  std::optional<Failure> cut_off(const Group& group) const;

  Position position_;
  Limits limits_;
  std::string token_;
  Nonces nonces_;
  std::map<Connection, Peer> peers_;
  Connection parent_ = no_connection;
  std::optional<Introduction> introduction_;  // to the parent, until it has shown its proof
  bool parent_is_known_ = false, parent_reaches_all_ = false;
  bool told_reaches_all_ = false;  // to the children
  Seconds parent_heard_ = 0, parent_asked_ = 0, ticked_ = 0;
  Budget budget_;  // before the groups, which give back
  Groups groups_;
  std::vector<Output> output_;
};

/// The payload of a welcome.
std::vector<std::byte> pack(const Limits& limits);
/// Throws ProtocolError.
Limits unpack_limits(const std::vector<std::byte>& payload);

}  // namespace espalier::sharp
