// Nonblocking collectives over nodes: one round of letters, sent for each node by the rank that sees all of its data
// first; several calls under way, completed in any order; ranks that wait in the host for what comes when others are
// through.
#include "tests/simulation/checker/letters.hpp"

#include <algorithm>
#include <functional>
#include <list>
#include <optional>

#include "tests/simulation/checker/scenarios.hpp"

// A name for what elsewhere has none: under_way.cpp has the like.
namespace espalier::testing::letters_checked {

using runtime::across::Wanted;

std::byte* data_of(Words& words) { return reinterpret_cast<std::byte*>(words.data()); }

/// A call, its data, and what is to come out of it.
struct Letters {
  Words send, receive, wanted;
  std::optional<LetterCall> call;
};

/// `make(rank, ranks, round, letters)` makes a call and its data.
using Make = std::function<void(int rank, int ranks, int round, Letters&)>;

/// The root is another one in each round.
Make reduction(Collective collective, std::size_t count) {
  return [=](int rank, int ranks, int round, Letters& to) {
    const int root = collective == Collective::reduce ? round % ranks : 0;
    to.send = words(rank, count, round);
    if (collective != Collective::reduce || rank == root) to.wanted = sum(0, ranks - 1, count, round);
    to.receive.resize(to.wanted.size());
    to.call.emplace(Wanted{{collective, root, count * 8, sum_of_words().code},
                           nullptr,
                           &sum_of_words(),
                           data_of(to.send),
                           data_of(to.receive)});
  };
}

Make bcast(std::size_t count) {
  return [=](int rank, int ranks, int round, Letters& to) {
    const int root = round % ranks;
    const Words data = words(root, count, round);
    (rank == root ? to.send : to.wanted) = data;
    to.receive.resize(to.wanted.size());
    to.call.emplace(Wanted{
        {Collective::bcast, root, count * 8}, nullptr, nullptr, data_of(to.send), data_of(to.receive)});
  };
}

Make allgather(std::size_t count) {
  return [=](int rank, int ranks, int round, Letters& to) {
    to.send = words(rank, count, round);
    for (int peer = 0; peer < ranks; ++peer) {
      const Words theirs = words(peer, count, round);
      to.wanted.insert(to.wanted.end(), theirs.begin(), theirs.end());
    }
    to.receive.resize(to.wanted.size());
    Wanted wanted{{Collective::allgather, 0, count * 8}, nullptr, nullptr, data_of(to.send)};
    for (int peer = 0; peer < ranks; ++peer)
      wanted.places.push_back(data_of(to.receive) + static_cast<std::size_t>(peer) * count * 8);
    to.call.emplace(std::move(wanted));
  };
}

Make barrier() {
  return [](int, int, int, Letters& to) { to.call.emplace(Wanted{{Collective::barrier, 0, 0}}); };
}

void emplace_direct(Letters& to, const collective::PersistentSpec& spec) {
  to.call.emplace(Wanted{{spec.collective, spec.root, spec.bytes, spec.operation}, &spec});
}

/// Some blocks are empty.
Make alltoallv() {
  return [](int rank, int ranks, int round, Letters& to) {
    const auto count = [](int from, int reader) { return static_cast<std::size_t>((from + 2 * reader) % 3); };
    const auto block = [&](int from, int reader) {
      return words(from + 8 * reader, count(from, reader), round);
    };
    std::vector<collective::Block> out, in;
    for (int peer = 0; peer < ranks; ++peer) {
      const Words mine = block(rank, peer), theirs = block(peer, rank);
      to.send.insert(to.send.end(), mine.begin(), mine.end());
      to.wanted.insert(to.wanted.end(), theirs.begin(), theirs.end());
    }
    to.receive.resize(to.wanted.size());
    std::byte *given = data_of(to.send), *taken = data_of(to.receive);
    for (int peer = 0; peer < ranks; ++peer) {
      out.push_back({given, count(rank, peer) * 8}), in.push_back({taken, count(peer, rank) * 8});
      given += out.back().bytes, taken += in.back().bytes;
    }
    emplace_direct(to, collective::transfer_spec({rank, ranks}, Collective::alltoallv, 0, 0, out, in));
  };
}

Make scan(std::size_t count) {
  return [=](int rank, int ranks, int round, Letters& to) {
    to.send = words(rank, count, round);
    to.wanted = sum(0, rank, count, round);
    to.receive.resize(count);
    emplace_direct(to, collective::reduction_spec({rank, ranks}, Collective::scan, 0, data_of(to.send),
                                                  data_of(to.receive), count * 8, sum_of_words()));
  };
}

/// In which order a rank completes the calls that it has under way.
enum class Order { first_to_last, last_to_first, as_they_come };

class Completion {
 public:
  Completion(LettersMember& member, std::list<Letters>& some) : member_(member), some_(some) {}

