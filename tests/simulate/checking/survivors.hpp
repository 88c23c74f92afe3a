// Mutants that nothing can catch, and why.
#pragma once

#include <vector>

namespace espalier::testing {

struct Survivor {
  const char* mutant;
  const char* reason;
};

inline const std::vector<Survivor> survivors = {};

}  // namespace espalier::testing
