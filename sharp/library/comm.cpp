#include "sharp/library/comm.hpp"

#include <algorithm>
#include <cstring>

#include "sharp/operations.hpp"

using namespace espalier::sharp;

namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

sharp_coll_comm::sharp_coll_comm(sharp_coll_context& context, const sharp_coll_comm_init_spec& spec)
    : context_(context),
      rank_(static_cast<std::uint32_t>(spec.rank)),
      size_(static_cast<std::uint32_t>(spec.size)) {
  join(spec.oob_ctx);
}

sharp_coll_comm::~sharp_coll_comm() {
  context_.leave(this);
  if (!has_joined_ || dead_) return;
  Frame frame;
  frame.kind = Kind::leave;
  frame.job = context_.spec.job_id;
  frame.group = id_;
  try {
    context_.link(leaf_).send(frame);
  } catch (const Problem&) {
    // The connection has ended, and the group with it.
  }
}

std::size_t sharp_coll_comm::payload() const {
  const Limits& limits = context_.tree.limits;
  return context_.wants_lock ? limits.locked_payload : limits.payload;
}

/// Every rank tries what can fail alone before any rank joins, so that no member waits for one that will not
/// come.
void sharp_coll_comm::join(void* oob) {
  const std::uint64_t number = ++context_.groups;
  std::int32_t mine = 0;
  std::string why = "another member of the group could not join it";
  const auto leaves = static_cast<std::uint32_t>(context_.tree.leaves.size());
  leaf_ = static_cast<int>(leaf_of(rank_, size_, leaves));
  try {
    const auto fault = context_.faults.at(Point::group, number, rank_);
    if (fault && fault->action == Fault::Action::code)
      throw Problem(static_cast<std::int32_t>(fault->value), "a fault on demand (ESPALIER_SHARP_FAULTS)");
    context_.fresh_link(leaf_);
    const bool has_several_leaves = leaf_of(0, size_, leaves) != leaf_of(size_ - 1, size_, leaves);
    if (has_several_leaves) context_.await_way_up(leaf_);
  } catch (const Problem& problem) {
    mine = problem.code();
    why = problem.what();
  }
  id_ = random_number();
  context_.bcast(oob, &id_, sizeof id_);
  const std::int32_t worst = context_.worst(oob, static_cast<int>(rank_), static_cast<int>(size_), mine);
  if (worst != 0) throw Problem(mine != 0 ? mine : SHARP_COLL_EGROUP_JOIN, why);
  context_.enter(this);
  try {
    await_joined();
  } catch (...) {
    context_.leave(this);
    throw;
  }
}

void sharp_coll_comm::await_joined() {
  Frame frame;
  frame.kind = Kind::join;
  frame.job = context_.spec.job_id;
  frame.group = id_;
  frame.rank = rank_;
  frame.size = size_;
  frame.flags = context_.wants_lock ? wants_lock : 0;
  context_.link(leaf_).send(frame);
  // The aggregation node itself gives up first; this is for one that does not.
  const auto until = Clock::now() + std::chrono::seconds(2 * context_.tree.limits.join_seconds);
  while (!has_joined_ && !dead_) {
    context_.progress();
    context_.call_home();
    if (Clock::now() > until) die(Problem(SHARP_COLL_EGROUP_JOIN, "the aggregation node does not answer"));
  }
  if (dead_) throw Problem(*dead_);
}

Request* sharp_coll_comm::begin(std::unique_ptr<Request> request) {
  const auto fault = context_.faults.at(Point::operation, ++begun_, rank_);
  if (fault && fault->action == Fault::Action::drop) {
    context_.link(leaf_).cut();
    context_.progress();
  }
  if (dead_) throw Problem(*dead_);
  if (fault && fault->action == Fault::Action::code)
    throw Problem(static_cast<std::int32_t>(fault->value), "a fault on demand (ESPALIER_SHARP_FAULTS)");
  if (fault && fault->action == Fault::Action::delay)
    request->not_before = Clock::now() + std::chrono::microseconds(fault->value);
  if (fault && fault->action == Fault::Action::late)
    request->late_code = static_cast<std::int32_t>(fault->value);
  waiting_.push_back(request.get());
  push();
  return request.release();
}

/// The aggregation node has room for so many operations of a group; the others wait here.
void sharp_coll_comm::push() {
  try {
    while (!waiting_.empty() && sent_ - finished_ < context_.tree.limits.slots_per_group) {
      Request& first = *waiting_.front();
      send_piece(first);
      if (first.is_all_begun) waiting_.pop_front();
    }
  } catch (const Problem& problem) {
    die(problem);
  }
}

void sharp_coll_comm::send_piece(Request& request) {
  const std::size_t extent = std::max<std::size_t>(1, extent_of(request.like.type));
  const std::size_t longest = payload() / extent * extent;
  const std::size_t bytes = std::min(request.bytes - request.begun, longest);
  Frame frame = request.like;
  frame.sequence = sent_;
  frame.size = static_cast<std::uint32_t>(bytes);
  if (request.source)
    frame.payload.assign(request.source + request.begun, request.source + request.begun + bytes);
  context_.link(leaf_).send(frame);
  under_way_.emplace(sent_++, Piece{&request, request.begun, bytes});
  request.begun += bytes;
  ++request.open;
  request.is_all_begun = request.begun == request.bytes;
}

void sharp_coll_comm::take(const Frame& frame) {
  if (frame.kind == Kind::joined) has_joined_ = true;
  if (frame.kind == Kind::failed) die(Problem(frame.code < 0 ? frame.code : SHARP_COLL_ERROR, frame.text()));
  if (frame.kind == Kind::result && !dead_) finish_piece(frame);
}

void sharp_coll_comm::finish_piece(const Frame& frame) {
  const auto found = under_way_.find(frame.sequence);
  const bool fits = found != under_way_.end() &&
                    frame.payload.size() == (found->second.request->target ? found->second.bytes : 0);
  if (!fits) return die(Problem(SHARP_COLL_ERROR, "the aggregation node's answer does not fit the question"));
  const Piece piece = found->second;
  if (!frame.payload.empty())
    std::memcpy(piece.request->target + piece.offset, frame.payload.data(), frame.payload.size());
  under_way_.erase(found);
  ++finished_;
  --piece.request->open;
  finish(*piece.request);
  push();
}

void sharp_coll_comm::finish(Request& request) {
  if (!request.is_all_begun || request.open > 0) return;
  request.code = request.late_code;
  if (request.not_before)
    late_.push_back(&request);
  else
    request.is_done = true;
}

void sharp_coll_comm::finish_late_ones() {
  const auto is_due = [](Request* request) {
    request->is_done = Clock::now() >= *request->not_before;
    return request->is_done;
  };
  if (!late_.empty()) std::erase_if(late_, is_due);
}

void sharp_coll_comm::die(const Problem& why) {
  if (!dead_) dead_ = why;
  const auto give_up = [&](Request* request) {
    request->code = dead_->code();
    request->is_done = true;
  };
  for (auto& [sequence, piece] : under_way_) give_up(piece.request);
  for (Request* request : waiting_) give_up(request);
  under_way_.clear();
  waiting_.clear();
}

void sharp_coll_comm::forget(Request* request) {
  std::erase(waiting_, request);
  std::erase(late_, request);
  std::erase_if(under_way_, [&](const auto& each) { return each.second.request == request; });
}
