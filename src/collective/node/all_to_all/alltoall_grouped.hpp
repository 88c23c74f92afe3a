// Alltoall in groups: short blocks of many ranks.
#pragma once

#include "collective/core/grouped_exchange.hpp"

namespace espalier::collective {

/// `bytes` for each rank. `send` may be `receive`: a part of all blocks is shown before that of others takes its
/// place.
template <Machine M>
void alltoall_grouped(M& m, const void* send, void* receive, std::size_t bytes, const Plan& plan) {
  const auto take = [&](const std::byte* data, int rank, int count, const Part& part) {
    if (part.bytes == bytes)
      return m.copy(at(receive, static_cast<std::size_t>(rank) * bytes), data,
                    static_cast<std::size_t>(count) * bytes);
    for (int i = 0; i < count; ++i)
      m.copy(at(receive, static_cast<std::size_t>(rank + i) * bytes + part.offset),
             data + static_cast<std::size_t>(i) * part.bytes, part.bytes);
  };
  GroupedExchange(m, bytes, plan).run(send, take, [](const Part&) {});
}

}  // namespace espalier::collective