  void complete(Order order) {
    if (order == Order::as_they_come) return complete_as_they_come();
    if (order == Order::last_to_first) some_.reverse();
    for (Letters& each : some_) complete(each);
  }

 private:
  void complete(Letters& letters) {
    member_.complete(*letters.call);
    expect(letters.receive, letters.wanted, "a nonblocking collective over nodes");
    std::fill(letters.send.begin(), letters.send.end(), ~std::uint64_t{0});  // as the program may
  }
  /// Results are shown in the order of the calls.
  void complete_as_they_come() {
    std::vector<Letters*> under_way;
    for (Letters& each : some_) under_way.push_back(&each);
    while (!under_way.empty()) {
      const auto ready = std::find_if(under_way.begin(), under_way.end(),
                                      [&](Letters* each) { return member_.is_ready(*each->call); });
      if (ready == under_way.end()) {
        Execution::current().idle(true);
        continue;
      }
      member_.complete(*(*ready)->call);
      under_way.erase(ready);
    }
    for (Letters& each : some_) expect(each.receive, each.wanted, "a nonblocking collective over nodes");
  }

  LettersMember& member_;
  std::list<Letters>& some_;
};

constexpr int others_tag = 7;

void await(network::Transport& transport, network::Ticket ticket) {
  while (!transport.test(ticket)) Execution::current().idle(false);
}

/// As a rank that receives in the host, where nothing of Espalier is driven: it has started its calls, so it owes the
/// others nothing.
void wait_in_host(network::Transport& transport, int sender) {
  await(transport, transport.receive(sender, others_tag, nullptr, 0));
}
void release_from_host(network::Transport& transport) {
  Execution& run = Execution::current();
  for (int rank = 0; rank < run.ranks(); ++rank)
    if (rank != run.rank()) await(transport, transport.send(rank, others_tag, nullptr, 0));
}

/// Counts letters.
class CountingTransport final : public network::Transport {
 public:
  CountingTransport(std::shared_ptr<network::Transport> plain, int ranks)
      : sent(static_cast<std::size_t>(ranks)), come(sent.size()), plain_(std::move(plain)) {}
  network::Ticket send(int process, int tag, const void* data, std::size_t bytes) override {
    if (tag == LettersMember::letters_tag) ++sent[static_cast<std::size_t>(process)];
    return plain_->send(process, tag, data, bytes);
  }
  network::Ticket receive(int process, int tag, void* data, std::size_t bytes) override {
    if (tag == LettersMember::letters_tag) ++come[static_cast<std::size_t>(process)];
    return plain_->receive(process, tag, data, bytes);
  }
  bool test(network::Ticket ticket) override { return plain_->test(ticket); }
  std::optional<network::Arrival> probe(int tag) override { return plain_->probe(tag); }
  void make_progress() override { plain_->make_progress(); }
  int tags() const override { return plain_->tags(); }

  std::vector<std::uint64_t> sent, come;  // by rank

