// Results that must have the same bits wherever and whenever they come.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/collective/floats.hpp"

namespace espalier::testing {

/// Thread-safe.
class SameBits {
 public:
  /// What comes first under a name is what all others must be.
  void expect(const std::string& name, const std::vector<float>& got) {
    const std::lock_guard lock(mutex_);
    const auto& wanted = first_.try_emplace(name, got).first->second;
    EXPECT_TRUE(same_bits(got, wanted)) << name;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<float>> first_;
};

}  // namespace espalier::testing
