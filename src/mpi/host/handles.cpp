#include "mpi/host/handles.hpp"

#include <mutex>

#include "base/config.hpp"
#include "mpi/host/host.hpp"
#include "mpi/host/type_map.hpp"
#include "reduce/reproducible.hpp"

namespace espalier::mpi {

HandleTable<PredefinedType, 9> predefined_types;
HandleTable<PredefinedOp, 7> predefined_ops;

namespace {

using reduce::Op;
using reduce::Type;

void add(MPI_Datatype datatype, Kind kind, Type exact = Type::none) {
  // A host without a type gives the null handle for its name.
  if (datatype == host.constants.datatype_null) return;
  if (PredefinedType* type = predefined_types.insert(wide(datatype))) {
    type->kind = kind;
    type->exact = exact;
  }
}

void add(MPI_Op op, Op meaning) {
  if (op == host.constants.op_null) return;
  if (PredefinedOp* entry = predefined_ops.insert(wide(op))) entry->op = meaning;
}

void add_c_types() {
  add(MPI_BYTE, Kind::exact, Type::byte);
  for (MPI_Datatype text : {MPI_CHAR, MPI_WCHAR, MPI_PACKED}) add(text, Kind::opaque);
  for (MPI_Datatype type : {MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG_INT, MPI_INT8_T,
                            MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_AINT, MPI_OFFSET, MPI_COUNT})
    add(type, Kind::signed_integer);
  for (MPI_Datatype type : {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
                            MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T})
    add(type, Kind::unsigned_integer);
  add(MPI_FLOAT, Kind::exact, Type::float32);
  add(MPI_DOUBLE, Kind::exact, Type::float64);
  add(MPI_LONG_DOUBLE, Kind::exact, Type::float_extended);
  add(MPI_C_BOOL, Kind::exact, Type::boolean);
  add(MPI_C_FLOAT_COMPLEX, Kind::exact, Type::complex64);
  add(MPI_C_DOUBLE_COMPLEX, Kind::exact, Type::complex128);
  add(MPI_C_LONG_DOUBLE_COMPLEX, Kind::exact, Type::complex_extended);
  add(MPI_CXX_BOOL, Kind::exact, Type::boolean);
  add(MPI_CXX_FLOAT_COMPLEX, Kind::exact, Type::complex64);
  add(MPI_CXX_DOUBLE_COMPLEX, Kind::exact, Type::complex128);
  add(MPI_CXX_LONG_DOUBLE_COMPLEX, Kind::exact, Type::complex_extended);
}

void add_pair_types() {
  add(MPI_FLOAT_INT, Kind::exact, Type::float_int);
  add(MPI_DOUBLE_INT, Kind::exact, Type::double_int);
  add(MPI_LONG_INT, Kind::exact, Type::long_int);
  add(MPI_2INT, Kind::exact, Type::int_int);
  add(MPI_SHORT_INT, Kind::exact, Type::short_int);
  add(MPI_LONG_DOUBLE_INT, Kind::exact, Type::long_double_int);
  add(MPI_2INTEGER, Kind::exact, Type::int_int);
  add(MPI_2REAL, Kind::exact, Type::float_float);
  add(MPI_2DOUBLE_PRECISION, Kind::exact, Type::double_double);
#ifdef MPI_2COMPLEX
  add(MPI_2COMPLEX, Kind::opaque);
#endif
#ifdef MPI_2DOUBLE_COMPLEX
  add(MPI_2DOUBLE_COMPLEX, Kind::opaque);
#endif
}

void add_fortran_types() {
  add(MPI_CHARACTER, Kind::opaque);
  for (MPI_Datatype type : {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8})
    add(type, Kind::fortran_integer);
  for (MPI_Datatype type : {MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8, MPI_REAL16})
    add(type, Kind::floating);
  for (MPI_Datatype type : {MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32})
    add(type, Kind::complex);
  add(MPI_LOGICAL, Kind::logical);
#ifdef MPI_INTEGER16
  add(MPI_INTEGER16, Kind::fortran_integer);
#endif
#ifdef MPI_REAL2
  add(MPI_REAL2, Kind::floating);
#endif
#ifdef MPI_COMPLEX4
  add(MPI_COMPLEX4, Kind::opaque);
#endif
#ifdef MPI_LOGICAL1
  add(MPI_LOGICAL1, Kind::logical);
  add(MPI_LOGICAL2, Kind::logical);
  add(MPI_LOGICAL4, Kind::logical);
  add(MPI_LOGICAL8, Kind::logical);
#endif
#ifdef MPI_LOGICAL16
  add(MPI_LOGICAL16, Kind::logical);
#endif
}

void add_ops() {
  add(MPI_MAX, Op::max);
  add(MPI_MIN, Op::min);
  add(MPI_SUM, Op::sum);
  add(MPI_PROD, Op::prod);
  add(MPI_LAND, Op::land);
  add(MPI_BAND, Op::band);
  add(MPI_LOR, Op::lor);
  add(MPI_BOR, Op::bor);
  add(MPI_LXOR, Op::lxor);
  add(MPI_BXOR, Op::bxor);
  add(MPI_MAXLOC, Op::maxloc);
  add(MPI_MINLOC, Op::minloc);
  add(MPI_REPLACE, Op::none);
  add(MPI_NO_OP, Op::none);
}

Type first_of_size(std::initializer_list<Type> types, std::size_t size) {
  for (Type type : types)
    if (reduce::packed_size(type) == size) return type;
  return Type::none;
}

Type type_of(Kind kind, Type exact, std::size_t size) {
  switch (kind) {
    case Kind::signed_integer:
    case Kind::fortran_integer:
      return first_of_size({Type::int8, Type::int16, Type::int32, Type::int64, Type::int128}, size);
    case Kind::unsigned_integer:
      return first_of_size({Type::uint8, Type::uint16, Type::uint32, Type::uint64}, size);
    case Kind::floating:
      return first_of_size({Type::float16, Type::float32, Type::float64, Type::float128}, size);
    case Kind::complex:
      return first_of_size({Type::complex64, Type::complex128, Type::complex256}, size);
    case Kind::logical:
      return first_of_size(
          {Type::logical8, Type::logical16, Type::logical32, Type::logical64, Type::logical128}, size);
    case Kind::exact:
      return exact;
    default:
      return Type::none;
  }
}

bool is_logical(Op op) { return op == Op::land || op == Op::lor || op == Op::lxor; }

/// The kernel for what MPI defines (4.1, section 6.9.2). A host whose element is not laid out like ours (long
/// double is not the same everywhere) reduces it itself.
const reduce::Operation* defined_operation(Op op, Kind kind, Type exact, std::size_t size,
                                           std::size_t extent) {
  const Type type = type_of(kind, exact, size);
  if (reduce::packed_size(type) != size || reduce::extent(type) != extent) return nullptr;
  static const reduce::Reproducibility level = reduce::reproducibility(Config::instance());
  return kind == Kind::fortran_integer && is_logical(op) ? nullptr : reduce::find(op, type, level);
}

Kind kind_of_unnamed(MPI_Datatype datatype) {
  switch (combiner_of(datatype)) {
    case MPI_COMBINER_F90_REAL:
      return Kind::floating;
    case MPI_COMBINER_F90_COMPLEX:
      return Kind::complex;
    case MPI_COMBINER_F90_INTEGER:
      return Kind::fortran_integer;
    default:
      return Kind::opaque;
  }
}

}  // namespace

void build_handle_tables() {
  add_c_types();
  add_pair_types();
  add_fortran_types();
  add_ops();
}

bool complete(PredefinedType& type) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (type.state.load(std::memory_order_relaxed) != 0) return type.state.load(std::memory_order_relaxed) == 1;
  const auto datatype = typed<MPI_Datatype>(type.handle);
  MPI_Count size = 0, lower = 0, extent = 0;
  const bool known = host.Type_size(datatype, &size) == MPI_SUCCESS && size > 0 &&
                     host.Type_get_extent(datatype, &lower, &extent) == MPI_SUCCESS;
  if (known) {
    type.size = static_cast<std::size_t>(size);
    type.extent = static_cast<std::size_t>(extent);
    type.dense = size == extent;
    for (std::size_t op = 0; op < reduce::op_count; ++op)
      type.operations[op].store(
          defined_operation(static_cast<Op>(op), type.kind, type.exact, type.size, type.extent),
          std::memory_order_relaxed);
  }
  type.state.store(known ? 1 : 2, std::memory_order_release);  // pairs with the acquire in predefined_type()
  return known;
}

const reduce::Operation* operation_on_unnamed(MPI_Datatype datatype, const PredefinedOp& op) {
  const Kind kind = kind_of_unnamed(datatype);
  MPI_Count size = 0, lower = 0, extent = 0;
  if (kind == Kind::opaque || op.op == Op::none || host.Type_size(datatype, &size) != MPI_SUCCESS ||
      host.Type_get_extent(datatype, &lower, &extent) != MPI_SUCCESS)
    return nullptr;
  return defined_operation(op.op, kind, Type::none, static_cast<std::size_t>(size),
                           static_cast<std::size_t>(extent));
}

}  // namespace espalier::mpi
