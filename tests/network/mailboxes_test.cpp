// The test of the test: the hostile network keeps its promises and finds out who breaks theirs.
#include "tests/network/mailboxes.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace espalier::testing {
namespace {

using network::Ticket;
using network::Transport;

bool contains(const std::vector<std::string>& all, const std::string& part) {
  return std::any_of(all.begin(), all.end(),
                     [&](const std::string& one) { return one.find(part) != one.npos; });
}

/// How often test() says false first.
int finish(Transport& transport, Ticket ticket) {
  int looks = 0;
  while (!transport.test(ticket)) ++looks;
  return looks;
}

TEST(Mailboxes, KeepTheOrderOfOneSenderAndTag) {
  Mailboxes boxes(2, 5);
  std::vector<int> sent(40), received(40);
  std::iota(sent.begin(), sent.end(), 0);
  std::vector<Ticket> tickets;
  for (int& value : sent) tickets.push_back(boxes.of(0).send(1, 7, &value, sizeof value));
  for (int& value : received) tickets.push_back(boxes.of(1).receive(0, 7, &value, sizeof value));
  for (auto ticket = tickets.rbegin(); ticket != tickets.rend(); ++ticket) finish(boxes.of(0), *ticket);
  EXPECT_EQ(sent, received);
  EXPECT_TRUE(boxes.complaints().empty());
}

TEST(Mailboxes, DelaysComeFromTheSeed) {
  const auto looks = [](std::uint64_t seed) {
    Mailboxes boxes(2, seed);
    std::vector<int> all;
    for (int tag = 0; tag < 50; ++tag) {
      const Ticket sent = boxes.of(0).send(1, tag, nullptr, 0);
      all.push_back(finish(boxes.of(1), boxes.of(1).receive(0, tag, nullptr, 0)));
      finish(boxes.of(0), sent);
    }
    return all;
  };
  EXPECT_EQ(looks(1), looks(1));
  EXPECT_NE(looks(1), looks(2));
  const auto all = looks(3);
  EXPECT_GT(std::set<int>(all.begin(), all.end()).size(), 5u) << "hardly any delays";
}

TEST(Mailboxes, SomeSendsWaitForTheirReceiver) {
  Mailboxes boxes(2, 1);
  int waiting = 0;
  constexpr int tags = 60, more_than_any_delay = 1000;
  for (int tag = 0; tag < tags; ++tag) {
    const Ticket sent = boxes.of(0).send(1, tag, nullptr, 0);
    bool done = false;
    for (int i = 0; i < more_than_any_delay && !done; ++i) done = boxes.of(0).test(sent);
    waiting += !done;
  }
  EXPECT_GT(waiting, tags / 5);
  EXPECT_LT(waiting, tags * 4 / 5);
}

TEST(Mailboxes, NoticeDataThatChangeUnderWay) {
  Mailboxes boxes(2);
  int value = 1, other = 0;
  const Ticket sent = boxes.of(0).send(1, 0, &value, sizeof value);
  value = 2;
  finish(boxes.of(1), boxes.of(1).receive(0, 0, &other, sizeof other));
  finish(boxes.of(0), sent);
  EXPECT_EQ(other, 1);
  EXPECT_TRUE(contains(boxes.complaints(), "were changed while"));
}

TEST(Mailboxes, NoticeMemoryThatIsUsedTwice) {
  Mailboxes boxes(3);
  int one = 1, two = 2, room = 0;
  Transport& mine = boxes.of(2);
  const Ticket sent[] = {boxes.of(0).send(2, 0, &one, sizeof one), boxes.of(1).send(2, 0, &two, sizeof two)};
  const Ticket both[] = {mine.receive(0, 0, &room, sizeof room), mine.receive(1, 0, &room, sizeof room)};
  for (const Ticket ticket : {both[0], both[1], sent[0], sent[1]}) finish(mine, ticket);
  EXPECT_TRUE(contains(boxes.complaints(), "was written to while"));
}

TEST(Mailboxes, NoticeAnotherSize) {
  Mailboxes boxes(2);
  const int values[2] = {1, 2};
  int other = 0;
  boxes.of(0).send(1, 0, values, sizeof values);
  EXPECT_THROW(finish(boxes.of(1), boxes.of(1).receive(0, 0, &other, sizeof other)), Error);
  EXPECT_TRUE(contains(boxes.complaints(), "a message of 8 bytes, where 4 are expected"));
}

TEST(Mailboxes, NoticeWhatIsLeftOver) {
  Mailboxes boxes(2);
  boxes.of(0).send(1, 3, nullptr, 0);
  boxes.of(0).receive(1, 4, nullptr, 0);
  const auto complaints = boxes.complaints();
  EXPECT_EQ(complaints.size(), 4u);
  EXPECT_TRUE(contains(complaints, "a message from process 0 to 1 with tag 3 was never received"));
  EXPECT_TRUE(contains(complaints, "a receive from process 1 to 0 with tag 4 never got a message"));
  EXPECT_TRUE(contains(complaints, "a send from process 0 to 1 with tag 3 was never seen done"));
}

TEST(Mailboxes, NoticeATicketThatIsTestedAgain) {
  Mailboxes boxes(2);
  const Ticket sent = boxes.of(0).send(1, 0, nullptr, 0);
  finish(boxes.of(1), boxes.of(1).receive(0, 0, nullptr, 0));
  finish(boxes.of(0), sent);
  EXPECT_THROW(boxes.of(0).test(sent), Error);
  EXPECT_FALSE(boxes.complaints().empty());
}

}  // namespace
}  // namespace espalier::testing
