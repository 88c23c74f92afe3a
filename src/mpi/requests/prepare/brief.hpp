// Which nonblocking calls are brief ones (collective/schedule/brief_call.hpp): a look at their arguments, and
// nothing else. What is not plain goes the usual way. Each function says whether the draft is made.
#pragma once

#include "mpi/collectives/reduction_arguments.hpp"
#include "mpi/datatype/staging.hpp"
#include "mpi/requests/prepare/rank_info.hpp"

namespace espalier::mpi::persistent {

/// Of a plain block; 0: it is none, or too long.
inline std::size_t brief_bytes(const void* buffer, MPI_Count count, Handle type, Collective collective,
                               int ranks) {
  const std::size_t size = plain_size(type);
  if (!is_plain_buffer(buffer) || !is_plain_number(count)) return 0;
  const std::size_t bytes = static_cast<std::size_t>(count) * size;
  return bytes <= collective::longest_brief_block(collective, ranks) ? bytes : 0;
}

inline bool is_brief_bcast(const Call& call, Entry& entry, Draft& draft) {
  if (!draft.may_be_brief) return false;
  const std::size_t bytes =
      brief_bytes(call.receive, call.count, call.type, Collective::bcast, rank_info_of(entry).size);
  if (bytes == 0) return false;
  draft.be_brief(bytes, call.receive, call.receive, nullptr, false);
  return true;
}

/// Allgather and alltoall: of so many bytes for each block of either side.
inline std::size_t brief_block_bytes(const Transfer& call, Collective collective, int ranks) {
  const Part &send = call.send, &receive = call.receive;
  const std::size_t bytes = brief_bytes(send.buffer, send.count, send.type, collective, ranks);
  return bytes == brief_bytes(receive.buffer, receive.count, receive.type, collective, ranks) ? bytes : 0;
}

inline bool is_brief_allgather(const Transfer& call, Entry& entry, Draft& draft) {
  if (!draft.may_be_brief) return false;
  const collective::RankInfo self = rank_info_of(entry);
  const std::size_t bytes = brief_block_bytes(call, Collective::allgather, self.size);
  auto* const receive = static_cast<std::byte*>(call.receive.buffer);
  const bool is_in_place = call.send.buffer == receive + static_cast<std::size_t>(self.rank) * bytes;
  if (bytes == 0 || is_in_place) return false;  // or an error
  draft.be_brief(bytes, call.send.buffer, receive, nullptr, false);
  return true;
}

inline bool is_brief_alltoall(const Transfer& call, Entry& entry, Draft& draft) {
  if (!draft.may_be_brief) return false;
  const int ranks = rank_info_of(entry).size;
  const std::size_t bytes = brief_block_bytes(call, Collective::alltoall, ranks);
  if (bytes == 0 || call.send.buffer == call.receive.buffer) return false;
  draft.be_brief(static_cast<std::size_t>(ranks) * bytes, call.send.buffer, call.receive.buffer, nullptr,
                 false);
  return true;
}

/// Reduce and allreduce.
inline bool is_brief_reduction(const Call& call, Collective collective, bool is_target, Entry& entry,
                               Draft& draft) {
  if (!draft.may_be_brief || is_in_place(call.send) || !plain_buffers(call, is_target) ||
      call.send == call.receive)
    return false;
  std::size_t bytes = 0;
  const reduce::Operation* operation = kernel(call, call.count, bytes);
  if (!operation || operation->at_once ||
      bytes > collective::longest_brief_block(collective, rank_info_of(entry).size))
    return false;
  draft.be_brief(bytes, call.send, call.receive, operation, is_target);
  return true;
}

}  // namespace espalier::mpi::persistent
