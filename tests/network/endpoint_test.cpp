#include "network/endpoint.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "base/error.hpp"
#include "network/task.hpp"
#include "tests/network/mailboxes.hpp"

namespace espalier::network {
namespace {

using testing::Mailboxes;

constexpr SpinLimits short_spin_limits = {2, 1 << 30};

/// Two ends in one thread; rank 0 is process 1 and rank 1 is process 0.
struct Pair {
  explicit Pair(std::uint64_t seed = 1)
      : boxes(2, seed),
        zero(boxes.of(1), {1, 0}, 0, 32, short_spin_limits, TagMarks::among(1 << 28)),
        one(boxes.of(0), {1, 0}, 1, 32, short_spin_limits, TagMarks::among(1 << 28)) {}
  Mailboxes boxes;
  Endpoint zero, one;

  void drive_both_until(const Task& a, const Task& b) {
    while (!a.done() || !b.done()) {
      zero.drive();
      one.drive();
    }
  }
};

// Its own copy of the values: they have to last as long as the message is under way.
Task send_all(Endpoint& end, int to, int lane, std::vector<int> values) {
  for (const int& value : values) {
    auto message = end.send(to, lane, &value, sizeof value);
    co_await message;
  }
}

Task receive_all(Endpoint& end, int from, int lane, std::vector<int>& values) {
  for (int& value : values) {
    auto message = end.receive(from, lane, &value, sizeof value);
    co_await message;
  }
}

TEST(Endpoint, CarriesMessagesInOrder) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Pair pair(seed);
    const std::vector<int> sent = {5, 1, 4, 2, 3, 9, 8, 7};
    std::vector<int> received(sent.size());
    const Task a = send_all(pair.zero, 1, 3, sent), b = receive_all(pair.one, 0, 3, received);
    pair.drive_both_until(a, b);
    EXPECT_EQ(received, sent);
    EXPECT_EQ(pair.boxes.complaints(), std::vector<std::string>());
  }
}

TEST(Endpoint, LanesAreKeptApart) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Pair pair(seed);
    const std::vector<int> sent = {1, 2, 3, 4, 5}, others = {10, 20, 30};
    std::vector<int> received(sent.size()), more(others.size());
    const Task a = send_all(pair.zero, 1, 0, sent), b = send_all(pair.zero, 1, lanes - 1, others);
    const Task c = receive_all(pair.one, 0, lanes - 1, more), d = receive_all(pair.one, 0, 0, received);
    pair.drive_both_until(a, d);
    pair.drive_both_until(b, c);
    EXPECT_EQ(received, sent);
    EXPECT_EQ(more, others);
    EXPECT_EQ(pair.boxes.complaints(), std::vector<std::string>());
  }
}

// What a rank sends in one call is not taken for what another rank awaits in another call.
TEST(Endpoint, MessagesMeetThoseOfTheSameCall) {
  Pair pair;
  pair.zero.begin_call(5);
  pair.one.begin_call(6);
  std::vector<int> received(1);
  const Task wrong = send_all(pair.zero, 1, 0, {1}), awaits = receive_all(pair.one, 0, 0, received);
  for (int i = 0; i < 100; ++i) {
    pair.zero.drive();
    pair.one.drive();
  }
  EXPECT_FALSE(awaits.done());
  EXPECT_EQ(pair.one.awaited(), std::vector<int>{0});
  pair.zero.begin_call(6);
  const Task right = send_all(pair.zero, 1, 0, {2});
  pair.drive_both_until(right, awaits);
  EXPECT_EQ(received, std::vector<int>{2});
  EXPECT_EQ(pair.one.awaited(), std::vector<int>());
}

TEST(Endpoint, OneLaneMayJoinCalls) {
  Pair pair;
  pair.zero.join_calls_on(2);
  pair.one.join_calls_on(2);
  pair.zero.begin_call(5);
  pair.one.begin_call(6);
  std::vector<int> received(1);
  const Task sends = send_all(pair.zero, 1, 2, {7}), awaits = receive_all(pair.one, 0, 2, received);
  pair.drive_both_until(sends, awaits);
  EXPECT_EQ(received, std::vector<int>{7});
}

TEST(Endpoint, DriveSaysWhetherAnythingWasDone) {
  Pair pair;
  EXPECT_FALSE(pair.one.drive());
  std::vector<int> received(1);
  const Task wanted = receive_all(pair.one, 0, 0, received);
  EXPECT_FALSE(pair.one.drive());
  const std::vector<int> values = {7};
  const Task sent = send_all(pair.zero, 1, 0, values);
  int useful = 0;
  while (!wanted.done()) useful += pair.one.drive();
  EXPECT_EQ(useful, 1);
  pair.zero.drive_until([&] { return sent.done(); });
  EXPECT_FALSE(pair.one.drive());
}

