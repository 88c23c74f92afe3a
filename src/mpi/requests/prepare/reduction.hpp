// What the persistent reductions have in common.
#pragma once

#include <string>
#include <utility>

#include "mpi/collectives/reduction_arguments.hpp"
#include "mpi/requests/prepare/rank_info.hpp"
#include "mpi/requests/prepare/user_fold.hpp"

namespace espalier::mpi::persistent {

/// Why this rank cannot prepare the reduction; empty: it can. `elements`: of a rank's vector. `is_target`:
/// whether this rank gets a result. `operation`: the kernel, if there is one.
inline std::string why_unable(const Call& call, Collective collective, MPI_Count elements, bool is_target,
                              const reduce::Operation* operation) {
  const auto datatype = typed<MPI_Datatype>(call.type);
  const PredefinedOp* op = predefined_op(typed<MPI_Op>(call.op));
  if (elements < 0 || datatype == host.constants.datatype_null || !op) return bad_arguments;
  if (elements == 0) return "";
  if (!operation) {
    const PredefinedType* type = predefined_type(datatype);
    const bool is_wrong = type && service_of(*type, *op) == Service::left_to_host;
    return is_wrong ? bad_arguments : why_no_kernel(type, *op);
  }
  const bool is_usual =
      plain_buffers(call, is_target) && !is_alias_for_host(call, collective, elements, is_target);
  return is_usual ? "" : bad_arguments;
}

/// Puts the persistent spec of a reduction into `draft`, or the reason why there is none. `elements` and
/// `is_target` as above. `make_spec(send, receive, operation, bytes)` is called where a kernel can do the
/// operation.
template <class MakeSpec>
void make_reduction(const Call& call, Entry& entry, MPI_Count elements, bool is_target, Draft& draft,
                    MakeSpec make_spec) {
  std::size_t bytes = 0;
  const reduce::Operation* operation = kernel(call, elements, bytes);
  if (!operation) operation = kernel_by_host(call, elements, bytes);
  draft.unable = why_unable(call, draft.spec.collective, elements, is_target, operation);
  if (!draft.unable.empty()) return;
  if (elements > 0) {
    auto* receive = static_cast<std::byte*>(call.receive);
    const bool in_place = is_target && source(call) == runtime::Communicator::in_place;
    const auto* send = in_place ? receive : static_cast<const std::byte*>(call.send);
    draft.spec = make_spec(send, receive, *operation, bytes);
    draft.kernel = operation;
    if (operation->at_once) {
      draft.at_once = operation;
      draft.vector = send;
    }
  } else {  // nothing is moved
    const collective::PersistentSpec& asked = draft.spec;
    draft.spec = collective::transfer_spec(rank_info_of(entry), asked.collective, asked.root, 0, {}, {});
  }
}

/// A reduction whose vector has `count` elements on each rank.
inline void make_plain(const Call& call, Entry& entry, Collective collective, bool is_target, Draft& draft) {
  if (is_by_user(call)) [[unlikely]]
    return make_user_fold(call, entry, {call.count, is_target}, draft);
  make_reduction(
      call, entry, call.count, is_target, draft,
      [&](const std::byte* send, std::byte* receive, const reduce::Operation& operation, std::size_t bytes) {
        return collective::reduction_spec(rank_info_of(entry), collective, call.root, send, receive, bytes,
                                          operation, std::move(draft.spec));
      });
}

}  // namespace espalier::mpi::persistent
