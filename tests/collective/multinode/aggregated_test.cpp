#include "collective/multinode/aggregated.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>

#include "collective/multinode/network/dissemination.hpp"
#include "collective/multinode/network/recursive_doubling.hpp"
#include "tests/collective/multinode/guarded.hpp"
#include "tests/collective/multinode/world.hpp"

namespace espalier::collective::multinode {
namespace {

using network::SharpError;
using testing::Guarded;
using testing::GuardedVector;
using testing::Member;
using testing::Setting;

/// What all leaders of a world share: a network that folds, until it fails.
class FakeTree {
 public:
  FakeTree(int leaders, std::size_t fails_at)
      : leaders_(static_cast<std::size_t>(leaders)), fails_at_(fails_at) {}

  void give(std::size_t number, int leader, const std::byte* data, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    operations_[number][leader].assign(data, data + bytes);
  }
  bool fails(std::size_t number) const { return number >= fails_at_; }
  bool is_complete(std::size_t number) {
    const std::lock_guard lock(mutex_);
    return operations_[number].size() == leaders_;
  }
  void fold(std::size_t number, std::byte* target, const reduce::Operation& operation) {
    const std::lock_guard lock(mutex_);
    std::vector<const void*> sources;
    for (const auto& [leader, data] : operations_[number]) sources.push_back(data.data());
    operation.kernel(target, sources.data(), static_cast<int>(sources.size()),
                     operations_[number].begin()->second.size() / operation.extent);
  }

 private:
  std::mutex mutex_;
  std::size_t leaders_, fails_at_;
  std::map<std::size_t, std::map<int, std::vector<std::byte>>> operations_;
};

/// One leader's end of it.
class FakeAggregation {
 public:
  FakeAggregation(FakeTree& tree, network::Peers leaders, std::size_t payload)
      : tree_(tree), leaders_(leaders), payload_(payload), memory_(2 * segments_under_way * payload) {}

  std::size_t payload() const { return payload_; }
  std::byte* source(int lane) { return memory_.data() + 2 * static_cast<std::size_t>(lane) * payload_; }

  Task allreduce(int lane, std::size_t bytes, const reduce::Operation& operation, std::byte* result) {
    std::byte *own = source(lane), *spare = own + payload_;
    if (!has_failed_) {
      Done done(tree_, begun_++);
      tree_.give(done.number, leaders_.rank(), own, bytes);
      auto awaited = leaders_.endpoint->until(done);
      co_await awaited;
      tree_.fold(done.number, result, operation);
      co_return;
    }
    const Vector vector = {own, bytes, spare, operation};
    auto in_software = allreduce_doubling(leaders_.on(lane), vector);
    co_await in_software;
    std::copy_n(own, bytes, result);
  }
  Task barrier() {
    if (!has_failed_) {
      Done done(tree_, begun_++);
      tree_.give(done.number, leaders_.rank(), nullptr, 0);
      auto awaited = leaders_.endpoint->until(done);
      co_await awaited;
      co_return;
    }
    auto in_software = disseminate(leaders_);
    co_await in_software;
  }
  void forget() { leaders_.endpoint->forget_events(); }
  void recover(const SharpError& error, std::size_t released) {
    if (released > 0) throw Error(std::string("too late: ") + error.what());
    has_failed_ = true;
    ++recovered;
  }

  int recovered = 0;

