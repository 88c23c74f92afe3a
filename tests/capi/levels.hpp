// Levels that go with a test.
#pragma once

#include "examples/levels/levels.h"
#include "tests/capi/met.hpp"

namespace espalier::testing {

class MadeLevels {
 public:
  explicit MadeLevels(espalier_comm* comm, const espalier_levels_options* options = nullptr) {
    const espalier_levels_options usual = levels_example_options();
    EXPECT_EQ(espalier_levels_create(comm, options ? options : &usual, &levels_), ESPALIER_OK)
        << espalier_error_text();
  }
  ~MadeLevels() { espalier_levels_free(levels_); }
  MadeLevels(const MadeLevels&) = delete;
  MadeLevels& operator=(const MadeLevels&) = delete;

  espalier_levels* get() const { return levels_; }

 private:
  espalier_levels* levels_ = nullptr;
};

}  // namespace espalier::testing