TEST(Endpoint, WithoutMessagesTheTransportIsPoked) {
  Pair pair;
  pair.zero.drive();
  pair.zero.drive();
  EXPECT_EQ(pair.boxes.drives(1), 2);
  EXPECT_EQ(pair.boxes.drives(0), 0);
}

TEST(Endpoint, DriveUntilRunsOtherTasksToo) {
  Pair pair;
  const std::vector<int> ping = {1, 2, 3}, pong = {4, 5, 6};
  std::vector<int> there(3), back(3);
  std::thread other([&] {
    const Task a = receive_all(pair.one, 0, 1, there), b = send_all(pair.one, 0, 2, pong);
    pair.one.drive_until([&] { return a.done() && b.done(); });
  });
  // No rank asks for `sent` before `received` is done, and the other end may not send before it has received.
  const Task sent = send_all(pair.zero, 1, 1, ping), received = receive_all(pair.zero, 1, 2, back);
  pair.zero.drive_until([&] { return received.done(); });
  pair.zero.drive_until([&] { return sent.done(); });
  other.join();
  EXPECT_EQ(there, ping);
  EXPECT_EQ(back, pong);
  EXPECT_EQ(pair.boxes.complaints(), std::vector<std::string>());
}

Task around(Endpoint& end, std::vector<int>& values) {
  auto inner = receive_all(end, 0, 5, values);
  co_await inner;
}

TEST(Endpoint, AnErrorOfTheTransportReachesTheTaskThatAwaits) {
  Pair pair;
  std::vector<int> lost(1), received(1);
  const Task broken = around(pair.one, lost);
  const Task whole = receive_all(pair.one, 0, 6, received);
  pair.boxes.break_tag(32 + 5);
  const std::vector<int> values = {7};
  const Task sent = send_all(pair.zero, 1, 6, values);
  pair.drive_both_until(sent, whole);
  EXPECT_EQ(received, values) << "another task must not suffer";
  try {
    broken.done();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the network broke"), std::string::npos) << error.what();
  }
}

TEST(Endpoint, AnErrorOfTheFirstLookReachesTheTaskThatAwaits) {
  Pair pair;
  pair.boxes.break_tag(32 + 5);
  std::vector<int> lost(1);
  const Task broken = around(pair.one, lost);
  EXPECT_THROW(broken.done(), Error);
  EXPECT_FALSE(pair.one.drive()) << "nothing is awaited any more";
}

TEST(Endpoint, AfterAbandonTasksMayGo) {
  Pair pair;
  std::vector<int> room(2);
  {
    const Task first = around(pair.one, room);
    std::vector<int> other(1);
    const Task second = receive_all(pair.one, 0, 9, other);
    pair.one.abandon();
  }
  EXPECT_FALSE(pair.one.drive());
  EXPECT_THROW(pair.one.send(0, 0, nullptr, 0), Error) << "it is out of step";
  EXPECT_THROW(pair.one.receive(0, 0, nullptr, 0), Error);
}

TEST(Endpoint, SaysWhichMessagesAreTooLong) {
  Pair pair;
  try {
    pair.one.send(0, 0, nullptr, Transport::longest + 1);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("1073741825 bytes"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("ESPALIER_SEGMENT"), std::string::npos) << error.what();
  }
}

TEST(Peers, AreSomeRanksOfAnEndpoint) {
  Pair pair;
  const std::vector<int> ranks = {1, 0};  // peer 0 is rank 1
  const Peers first = {&pair.one, ranks, 0, 2}, second = {&pair.zero, ranks, 1, 2};
  EXPECT_EQ(first.rank(), 0);
  EXPECT_EQ(first.size(), 2);
  const auto send = [](Peers peers, const int& value) -> Task {
    auto message = peers.on(4).send(1, &value, sizeof value);
    co_await message;
  };
  const int value = 6;
  std::vector<int> received(1);
  const Task a = send(first, value), b = receive_all(pair.zero, 1, 4, received);
  pair.drive_both_until(a, b);
  EXPECT_EQ(received.front(), 6);
  EXPECT_EQ(second.on(4).lane, 4);
  EXPECT_EQ(pair.boxes.complaints(), std::vector<std::string>());
}

}  // namespace
}  // namespace espalier::network
