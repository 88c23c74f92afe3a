// The discrete-event engine: all ranks' operations in one global order of time.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "simulation/engine/aggregation.hpp"
#include "simulation/engine/noise.hpp"
#include "simulation/engine/operation.hpp"
#include "simulation/model/model.hpp"
#include "simulation/model/places.hpp"

namespace espalier::simulation {

/// Where the ranks are: node by node, on the cores of each from the first.
struct Shape {
  int nodes = 1;
  int ranks_per_node = 1;
  bool spread = false;  ///< with fewer ranks than cores: evenly over all cores, not on the first

  int ranks() const { return nodes * ranks_per_node; }
  int node_of(int rank) const { return rank / ranks_per_node; }
  int local(int rank) const { return rank % ranks_per_node; }
  /// The core of a node's rank, of `cores` cores.
  int core(int local_rank, int cores) const {
    return spread && ranks_per_node < cores ? local_rank * cores / ranks_per_node : local_rank % cores;
  }
};

/// What a rank did from when to when, for timelines.
struct Span {
  int rank;
  double begin, end;
  Act act;
};

/// Times are nanoseconds from 0. The same model, shape, programs and seed give the same times, bit for bit.
///
/// Messages between nodes cost LogGP's o, L, g and G (plan/cost/parameters.hpp), and wait for network cards.
/// The ranks of a node share its cards; a card has two directions. Messages within a node keep both ranks
/// busy.
///
/// Within a node a line is read from the nearest core that has it, by one reader after the other; a store takes
/// it from all of them first. Reads and stores that do not wait for each other overlap (NodeModel). Not
/// thread-safe.
class Engine {
 public:
  /// `flags`: how many each node has.
  Engine(const Model& model, const Shape& shape, std::size_t flags, std::uint64_t seed);

  const Shape& shape() const { return shape_; }
  /// Does the rank's next operation. False: not yet; run() calls go_on(rank) when the rank can go on, and the
  /// rank performs the same operation again.
  bool perform(int rank, const Operation& operation);
  /// The same for an addition to a flag: its value before, or nothing for "not yet". The flag's line goes
  /// from rank to rank, one after the other.
  std::optional<std::uint64_t> add(int rank, int flag_number, std::uint64_t value);
  /// Gives ranks their turns, go_on(rank), until no rank has anything to do. Every rank has one at the start.
  template <class GoOn>
  void run(GoOn go_on) {
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.time;
      if (event.is_message())
        arrive(event.message());
      else
        go_on(event.rank());
    }
  }

  /// The rank has nothing more to do: where ranks exceed cores, the next rank gets its core.
  void finish(int rank) { leave_core(rank); }

  double clock(int rank) const { return ranks_[index(rank)].clock; }
  std::uint64_t flag(int node, std::size_t number) const { return flags_[flag_index(node, number)].value; }
  /// From now on records what each rank does, and when. For small runs.
  void keep_timeline() { keeps_timeline_ = true; }
  const std::vector<Span>& timeline() const { return timeline_; }

 private:
  struct Event {
    double time;
    std::uint32_t sequence;
    std::int32_t who;  // a rank, or -1 - the index of a message

    bool is_message() const { return who < 0; }
    int rank() const { return who; }
    std::size_t message() const { return static_cast<std::size_t>(-1 - who); }
    bool operator<(const Event& other) const {  // the earliest is on top
      return time != other.time ? time > other.time : sequence > other.sequence;
    }
  };
  static constexpr std::int32_t none = -1;
  static constexpr double unknown = 1e300;

  struct Message {
    double ready = unknown;  // when complete() may return: at the receiver, or, for one sent, the sender
    std::uint64_t bytes = 0;
    std::int32_t from = 0, to = 0, next = none;
    std::uint32_t id = 0;  // among the messages of its receiver, or sender
    std::uint8_t lane = 0;
    bool posted = false;  // the rank has called send or receive; false: it arrived before the receive
  };
  struct Rank {
    double clock = 0, next_send = 0, next_receive = 0;
    double fetched = -1,
           next_fetch = 0;  // when its last read of others' lines ended, and when the next may begin
    double next_store = 0, last_store = 0;  // when the next store may begin, and when the last is seen
    std::uint64_t awaited = 0;
    Noise noise;
    SmallRandom random;
    std::int32_t first_message = none, next_waiter = none;
    std::uint32_t next_id = 0, waits_for = no_message;
    bool woken = false;
  };
  static constexpr std::uint32_t no_message = ~0u;
  /// Where ranks exceed cores. A rank has its core until it waits; then the core goes to the rank that has
  /// been ready longest, which costs a context switch.
  struct Core {
    double free = 0;
    std::int32_t running = none, last = none, first_ready = none;
    std::int32_t promised = none;  // who has it next, when no rank runs
  };
  struct Flag {
    std::uint64_t value = 0;
    double visible = 0;  // from when on
    std::int32_t first_waiter = none;
    Holders holders;
  };

  static std::size_t index(int number) { return static_cast<std::size_t>(number); }
  std::size_t flag_index(int node, std::size_t number) const {
    return index(node) * flags_per_node_ + number;
  }

  void schedule(double time, std::int32_t who) { events_.push({time, sequence_++, who}); }
  bool is_turn_of(int rank) const { return events_.empty() || events_.top().time >= clock(rank); }
  bool wait_for_turn(int rank);
  bool has_core(int rank);
  void leave_core(int rank);
  Core& core_under(int rank);
  void spend(int rank, double duration);
  void note(int rank, double begin, Act act);

  void copy(int rank, int place, double bytes);
  void write(int rank, int place, double bytes);
  void publish(int rank, int flag_number, std::uint64_t value);
  void wake_waiters(Flag& flag);
  bool await(int rank, int flag_number, std::uint64_t value);
  double store(int rank, const CoreLevel* from, bool polled);
  void fetch(int rank, Holders& holders, double earliest, double bytes);
  double through_controller(int rank, int core, double begin, double bytes);
  int core_of(int local) const { return shape_.core(local, model_.node.cores()); }
  int core_of_rank(int rank) const { return core_of(shape_.local(rank)); }

  void send(int rank, const Operation& operation);
  void send_to_neighbour(int rank, const Operation& operation);
  std::int32_t post_send(int rank, const Operation& operation, double ready);
  double take_in(const Message& message);
  bool are_neighbours(int one, int other) const { return shape_.node_of(one) == shape_.node_of(other); }
  void receive(int rank, const Operation& operation);
  bool complete(int rank, std::uint32_t id);
  void arrive(std::size_t message_number);
  double latency(int from_node, int to_node) const;
  std::size_t card_of(int rank) const;
  std::int32_t fresh_message();
  void append(int rank, std::int32_t message);
  bool aggregate(int rank, double bytes);

  Model model_;
  Shape shape_;
  std::size_t flags_per_node_;
  std::vector<Rank> ranks_;
  std::vector<Flag> flags_;
  std::vector<Places> places_;  // by node
  std::vector<Core> cores_;     // where ranks exceed cores
  std::vector<double> controllers_free_, cards_out_, cards_in_;
  std::vector<Message> messages_;
  std::vector<std::int32_t> free_messages_;
  std::priority_queue<Event> events_;
  std::uint32_t sequence_ = 0;
  double now_ = 0;
  std::vector<Aggregation> aggregation_;  // one element after the first use, else none
  std::vector<int> aggregating_;          // the ranks that wait for its result
  bool keeps_timeline_ = false;
  std::vector<Span> timeline_;
};

}  // namespace espalier::simulation
