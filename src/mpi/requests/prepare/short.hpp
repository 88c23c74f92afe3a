// Which nonblocking calls are short ones (collective/schedule/short_call.hpp): a look at their arguments, and
// nothing else. What is not plain goes the usual way. Each function says whether the draft is made.
#pragma once

#include "mpi/collectives/reduction_arguments.hpp"
#include "mpi/datatype/staging.hpp"
#include "mpi/requests/prepare/rank_info.hpp"

namespace espalier::mpi::persistent {

/// Of a plain block; 0: it is none, or not short.
inline std::size_t short_bytes(const void* buffer, MPI_Count count, Handle type) {
  const std::size_t size = plain_size(type);
  if (!is_plain_buffer(buffer) || !is_plain_number(count)) return 0;
  const std::size_t bytes = static_cast<std::size_t>(count) * size;
  return bytes <= collective::line_capacity ? bytes : 0;
}

inline bool is_short_bcast(const Call& call, Draft& draft) {
  const std::size_t bytes = draft.may_be_short ? short_bytes(call.receive, call.count, call.type) : 0;
  if (bytes == 0) return false;
  draft.be_short(bytes, call.receive, call.receive, nullptr, false);
  return true;
}

inline bool is_short_allgather(const Transfer& call, Entry& entry, Draft& draft) {
  if (!draft.may_be_short) return false;
  const std::size_t bytes = short_bytes(call.send.buffer, call.send.count, call.send.type);
  auto* const receive = static_cast<std::byte*>(call.receive.buffer);
  if (bytes == 0 || bytes != short_bytes(receive, call.receive.count, call.receive.type)) return false;
  const auto own = static_cast<std::size_t>(rank_info_of(entry).rank) * bytes;
  if (call.send.buffer == receive + own) return false;  // as in place, or an error
  draft.be_short(bytes, call.send.buffer, receive, nullptr, false);
  return true;
}

/// Reduce and allreduce.
inline bool is_short_reduction(const Call& call, bool is_target, Draft& draft) {
  if (!draft.may_be_short || is_in_place(call.send) || !plain_buffers(call, is_target) ||
      call.send == call.receive)
    return false;
  std::size_t bytes = 0;
  const reduce::Operation* operation = kernel(call, call.count, bytes);
  if (!operation || operation->at_once || bytes > collective::line_capacity) return false;
  draft.be_short(bytes, call.send, call.receive, operation, is_target);
  return true;
}

}  // namespace espalier::mpi::persistent
