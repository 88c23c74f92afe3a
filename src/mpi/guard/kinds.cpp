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

constexpr CallLength no_length{-1, 0, 0};  // of no call

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

Kinds::Kinds(bool host_may_serve) : host_may_serve_(host_may_serve) {
  without_trial_.turns = Turns::without_trial();
  for (std::size_t each = 0; each < last_.size(); ++each) {
    const auto collective = static_cast<Collective>(each);
    const bool is_one_kind = !has_length(collective) && !traits(collective).in_pieces;
    last_[each] = {no_length, is_one_kind ? &kind_of(collective, 0) : &without_trial_};
  }
}

Kind& Kinds::find_other(Collective collective, MPI_Count count, Handle type, Handle op) {
  const CallLength length = {count, type, op};
  const auto text = static_cast<std::uint64_t>(count) << 8 | static_cast<std::uint64_t>(collective);
  KnownOf& known = before_[(text * 0x9E3779B97F4A7C15u) >> (64 - slot_bits)];
  if (!known.kind || known.collective != collective || known.length != length) {
    Kind& kind = look_up(collective, length);
    const bool reduces = traits(collective).reduces;
    if (!predefined_type(typed<MPI_Datatype>(type)) || (reduces && !predefined_op(typed<MPI_Op>(op))))
      return kind;
    known = {{length, &kind}, collective};
  }
  last_[static_cast<std::size_t>(collective)] = known;
  return *known.kind;
}

Kind& Kinds::look_up(Collective collective, const CallLength& length) {
  const auto type = typed<MPI_Datatype>(length.type);
  const auto bytes = bytes_of(length.count, type);
  if (!bytes) return without_trial_;
  if (traits(collective).reduces && !any_order_will_do(type, typed<MPI_Op>(length.op))) return without_trial_;
  return kind_of(collective, *bytes);
}

Kind& Kinds::kind_of(Collective collective, std::size_t bytes) {
  if (!host_may_serve_) return without_trial_;
  const auto size = static_cast<unsigned>(std::bit_width(bytes));
  Kind& kind = kinds_[static_cast<unsigned>(collective) << 8 | size];
  kind.bytes = bytes;
  return kind;
}

}  // namespace espalier::mpi::guard
