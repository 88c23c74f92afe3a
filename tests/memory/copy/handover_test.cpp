// A descriptor goes from one process to others, and to no stranger; nothing waits for a process that is gone.
#include "memory/copy/handover.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cstring>

#include "base/abstract_socket.hpp"
#include "base/token.hpp"
#include "memory/copy/descriptor_message.hpp"
#include "memory/segment.hpp"
#include "tests/memory/children.hpp"

namespace espalier::memory {
namespace {

using testing::end_of;
using testing::fork_child;
using Stand = DescriptorTaker::Stand;

constexpr std::size_t segment_bytes = 1 << 16;

/// A giver that listens, with what it gives. In the test's own process the takers' connect() and the giver's
/// collect() need no order between processes, for none of them waits.
class Handovers : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(giver.listen(ticket, why)) << why; }
  Descriptor connection() const {
    const AbstractAddress address("espalier-" + token_text());
    Descriptor socket = stream_socket();
    EXPECT_EQ(connect(socket.get(), address.get(), address.length()), 0) << std::strerror(errno);
    return socket;
  }
  std::string token_text() const {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(ticket.token));
    return text;
  }
  std::string why;
  const HandoverTicket ticket{random_token(), random_token()};
  const Segment segment = Segment::create_memfd(segment_bytes, why);
  DescriptorGiver giver;
};

TEST_F(Handovers, EveryProcessGetsTheMemory) {
  constexpr int receivers = 5;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < receivers; ++i)
    children.push_back(fork_child([&, i] {
      giver = DescriptorGiver();
      std::string problem;
      DescriptorTaker taker(ticket);
      EXPECT_EQ(taker.connect(problem), Stand::connected) << problem;
      EXPECT_EQ(write(ready[1], "r", 1), 1);
      Descriptor descriptor = taker.take(20000, problem);
      EXPECT_TRUE(descriptor) << problem;
      const Segment mine = Segment::adopt(std::move(descriptor), segment_bytes, problem);
      EXPECT_TRUE(mine) << problem;
      mine.base()[i] = static_cast<std::byte>(100 + i);
      return 0;
    }));
  for (char byte; const auto& child : children) {
    static_cast<void>(child);
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
  }
  giver.collect();
  EXPECT_TRUE(giver.give(segment.descriptor(), receivers, why)) << why;
  for (const pid_t child : children) EXPECT_EQ(end_of(child), 0);
  for (int i = 0; i < receivers; ++i) EXPECT_EQ(segment.base()[i], static_cast<std::byte>(100 + i));
}

// A daemon's: nothing that is opened may stand in for its output, and nothing goes to what it executes.
TEST(Handover, NoDescriptorIsAStandardOneAndAllCloseOnExec) {
  const pid_t child = fork_child([&] {
    const int spare = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    for (const int standard : {0, 1, 2}) close(standard);
    std::string why;
    const HandoverTicket ticket{random_token(), random_token()};
    const Segment segment = Segment::create_memfd(segment_bytes, why);
    DescriptorGiver giver;
    const bool listens = giver.listen(ticket, why);
    DescriptorTaker taker(ticket);
    const bool connected = taker.connect(why) == Stand::connected;
    giver.collect();
    const bool gave = giver.give(segment.descriptor(), 1, why);
    const Descriptor taken = taker.take(5000, why);
    const bool right = listens && connected && gave && taken.get() > 2 &&
                       fcntl(taken.get(), F_GETFD) == FD_CLOEXEC && segment.descriptor() > 2 &&
                       fcntl(segment.descriptor(), F_GETFD) == FD_CLOEXEC && fcntl(0, F_GETFD) == -1 &&
                       fcntl(1, F_GETFD) == -1 && fcntl(2, F_GETFD) == -1;
    dup2(spare, STDERR_FILENO);
    return right ? 0 : 1;
  });
  EXPECT_EQ(end_of(child), 0);
}

TEST_F(Handovers, AMissingProcessIsNotWaitedFor) {
  DescriptorTaker taker(ticket);
  EXPECT_EQ(taker.connect(why), Stand::connected);
  giver.collect();
  EXPECT_FALSE(giver.give(segment.descriptor(), 3, why));
  EXPECT_NE(why.find("1 of 3 processes"), std::string::npos) << why;
  EXPECT_FALSE(taker.take(60000, why));
  EXPECT_NE(why.find("has given up, or is gone"), std::string::npos) << why;
}

TEST_F(Handovers, AProcessThatDiesAfterItHasConnectedHoldsUpNoOther) {
  DescriptorTaker survivor(ticket);
  EXPECT_EQ(survivor.connect(why), Stand::connected);
  {
    DescriptorTaker victim(ticket);
    EXPECT_EQ(victim.connect(why), Stand::connected);
  }
  giver.collect();
  giver.give(segment.descriptor(), 2, why);  // whether it fails is of no interest: the victim has gone
  giver = DescriptorGiver();
  survivor.take(60000, why);
}

TEST_F(Handovers, AGiverThatDiesIsSeenAtOnce) {
  DescriptorTaker connected(ticket), collected(ticket), late(ticket);
  EXPECT_EQ(collected.connect(why), Stand::connected);
  giver.collect();
  EXPECT_EQ(connected.connect(why), Stand::connected);
  giver = DescriptorGiver();
  for (DescriptorTaker* taker : {&collected, &connected}) {
    EXPECT_FALSE(taker->take(60000, why));
    EXPECT_NE(why.find("is gone"), std::string::npos) << why;
  }
  EXPECT_EQ(late.connect(why), Stand::refused);
  EXPECT_NE(why.find("Connection refused"), std::string::npos) << why;
}

