// Nonblocking collectives: no rank waits in a start, and lines and buffers are never written while they may
// still be read, whatever is under way and in which order it is completed.
#include "tests/collective/under_way.hpp"

#include <algorithm>
#include <list>

#include "collective/schedule/calls_under_way.hpp"
#include "tests/simulation/checker/blocks.hpp"
#include "tests/simulation/checker/scenarios.hpp"

namespace espalier::testing {
namespace {

using namespace collective;
/// Two calls a page: so few fill some pages.
using Calls = CallsUnderWay<CheckingMachine, RankMemoryOf, 2>;

/// What is longer than 64 bytes and goes one way goes in chunks of so many, or of up to 512 bytes.
constexpr int calls_log2_chunk = 6;
constexpr std::size_t calls_area_bytes = std::size_t{124} << 10;

/// How a rank completes what it has started.
enum class Completion { waiting, polling };

std::byte* data_of(Words& words) { return reinterpret_cast<std::byte*>(words.data()); }

/// A call, its data, and what is to come out of it.
struct Started {
  CallUnderWay call;
  Words send, receive, wanted;
};

/// Bytes for the buffers and pages of a rank, and for the data of all calls.
struct Given {
  std::size_t each, most = std::size_t{1} << 20;
  bool is_enough = true;  ///< else it depends on the schedule which calls are served, and so do all results
  bool reads_own_memory = true;
  std::size_t expose_from = least_exposed(1), later_from = never_later;
};

/// One rank.
class Member {
 public:
  Member(CheckingMachine& m, Completion by, const Given& given)
      : m_(m),
        by_(by),
        is_certain_(given.is_enough),
        memory_(all_memory(m), given.each),
        calls_(m, {{area(), calls_area_bytes},
                   area() + CallMemoryLayout::pages,
                   {&memory_},
                   given.most,
                   calls_log2_chunk,
                   given.reads_own_memory,
                   given.expose_from,
                   given.later_from}) {}

  /// False: there is no memory for it.
  bool start(Started& started) { return calls_.start(started.call); }
  template <class Offer>
  machine::Agreed start_agreeing(Started& started, Offer offer, int looks) {
    return calls_.start_agreeing(started.call, offer, looks);
  }

  void complete(Started& started, const char* what) {
    advance_to_end(started);
    if (started.call.exposure.lines.buffer) overwrite(started.send);
    if (is_certain_)
      expect(started.receive, started.wanted, what);
    else
      Execution::current().expect(started.receive == started.wanted, what);
  }

 private:
  void advance_to_end(Started& started) {
    for (;;) {
      calls_.advance_all();
      if (calls_.advance(started.call)) break;
      const CallUnderWay::Lack& lack = started.call.lack;
      if (by_ == Completion::polling || !lack.line)
        Execution::current().idle(true);
      else
        m_.await_at(lack.line, lack.step, lack.peer);
    }
  }

  /// As the program may, whose call is complete.
  static void overwrite(Words& words) {
    Execution::current().use_again(words.data(), words.size() * 8);
    std::fill(words.begin(), words.end(), ~std::uint64_t{0});
  }

  static std::byte* area() { return Execution::current().area(); }
  static RankMemory::All all_memory(CheckingMachine& m) {
    return CallMemoryLayout(Calls::Pages::bytes(m.size()))
        .rest(area(), calls_area_bytes, Execution::current().common<TakenBlocks>());
  }

