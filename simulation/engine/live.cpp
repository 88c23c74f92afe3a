#include "simulation/engine/live.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <numeric>
#include <tuple>

#include "base/error.hpp"
#include "base/format.hpp"
#include "simulation/fiber/fiber.hpp"
#include "simulation/fiber/stacks.hpp"

namespace espalier::simulation {

double Times::last() const { return *std::max_element(ended.begin(), ended.end()); }
double Times::mean() const {
  return std::accumulate(ended.begin(), ended.end(), 0.0) / static_cast<double>(ended.size());
}

namespace {

constexpr std::size_t stack_bytes = 64 * 1024 * StackSwitch::frame_factor;

struct Abandoned {};

/// The data of messages between two ranks on one lane: the k-th sent is the k-th received.
struct Channel {
  std::vector<std::vector<std::byte>> sent;
  std::size_t received = 0;
};
using Channels = std::map<std::tuple<int, int, int>, Channel>;

class LiveRank : public Sink {
 public:
  LiveRank(Engine& engine, Channels& channels, const bool& abandoning, int rank, std::byte* share,
           const machine::Layout& layout)
      : Sink(rank, share, layout), engine_(engine), channels_(channels), abandoning_(abandoning) {}

  void act(const Operation& operation) override {
    doing = operation;
    if (operation.act == Act::await) awaited_[operation.peer] = operation.amount;
    while (!engine_.perform(rank(), operation)) pause();
  }
  // As far as it has been awaited, though it may be further: what a recorder knows, too, so that both take
  // the same time.
  std::uint64_t value(int flag) override { return awaited_[flag]; }
  std::uint64_t add(int flag, std::uint64_t more) override {
    for (;;) {
      if (const auto before = engine_.add(rank(), flag, more)) return *before;
      pause();
    }
  }
  bool moves_data() const override { return true; }

  std::uint32_t send(int peer, int lane, const void* data, std::size_t bytes) override {
    const auto* begin = static_cast<const std::byte*>(data);
    channels_[{rank(), peer, lane}].sent.emplace_back(begin, begin + bytes);
    act({Act::send, static_cast<std::uint8_t>(lane), peer, bytes});
    return next_message_++;
  }
  std::uint32_t receive(int peer, int lane, void* data, std::size_t bytes) override {
    act({Act::receive, static_cast<std::uint8_t>(lane), peer, bytes});
    arriving_[next_message_] = {peer, lane, channels_[{peer, rank(), lane}].received++,
                                static_cast<std::byte*>(data), bytes};
    return next_message_++;
  }
  void complete(std::uint32_t message) override {
    act({Act::complete, 0, static_cast<std::int32_t>(message), 0});
    const auto it = arriving_.find(message);
    if (it == arriving_.end()) return;
    const Arriving& a = it->second;
    const std::vector<std::byte>& data = channels_[{a.peer, rank(), a.lane}].sent.at(a.number);
    if (data.size() != a.bytes)
      throw Error(formatted("rank {} expects {} bytes of rank {}, which sent {}", rank(), a.bytes, a.peer,
                            data.size()));
    if (a.bytes > 0) std::memcpy(a.target, data.data(), a.bytes);
    arriving_.erase(it);
  }

  Fiber fiber;
  Operation doing;

 private:
  struct Arriving {
    int peer, lane;
    std::size_t number;
    std::byte* target;
    std::size_t bytes;
  };

  int node() const { return engine_.shape().node_of(rank()); }
  void pause() {
    fiber.pause();
    if (abandoning_) throw Abandoned{};
  }

  Engine& engine_;
  Channels& channels_;
  const bool& abandoning_;
  std::uint32_t next_message_ = 0;
  std::map<int, std::uint64_t> awaited_;
  std::map<std::uint32_t, Arriving> arriving_;
};

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};

/// All of a run.
class World {
 public:
  World(const Model& model, const Shape& shape, const machine::Layout& layout, std::uint64_t seed)
      : shape_(shape),
        layout_(layout),
        engine_(model, shape, layout.bytes() / sizeof(memory::FlagLine), seed),
        stacks_(static_cast<std::size_t>(shape.ranks()), stack_bytes) {
    const std::size_t bytes = machine::Layout::round_up(layout.bytes(), machine::Layout::page);
    for (int node = 0; node < shape.nodes; ++node) {
      shares_.emplace_back(static_cast<std::byte*>(std::aligned_alloc(machine::Layout::page, bytes)));
      std::memset(shares_.back().get(), 0, bytes);
    }
    for (int rank = 0; rank < shape.ranks(); ++rank)
      ranks_.push_back(
          std::make_unique<LiveRank>(engine_, channels_, abandoning_, rank, share_of(rank), layout));
  }

  Times run(const RankBody& body, bool with_timeline) {
    if (with_timeline) engine_.keep_timeline();
    for (auto& rank : ranks_) start(*rank, body);
    engine_.run([this](int rank) { resume(*ranks_[static_cast<std::size_t>(rank)]); });
    std::string stuck = who_waits();
    abandon();
    if (trouble_) std::rethrow_exception(trouble_);
    if (!stuck.empty()) throw Error("simulated ranks wait for each other for ever: " + stuck);
    Times times{{}, engine_.timeline()};
    for (int rank = 0; rank < shape_.ranks(); ++rank) times.ended.push_back(engine_.clock(rank));
    return times;
  }

 private:
  std::byte* share_of(int rank) { return shares_[static_cast<std::size_t>(shape_.node_of(rank))].get(); }

  void start(LiveRank& rank, const RankBody& body) {
    rank.fiber.start(stacks_.at(static_cast<std::size_t>(rank.rank())), [this, &rank, &body] {
      try {
        SimulatedMachine machine(share_of(rank.rank()), layout_, shape_.local(rank.rank()), {}, {});
        if (!abandoning_) body(machine, rank.rank());
      } catch (const Abandoned&) {  // what the others ran into says why
      } catch (...) {
        if (!trouble_) trouble_ = std::current_exception();
      }
    });
  }
  void resume(LiveRank& rank) {
    if (rank.fiber.is_done()) return;
    Sink* const before = Sink::make_current(&rank);
    rank.fiber.resume();
    Sink::make_current(before);
    if (rank.fiber.is_done() && !abandoning_) engine_.finish(rank.rank());
  }
  void abandon() {
    abandoning_ = true;
    for (auto& rank : ranks_)
      while (!rank->fiber.is_done()) resume(*rank);
    for (std::size_t i = 0; i < stacks_.count(); ++i)
      if (!stacks_.is_intact(i))
        throw Error(formatted("rank {} needs a larger stack than {} bytes", i, stack_bytes));
  }
  std::string who_waits() const {
    std::string text;
    for (const auto& rank : ranks_)
      if (!rank->fiber.is_done() && text.size() < 400)
        text += formatted("{}rank {} waits for {} {}", text.empty() ? "" : ", ", rank->rank(),
                          rank->doing.act == Act::await ? "flag" : "message", rank->doing.peer);
    return text;
  }

  Shape shape_;
  machine::Layout layout_;
  Engine engine_;
  Stacks stacks_;
  Channels channels_;
  bool abandoning_ = false;
  std::exception_ptr trouble_;
  std::vector<std::unique_ptr<std::byte, Free>> shares_;
  std::vector<std::unique_ptr<LiveRank>> ranks_;
};

}  // namespace

Times run_live(const Model& model, const Shape& shape, const machine::Layout& layout, std::uint64_t seed,
               const RankBody& body, bool with_timeline) {
  return World(model, shape, layout, seed).run(body, with_timeline);
}

}  // namespace espalier::simulation
