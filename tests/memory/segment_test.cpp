#include "memory/segment.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cstring>

#include "tests/memory/children.hpp"

namespace espalier::memory {
namespace {

using testing::end_of;
using testing::expect_a_segmentation_fault;
using testing::fork_child;

constexpr std::size_t mebibyte = 1 << 20;

// No other rank's: several test runs may share the machine.
std::string own_name() { return "/espalier-test-" + std::to_string(getpid()); }

bool in_dev_shm(const std::string& name) { return std::filesystem::exists("/dev/shm" + name); }

TEST(Segment, TwoMappingsShowTheSameBytes) {
  std::string why;
  const Segment first = Segment::create_memfd(mebibyte, why);
  ASSERT_TRUE(first) << why;
  const Segment second = Segment::adopt(Descriptor(dup(first.descriptor())), mebibyte, why);
  ASSERT_TRUE(second) << why;
  ASSERT_NE(first.base(), second.base());
  std::memset(first.base(), 42, mebibyte);
  EXPECT_EQ(std::memcmp(first.base(), second.base(), mebibyte), 0);
}

TEST(Segment, MovesWithoutAMark) {
  std::string why;
  Segment first = Segment::create_memfd(mebibyte, why);
  std::byte* const base = first.base();
  Segment second = std::move(first);
  EXPECT_EQ(second.base(), base);
  EXPECT_FALSE(first);  // NOLINT: what it is after a move is part of the contract
  first = std::move(second);
  EXPECT_EQ(first.base(), base);
}

TEST(Segment, ForkedChildHasNoMapping) {
  std::string why;
  const Segment segment = Segment::create_memfd(mebibyte, why);
  const pid_t child = fork_child([&] {
    expect_a_segmentation_fault();
    *segment.base() = std::byte{1};
    return 0;
  });
  EXPECT_EQ(end_of(child), -SIGSEGV);
}

TEST(Segment, AChildSharesWhatIsTheProgramsAndNothingElse) {
  std::string why;
  const Segment segment = Segment::create_memfd(mebibyte, why);
  segment.share_with_children(mebibyte / 2, mebibyte / 4);
  std::byte* const shared = segment.base() + mebibyte / 2;
  const pid_t child = fork_child([&] {
    shared[mebibyte / 4 - 1] = std::byte{1};
    expect_a_segmentation_fault();
    shared[mebibyte / 4] = std::byte{1};
    return 0;
  });
  EXPECT_EQ(end_of(child), -SIGSEGV);
  EXPECT_EQ(shared[mebibyte / 4 - 1], std::byte{1});
}

TEST(Segment, AChildHasNoDescriptorOfIt) {
  std::string why;
  const Segment segment = Segment::create_memfd(mebibyte, why);
  const int descriptor = segment.descriptor();
  ASSERT_GE(descriptor, 0);
  const pid_t child = fork_child([&] {
    EXPECT_EQ(segment.descriptor(), -1);
    EXPECT_EQ(fcntl(descriptor, F_GETFD), -1);
    return 0;
  });
  EXPECT_EQ(end_of(child), 0);
  EXPECT_EQ(segment.descriptor(), descriptor);
}

TEST(Segment, WhatTheProgramOpensUnderItsNumberIsLeftAlone) {
  std::string why;
  const Descriptor other = own_descriptor(memfd_create("other", MFD_CLOEXEC));
  int number = -1;
  {
    const Segment segment = Segment::create_memfd(mebibyte, why);
    number = segment.descriptor();
    ASSERT_EQ(dup2(other.get(), number), number);
    EXPECT_EQ(segment.descriptor(), -1);
    EXPECT_FALSE(segment.reserve(0, mebibyte));
    const pid_t child = fork_child([&] { return fcntl(number, F_GETFD) >= 0 ? 0 : 1; });
    EXPECT_EQ(end_of(child), 0);
  }
  EXPECT_GE(fcntl(number, F_GETFD), 0);
  struct stat status;
  ASSERT_EQ(fstat(number, &status), 0);
  EXPECT_EQ(status.st_size, 0);
  close(number);
}

TEST(Segment, ItsDescriptorCanGoBeforeIt) {
  std::string why;
  Segment segment = Segment::create_memfd(mebibyte, why);
  const int descriptor = segment.descriptor();
  segment.close_descriptor();
  EXPECT_EQ(fcntl(descriptor, F_GETFD), -1);
  EXPECT_EQ(segment.descriptor(), -1);
  segment.base()[mebibyte - 1] = std::byte{7};
}

TEST(Segment, AdoptRefusesAnotherSizeThanAgreed) {
  std::string why;
  const Segment segment = Segment::create_memfd(mebibyte, why);
  for (const std::size_t agreed : {2 * mebibyte, mebibyte / 2}) {
    EXPECT_FALSE(Segment::adopt(Descriptor(dup(segment.descriptor())), agreed, why));
    EXPECT_NE(why.find("1048576 bytes, and"), std::string::npos) << why;
  }
  EXPECT_FALSE(Segment::adopt(Descriptor(), mebibyte, why));
}

TEST(Segment, NoProcessCanMakeItShorter) {
  std::string why;
  const Segment segment = Segment::create_memfd(mebibyte, why);
  EXPECT_NE(ftruncate(segment.descriptor(), 1), 0);
  EXPECT_NE(ftruncate(segment.descriptor(), 2 * mebibyte), 0);
  struct stat status;
  ASSERT_EQ(fstat(segment.descriptor(), &status), 0);
  EXPECT_EQ(status.st_size, mebibyte);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
}

// A file as create_memfd() makes it, but for what `spoil` does to it.
template <class Spoil>
std::string why_not_adopted(Spoil spoil, bool sealed = true) {
  Descriptor file(memfd_create("espalier-test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(ftruncate(file.get(), mebibyte), 0);
  EXPECT_EQ(fchmod(file.get(), 0600), 0);
  spoil(file.get());
  if (sealed) {
    EXPECT_EQ(fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
  }
  std::string why;
  EXPECT_FALSE(Segment::adopt(std::move(file), mebibyte, why));
  return why;
}

TEST(Segment, AdoptRefusesWhatIsNotTheUsersAloneOrCanShrink) {
  EXPECT_NE(why_not_adopted([](int) {}, false).find("not sealed"), std::string::npos);
  EXPECT_NE(why_not_adopted([](int file) { EXPECT_EQ(fchmod(file, 0640), 0); }).find("mode 640"),
            std::string::npos);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::string why;
  EXPECT_FALSE(Segment::adopt(Descriptor(ends[0]), mebibyte, why));
  EXPECT_NE(why.find("no plain file"), std::string::npos) << why;
  close(ends[1]);
}

TEST(Segment, AdoptRefusesWhatBelongsToAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  EXPECT_NE(why_not_adopted([](int file) { EXPECT_EQ(fchown(file, 65534, 65534), 0); }).find("user 65534"),
            std::string::npos);
}

TEST(Segment, OpenRefusesANameThatOthersMayOpen) {
  std::string why;
  const Segment first = Segment::create_named(own_name(), mebibyte, why);
  EXPECT_EQ(fchmod(first.descriptor(), 0666), 0);
  EXPECT_FALSE(Segment::open_named(own_name(), mebibyte, why));
  EXPECT_NE(why.find("mode 666"), std::string::npos) << why;
  Segment::unlink(own_name());
}

TEST(Segment, NamedIsGoneOnceUnlinkedAndStillWorks) {
  std::string why;
  const Segment first = Segment::create_named(own_name(), mebibyte, why);
  ASSERT_TRUE(first) << why;
  EXPECT_TRUE(in_dev_shm(own_name()));
  const Segment second = Segment::open_named(own_name(), mebibyte, why);
  ASSERT_TRUE(second) << why;
  Segment::unlink(own_name());
  EXPECT_FALSE(in_dev_shm(own_name()));
  first.base()[mebibyte - 1] = std::byte{7};
  EXPECT_EQ(second.base()[mebibyte - 1], std::byte{7});
}

TEST(Segment, NameIsTakenOnce) {
  std::string why;
  const Segment first = Segment::create_named(own_name(), mebibyte, why);
  EXPECT_FALSE(Segment::create_named(own_name(), mebibyte, why));
  EXPECT_NE(why.find(own_name()), std::string::npos) << why;
  EXPECT_FALSE(Segment::open_named(own_name() + "-absent", mebibyte, why));
  Segment::unlink(own_name());
}

TEST(Segment, NamedThatCannotBeMappedLeavesNothing) {
  const std::string name = own_name();
  const pid_t child = fork_child([&] {
    const rlimit little{256 * mebibyte, 256 * mebibyte};
    setrlimit(RLIMIT_AS, &little);
    std::string why;
    EXPECT_FALSE(Segment::create_named(name, 1024 * mebibyte, why));
    EXPECT_NE(why.find("cannot map"), std::string::npos) << why;
    return 0;
  });
  EXPECT_EQ(end_of(child), 0);
  EXPECT_FALSE(in_dev_shm(name));
  Segment::unlink(name);
}

// A machine without space is a refusal, never a SIGBUS: shown on a tmpfs of 1 MiB in a mount name space of
// its own.
// Without a look at the limit the kernel would end the process.
TEST(Segment, MoreThanFilesMayBeIsRefused) {
  const pid_t child = testing::fork_child([] {
    const rlimit limit = {1 << 20, 1 << 20};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (const auto& create : {+[](std::string& why) { return Segment::create_memfd((1 << 20) + 1, why); },
                               +[](std::string& why) {
                                 return Segment::create_named("/espalier-test-limit", (1 << 20) + 1, why);
                               }}) {
      std::string why;
      EXPECT_FALSE(create(why));
      EXPECT_NE(why.find("ulimit -f"), std::string::npos) << why;
      EXPECT_TRUE(Segment::create_memfd(1 << 20, why)) << why;
    }
    return 0;
  });
  EXPECT_EQ(testing::end_of(child), 0);
}

TEST(Segment, ReserveFailsCleanlyWithoutSpace) {
  constexpr int not_allowed = 77;
  const pid_t child = fork_child([] {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=1m") != 0)
      return not_allowed;
    std::string why;
    const Segment segment = Segment::create_named("/espalier-small", 64 * mebibyte, why);
    EXPECT_TRUE(segment) << why;
    EXPECT_TRUE(segment.reserve(0, mebibyte / 2));
    std::memset(segment.base(), 1, mebibyte / 2);
    EXPECT_FALSE(segment.reserve(0, 32 * mebibyte));
    EXPECT_FALSE(segment.reserve(16 * mebibyte, 2 * mebibyte));
    EXPECT_EQ(segment.base()[mebibyte / 2 - 1], std::byte{1});
    return 0;
  });
  const int end = end_of(child);
  if (end == not_allowed) GTEST_SKIP() << "no right to mount a tmpfs here";
  EXPECT_EQ(end, 0);
}

}  // namespace
}  // namespace espalier::memory