  CheckingMachine& m_;
  Completion by_;
  bool is_certain_;
  RankMemory memory_;
  Calls calls_;
};

/// `make(m, round, started)` makes a call's data and spec.
using Make = std::function<void(CheckingMachine&, int round, Started&)>;

Make reductions(Collective collective, std::size_t count) {
  return [=](CheckingMachine& m, int round, Started& to) {
    const int rank = m.rank();
    const int last = collective == Collective::scan     ? rank
                     : collective == Collective::exscan ? rank - 1
                                                        : m.size() - 1;
    to.send = words(rank, count, round);
    if ((collective != Collective::reduce || rank == 1) && last >= 0) to.wanted = sum(0, last, count, round);
    to.receive.resize(to.wanted.size());
    const int root = collective == Collective::reduce ? 1 : 0;
    to.call.spec = reduction_spec({rank, m.size()}, collective, root, data_of(to.send), data_of(to.receive),
                                  count * 8, sum_of_words());
  };
}

/// Every rank has `count_of(from, to)` words for each other; all of them the same ones where `is_one`.
template <class CountOf>
Make transfers(Collective collective, bool is_one, CountOf count_of) {
  return [=](CheckingMachine& m, int round, Started& to) {
    const int rank = m.rank(), n = m.size();
    std::vector<std::size_t> out_begins, in_begins;
    for (int peer = 0; peer < n; ++peer) {
      out_begins.push_back(is_one ? 0 : to.send.size());
      in_begins.push_back(to.wanted.size());
      const Words block = words(rank + (is_one ? 0 : 8 * peer), count_of(rank, peer), round);
      if (!is_one || to.send.empty()) to.send.insert(to.send.end(), block.begin(), block.end());
      const Words comes = words(peer + (is_one ? 0 : 8 * rank), count_of(peer, rank), round);
      to.wanted.insert(to.wanted.end(), comes.begin(), comes.end());
    }
    to.receive.resize(to.wanted.size());
    std::vector<Block> out, in;
    for (int peer = 0; peer < n; ++peer) {
      const auto i = static_cast<std::size_t>(peer);
      out.push_back({data_of(to.send) + out_begins[i] * 8, count_of(rank, peer) * 8});
      in.push_back({data_of(to.receive) + in_begins[i] * 8, count_of(peer, rank) * 8});
    }
    const bool is_v = collective == Collective::alltoallv || collective == Collective::scatterv;
    const std::size_t block = 8 * std::max(count_of(0, n - 1), count_of(n - 1, 0));
    const std::size_t bytes = is_v ? 0 : collective == Collective::alltoall ? to.wanted.size() * 8 : block;
    to.call.spec = transfer_spec({rank, n}, collective, 0, bytes, out, in);
  };
}

Make bcast(std::size_t count) {
  return transfers(Collective::bcast, true,
                   [=](int from, int to) { return from == 0 && to != 0 ? count : std::size_t{0}; });
}
Make allgather(std::size_t count) {
  return transfers(Collective::allgather, true, [=](int, int) { return count; });
}
Make even_alltoallv(std::size_t count) {
  return transfers(Collective::alltoallv, false, [=](int, int) { return count; });
}
Make alltoall(std::size_t count) {
  return transfers(Collective::alltoall, false, [=](int, int) { return count; });
}
Make alltoallv() {
  return transfers(Collective::alltoallv, false,
                   [](int from, int to) { return static_cast<std::size_t>((from * 3 + to * 2) % 4) * 11; });
}

Make gather(std::size_t count) {
  return transfers(Collective::gather, false, [=](int, int to) { return to == 0 ? count : std::size_t{0}; });
}
Make scatter(std::size_t count) {
  return transfers(Collective::scatter, false,
                   [=](int from, int) { return from == 0 ? count : std::size_t{0}; });
}

/// Rank 3 gets nothing.
Make scatterv() {
  return transfers(Collective::scatterv, false, [](int from, int to) {
    return from == 0 ? static_cast<std::size_t>(to % 3) * 11 : std::size_t{0};
  });
}

Make reduce_scatter(std::size_t share) {
  return [=](CheckingMachine& m, int round, Started& to) {
    const auto n = static_cast<std::size_t>(m.size()), rank = static_cast<std::size_t>(m.rank());
    const std::vector<std::size_t> shares(n, share * 8);
    to.send = words(m.rank(), share * n, round);
    const Words whole = sum(0, m.size() - 1, share * n, round);
    const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(rank * share);
    to.wanted.assign(begin, begin + static_cast<std::ptrdiff_t>(share));
    to.receive.resize(share);
    to.call.spec = reduce_scatter_spec({m.rank(), m.size()}, Collective::reduce_scatter, data_of(to.send),
                                       data_of(to.receive), shares, sum_of_words());
  };
}

/// The same as a brief call, on ranks that take turns with others that have a spec's lists.
Make in_brief(Make make) {
  return [make = std::move(make)](CheckingMachine& m, int round, Started& to) {
    make(m, round, to);
    const PersistentSpec& spec = to.call.spec;
    const bool has_blocks =
        spec.collective == Collective::alltoall || spec.collective == Collective::reduce_scatter;
    const std::size_t blocks = has_blocks ? static_cast<std::size_t>(m.size()) : 1;
    to.call.is_brief = (m.rank() + round) % 3 != 0;
    to.call.brief = brief_of_equal_blocks(spec.collective, spec.root, {m.rank(), m.size()}, data_of(to.send),
                                          data_of(to.receive), spec.bytes / blocks);
  };
}

/// Calls of each kind in turn, `at_a_time` of them under way, of which the last is completed first.
Body calls(Completion by, std::vector<Make> kinds, int rounds, std::vector<std::size_t> at_a_time,
           Given given) {
  return [=](CheckingMachine& m) {
    Member member(m, by, given);
    int round = 0;
    for (std::size_t turn = 0; round < rounds; ++turn) {
      std::list<Started> some;
      for (std::size_t i = 0; i < at_a_time[turn % at_a_time.size()]; ++i, ++round) {
        Started& each = some.emplace_back();
        kinds[static_cast<std::size_t>(round) % kinds.size()](m, round, each);
        if (!member.start(each)) some.pop_back();
      }
      for (auto each = some.rbegin(); each != some.rend(); ++each)
        member.complete(*each, "a nonblocking collective");
    }
  };
}

/// What the rank that is heard has written before it said where, the others read.
Body meeting(int looks) {
  return [=](CheckingMachine& m) {
    Execution& run = Execution::current();
    Member member(m, Completion::waiting, {128});
    Started started;
    started.send = words(m.rank(), 1, 0);
    for (int rank = 0; rank < m.size(); ++rank) started.wanted.push_back(words(rank, 1, 0).front());
    started.receive.resize(started.wanted.size());
    started.call.is_brief = true;
    started.call.spec.collective = Collective::allgather;
    started.call.spec.bytes = 8;
    started.call.brief = brief_of_equal_blocks(Collective::allgather, 0, {m.rank(), m.size()},
                                               data_of(started.send), data_of(started.receive), 8);
    const auto offer = [&] {
      const std::uint64_t mine = word(m.rank(), 0, 0);
      simulation::checker::Platform::copy(run.note(m.rank()), &mine, sizeof mine);
      return static_cast<std::uint64_t>(m.rank() + 1);
    };
    const int heard = static_cast<int>(member.start_agreeing(started, offer, looks).value) - 1;
    std::uint64_t theirs = 0;
    simulation::checker::Platform::copy(&theirs, run.note(heard), sizeof theirs);
    run.expect(theirs == word(heard, 0, 0), "the ranks agreed on what was not there yet");
    member.complete(started, "a meeting");
  };
}

/// What a rank has written before a barrier, the others read after it.
Body nonblocking_barriers(Completion by) {
  return [=](CheckingMachine& m) {
    Execution& run = Execution::current();
    Member member(m, by, {128});
    const auto meet = [&] {
      Started barrier;
      barrier.call.spec = barrier_spec({m.rank(), m.size()});
      barrier.call.is_brief = m.rank() % 2 == 0;
      member.start(barrier);
      member.complete(barrier, "a nonblocking barrier");
    };
    for (int round = 0; round < 3; ++round) {
      const std::uint64_t mine = word(m.rank(), 0, round);
      simulation::checker::Platform::copy(run.note(m.rank()), &mine, sizeof mine);
      meet();
      for (const int peer : m.other_ranks()) {
        std::uint64_t theirs = 0;
        simulation::checker::Platform::copy(&theirs, run.note(peer), sizeof theirs);
        run.expect(theirs == word(peer, 0, round), "a nonblocking barrier let a rank go too early");
      }
      meet();
    }
  };
}

}  // namespace

std::vector<Scenario> calls_under_way(int ranks, bool fenced) {
  constexpr Given long_ones{24 << 10};
  std::vector<Scenario> all;
  const auto add = [&](const std::string& name, const Ring& ring, Body body) {
    all.push_back(make("under way " + name, ranks, fenced, ring, std::move(body)));
    all.back().area_bytes = calls_area_bytes;
  };
  const auto add_alone = [&](const std::string& name, const Make& kind) {
    for (const Completion by : {Completion::waiting, Completion::polling})
      add(name + (by == Completion::polling ? ", polled" : ""), two, calls(by, {kind}, 5, {1}, long_ones));
  };
  for (const Completion by : {Completion::waiting, Completion::polling})
    add(by == Completion::polling ? "barrier, polled" : "barrier", two, nonblocking_barriers(by));
  if (ranks <= 3) add("meeting", two, meeting(2));
  for (const std::size_t count : counts) add_alone(formatted("bcast of {}", count), bcast(count));
  for (const std::size_t count : counts)
    add_alone(formatted("allreduce of {}", count), reductions(Collective::allreduce, count));
  if (ranks > 2) add_alone("allreduce of 600", reductions(Collective::allreduce, 600));
  add_alone("brief bcast of 3", in_brief(bcast(3)));
  add_alone("brief bcast of 27", in_brief(bcast(27)));
  add_alone("brief bcast of 40", in_brief(bcast(40)));  // in five chunks, of which two have one line
  add_alone("brief allreduce of 4", in_brief(reductions(Collective::allreduce, 4)));
  add_alone("brief allreduce of 27", in_brief(reductions(Collective::allreduce, 27)));
  add_alone("brief allgather of 2", in_brief(allgather(2)));
  add_alone("brief allgather of 13", in_brief(allgather(13)));
  add_alone("allgather", allgather(13));
  if (ranks > 4) return all;  // the lines and buffers of more calls would need more flags than a check has
  add_alone("brief reduce of 2", in_brief(reductions(Collective::reduce, 2)));
  add_alone("brief reduce of 27", in_brief(reductions(Collective::reduce, 27)));
  add_alone("brief gather of 2", in_brief(gather(2)));
  add_alone("brief gather of 27", in_brief(gather(27)));
  add_alone("brief scatter of 2", in_brief(scatter(2)));
  add_alone("brief scatter of 27", in_brief(scatter(27)));
  add_alone("reduce", reductions(Collective::reduce, 27));
  add_alone("scan", reductions(Collective::scan, 27));
  add_alone("alltoallv", alltoallv());
  add_alone("reduce_scatter", reduce_scatter(9));
  const std::vector<Make> mixed = {bcast(27), reductions(Collective::allreduce, 3), allgather(13),
                                   reductions(Collective::reduce, 2)};
  add("calls, three at a time", two, calls(Completion::polling, mixed, 6, {3}, long_ones));
  // What is long is given by who looks first: a start leaves it, and all that comes after it.
  add("calls, long ones given later", two,
      calls(Completion::polling, mixed, 6, {3}, {24 << 10, 1 << 20, true, true, least_exposed(1), 64}));
  if (ranks == 2) {
    add_alone("brief alltoall of 2", in_brief(alltoall(2)));
    add_alone("brief alltoall of 13", in_brief(alltoall(13)));
    add_alone("brief reduce_scatter of 2", in_brief(reduce_scatter(2)));
    add_alone("brief reduce_scatter of 13", in_brief(reduce_scatter(13)));
    add_alone("brief scan of 2", in_brief(reductions(Collective::scan, 2)));
    add_alone("brief scan of 27", in_brief(reductions(Collective::scan, 27)));
    add_alone("brief exscan of 2", in_brief(reductions(Collective::exscan, 2)));
    add_alone("brief exscan of 27", in_brief(reductions(Collective::exscan, 27)));
    // Of equal lengths one after the other: with the buffers that were exchanged; and some that are not.
    const std::vector<Make> even = {in_brief(reductions(Collective::allreduce, 27)),
                                    allgather(27),
                                    in_brief(alltoall(27)),
                                    even_alltoallv(27),
                                    alltoallv(),
                                    in_brief(reduce_scatter(27))};
    for (const std::size_t at_a_time : {1, 2, 3})
      add(formatted("exchanged buffers, {} at a time", at_a_time), two,
          calls(Completion::polling, even, 9, {at_a_time}, long_ones));
  }
  if (ranks > 2)
    add("folds in common, two at a time", two,
        calls(Completion::polling, {reductions(Collective::allreduce, 513)}, 4, {2}, long_ones));
  // More than the first pages have lines for; then the others go back.
  const std::vector<Make> short_ones = {in_brief(reductions(Collective::allreduce, 1)), bcast(2)};
  add("many calls", two, calls(Completion::polling, short_ones, 20, {7, 1, 1, 1}, long_ones));
  add("many calls, waiting", two, calls(Completion::waiting, short_ones, 20, {7, 1, 1, 1}, long_ones));
  add("many calls, no memory for lines", two,
      calls(Completion::polling, short_ones, 9, {9}, {128, 1 << 20, false}));
  // A buffer for one of them alone; and the ranks know it.
  const std::vector<Make> with_buffers = {bcast(27), allgather(20)};
  add("calls, memory that others have taken", two,
      calls(Completion::polling, with_buffers, 6, {3},
            {Calls::Pages::bytes(ranks) + 1024, 1 << 20, false, false}));
  add("calls, buffers in the ranks' own memory", two,
      calls(Completion::polling, {bcast(27), alltoallv(), reductions(Collective::reduce, 27)}, 6, {3},
            {Calls::Pages::bytes(ranks) + 1024, 1 << 20, false}));
  if (ranks > 2) {
    const auto add_exposed = [&](const std::string& name, Completion by, std::size_t each, bool is_enough) {
      const std::vector<Make> kinds = {scatterv(), bcast(2)};
      add("exposed blocks" + name, two, calls(by, kinds, 4, {1, 2}, {each, 1 << 20, is_enough, true, 64}));
    };
    add_exposed("", Completion::waiting, 24 << 10, true);
    add_exposed("", Completion::polling, 24 << 10, true);
    all.back() = refusing(all.back());
    // For the lines, but not for copies.
    add_exposed(", copies in the root's own memory", Completion::polling, Calls::Pages::bytes(ranks) + 1536,
                false);
  }
  add("calls, little memory", two, calls(Completion::polling, with_buffers, 8, {4}, {24 << 10, 2000, false}));
  return all;
}

}  // namespace espalier::testing
