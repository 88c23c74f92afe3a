#include "simulation/engine/replay.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <map>

#include "base/error.hpp"
#include "base/format.hpp"

namespace espalier::simulation {
namespace {

std::uint64_t hash_of(const Program& program) {
  std::uint64_t hash = program.size();
  for (const Operation& o : program) {
    hash = (hash ^ (static_cast<std::uint64_t>(o.act) << 40 | static_cast<std::uint64_t>(o.lane) << 32 |
                    static_cast<std::uint32_t>(o.peer))) *
           0x9e3779b97f4a7c15;
    hash = (hash ^ (hash >> 29) ^ o.amount) * 0xbf58476d1ce4e5b9;
  }
  return hash;
}

/// Address space that reads as zeros and is never written: what the algorithms compute addresses in.
class Nowhere {
 public:
  explicit Nowhere(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 1)) {
    void* memory =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      throw Error(formatted("no address space of {} bytes to record in: {}", bytes, std::strerror(errno)));
    begin_ = static_cast<std::byte*>(memory);
  }
  ~Nowhere() { munmap(begin_, bytes_); }
  Nowhere(const Nowhere&) = delete;
  Nowhere& operator=(const Nowhere&) = delete;
  std::byte* begin() const { return begin_; }

 private:
  std::size_t bytes_;
  std::byte* begin_;
};

class Recorder : public Sink {
 public:
  Recorder(const Shape& shape, int rank, std::byte* share, const machine::Layout& layout)
      : Sink(rank, share, layout), ranks_(shape.ranks()) {}

  void act(const Operation& operation) override {
    if (operation.act == Act::await) awaited_[operation.peer] = operation.amount;
    program.push_back(operation);
  }
  // Who asks has awaited the flag and wants to know how far it is: no further than that, as far as a recorder
  // knows.
  std::uint64_t value(int flag) override { return awaited_[flag]; }
  std::uint64_t add(int, std::uint64_t) override {
    throw Error(
        "what the last to arrive does cannot be recorded; simulate with fewer ranks, or another algorithm");
  }
  bool moves_data() const override { return false; }
  std::uint32_t send(int peer, int lane, const void*, std::size_t bytes) override {
    act({Act::send, static_cast<std::uint8_t>(lane), distance(peer), bytes});
    return next_message_++;
  }
  std::uint32_t receive(int peer, int lane, void*, std::size_t bytes) override {
    act({Act::receive, static_cast<std::uint8_t>(lane), distance(peer), bytes});
    return next_message_++;
  }
  void complete(std::uint32_t message) override {
    act({Act::complete, 0, static_cast<std::int32_t>(message), 0});
  }

  Program program;

 private:
  int distance(int peer) const { return (peer - rank() + ranks_) % ranks_; }

  int ranks_;
  std::uint32_t next_message_ = 0;
  std::map<int, std::uint64_t> awaited_;
};

/// Runs ranks one by one.
class Recorders {
 public:
  Recorders(const Call& call, const Shape& shape, const NodeModel& node, int calls)
      : call_(call),
        shape_(shape),
        calls_(calls),
        layout_(layout_for(call, shape)),
        places_(places_for(call, shape, node)),
        share_(layout_.bytes()),
        sizes_(buffer_sizes(call, shape)),
        send_(sizes_.send),
        receive_(sizes_.receive),
        scratch_(sizes_.scratch) {}

  Program program_of(int rank) {
    Recorder recorder(shape_, rank, share_.begin(), layout_);
    Sink* const before = Sink::make_current(&recorder);
    try {
      SimulatedMachine machine(share_.begin(), layout_, shape_.local(rank), {}, {});
      for (int i = 0; i < calls_; ++i)
        run_call(machine, call_, shape_, *places_, {send_.begin(), receive_.begin(), scratch_.begin()});
    } catch (...) {
      Sink::make_current(before);
      throw;
    }
    Sink::make_current(before);
    return std::move(recorder.program);
  }

 private:
  const Call& call_;
  Shape shape_;
  int calls_;
  machine::Layout layout_;
  std::shared_ptr<const TreePositions> places_;
  Nowhere share_;
  BufferSizes sizes_;
  Nowhere send_, receive_, scratch_;
};

/// The rank that has been recorded before and does the same; -1: none. What the leader of a node does depends on
/// which node it is; the others, where they speak to no rank outside, do the same on all nodes but the first, to
/// which nothing comes in a scan.
int does_the_same_as(const Call& call, const Shape& shape, int rank) {
  const int node = shape.node_of(rank), local = shape.local(rank);
  if (node > 0 && is_alike_on_all_nodes(call, shape)) return local;
  const std::optional<int> leader = only_leader(call, shape);
  return leader && node > 1 && local != *leader ? shape.ranks_per_node + local : -1;
}

}  // namespace

void Recording::put(int rank, Program program) {
  const std::uint64_t hash = hash_of(program);
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (programs_[it->second] != program) continue;
    program_of_[at(rank)] = it->second;
    return;
  }
  const auto number = static_cast<std::uint32_t>(programs_.size());
  program.shrink_to_fit();
  programs_.push_back(std::move(program));
  by_hash_.emplace(hash, number);
  program_of_[at(rank)] = number;
}

void Recording::number_flags() {
  std::map<int, int> numbers;
  for (Program& program : programs_)
    for (Operation& o : program) {
      if (o.act != Act::await && o.act != Act::publish) continue;
      o.peer = numbers.try_emplace(o.peer, static_cast<int>(numbers.size())).first->second;
    }
  flags_ = numbers.size();
}

Recording record(const Call& call, const Shape& shape, const NodeModel& node, int calls) {
  if (!can_be_recorded(call, shape))
    throw Error(
        "a call in which the last to arrive does the work, or ranks tell each other how long their blocks "
        "are, "
        "cannot be recorded: run it with data (simulation/engine/live.hpp)");
  Recording recording(shape);
  Recorders recorders(call, shape, node, calls);
  for (int rank = 0; rank < shape.ranks(); ++rank)
    if (const int same = does_the_same_as(call, shape, rank); same >= 0)
      recording.put_same(rank, same);
    else
      recording.put(rank, recorders.program_of(rank));
  recording.number_flags();
  return recording;
}

Times replay(const Model& model, const Recording& recording, std::uint64_t seed, bool with_timeline) {
  const Shape& shape = recording.shape();
  const int ranks = shape.ranks();
  Engine engine(model, shape, recording.flags(), seed);
  if (with_timeline) engine.keep_timeline();
  std::vector<std::uint32_t> next(static_cast<std::size_t>(ranks));
  int through = 0;
  engine.run([&](int rank) {
    const Program& program = recording.of(rank);
    std::uint32_t& at = next[static_cast<std::size_t>(rank)];
    if (at > program.size()) return;
    for (; at < program.size(); ++at) {
      Operation operation = program[at];
      if (operation.act == Act::send || operation.act == Act::receive)
        operation.peer = (rank + operation.peer) % ranks;
      if (!engine.perform(rank, operation)) return;
    }
    ++at;
    ++through;
    engine.finish(rank);
  });
  if (through < ranks)
    throw Error(formatted("{} of {} simulated ranks wait for each other for ever", ranks - through, ranks));
  Times times{{}, engine.timeline()};
  for (int rank = 0; rank < ranks; ++rank) times.ended.push_back(engine.clock(rank));
  return times;
}

}  // namespace espalier::simulation
