// How leaders make their SHARP group, use it, and continue in software after a failure.
#include "runtime/multinode/aggregation.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/config.hpp"
#include "base/format.hpp"
#include "collective/multinode/aggregated.hpp"
#include "collective/multinode/network/bruck_allgather.hpp"
#include "collective/multinode/network/dissemination.hpp"
#include "collective/multinode/network/recursive_doubling.hpp"
#include "runtime/multinode/leaders_exchange.hpp"

namespace espalier::runtime {

using collective::multinode::segments_under_way;
using network::SharpError;
using network::Task;

namespace {

// After so many calls the leader tells the other ranks of its node whether the aggregation nodes have failed.
// Until then those ranks go on as if they worked; the leaders do the same calls in software.
constexpr std::uint64_t calls_between_reports = 16;

static_assert(collective::multinode::Aggregation<Offload>);

}  // namespace

Offload::Offload(network::SharpJob& job, network::Peers leaders, bool leads,
                 std::vector<std::uint32_t> processes)
    : job_(job),
      leaders_(leaders),
      leads_(leads),
      processes_(std::move(processes)),
      payload_(job.caps().payload),
      memory_(leads ? new std::byte[2 * segments_under_way * payload_] : nullptr) {}

Offload::~Offload() = default;

std::byte* Offload::source(int lane) const {
  return memory_.get() + 2 * static_cast<std::size_t>(lane) * payload_;
}
std::byte* Offload::target(int lane) const { return source(lane) + payload_; }

bool Offload::admits(const reduce::Operation* operation, const Share& share) {
  if (operation) {
    objection_ = job_.caps().objection(*operation);
    if (!objection_.empty()) return false;
  }
  if (state_ == State::closed) {
    close(failure_, "");
    return false;
  }
  const std::uint64_t before = calls_++;
  const std::uint64_t wanted = Config::instance().bytes("ESPALIER_SHARP_CALLS");
  if (before < wanted) {
    objection_ = formatted("its group is made after {} calls (ESPALIER_SHARP_CALLS)", wanted);
    return false;
  }
  if (state_ == State::waiting) {
    open(share);
  } else if (before % calls_between_reports == 0) {
    Verdict verdict = failure_;
    share(&verdict, sizeof verdict);
    if (verdict.code != 0) close(verdict, "an operation failed");
  }
  return state_ == State::open;
}

void Offload::open(const Share& share) {
  Verdict verdict{};
  if (leads_) verdict = try_to_open();
  share(&verdict, sizeof verdict);
  if (verdict.code == 0)
    state_ = State::open;
  else
    close(verdict, "its group could not be made");
}

Offload::Verdict Offload::try_to_open() {
  Verdict mine = {0, leaders_.rank()};
  try {
    LeadersExchange out_of_band(leaders_);
    group_ = std::make_unique<network::SharpGroup>(
        job_, out_of_band, processes_, std::span(memory_.get(), 2 * segments_under_way * payload_));
  } catch (const SharpError& error) {
    mine.code = error.code();
  }
  const std::vector<Verdict> all = exchange(mine, true);
  const Verdict worst = *std::min_element(all.begin(), all.end(),
                                          [](const Verdict& a, const Verdict& b) { return a.code < b.code; });
  if (worst.code != 0) group_.reset();
  return worst;
}

/// `when`: begins the reason. Once closed, the first reason stays and `when` is not used.
void Offload::close(const Verdict& verdict, const char* when) {
  group_.reset();
  if (state_ != State::closed)
    closed_ = formatted("{} on process {}: {}", when, processes_[static_cast<std::size_t>(verdict.rank)],
                        network::decode_sharp(verdict.code));
  failure_ = verdict;
  state_ = State::closed;
  objection_ = closed_;
}

/// The records of all leaders, in their order. `patiently`: all leaders are sure to come. Otherwise throws
/// after ESPALIER_SHARP_TIMEOUT.
template <class Record>
std::vector<Record> Offload::exchange(const Record& mine, bool patiently) const {
  using Clock = std::chrono::steady_clock;
  const auto n = static_cast<std::size_t>(leaders_.size());
  const auto timeout = std::chrono::milliseconds(Config::instance().bytes("ESPALIER_SHARP_TIMEOUT"));
  const auto until = Clock::now() + timeout;
  std::vector<Record> blocks(n), all(n);
  blocks.front() = mine;
  const Task task = collective::multinode::allgather_bruck(
      leaders_, reinterpret_cast<std::byte*>(blocks.data()), sizeof(Record));
  leaders_.drive_until([&] {
    if (!patiently && Clock::now() > until)
      throw Error(
          formatted("the aggregation tree failed, and not all nodes' leaders came to do its work within {} "
                    "ms; those that "
                    "had its result have gone on (ESPALIER_SHARP_TIMEOUT)",
                    timeout.count()));
    return task.done();
  });
  for (std::size_t other = 0; other < n; ++other)
    all[other] =
        blocks[collective::multinode::bruck_place(static_cast<int>(other), leaders_.rank(), leaders_.size())];
  return all;
}

Task Offload::allreduce(int lane, std::size_t bytes, const reduce::Operation& operation, std::byte* result) {
  const std::byte* reduced = target(lane);
  if (group_) {
    auto under_way = group_->allreduce(source(lane), target(lane), bytes, operation);
    auto done = leaders_.endpoint->until(under_way);
    co_await done;
  } else {
    const collective::multinode::Vector vector = {source(lane), bytes, target(lane), operation};
    auto in_software = collective::multinode::allreduce_doubling(leaders_.on(lane), vector);
    co_await in_software;
    reduced = source(lane);
  }
  std::memcpy(result, reduced, bytes);
}

Task Offload::barrier() {
  if (group_) {
    auto under_way = group_->barrier();
    auto done = leaders_.endpoint->until(under_way);
    co_await done;
  } else {
    auto in_software = collective::multinode::disseminate(leaders_.on(0));
    co_await in_software;
  }
}

void Offload::forget() { leaders_.endpoint->forget_events(); }

/// The leaders can do a call again in software if all are in the same call and none has released a segment
/// of it: then all sources are still there.
void Offload::recover(const SharpError& error, std::size_t released) {
  struct Reached {
    std::uint64_t call, released;
    Verdict verdict;
  };
  group_.reset();  // tells the aggregation nodes, and so the leaders that still wait
  const Reached mine = {calls_, released, {error.code(), leaders_.rank()}};
  const std::vector<Reached> all = exchange(mine, false);
  for (std::size_t other = 0; other < all.size(); ++other)
    if (all[other].call != calls_ || all[other].released + released > 0)
      throw Error(
          formatted("the aggregation tree failed while its result was on its way: process {} has it, or a "
                    "part of it, and "
                    "process {} has not ({})",
                    processes_[all[other].call > calls_ || all[other].released > 0
                                   ? other
                                   : static_cast<std::size_t>(leaders_.rank())],
                    processes_[all[other].call > calls_ || all[other].released > 0
                                   ? static_cast<std::size_t>(leaders_.rank())
                                   : other],
                    error.what()));
  failure_ = all.front().verdict;
  for (const Reached& each : all)
    if (each.verdict.code < failure_.code) failure_ = each.verdict;
}

}  // namespace espalier::runtime
