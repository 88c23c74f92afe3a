#include "memory/copy/handover.hpp"

#include <fcntl.h>

#include <cstring>

#include "memory/segment.hpp"
#include "tests/memory/children.hpp"

namespace espalier::memory {
namespace {

using testing::end_of;
using testing::fork_child;

constexpr std::size_t segment_bytes = 1 << 16;
std::string own_token(const char* test) { return std::string("test-") + test + std::to_string(getpid()); }

TEST(Handover, EveryProcessGetsTheMemory) {
  constexpr int receivers = 5;
  std::string why;
  const Segment segment = Segment::create_memfd(segment_bytes, why);
  const std::string token = own_token("all");
  Handover handover;
  ASSERT_TRUE(handover.listen(token, why)) << why;
  std::vector<pid_t> children;
  for (int i = 0; i < receivers; ++i)
    children.push_back(fork_child([&, i] {
      std::string problem;
      Descriptor descriptor = Handover::take(token, 5000, problem);
      EXPECT_TRUE(descriptor) << problem;
      const Segment mine = Segment::adopt(std::move(descriptor), segment_bytes, problem);
      EXPECT_TRUE(mine) << problem;
      mine.base()[i] = static_cast<std::byte>(100 + i);
      return 0;
    }));
  EXPECT_TRUE(handover.give(segment.descriptor(), receivers, 5000, why)) << why;
  for (const pid_t child : children) EXPECT_EQ(end_of(child), 0);
  for (int i = 0; i < receivers; ++i) EXPECT_EQ(segment.base()[i], static_cast<std::byte>(100 + i));
}

// A daemon's: nothing that is opened may stand in for its output, and nothing goes to what it executes.
TEST(Handover, NoDescriptorIsAStandardOneAndAllCloseOnExec) {
  const std::string token = own_token("daemon");
  const pid_t child = fork_child([&] {
    const int spare = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    for (const int standard : {0, 1, 2}) close(standard);
    std::string why;
    const Segment segment = Segment::create_memfd(segment_bytes, why);
    Handover handover;
    const bool listens = handover.listen(token, why);
    const pid_t taker = fork();
    if (taker == 0) {
      const Descriptor taken = Handover::take(token, 5000, why);
      _exit(taken.get() > 2 && fcntl(taken.get(), F_GETFD) == FD_CLOEXEC ? 0 : 1);
    }
    const bool gave = handover.give(segment.descriptor(), 1, 5000, why);
    const bool right = listens && gave && end_of(taker) == 0 && segment.descriptor() > 2 &&
                       fcntl(segment.descriptor(), F_GETFD) == FD_CLOEXEC && fcntl(0, F_GETFD) == -1 &&
                       fcntl(1, F_GETFD) == -1 && fcntl(2, F_GETFD) == -1;
    dup2(spare, STDERR_FILENO);
    return right ? 0 : 1;
  });
  EXPECT_EQ(end_of(child), 0);
}

TEST(Handover, SaysWhoDidNotCome) {
  std::string why;
  const Segment segment = Segment::create_memfd(segment_bytes, why);
  Handover handover;
  ASSERT_TRUE(handover.listen(own_token("late"), why));
  EXPECT_FALSE(handover.give(segment.descriptor(), 3, 50, why));
  EXPECT_NE(why.find("3 of 3 processes did not come"), std::string::npos) << why;
}

TEST(Handover, TakingFromNobodyIsRefused) {
  std::string why;
  EXPECT_FALSE(Handover::take(own_token("nobody"), 50, why));
  EXPECT_NE(why.find("refused"), std::string::npos) << why;
}

TEST(Handover, GiverThatNeverGivesIsATimeout) {
  std::string why;
  Handover handover;
  const std::string token = own_token("idle");
  ASSERT_TRUE(handover.listen(token, why));
  EXPECT_FALSE(Handover::take(token, 50, why));
  EXPECT_FALSE(why.empty());
}

TEST(Handover, TokenIsTakenOnce) {
  std::string why;
  const std::string token = own_token("twice");
  Handover first, second;
  ASSERT_TRUE(first.listen(token, why));
  EXPECT_FALSE(second.listen(token, why));
  EXPECT_NE(why.find("in use"), std::string::npos) << why;
}

TEST(Handover, AnotherUserGetsNothingAndDoesNotCount) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can play another user";
  std::string why;
  const Segment segment = Segment::create_memfd(segment_bytes, why);
  const std::string token = own_token("stranger");
  Handover handover;
  ASSERT_TRUE(handover.listen(token, why));
  const pid_t stranger = fork_child([&] {
    if (setuid(65534) != 0) return 1;
    std::string problem;
    EXPECT_FALSE(Handover::take(token, 2000, problem));
    EXPECT_NE(problem.find("denied"), std::string::npos) << problem;
    return 0;
  });
  EXPECT_EQ(end_of(stranger), 0);
  const pid_t friendly = fork_child([&] {
    std::string problem;
    return Handover::take(token, 5000, problem) ? 0 : 1;
  });
  EXPECT_TRUE(handover.give(segment.descriptor(), 1, 5000, why)) << why;
  EXPECT_EQ(end_of(friendly), 0);
}

}  // namespace
}  // namespace espalier::memory
