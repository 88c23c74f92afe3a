#include <gtest/gtest.h>

#include <array>

#include "runtime/process/node.hpp"

namespace espalier::runtime {
namespace {

TEST(Affinity, MasksTravelAsWords) {
  std::array<std::byte, 32> note;
  for (const char* text : {"0", "0-3", "1,8-17,255", "", "7,64"}) {
    note.fill(std::byte{0xff});  // what lay there before
    store_affinity(note.data(), note.size(), topology::CpuSet::parse(text));
    EXPECT_EQ(load_affinity(note.data(), note.size()), topology::CpuSet::parse(text)) << text;
  }
}

TEST(Affinity, CpusThatDoNotFitAreCutOff) {
  std::array<std::byte, 33> note;
  note.back() = std::byte{0xaa};
  store_affinity(note.data(), 32, topology::CpuSet::parse("3,255-300"));
  EXPECT_EQ(load_affinity(note.data(), 32), topology::CpuSet::parse("3,255"));
  EXPECT_EQ(note.back(), std::byte{0xaa});
}

}  // namespace
}  // namespace espalier::runtime
