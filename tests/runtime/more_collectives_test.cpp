// The collectives of blocks and of parts, on communicators of real processes: in any order, mixed with the
// first four, with every algorithm, few slots and small chunks.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "runtime/communicator/communicator.hpp"
#include "tests/runtime/bootstrap.hpp"

namespace espalier::runtime {
namespace {

using testing::Board;
using testing::bootstrap_of;
using testing::run_ranks;
using Numbers = std::vector<std::int64_t>;

constexpr std::size_t unit = sizeof(std::int64_t);
constexpr std::int64_t hole = -77;

const reduce::Operation& sum() { return *reduce::find(reduce::Op::sum, reduce::Type::int64); }

// What `from` has for `to`; as a vector of `to` == 0 in the reductions.
Numbers block_of(int from, int to, std::size_t count, unsigned round) {
  Numbers block(count);
  for (std::size_t i = 0; i < count; ++i)
    block[i] =
        from * 1000003 + to * 10007 + static_cast<std::int64_t>(i) * 31 + static_cast<std::int64_t>(round);
  return block;
}

void append(Numbers& all, const Numbers& block) { all.insert(all.end(), block.begin(), block.end()); }

Numbers sum_of(int first, int last, std::size_t count, unsigned round) {
  Numbers result(count, 0);
  for (int rank = first; rank <= last; ++rank) {
    const Numbers block = block_of(rank, 0, count, round);
    for (std::size_t i = 0; i < count; ++i) result[i] += block[i];
  }
  return result;
}

// Affine maps x -> a x + b modulo a prime, composed: associative, but the order of the ranks shows. Two
// numbers each.
constexpr std::int64_t prime = 1000003;
void compose(void* context, const void* left, void* right) {
  const auto* l = static_cast<const std::int64_t*>(left);
  auto* r = static_cast<std::int64_t*>(right);
  for (std::size_t i = 0; i < *static_cast<std::size_t*>(context); i += 2) {
    r[i + 1] = (l[i + 1] * r[i] + r[i + 1]) % prime;
    r[i] = l[i] * r[i] % prime;
  }
}
Numbers maps_of(int rank, std::size_t count, unsigned round) {
  Numbers maps = block_of(rank, 0, count, round);
  for (std::int64_t& each : maps) each = each % prime + 1;
  return maps;
}
Numbers composed(int first, int last, std::size_t count, unsigned round) {
  Numbers result = maps_of(last, count, round);
  for (int rank = last - 1; rank >= first; --rank) {
    const Numbers left = maps_of(rank, count, round);
    compose(&count, left.data(), result.data());
  }
  return result;
}

/// Unequal blocks in one buffer, with gaps, in bytes.
struct Layout {
  std::vector<std::size_t> bytes, offsets;
  std::size_t count = 0;  // of numbers, gaps included
  template <class CountOf>
  Layout(int ranks, CountOf count_of) {
    for (int r = 0; r < ranks; ++r) {
      bytes.push_back(count_of(r) * unit);
      offsets.push_back((count + 1) * unit);
      count += count_of(r) + 2;
    }
  }
  Blocks blocks() const { return {bytes, offsets}; }
  void put(Numbers& buffer, int rank, const Numbers& block) const {
    std::copy(block.begin(), block.end(),
              buffer.begin() + static_cast<std::ptrdiff_t>(offsets[static_cast<std::size_t>(rank)] / unit));
  }
};

/// One call of each kind, compared with what it should give.
class Caller {
 public:
  Caller(Communicator& comm, std::size_t count, unsigned round)
      : comm_(comm), n_(comm.size()), me_(comm.rank()), count_(count), round_(round) {
    root_ = static_cast<int>(round % static_cast<unsigned>(n_));
    in_place_ = round % 3 == 1;
  }

