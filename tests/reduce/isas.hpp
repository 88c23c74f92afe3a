// The instruction sets that this machine can try.
#pragma once

#include <vector>

#include "reduce/isa.hpp"

namespace espalier::reduce {

inline std::vector<Isa> usable_isas() {
  std::vector<Isa> usable;
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512})
    if (detail::table(isa)) usable.push_back(isa);
  return usable;
}

}  // namespace espalier::reduce
