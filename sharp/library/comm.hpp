// What stands behind a sharp_coll_comm: a process's part of a group, and its operations under way.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "sharp/library/context.hpp"

namespace espalier::sharp {

/// One operation of the interface, in as many pieces as its bytes need. Owned by the program until it is
/// freed.
struct Request {
  sharp_coll_comm* comm;
  Frame like;                         ///< of every piece, without sequence and payload
  const std::byte* source = nullptr;  ///< null: this member contributes nothing
  std::byte* target = nullptr;        ///< null: this member gets nothing
  std::size_t bytes = 0;
  std::size_t begun = 0;  ///< bytes of pieces that are under way or done
  std::size_t open = 0;   ///< pieces under way
  bool is_all_begun = false, is_done = false;
  std::int32_t code = 0;
  std::optional<std::chrono::steady_clock::time_point> not_before;  ///< a delay on demand
  std::int32_t late_code = 0;
};

}  // namespace espalier::sharp

struct sharp_coll_comm {
  using Frame = espalier::sharp::Frame;
  using Problem = espalier::sharp::Problem;
  using Request = espalier::sharp::Request;

  /// Collective over the group; throws Problem.
  sharp_coll_comm(sharp_coll_context& context, const sharp_coll_comm_init_spec& spec);
  ~sharp_coll_comm();
  sharp_coll_comm(const sharp_coll_comm&) = delete;
  sharp_coll_comm& operator=(const sharp_coll_comm&) = delete;

  sharp_coll_context& context() { return context_; }
  std::uint64_t id() const { return id_; }
  int leaf() const { return leaf_; }
  int rank() const { return static_cast<int>(rank_); }
  int size() const { return static_cast<int>(size_); }
  bool waits() const { return !has_joined_ || !under_way_.empty(); }
  /// Why the group is dead; empty while it is not.
  std::string why() const { return dead_ ? dead_->what() : ""; }
  /// Bytes of one operation.
  std::size_t payload() const;

  /// Begins an operation; throws Problem where it cannot be begun. The request may be done at once.
  Request* begin(std::unique_ptr<Request> request);
  void take(const Frame& frame);
  /// No operation of this group will ever be done.
  void die(const Problem& why);
  void finish_late_ones();
  /// The program has freed a request.
  void forget(Request* request);

 private:
  struct Piece {
    Request* request;
    std::size_t offset, bytes;
  };
  void join(void* oob);
  void await_joined();
  void push();
  void send_piece(Request& request);
  void finish_piece(const Frame& frame);
  void finish(Request& request);

  sharp_coll_context& context_;
  std::uint32_t rank_, size_;
  std::uint64_t id_ = 0;
  int leaf_ = 0;
  bool has_joined_ = false;
  std::optional<Problem> dead_;
  std::uint64_t sent_ = 0, finished_ = 0, begun_ = 0;
  std::deque<Request*> waiting_;  ///< with pieces that are not under way yet
  std::map<std::uint64_t, Piece> under_way_;
  std::deque<Request*> late_;  ///< done but for a delay on demand
};