  static constexpr unsigned kinds = 16;
  void call(unsigned kind) {
    static constexpr void (Caller::* calls[kinds])() = {&Caller::barrier,
                                                        &Caller::bcast,
                                                        &Caller::reduce,
                                                        &Caller::allreduce,
                                                        &Caller::allgather,
                                                        &Caller::gather,
                                                        &Caller::scatter,
                                                        &Caller::alltoall,
                                                        &Caller::gatherv,
                                                        &Caller::scatterv,
                                                        &Caller::allgatherv,
                                                        &Caller::alltoallv,
                                                        &Caller::reduce_scatter_block,
                                                        &Caller::reduce_scatter,
                                                        &Caller::scans,
                                                        &Caller::user_operators};
    const auto chosen =
        calls[kind];  // GCC 12's bounds check takes another index if it stands in the next line
    (this->*chosen)();
  }

 private:
  void expect(const Numbers& got, const Numbers& wanted, const char* what) const {
    EXPECT_TRUE(got == wanted) << what << " of " << count_ << " numbers, round " << round_ << ", root "
                               << root_ << (in_place_ ? ", in place" : "") << ", rank " << me_ << " of "
                               << n_;
  }
  std::size_t ranks() const { return static_cast<std::size_t>(n_); }
  std::size_t bytes() const { return count_ * unit; }
  Numbers mine(int to = 0) const { return block_of(me_, to, count_, round_); }
  // Sizes that differ, with zeros; the same between two ranks in both directions, so that in place is
  // possible.
  std::size_t unequal(int a, int b) const {
    return count_ * ((static_cast<std::size_t>(a) * static_cast<std::size_t>(b) + round_) % 3);
  }

  void barrier() { EXPECT_TRUE(comm_.barrier()); }
  void bcast() {
    Numbers data = mine();
    EXPECT_TRUE(comm_.bcast(data.data(), bytes(), root_));
    expect(data, block_of(root_, 0, count_, round_), "bcast");
  }
  void reduce() {
    Numbers send = mine(), got(count_, hole);
    EXPECT_TRUE(comm_.reduce(send.data(), got.data(), count_, sum(), root_));
    expect(got, me_ == root_ ? sum_of(0, n_ - 1, count_, round_) : Numbers(count_, hole), "reduce");
  }
  void allreduce() {
    Numbers send = mine(), got = in_place_ ? send : Numbers(count_, hole);
    EXPECT_TRUE(comm_.allreduce(in_place_ ? Communicator::in_place : send.data(), got.data(), count_, sum()));
    expect(got, sum_of(0, n_ - 1, count_, round_), "allreduce");
  }

  void allgather() {
    const Numbers send = mine();
    Numbers wanted, got(count_ * ranks(), hole);
    for (int r = 0; r < n_; ++r) append(wanted, block_of(r, 0, count_, round_));
    if (in_place_)
      std::copy(send.begin(), send.end(), got.begin() + me_ * static_cast<std::ptrdiff_t>(count_));
    EXPECT_TRUE(comm_.allgather(in_place_ ? Communicator::in_place : send.data(), got.data(), bytes()));
    expect(got, wanted, "allgather");
  }
  void gather() {
    const Numbers send = mine();
    Numbers wanted, got(me_ == root_ ? count_ * ranks() : 0, hole);
    for (int r = 0; r < n_ && me_ == root_; ++r) append(wanted, block_of(r, 0, count_, round_));
    const bool in_place = in_place_ && me_ == root_;
    if (in_place)
      std::copy(send.begin(), send.end(), got.begin() + me_ * static_cast<std::ptrdiff_t>(count_));
    EXPECT_TRUE(comm_.gather(in_place ? Communicator::in_place : send.data(),
                             me_ == root_ ? got.data() : nullptr, bytes(), root_));
    expect(got, wanted, "gather");
  }
  void scatter() {
    Numbers send, got(count_, hole);
    for (int r = 0; r < n_ && me_ == root_; ++r) append(send, block_of(root_, r, count_, round_));
    const Numbers before = send;
    const bool in_place = in_place_ && me_ == root_;
    EXPECT_TRUE(comm_.scatter(send.data(), in_place ? const_cast<void*>(Communicator::in_place) : got.data(),
                              bytes(), root_));
    expect(got, in_place ? Numbers(count_, hole) : block_of(root_, me_, count_, round_), "scatter");
    expect(send, before, "the send buffer of a scatter");
  }
  void alltoall() {
    Numbers send, wanted;
    for (int r = 0; r < n_; ++r) append(send, mine(r)), append(wanted, block_of(r, me_, count_, round_));
    Numbers got = in_place_ ? send : Numbers(send.size(), hole);
    EXPECT_TRUE(comm_.alltoall(in_place_ ? Communicator::in_place : send.data(), got.data(), bytes()));
    expect(got, wanted, "alltoall");
  }

