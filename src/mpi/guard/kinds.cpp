#include "mpi/guard/kinds.hpp"

#include <bit>
#include <optional>

#include "base/config.hpp"
#include "base/ticks.hpp"
#include "mpi/host/handles.hpp"
#include "mpi/host/host.hpp"

namespace espalier::mpi::guard {
namespace {

bool floats_too = false;

bool is_integer(mpi::Kind kind) {
  using enum mpi::Kind;
  return kind == signed_integer || kind == fortran_integer || kind == unsigned_integer || kind == logical;
}

/// Integers have the same sum in any order.
bool any_order_will_do(MPI_Datatype type, MPI_Op op) {
  const PredefinedOp* predefined = predefined_op(op);
  const PredefinedType* known = predefined_type(type);
  return predefined && predefined->op != reduce::Op::none && known && (floats_too || is_integer(known->kind));
}

/// What MPI makes equal on all ranks, whatever their datatypes; none: the host reports the call.
std::optional<std::size_t> bytes_of(MPI_Count count, MPI_Datatype type) {
  if (count < 0 || type == host.constants.datatype_null) return std::nullopt;
  MPI_Count size = 0;
  if (const PredefinedType* known = predefined_type(type))
    size = static_cast<MPI_Count>(known->size);
  else if (host.Type_size(type, &size) != MPI_SUCCESS || size < 0)
    return std::nullopt;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(count), static_cast<std::size_t>(size), &bytes))
    return std::nullopt;
  return bytes;
}

}  // namespace

void begin() {
  const Config& config = Config::instance();
  const bool all = config.text("ESPALIER_GUARD") == "all";
  floats_too =
      all && config.text("ESPALIER_REPRODUCIBLE") == "run";  // else the bits are Espalier's to promise
  is_on = all || config.flag("ESPALIER_GUARD");
  if (is_on) ticks::choose();
}

Kind* Kinds::look_up(const CallLength& length) {
  const auto type = typed<MPI_Datatype>(length.type);
  const auto bytes = bytes_of(length.count, type);
  const bool reduces = traits(length.collective).reduces;
  Kind* kind = nullptr;
  if (bytes && (!reduces || any_order_will_do(type, typed<MPI_Op>(length.op)))) {
    const auto size = static_cast<unsigned>(std::bit_width(*bytes));
    kind = &kinds_[static_cast<unsigned>(length.collective) << 8 | size];
    kind->bytes = *bytes;
  }
  const bool op_is_named = !reduces || predefined_op(typed<MPI_Op>(length.op));
  if (predefined_type(type) && op_is_named) known_[slot(length)] = {length, true, kind};
  return kind;
}

}  // namespace espalier::mpi::guard