 private:
  struct Done final : network::Event {
    FakeTree& tree;
    std::size_t number;
    Done(FakeTree& t, std::size_t n) : tree(t), number(n) {}
    bool test() override {
      if (tree.fails(number)) throw SharpError(-1, "the tree is gone");
      return tree.is_complete(number);
    }
  };
  FakeTree& tree_;
  network::Peers leaders_;
  std::size_t payload_;
  std::vector<std::byte> memory_;
  std::size_t begun_ = 0;
  bool has_failed_ = false;
};
static_assert(Aggregation<FakeAggregation>);

constexpr std::size_t payload = 256;
constexpr std::size_t never = ~std::size_t{0};

std::vector<double> allreduced(Member& me, FakeAggregation& aggregation, std::size_t count, bool in_place) {
  const reduce::Operation& sum = *reduce::find(reduce::Op::sum, reduce::Type::float64);
  const std::vector<double> values = testing::vector_of(me.rank(), count, 0);
  GuardedVector<double> send(values), result(count);
  if (in_place) result.assign(values);
  const Reduction reduction = {in_place ? result.bytes() : send.bytes(), result.bytes(), send.size_bytes(),
                               sum};
  plan::NetworkPlan plan;
  me.on_stage(
      [&](auto& stage) { allreduce_aggregated(stage, me.counterparts(0), aggregation, reduction, plan); });
  return result.values();
}

std::vector<double> reduced(Member& me, FakeAggregation& aggregation, std::size_t count, int root) {
  const reduce::Operation& sum = *reduce::find(reduce::Op::sum, reduce::Type::float64);
  const bool is_root = me.rank() == root;
  GuardedVector<double> send(testing::vector_of(me.rank(), count, root)), result(is_root ? count : 0);
  const Reduction reduction = {send.bytes(), is_root ? result.bytes() : nullptr, send.size_bytes(), sum};
  const int root_node = me.placement().node_of[static_cast<std::size_t>(root)];
  const int leader = me.placement().ranks_of[static_cast<std::size_t>(root_node)].front();
  const RootIs where = is_root                  ? RootIs::me
                       : root_node == me.node() ? RootIs::another_of_node
                                                : RootIs::elsewhere;
  std::vector<int> other = {me.rank() == leader ? root : leader};
  network::Peers to_other = me.counterparts(0);
  to_other.ranks = other;
  to_other.me = 0;
  Guarded ignored(me.local_rank() == 0 ? segments_under_way * payload : 0);
  plan::NetworkPlan plan;
  me.on_stage([&](auto& stage) {
    reduce_aggregated(stage, me.counterparts(0), to_other, where, aggregation, reduction, ignored.data(),
                      plan);
  });
  return result.values();
}

void on_all(const Setting& setting, std::size_t fails_at,
            const std::function<void(Member&, FakeAggregation&)>& body) {
  testing::World world(setting);
  FakeTree tree(world.placement().nodes(), fails_at);
  world.run([&](Member& me) {
    FakeAggregation aggregation(tree, me.counterparts(0), payload);
    body(me, aggregation);
  });
}

TEST(NodesAggregated, ReducesEverywhereAndAtEveryRoot) {
  for (const Setting& setting : testing::settings())
    on_all(setting, never, [&](Member& me, FakeAggregation& aggregation) {
      for (const std::size_t count : {0, 1, 32, 33, 8 * 32 + 1, 19 * 32 + 5}) {
        EXPECT_EQ(allreduced(me, aggregation, count, count % 2 == 0), testing::sum_of(me.size(), count, 0))
            << setting.name << ", " << count << " elements";
        for (int root = 0; root < me.size(); ++root) {
          const auto got = reduced(me, aggregation, count, root);
          if (me.rank() == root) {
            EXPECT_EQ(got, testing::sum_of(me.size(), count, root)) << setting.name << ", root " << root;
          }
        }
      }
    });
}

/// Each call in turn is the one in which the network fails, with its first segment: the work is done again,
/// by messages.
TEST(NodesAggregated, DoesACallAgainWhereTheNetworkFails) {
  for (const Setting& setting : testing::settings())
    for (std::size_t fails_at = 0; fails_at < 3; ++fails_at)
      on_all(setting, fails_at * 10, [&](Member& me, FakeAggregation& aggregation) {
        constexpr std::size_t count = 9 * 32 + 7;  // ten segments
        for (int call = 0; call < 3; ++call)
          EXPECT_EQ(allreduced(me, aggregation, count, call % 2 == 0), testing::sum_of(me.size(), count, 0))
              << setting.name << ", fails at " << fails_at * 10;
        const int root = me.size() - 1;
        const auto got = reduced(me, aggregation, count, root);
        if (me.rank() == root) {
          EXPECT_EQ(got, testing::sum_of(me.size(), count, root));
        }
        EXPECT_EQ(aggregation.recovered, me.local_rank() == 0 ? 1 : 0);
      });
}

TEST(NodesAggregated, ABarrierHoldsEverybodyBackBeforeAndAfterAFailure) {
  for (const Setting& setting : testing::settings())
    for (const std::size_t fails_at : {std::size_t{0}, std::size_t{3}, never}) {
      std::atomic<int> came = 0;
      on_all(setting, fails_at, [&](Member& me, FakeAggregation& aggregation) {
        for (int round = 1; round < 6; ++round) {
          ++came;
          me.on_stage([&](auto& stage) { barrier_aggregated(stage, me.counterparts(0), aggregation); });
          EXPECT_GE(came, round * me.size()) << setting.name;
        }
      });
    }
}

}  // namespace
}  // namespace espalier::collective::multinode