  void gatherv() {
    const Layout layout(n_, [&](int r) { return unequal(r, 1); });
    const Numbers send = block_of(me_, 0, unequal(me_, 1), round_);
    const bool is_root = me_ == root_, in_place = in_place_ && is_root;
    Numbers wanted(layout.count, hole), got = wanted;
    for (int r = 0; r < n_ && is_root; ++r) layout.put(wanted, r, block_of(r, 0, unequal(r, 1), round_));
    if (in_place) layout.put(got, me_, send);
    EXPECT_TRUE(comm_.gatherv(in_place ? Communicator::in_place : send.data(), send.size() * unit,
                              is_root ? got.data() : nullptr, is_root ? layout.blocks() : Blocks{}, root_));
    expect(got, wanted, "gatherv");
  }
  void scatterv() {
    const Layout layout(n_, [&](int r) { return unequal(r, 1); });
    const bool is_root = me_ == root_, in_place = in_place_ && is_root;
    Numbers send(layout.count, hole), got(unequal(me_, 1), hole);
    for (int r = 0; r < n_ && is_root; ++r) layout.put(send, r, block_of(root_, r, unequal(r, 1), round_));
    EXPECT_TRUE(comm_.scatterv(is_root ? send.data() : nullptr, is_root ? layout.blocks() : Blocks{},
                               in_place ? const_cast<void*>(Communicator::in_place) : got.data(),
                               got.size() * unit, root_));
    expect(got, in_place ? Numbers(got.size(), hole) : block_of(root_, me_, got.size(), round_), "scatterv");
  }
  void allgatherv() {
    const Layout layout(n_, [&](int r) { return unequal(r, 1); });
    const Numbers send = block_of(me_, 0, unequal(me_, 1), round_);
    Numbers wanted(layout.count, hole), got = wanted;
    for (int r = 0; r < n_; ++r) layout.put(wanted, r, block_of(r, 0, unequal(r, 1), round_));
    if (in_place_) layout.put(got, me_, send);
    EXPECT_TRUE(
        comm_.allgatherv(in_place_ ? Communicator::in_place : send.data(), got.data(), layout.blocks()));
    expect(got, wanted, "allgatherv");
  }
  void alltoallv() {
    const Layout layout(n_, [&](int r) { return unequal(r, me_); });
    Numbers send(layout.count, hole), wanted = send;
    for (int r = 0; r < n_; ++r) {
      layout.put(send, r, block_of(me_, r, unequal(r, me_), round_));
      layout.put(wanted, r, block_of(r, me_, unequal(r, me_), round_));
    }
    Numbers got = in_place_ ? send : Numbers(layout.count, hole);
    EXPECT_TRUE(comm_.alltoallv(in_place_ ? Communicator::in_place : send.data(), layout.blocks(), got.data(),
                                layout.blocks()));
    expect(got, wanted, "alltoallv");
  }