 private:
  std::shared_ptr<network::Transport> plain_;
};

/// The ranks hear each other until all that they say has come: also what they say of what they hear, such as a question.
void part(LettersMember& member, CountingTransport& transport) {
  Execution& run = Execution::current();
  const auto listen_until = [&](const auto& is_over) {
    for (member.listen(); !is_over(); member.listen()) run.idle(true);
  };
  for (int round = 0; round < 3; ++round) {
    const std::size_t bytes = transport.sent.size() * 8;
    auto* const counts = reinterpret_cast<std::uint64_t*>(run.keep(2 * bytes));
    std::vector<network::Ticket> under_way;
    for (int rank = 0; rank < run.ranks(); ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      counts[at] = transport.sent[at];
      if (rank == run.rank()) continue;
      under_way.push_back(transport.receive(rank, others_tag, counts + transport.sent.size() + at, 8));
      under_way.push_back(transport.send(rank, others_tag, counts + at, 8));
    }
    listen_until([&] {
      std::erase_if(under_way, [&](network::Ticket each) { return transport.test(each); });
      return under_way.empty();
    });
    listen_until([&] {
      bool all = member.has_sent_all() && member.has_taken_all();
      for (int rank = 0; rank < run.ranks(); ++rank) {
        const auto at = static_cast<std::size_t>(rank);
        all &= rank == run.rank() || transport.come[at] >= counts[transport.sent.size() + at];
      }
      return all;
    });
  }
}

/// On a rank's own node.
bool all_are_given(const std::list<Letters>& some) {
  return std::all_of(some.begin(), some.end(), [](const Letters& each) {
    return each.call->done || each.call->node_part != LetterCall::NodePart::under_way ||
           each.call->of_node.published;
  });
}

struct Shape {
  Order order = Order::as_they_come;
  NodeMemory memory = NodeMemory::enough;
  bool in_host = false;  ///< all wait in the host until the last rank has completed what is under way
  bool tests = false;    ///< before they do, each of these calls once
  int questions = 0;     ///< that a rank asks in a call for which it waits
  int rounds = 6;
  std::size_t at_a_time = 3;
};

std::shared_ptr<CountingTransport> own_transport(const WrapTransport& wrap) {
  Execution& run = Execution::current();
  network::Transport& plain = run.messages().of(run.rank());
  auto below = wrap ? wrap(plain) : std::shared_ptr<network::Transport>(&plain, [](network::Transport*) {});
  return std::make_shared<CountingTransport>(std::move(below), run.ranks());
}

Body calls(const Placement& placement, std::vector<Make> kinds, Shape shape, const WrapTransport& wrap) {
  return [=](CheckingMachine& m) {
    Execution& run = Execution::current();
    const int rank = run.rank(), last = run.ranks() - 1;
    const auto transport = own_transport(wrap);
    std::list<std::list<Letters>> all;  // lie still until the rank leaves
    LettersMember member(m, *transport, placement, shape.memory, shape.questions);
    for (int round = 0; round < shape.rounds;) {
      std::list<Letters>& some = all.emplace_back();
      for (std::size_t i = 0; i < shape.at_a_time; ++i, ++round) {
        Letters& each = some.emplace_back();
        kinds[static_cast<std::size_t>(round) % kinds.size()](rank, run.ranks(), round, each);
        member.start(*each.call);
      }
      if (shape.in_host && rank != last) {
        while (!all_are_given(some)) {
          member.is_ready(*some.back().call);
          run.idle(true);
        }
        if (shape.tests)
          for (Letters& each : some) member.is_ready(*each.call);
        wait_in_host(*transport, last);
      }
      Completion(member, some).complete(shape.order);
      if (shape.in_host && rank == last) release_from_host(*transport);
    }
    if (shape.questions > 0) return part(member, *transport);  // some come when their calls are complete
    member.leave();
  };
}

/// What a rank has written before a barrier, the others read after it.
Body barriers(const Placement& placement, NodeMemory memory, const WrapTransport& wrap) {
  return [=](CheckingMachine& m) {
    Execution& run = Execution::current();
    const auto transport = own_transport(wrap);
    std::list<Letters> all;
    LettersMember member(m, *transport, placement, memory);
    const auto meet = [&] {
      Letters& each = all.emplace_back();
      barrier()(run.rank(), run.ranks(), 0, each);
      member.start(*each.call);
      member.complete(*each.call);
    };
    for (int round = 0; round < 2; ++round) {
      const std::uint64_t mine = word(run.rank(), 0, round);
      simulation::checker::Platform::copy(run.note(run.rank()), &mine, sizeof mine);
      meet();
      for (int peer = 0; peer < run.ranks(); ++peer) {
        std::uint64_t theirs = 0;
        simulation::checker::Platform::copy(&theirs, run.note(peer), sizeof theirs);
        run.expect(theirs == word(peer, 0, round), "a barrier over nodes let a rank go too early");
      }
      meet();
    }
    member.leave();
  };
}

/// What the ranks of a wrong program call; of those that are odd.
struct Mistake {
  const char* name;
  Make right, wrong;
  bool (*is_odd)(int rank, int ranks);
};

Make bcast_of(int (*root_of)(int rank, int ranks)) {
  return [=](int rank, int ranks, int, Letters& to) {
    const int root = root_of(rank, ranks);
    to.send = to.receive = words(root, 2, 0);
    to.call.emplace(
        Wanted{{Collective::bcast, root, 16}, nullptr, nullptr, data_of(to.send), data_of(to.receive)});
  };
}

/// False: it has come to an error.
bool ends_well(LettersMember& member, Letters& each) {
  try {
    member.start(*each.call);
    member.complete(*each.call);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// No rank waits for ever, and none goes on as if nothing had been.
Body mistaken(const Placement& placement, NodeMemory memory, const Mistake& mistake,
              const WrapTransport& wrap) {
  return [=](CheckingMachine& m) {
    Execution& run = Execution::current();
    const auto transport = own_transport(wrap);
    std::list<Letters> all;
    LettersMember member(m, *transport, placement, memory, 2);
    const auto calls = [&](const Make& make) {
      make(run.rank(), run.ranks(), 0, all.emplace_back());
      return ends_well(member, all.back());
    };
    run.expect(calls(reduction(Collective::allreduce, 1)), "a right call has failed");
    calls(mistake.is_odd(run.rank(), run.ranks()) ? mistake.wrong : mistake.right);
    run.expect(!calls(reduction(Collective::allreduce, 1)), "a call after a mistake ends well");
    part(member, *transport);
  };
}

std::vector<Mistake> mistakes() {
  const auto is_second = [](int rank, int) { return rank == 1; };
  const auto is_upper = [](int rank, int ranks) { return rank >= ranks / 2; };
  const auto none = [](int, int) { return false; };
  const auto first = [](int, int) { return 0; };
  const auto last = [](int, int ranks) { return ranks - 1; };
  const auto other_end = [](int rank, int ranks) { return rank == 0 ? ranks - 1 : 0; };
  const auto itself = [](int rank, int) { return rank; };
  return {
      {"other collective", reduction(Collective::allreduce, 2), allgather(2), is_second},
      {"other collective of some", reduction(Collective::allreduce, 2), barrier(), is_upper},
      {"by letters", reduction(Collective::allreduce, 2), scan(2), is_second},
      {"other root", bcast_of(first), bcast_of(last), is_second},
      {"other root of some", bcast_of(first), bcast_of(last), is_upper},
      {"none is the root", bcast_of(other_end), bcast_of(other_end), none},
      {"all are roots", bcast_of(itself), bcast_of(itself), none},
  };
}

const char* name_of(Order order) {
  return order == Order::first_to_last   ? "first to last"
         : order == Order::last_to_first ? "last to first"
                                         : "as they come";
}

std::vector<Scenario> scenarios(int ranks, const WrapTransport& wrap) {
  std::vector<Scenario> all;
  const auto add = [&](const std::string& name, const std::vector<int>& node_of, const auto& make_body) {
    const auto nodes = std::make_shared<const Nodes>(node_of, "flat");
    all.push_back(make_over_nodes("letters, " + name, nodes, false, two, make_body(nodes->placement()),
                                  CheckedNode::area_bytes));
  };
  const auto add_calls = [&](const std::string& name, const std::vector<int>& node_of,
                             const std::vector<Make>& kinds, const Shape& shape) {
    add(name, node_of, [&](const Placement& placement) { return calls(placement, kinds, shape, wrap); });
  };
  const std::vector<Make> by_node = {reduction(Collective::allreduce, 3), bcast(2), allgather(2),
                                     reduction(Collective::reduce, 3), barrier()};
  const std::vector<Make> mixed = {alltoallv(),  reduction(Collective::allreduce, 1), scan(2),
                                   allgather(1), reduction(Collective::reduce, 2),    bcast(1)};
  for (const Order order : {Order::first_to_last, Order::last_to_first, Order::as_they_come}) {
    Shape shape;
    shape.order = order;
    add_calls(formatted("by nodes, {}", name_of(order)), in_blocks(ranks), by_node, shape);
    add_calls(formatted("mixed, {}", name_of(order)), in_turns(ranks), mixed, shape);
    shape.questions = 2;
    add_calls(formatted("with questions, {}", name_of(order)), in_blocks(ranks), mixed, shape);
  }
  for (const auto& node_of : {in_blocks(ranks), apart(ranks)}) {
    Shape shape;
    shape.in_host = true;
    add_calls("others wait in the host", node_of, by_node, shape);
    add_calls("mixed, others wait in the host", node_of, mixed, shape);
    shape.memory = NodeMemory::none;
    add_calls("no memory, others wait in the host", node_of, by_node, shape);
  }
  for (const NodeMemory memory : {NodeMemory::enough, NodeMemory::none})
    add(memory == NodeMemory::none ? "barriers, no memory" : "barriers", in_blocks(ranks),
        [&](const Placement& placement) { return barriers(placement, memory, wrap); });
  // More than rides in a flag line. Three ranks on a node fold some in common.
  const std::vector<Make> long_ones = {
      reduction(Collective::allreduce, 600), allgather(27),
      reduction(Collective::reduce, 27),     reduction(Collective::allreduce, 600),
      reduction(Collective::allreduce, 1),   bcast(27)};
  const auto& node_of = ranks == 4 ? std::vector<int>{0, 0, 0, 1} : in_blocks(ranks);
  for (const bool in_host : {true, false}) {
    Shape shape;
    shape.in_host = in_host;
    add_calls(in_host ? "long ones, others wait in the host" : "long ones", node_of, long_ones, shape);
    shape.memory = NodeMemory::little;  // it depends on the schedule which calls find some
    add_calls(in_host ? "little memory, others wait in the host" : "little memory", node_of, long_ones,
              shape);
  }
  // What a rank does for the others in a test leaves it owing nothing either.
  Shape alone;
  alone.in_host = alone.tests = true;
  alone.rounds = 2, alone.at_a_time = 1;
  add_calls("tests, then all wait in the host", node_of, {reduction(Collective::allreduce, 600)}, alone);
  for (const Mistake& mistake : mistakes())
    for (const NodeMemory memory : {NodeMemory::enough, NodeMemory::none})
      add(formatted("mistaken, {}{}", mistake.name, memory == NodeMemory::none ? ", no memory" : ""),
          in_blocks(ranks),
          [&](const Placement& placement) { return mistaken(placement, memory, mistake, wrap); });
  // A rank that finds no memory gives its data in a test; then it owes nothing more.
  Shape late;
  late.in_host = true, late.memory = NodeMemory::taken;
  late.rounds = 2, late.at_a_time = 2;
  add_calls("given late, then all wait in the host", in_blocks(ranks), {allgather(20)}, late);
  return all;
}

}  // namespace espalier::testing::letters_checked

namespace espalier::testing {

std::vector<Scenario> letters_between_nodes(int ranks, const WrapTransport& wrap) {
  return letters_checked::scenarios(ranks, wrap);
}

std::vector<Scenario> letters(int ranks, bool fenced) {
  if (fenced)
    return {};  // fences of the wait ladder, which is not theirs, would hide that their own is missing
  return letters_between_nodes(ranks, {});
}

}  // namespace espalier::testing
