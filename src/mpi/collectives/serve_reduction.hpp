// What serving a reduction has in common: allreduce, reduce, reduce_scatter(_block), scan, exscan.
#pragma once

#include "mpi/collectives/reduction_arguments.hpp"
#include "mpi/collectives/serve.hpp"
#include "mpi/collectives/user_reduction.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/host/handles.hpp"

namespace espalier::mpi {

/// What a kind of reduction makes of a call.
struct Shape {
  Collective collective;
  MPI_Count elements;  ///< of each rank's vector
  bool is_target;      ///< a result comes to this rank; without one `receive` may hold anything
};

/// What becomes of a call that the runtime has left to the host. A reproducible reduction (ESPALIER_REPRODUCIBLE) is
/// not the host's: that moves all vectors to all ranks, piece by piece, and what it would have folded in an order of
/// its own is folded here. Returns an MPI error code, or `to_host`. Out of line: it must cost a call that is served
/// nothing.
[[gnu::cold, gnu::noinline]] int not_served(const Entry& entry, const Call& call, const Shape& shape,
                                            const reduce::Operation& operation, std::size_t bytes);

inline bool buffers_fit(const Call& call, bool is_target, const Layout& layout) {
  const bool has_source = is_in_place(call.send) ? is_target : may_begin_at(call.send, layout);
  return has_source && (!is_target || may_begin_at(call.receive, layout));
}

/// Reductions other than a kernel on valid arguments.
template <class ByUser>
int reduce_other(Entry& entry, const Call& call, const Shape& shape, std::size_t& bytes, ByUser by_user) {
  const auto op = typed<MPI_Op>(call.op);
  const auto datatype = typed<MPI_Datatype>(call.type);
  Layout layout;
  if (shape.elements < 0 || datatype == host.constants.datatype_null || op == host.constants.op_null ||
      !lay_out(datatype, shape.elements, layout) || !buffers_fit(call, shape.is_target, layout))
    return to_host;
  bytes = layout.bytes();
  const PredefinedType* type = predefined_type(layout.type);
  const PredefinedOp* predefined = predefined_op(op);
  const bool is_known = type || (predefined && operation_on_unnamed(datatype, *predefined));
  if (predefined && (predefined->op == reduce::Op::none || !is_known))
    return refuse(entry, shape.collective, bytes, why_no_kernel(type, *predefined));
  if (predefined && type && !operation(*type, *predefined) &&
      service_of(*type, *predefined) == Service::left_to_host)
    return to_host;
  if (bytes == 0) return MPI_SUCCESS;
  UserReduction reduction(op, layout, entry.comm);
  return served(by_user(reduction, shape.is_target ? source(call) : call.send), entry, shape.collective,
                bytes);
}

/// `by_kernel(send, operation)` and `by_user(reduction, send)` call the runtime.
template <class ByKernel, class ByUser>
int serve_shape(Entry& entry, const Call& call, const Shape& shape, std::size_t& bytes, ByKernel by_kernel,
                ByUser by_user) {
  if (is_alias_for_host(call, shape.collective, shape.elements, shape.is_target)) [[unlikely]]
    return to_host;
  const reduce::Operation* found = kernel(entry, call, shape.elements, bytes);
  if (!found) [[unlikely]]
    found = kernel_by_host(call, shape.elements, bytes);
  if (!found || !plain_buffers(call, shape.is_target)) [[unlikely]]
    return reduce_other(entry, call, shape, bytes, by_user);
  const bool done = by_kernel(shape.is_target ? source(call) : call.send, *found);
  if (!done) [[unlikely]]
    return not_served(entry, call, shape, *found, bytes);
  return MPI_SUCCESS;
}

}  // namespace espalier::mpi