  void reduce_scatter_block() {
    check_reduce_scatter(std::vector<std::size_t>(ranks(), count_),
                         [&](const void* send, void* receive, auto&) {
                           return comm_.reduce_scatter_block(send, receive, count_, sum());
                         });
  }
  void reduce_scatter() {
    std::vector<std::size_t> counts;
    for (int r = 0; r < n_; ++r) counts.push_back(unequal(r, 1));
    check_reduce_scatter(counts, [&](const void* send, void* receive, auto& all) {
      return comm_.reduce_scatter(send, receive, all, sum());
    });
  }
  template <class Call>
  void check_reduce_scatter(const std::vector<std::size_t>& counts, Call call) {
    std::size_t total = 0, begin = 0;
    for (int r = 0; r < n_; ++r) {
      if (r == me_) begin = total;
      total += counts[static_cast<std::size_t>(r)];
    }
    const std::size_t own = counts[static_cast<std::size_t>(me_)];
    Numbers send = block_of(me_, 0, total, round_), got(own, hole);
    const Numbers all = sum_of(0, n_ - 1, total, round_);
    EXPECT_TRUE(
        call(in_place_ ? Communicator::in_place : send.data(), in_place_ ? send.data() : got.data(), counts));
    if (in_place_) got.assign(send.begin(), send.begin() + static_cast<std::ptrdiff_t>(own));
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
    expect(got, Numbers(first, first + static_cast<std::ptrdiff_t>(own)), "reduce_scatter");
  }

  void scans() {
    Numbers send = mine(), got = in_place_ ? send : Numbers(count_, hole);
    EXPECT_TRUE(comm_.scan(in_place_ ? Communicator::in_place : send.data(), got.data(), count_, sum()));
    expect(got, sum_of(0, me_, count_, round_), "scan");
    got = in_place_ ? send : Numbers(count_, hole);
    const Numbers before = got;
    EXPECT_TRUE(comm_.exscan(in_place_ ? Communicator::in_place : send.data(), got.data(), count_, sum()));
    expect(got, me_ == 0 ? before : sum_of(0, me_ - 1, count_, round_), "exscan");
  }

  void user_operators() {
    std::size_t count = count_ / 2 * 2;
    const UserOperation operation{compose, &count};
    Numbers send = maps_of(me_, count, round_), got = in_place_ ? send : Numbers(count, hole);
    const void* const source = in_place_ ? Communicator::in_place : send.data();
    EXPECT_TRUE(comm_.scan(source, got.data(), count * unit, operation));
    expect(got, composed(0, me_, count, round_), "scan with an operator of the user's");
    got = in_place_ ? send : Numbers(count, hole);
    const Numbers before = got;
    EXPECT_TRUE(comm_.exscan(source, got.data(), count * unit, operation));
    expect(got, me_ == 0 ? before : composed(0, me_ - 1, count, round_),
           "exscan with an operator of the user's");
    reduce_scatter_of_the_users();
  }
  // An even number of numbers each, since two make a map.
  void reduce_scatter_of_the_users() {
    std::vector<std::size_t> parts;
    std::size_t total = 0, begin = 0;
    for (int r = 0; r < n_; ++r) {
      if (r == me_) begin = total;
      parts.push_back(unequal(r, 1) / 2 * 2 * unit);
      total += parts.back() / unit;
    }
    const UserOperation operation{compose, &total};
    const std::size_t own = parts[static_cast<std::size_t>(me_)] / unit;
    Numbers send = maps_of(me_, total, round_), got(own, hole);
    const Numbers all = composed(0, n_ - 1, total, round_);
    EXPECT_TRUE(comm_.reduce_scatter(in_place_ ? Communicator::in_place : send.data(),
                                     in_place_ ? send.data() : got.data(), parts, operation));
    if (in_place_) got.assign(send.begin(), send.begin() + static_cast<std::ptrdiff_t>(own));
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
    expect(got, Numbers(first, first + static_cast<std::ptrdiff_t>(own)),
           "reduce_scatter with an operator of the user's");
  }

