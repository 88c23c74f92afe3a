#include "memory/heap/fork_snapshot.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "base/descriptor.hpp"

namespace espalier::memory {
namespace {

constexpr std::size_t part = 64 * 1024, whole = 16 * part;

/// A file of memory with data in its third and tenth part only, and where it is mapped.
class ForkSnapshots : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(ftruncate(file.get(), whole), 0);
    shared = static_cast<std::byte*>(mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0));
    std::memset(shared + 2 * part, 1, part);
    std::memset(shared + 9 * part, 2, part);
  }
  void TearDown() override { munmap(shared, whole); }

  std::size_t data_in_file() const {
    struct stat status;
    return fstat(file.get(), &status) == 0 ? static_cast<std::size_t>(status.st_blocks) * 512 : 0;
  }
  std::byte in_file(std::size_t offset) const {
    std::byte value{};
    EXPECT_EQ(pread(file.get(), &value, 1, static_cast<off_t>(offset)), 1);
    return value;
  }

  Descriptor file = own_descriptor(memfd_create("espalier-test", MFD_CLOEXEC));
  std::byte* shared = nullptr;
  ForkSnapshot snapshot;
};

TEST_F(ForkSnapshots, TheChildsBytesAreThoseOfTheMoment) {
  snapshot.take(file.get(), part, whole);
  EXPECT_TRUE(snapshot.is_copy());
  EXPECT_EQ(snapshot.size(), whole - part);
  shared[2 * part] = shared[5 * part] = std::byte{7};
  snapshot.move_to(shared + part);
  EXPECT_TRUE(snapshot.is_empty());
  EXPECT_EQ(shared[2 * part], std::byte{1});
  EXPECT_EQ(shared[3 * part - 1], std::byte{1});
  EXPECT_EQ(shared[5 * part], std::byte{0});
  EXPECT_EQ(shared[10 * part - 1], std::byte{2});
  shared[9 * part] = std::byte{8};
  EXPECT_EQ(in_file(9 * part), std::byte{2});
  EXPECT_EQ(in_file(2 * part), std::byte{7});
}

TEST_F(ForkSnapshots, WhatWasNeverWrittenIsNotMade) {
  const std::size_t before = data_in_file();
  snapshot.take(file.get(), 0, whole);
  EXPECT_EQ(data_in_file(), before);
  EXPECT_LE(before, 4 * part);
  snapshot.drop();
  EXPECT_TRUE(snapshot.is_empty());
}

TEST_F(ForkSnapshots, WithoutAddressSpaceItIsAViewWhoseWritesAreTheChildsAlone) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit nothing{part, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &nothing), 0);
  snapshot.take(file.get(), 0, whole);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_FALSE(snapshot.is_copy());
  EXPECT_FALSE(snapshot.is_empty());
  snapshot.move_to(shared);
  EXPECT_EQ(shared[2 * part], std::byte{1});
  shared[2 * part] = std::byte{7};
  EXPECT_EQ(in_file(2 * part), std::byte{1});
}

}  // namespace
}  // namespace espalier::memory
