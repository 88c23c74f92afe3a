// The collectives of a group: up a binomial tree and down again, by notifications in the control window.
#pragma once

#include <functional>

#include "capi/gaspi/core/layer.hpp"

namespace espalier::capi::gaspi {

/// into[i] = into[i] op from[i].
using Fold = std::function<void(void* into, const void* from)>;

enum class Call : std::uint32_t { barrier = 1, allreduce, allreduce_user, set_up };

/// What all ranks of a group say alike: the call and its arguments. Never 0.
constexpr std::uint32_t call_kind(Call call, unsigned elements = 0, unsigned type = 0,
                                  unsigned operation = 0) {
  return static_cast<std::uint32_t>(call) << 24 | type << 20 | operation << 16 | elements;
}

/// How many notifications, and bytes, a rank has in the control window.
int control_ids();
std::size_t control_bytes();

/// Collective over the group; resumable after TimedOut by the same `kind`. `bytes` is 0 to longest_block; the result is
/// the same on all ranks. Throws Failure when another rank makes another call.
void fold_over(int group, std::uint32_t kind, const void* mine, void* result, std::size_t bytes,
               const Fold& fold, const Deadline& deadline);

/// Why ranks gather: they say so to each other, as they say which call they make.
enum class Purpose : unsigned { commit = 1, segment, communicator };

/// Collective: `all` receives `bytes` of each rank, in the group's order. Resumable after TimedOut with the same purpose.
void gather_over(int group, Purpose purpose, const void* mine, void* all, std::size_t bytes,
                 const Deadline& deadline);

}  // namespace espalier::capi::gaspi
