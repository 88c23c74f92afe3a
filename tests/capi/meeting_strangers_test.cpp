// Strangers at a meeting: processes of other users, and ones of this user that are no ranks.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include "espalier/espalier.h"
#include "tests/capi/met.hpp"
#include "tests/capi/strangers.hpp"

namespace {

using namespace espalier::testing;

constexpr uid_t other_user = 65534;

// What a stranger does until it is killed. Its mistakes are not the test's: it cannot say whether it has come.
template <class Body>
class Stranger {
 public:
  Stranger(Body body, bool is_other_user) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    child_ = fork();
    if (child_ == 0) {
      signal(SIGPIPE, SIG_IGN);
      if (is_other_user && (setgid(other_user) != 0 || setuid(other_user) != 0)) _exit(1);
      body(ready[1]);
      pause();
      _exit(0);
    }
    char byte;
    close(ready[1]);
    EXPECT_EQ(read(ready[0], &byte, 1), 1) << "the stranger is not ready";
    close(ready[0]);
  }
  ~Stranger() {
    kill(child_, SIGKILL);
    end_of(child_);
  }

 private:
  pid_t child_;
};

void say_ready(int ready) {
  if (write(ready, "r", 1) != 1) _exit(1);
}

void expect_meeting(const std::string& name, int ranks = 3) {
  run_ranks(ranks, [&](int rank) {
    const Met met(name, rank, ranks);
    ASSERT_NE(met.comm, nullptr);
    std::int64_t value = rank, sum = 0;
    EXPECT_EQ(espalier_allreduce(met.comm, &value, &sum, 1, ESPALIER_INT64, ESPALIER_SUM), ESPALIER_OK);
    EXPECT_EQ(sum, ranks * (ranks - 1) / 2);
  });
}

// Says nothing, garbage, half a greeting, or goes at once; over and over, and as fast as it can.
void disturb(uid_t user, const std::string& name) {
  std::vector<int> silent;
  const std::string garbage(100, '\xff');
  for (int i = 0;; ++i) {
    const int socket = connection_to(user, name);
    if (i % 4 == 1) send(socket, garbage.data(), garbage.size(), MSG_NOSIGNAL);
    if (i % 4 == 2) send(socket, "teem", 4, MSG_NOSIGNAL);
    if (i % 4 == 3) silent.push_back(socket);
    if (i % 4 != 3) close(socket);
    if (silent.size() < 500) continue;
    for (const int each : silent) close(each);
    silent.clear();
  }
}

class MeetStrangers : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && geteuid() != 0) GTEST_SKIP() << "only root can play another user";
  }
};

TEST_P(MeetStrangers, CannotEndAMeeting) {
  const std::string name = own_name("disturbed");
  const uid_t user = geteuid();
  const auto body = [&](int ready) {
    say_ready(ready);
    disturb(user, name);
  };
  const Stranger one(body, GetParam()), two(body, GetParam());
  for (int round = 0; round < 5; ++round) {
    const pid_t meeting = fork_child([&] {
      run_ranks(3, [&](int rank) {
        // Between its ranks there is time for strangers.
        usleep(100'000 * static_cast<unsigned>(rank));
        const Met met(name, rank, 3);
        EXPECT_EQ(espalier_barrier(met.comm), ESPALIER_OK);
      });
      return 0;
    });
    EXPECT_EQ(end_of(meeting), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(OfThisUserAndAnother, MeetStrangers, ::testing::Bool());

class MeetSquatters : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can play another user";
  }
};

// It has the name first, and accepts, or only binds it: in its place it would be rank 0.
TEST_P(MeetSquatters, GetNoByteAndDoNotPreventTheMeeting) {
  const std::string name = own_name("squatted");
  const uid_t user = geteuid();
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  const Stranger squatter(
      [&](int ready) {
        const int listener = take_name(user, name, GetParam());
        say_ready(ready);
        for (;;) {
          const int socket = accept(listener, nullptr, nullptr);
          char byte;
          if (socket >= 0 && recv(socket, &byte, 1, 0) > 0 && write(told[1], "x", 1) != 1) _exit(1);
          if (socket < 0) pause();
          close(socket);
        }
      },
      true);
  expect_meeting(name);
  pollfd heard{told[0], POLLIN, 0};
  EXPECT_EQ(poll(&heard, 1, 0), 0) << "the squatter got a byte";
}

INSTANTIATE_TEST_SUITE_P(ThatListenOrNot, MeetSquatters, ::testing::Bool());

TEST(MeetAgain, AnotherJobOfTheSameUserUnderTheNameIsNamed) {
  const std::string name = own_name("used");
  const Stranger other(
      [&](int ready) {
        take_name(geteuid(), name, true);
        say_ready(ready);
      },
      false);
  run_ranks(1, [&](int) {
    espalier_comm* comm = nullptr;
    EXPECT_EQ(espalier_comm_meet(name.c_str(), 0, 2, 5000, &comm), ESPALIER_ERR_SYSTEM);
    EXPECT_TRUE(error_has("another job of this user")) << espalier_error_text();
  });
}

TEST(MeetDescriptors, WithoutAnyLeftTheMeetingEnds) {
  run_ranks(2, [&](int rank) {
    const std::string name = own_name("no-descriptors");
    espalier_comm* comm = nullptr;
    if (rank == 0) {
      // Room for the listener, but not for a connection.
      const int next = dup(0);
      close(next);
      const rlimit limit = {static_cast<rlim_t>(next) + 1, static_cast<rlim_t>(next) + 1};
      EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
      EXPECT_EQ(espalier_comm_meet(name.c_str(), 0, 2, 600'000, &comm), ESPALIER_ERR_SYSTEM);
      EXPECT_TRUE(error_has("accept4: Too many open files")) << espalier_error_text();
    } else {
      EXPECT_EQ(espalier_comm_meet(name.c_str(), 1, 2, 2000, &comm) == ESPALIER_OK, false);
    }
  });
}

}  // namespace