TEST_F(Handovers, AGiverThatNeverGivesIsATimeout) {
  DescriptorTaker taker(ticket);
  EXPECT_EQ(taker.connect(why), Stand::connected);
  EXPECT_FALSE(taker.take(50, why));
  EXPECT_NE(why.find("timed out"), std::string::npos) << why;
}

TEST_F(Handovers, ATokenIsTakenOnce) {
  DescriptorGiver second;
  EXPECT_FALSE(second.listen(ticket, why));
  EXPECT_NE(why.find("in use"), std::string::npos) << why;
}

TEST_F(Handovers, WhoDoesNotKnowTheKeyGetsNothingAndDoesNotCount) {
  const Descriptor silent = connection();
  const Descriptor closes = connection();
  shutdown(closes.get(), SHUT_WR);
  const Descriptor garbage = connection();
  EXPECT_EQ(send(garbage.get(), "garbage of some length", 22, 0), 22);
  DescriptorTaker guesses({ticket.token, ticket.key ^ 2}), taker(ticket);
  EXPECT_EQ(guesses.connect(why), Stand::connected);
  EXPECT_EQ(taker.connect(why), Stand::connected);
  giver.collect();
  EXPECT_TRUE(giver.give(segment.descriptor(), 1, why)) << why;
  EXPECT_TRUE(taker.take(5000, why)) << why;
  EXPECT_FALSE(guesses.take(5000, why));
}

TEST_F(Handovers, AFullQueueIsTriedAgain) {
  std::vector<Descriptor> strangers;
  for (;;) {
    Descriptor socket = stream_socket();
    const AbstractAddress address("espalier-" + token_text());
    if (!socket) GTEST_SKIP() << "fewer descriptors than the queue is long: " << std::strerror(errno);
    if (connect(socket.get(), address.get(), address.length()) != 0) break;
    strangers.push_back(std::move(socket));
  }
  DescriptorTaker taker(ticket);
  EXPECT_EQ(taker.connect(why), Stand::full);
  giver.collect();
  EXPECT_EQ(taker.connect(why), Stand::connected) << why;
  giver.collect();
  EXPECT_TRUE(giver.give(segment.descriptor(), 1, why)) << why;
  EXPECT_TRUE(taker.take(5000, why)) << why;
}

TEST_F(Handovers, AGiverWithoutDescriptorsGivesUp) {
  DescriptorTaker taker(ticket);
  EXPECT_EQ(taker.connect(why), Stand::connected);
  rlimit kept;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &kept), 0);
  const rlimit none = {0, kept.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  giver.collect();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &kept), 0);
  EXPECT_FALSE(giver.give(segment.descriptor(), 1, why));
  EXPECT_EQ(why, "accept4: Too many open files");
  EXPECT_FALSE(taker.take(60000, why));
}

TEST_F(Handovers, AnotherUserGetsNothingAndDoesNotCount) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can play another user";
  const pid_t stranger = fork_child([&] {
    if (setuid(65534) != 0) return 1;
    std::string problem;
    DescriptorTaker taker(ticket);
    EXPECT_EQ(taker.connect(problem), Stand::refused);
    EXPECT_NE(problem.find("denied"), std::string::npos) << problem;
    // Also where it knows the key, and does not care who listens.
    const Descriptor socket = connection();
    EXPECT_EQ(send(socket.get(), &ticket.key, sizeof ticket.key, 0), 8);
    giver = DescriptorGiver();
    EXPECT_TRUE(wait_for(socket.get(), 20000));
    EXPECT_FALSE(receive_descriptor(socket.get()));
    return 0;
  });
  DescriptorTaker taker(ticket);
  EXPECT_EQ(taker.connect(why), Stand::connected);
  usleep(100000);  // most likely the stranger stands in the queue by now; if not, nothing is shown
  giver.collect();
  EXPECT_TRUE(giver.give(segment.descriptor(), 1, why)) << why;
  EXPECT_TRUE(taker.take(5000, why)) << why;
  EXPECT_EQ(end_of(stranger), 0);
}

/// What descriptor_in() makes of a message with these descriptors.
Descriptor sent_as(const std::vector<int>& numbers, int type = SCM_RIGHTS) {
  alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))] = {};
  msghdr header{};
  header.msg_control = control;
  header.msg_controllen = CMSG_SPACE(numbers.size() * sizeof(int));
  cmsghdr* first = CMSG_FIRSTHDR(&header);
  first->cmsg_level = SOL_SOCKET;
  first->cmsg_type = type;
  first->cmsg_len = CMSG_LEN(numbers.size() * sizeof(int));
  if (!numbers.empty()) std::memcpy(CMSG_DATA(first), numbers.data(), numbers.size() * sizeof(int));
  return descriptor_in(header);
}

TEST(DescriptorMessage, HasExactlyOne) {
  const int one = open("/dev/null", O_RDONLY), two = open("/dev/null", O_RDONLY);
  EXPECT_FALSE(sent_as({one, two}));
  EXPECT_EQ(fcntl(one, F_GETFD), -1) << "closed, else it would stay open for ever";
  EXPECT_EQ(fcntl(two, F_GETFD), -1);
  EXPECT_FALSE(sent_as({}));
  EXPECT_FALSE(sent_as({7}, SCM_RIGHTS + 1));
  const int three = open("/dev/null", O_RDONLY);
  EXPECT_EQ(sent_as({three}).get(), three);
}

}  // namespace
}  // namespace espalier::memory