  Communicator& comm_;
  int n_, me_, root_ = 0;
  std::size_t count_;
  unsigned round_;
  bool in_place_ = false;
};

// Numbers: none, inline or not, around a slot, more than a ring of 8 x 32 KiB.
const std::vector<std::size_t> counts = {0, 1, 2, 13, 100, 600, 4096, 5001, 40000};

TEST(MoreCollectives, OneAfterTheOther) {
  for (const int ranks : {1, 2, 3, 5, 8}) {
    Board board(ranks);
    run_ranks(ranks, [&](int rank) {
      const auto comm = Communicator::create(bootstrap_of(board, rank));
      ASSERT_TRUE(comm->active()) << comm->refusal();
      for (unsigned round = 0; round < 4; ++round)
        for (const std::size_t count : counts)
          for (unsigned kind = 0; kind < Caller::kinds; ++kind) Caller(*comm, count, round).call(kind);
    });
  }
}

// Whatever follows whatever finds its slots free and its data whole; ranks that need not wait run ahead.
TEST(MoreCollectives, InAnyOrderWithAllAlgorithmsAndSlots) {
  constexpr int ranks = 4;
  for (const std::string settings :
       {"", "ALLGATHER=central ALLTOALL=central ALLTOALLV=exchange SCAN=exchange EXSCAN=sliced",
        "ALLGATHER=exchange ALLTOALL=exchange ALLTOALLV=central SCAN=sliced EXSCAN=exchange",
        "REDUCE_SCATTER=exchange REDUCE_SCATTER_BLOCK=exchange ALLGATHERV=exchange CHUNK=4KiB",
        "REDUCE_SCATTER=central REDUCE_SCATTER_BLOCK=central ALLGATHERV=central SLOTS=2 SLOT=4KiB",
        "SLOTS=1 SLOT=4KiB ALLREDUCE=sliced", "CHUNK=100 INLINE=off SLOT=4KiB",
        "READ_FROM_PARENT=off SKIP_GATHER=off", "WAIT=sleep"}) {
    Board board(ranks);
    run_ranks(ranks, [&](int rank) {
      for (std::size_t at = 0, end; at < settings.size(); at = end + 1) {
        end = std::min(settings.find(' ', at), settings.size());
        const std::string one = settings.substr(at, end - at);
        const std::size_t equals = one.find('=');
        setenv(("ESPALIER_" + one.substr(0, equals)).c_str(), one.substr(equals + 1).c_str(), 1);
      }
      SCOPED_TRACE(settings);
      const auto comm = Communicator::create(bootstrap_of(board, rank));
      ASSERT_TRUE(comm->active()) << comm->refusal();
      unsigned random = 4711;  // the same on all ranks
      for (unsigned round = 0; round < 400; ++round) {
        random = random * 1664525u + 1013904223u;
        // Long messages now and then only.
        const std::size_t count = counts[(random >> 8) % (round % 16 == 0 ? counts.size() : 6)];
        Caller(*comm, count, round).call((random >> 20) % Caller::kinds);
      }
    });
  }
}

// Slots that are too small for cells of that many ranks leave the call to the host, on all ranks alike.
TEST(MoreCollectives, TooManyRanksForTheSlotsAreTheHosts) {
  constexpr int ranks = 40;
  Board board(ranks);
  run_ranks(ranks, [&](int rank) {
    setenv("ESPALIER_SLOTS", "1", 1);
    setenv("ESPALIER_SLOT", "4KiB", 1);
    const auto comm = Communicator::create(bootstrap_of(board, rank));
    ASSERT_TRUE(comm->active()) << comm->refusal();
    const auto& wide = *reduce::find(reduce::Op::sum, reduce::Type::complex_extended);
    std::vector<char> send(ranks * wide.extent), receive(wide.extent);
    ASSERT_GT(4 * ranks * wide.extent, 4096u) << "not what this test is about";
    EXPECT_FALSE(comm->reduce_scatter_block(send.data(), receive.data(), 1, wide));
    EXPECT_FALSE(comm->reduce_scatter(send.data(), receive.data(), std::vector<std::size_t>(ranks, 1), wide));
    EXPECT_TRUE(comm->barrier());
    Caller(*comm, 600, 1).call(7);   // alltoall
    Caller(*comm, 100, 1).call(11);  // alltoallv
  });
}

}  // namespace
}  // namespace espalier::runtime
