// One group at one aggregation node: who belongs to it, and its operations under way. No sockets, no clock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sharp/budget.hpp"
#include "sharp/frame.hpp"
#include "sharp/limits.hpp"

namespace espalier::sharp {

using Connection = std::uint64_t;
inline constexpr Connection no_connection = 0;

/// A direct child in a group: a process, or an aggregation node that stands for its members.
struct Child {
  std::uint32_t first, last;  ///< its members: from first up to, without, last
  std::string name;           ///< of the aggregation node; empty: a process
  Connection connection = no_connection;
  std::uint64_t next = 0;  ///< the sequence number that it contributes next
  bool has_left = false;

  bool covers(std::uint32_t rank) const { return first <= rank && rank < last; }
  /// "rank 3" or "aggregation node a1 with ranks 4 to 7"
  std::string who() const;
};

/// Why a group is over.
struct Failure {
  std::int32_t code;
  std::uint32_t culprit;  ///< a rank of the group, or no_rank
  std::string text;
};

class Group {
 public:
  struct Id {
    std::uint64_t job, group;
    auto operator<=>(const Id&) const = default;
  };
  using Send = std::function<void(Connection, const Frame&)>;

  /// `children` in the order of their members, which is the order in which contributions are folded.
  /// `has_parent`: the group has members that are not below this node. `budget`: of what it holds, from its
  /// children on; a contribution for which there is nothing left ends the group.
  Group(Id id, std::uint32_t members, std::vector<Child> children, bool has_parent, const Limits& limits,
        Budget& budget, Send send);
  ~Group() { hold(-static_cast<std::ptrdiff_t>(held_)); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  const Id& id() const { return id_; }
  std::uint32_t members() const { return members_; }
  bool has_parent() const { return has_parent_; }
  bool stands() const { return stands_; }
  bool holds_lock() const { return locked_; }
  void set_lock() { locked_ = true; }
  bool is_over() const { return failure_.has_value(); }
  const std::optional<Failure>& failure() const { return failure_; }
  bool all_left() const;
  bool includes(Connection connection) const;
  void add_connections(std::set<Connection>& all) const;  ///< of members that have not left

  /// Events; a Failure is answered by the caller with fail().
  /// `name`: of the aggregation node that speaks for its members; empty: a process.
  std::optional<Failure> join(Connection from, const std::string& name, const Frame& frame);
  bool is_complete() const;
  std::vector<const Child*> missing_nodes() const;  ///< aggregation nodes that have not joined
  void ask_parent(Connection parent) const;         ///< complete, with members elsewhere
  void start();                                     ///< the parent, if there is one, allows it
  std::optional<Failure> contribute(Connection from, Frame& frame, Connection parent);
  std::optional<Failure> result(const Frame& frame);
  std::optional<Failure> leave(Connection from);
  Failure lost(Connection connection) const;
  /// Names who has not come.
  Failure late() const;
  /// Tells all that are below, and the parent unless it was the parent who said so.
  void fail(const Failure& failure, Connection parent);

 private:
  struct Slot {
    Frame first;             ///< who came first says what it is
    std::uint32_t came = 0;  ///< children
    std::size_t folded = 0;  ///< children, in their order
    std::vector<std::optional<std::vector<std::byte>>>
        waiting;                    ///< by child, until those before it have come
    std::vector<std::byte> vector;  ///< the fold of the first `folded`
    std::size_t held = 0;           ///< bytes, of the group's
  };
  Child* child_of(Connection connection);
  Frame frame_of(Kind kind) const;
  std::size_t longest() const { return locked_ ? limits_.locked_payload : limits_.payload; }
  std::optional<Failure> check(const Child& child, const Frame& frame) const;
  std::optional<Failure> compare(const Child& child, const Frame& frame, const Slot& slot) const;
  std::optional<Failure> missed_by_leavers() const;
  void fold_on(Slot& slot);
  std::size_t held_by_slot() const { return children_.size() * sizeof(Slot::waiting[0]) + sizeof(Slot); }
  void hold(std::ptrdiff_t more);
  void hold(Slot& slot, std::ptrdiff_t more);
  void pass_on(const Frame& like, std::vector<std::byte>&& vector, Connection parent);
  void send_results(const Frame& like, std::vector<std::byte>&& vector);

  Id id_;
  std::uint32_t members_;
  std::vector<Child> children_;
  bool has_parent_;
  const Limits& limits_;
  Budget& budget_;
  std::size_t held_ = 0;  // of the budget
  Send send_;
  bool stands_ = false, locked_ = false;
  std::map<std::uint64_t, Slot> slots_;   ///< contributions have not all come
  std::map<std::uint64_t, Frame> above_;  ///< sent up, no result yet (without payload)
  std::uint64_t finished_ = 0;            ///< operations that are over
  std::optional<Failure> failure_;
};

}  // namespace espalier::sharp
