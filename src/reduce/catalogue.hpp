// Which operator is defined on which type (MPI 4.1, section 6.9.2), and the table of all kernels of one
// instruction set.
//
// A unit defines ESPALIER_ISA, the name of its set, and ESPALIER_ISA_IS_BASELINE (0 or 1), and includes this
// file. The units are compiled with different target flags, so a function that two of them share could be
// kept by the linker in the form that only the newest CPU runs: all functions here are in the set's own
// unnamed namespace, and nothing of the standard library is used but plain types.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reduce/exact/split.hpp"
#include "reduce/exact/sum.hpp"
#include "reduce/isa.hpp"
#include "reduce/kernel.hpp"

namespace espalier::reduce::ESPALIER_ISA {

extern const detail::Table table;

namespace {

// A kernel and the size of the elements it steps over; size 0 where there is no kernel. (With
// -fsanitize=undefined GCC takes no comparison of a function's address for a constant.)
struct Entry {
  Kernel kernel = nullptr;
  std::size_t extent = 0;
};

template <class Rule, int Parts = 1>
constexpr Entry by{kernel<Rule, Parts>, sizeof(typename Rule::Element) * Parts};

// The families of types (type.hpp): the kernel of each operator that MPI defines on them.

template <class T>
constexpr Entry integer(Op op) {
  using U = typename UnsignedOf<T>::type;
  switch (op) {
    case Op::max:
      return by<Max<T>>;
    case Op::min:
      return by<Min<T>>;
    case Op::sum:
      return by<IntegerSum<U>>;
    case Op::prod:
      return by<IntegerProd<U>>;
    case Op::land:
      return by<LogicalAnd<U>>;
    case Op::lor:
      return by<LogicalOr<U>>;
    case Op::lxor:
      return by<LogicalXor<U>>;
    case Op::band:
      return by<BitAnd<U>>;
    case Op::bor:
      return by<BitOr<U>>;
    case Op::bxor:
      return by<BitXor<U>>;
    default:
      return {};
  }
}

template <class T>
constexpr Entry floating(Op op) {
  switch (op) {
    case Op::max:
      return by<Max<T>>;
    case Op::min:
      return by<Min<T>>;
    case Op::sum:
      return by<FloatingSum<T>>;
    case Op::prod:
      return by<FloatingProd<T>>;
    default:
      return {};
  }
}

// GCC 12 vectorises a complex product with vfmaddsub wherever the set has it, also with -ffp-contract=off. So
// AVX-512, which cannot be had without, leaves it to AVX2, which is compiled without FMA.
#if defined(__FMA__) || defined(__AVX512F__)
constexpr bool fuses_products = true;
#else
constexpr bool fuses_products = false;
#endif

template <class T>
constexpr Entry complex_of(Op op) {
  switch (op) {
    case Op::sum:
      return by<FloatingSum<T>, 2>;
    case Op::prod:
      if constexpr (fuses_products)
        return {};
      else
        return by<ComplexProd<T>>;
    default:
      return {};
  }
}
template <class T>
constexpr Entry complex(Op op) {
  return complex_of<decltype(T::real)>(op);
}

template <class U>
constexpr Entry logical(Op op) {
  return op == Op::land || op == Op::lor || op == Op::lxor ? integer<U>(op) : Entry{};
}

template <class U>
constexpr Entry bitwise(Op op) {
  return op == Op::band || op == Op::bor || op == Op::bxor ? integer<U>(op) : Entry{};
}

template <class T>
constexpr Entry located(Op op) {
  using Value = decltype(T::value);
  using Index = decltype(T::index);
  return op == Op::maxloc ? by<MaxLoc<Value, Index>> : op == Op::minloc ? by<MinLoc<Value, Index>> : Entry{};
}

#if ESPALIER_ISA_IS_BASELINE && defined(__x86_64__)
static_assert(!fuses_products,
              "compile the baseline kernels without -mfma and -march=native: see flags.cmake");
#endif
static_assert(sizeof(bool) == 1);

// Whether this unit has kernels of a type; those of the baseline are not compiled for other sets.
enum class Units { every, baseline };
template <class Element, Units units>
constexpr bool is_of_this_unit =
    (units == Units::every || ESPALIER_ISA_IS_BASELINE) && SizeOf<Element>::extent > 0;

constexpr Entry entry_of(Op op, Type type) {
  switch (type) {
// NOLINTBEGIN(bugprone-macro-parentheses): `family` is a function template
#define ESPALIER_CASE(name, element, family, units)                                     \
  case Type::name:                                                                      \
    return [op]<class Element>(const Element*) -> Entry {                               \
      if constexpr (is_of_this_unit<Element, Units::units>) return family<Element>(op); \
      return {};                                                                        \
    }(static_cast<const element*>(nullptr));
    // NOLINTEND(bugprone-macro-parentheses)
    ESPALIER_REDUCE_TYPES(ESPALIER_CASE)
#undef ESPALIER_CASE
    default:
      return {};
  }
}

// The type that stands for all whose elements this operator folds alike.
constexpr Type representative(Op op, Type type) {
  if (op == Op::max || op == Op::min) return type;
  switch (type) {
    case Type::int8:
    case Type::boolean:
    case Type::logical8:
    case Type::byte:
      return Type::uint8;
    case Type::int16:
    case Type::logical16:
      return Type::uint16;
    case Type::int32:
    case Type::logical32:
      return Type::uint32;
    case Type::int64:
    case Type::logical64:
      return Type::uint64;
    case Type::logical128:
      return Type::int128;
    default:
      return type;
  }
}

constexpr OperationCode code_of(Op op, Type type) {
  return static_cast<OperationCode>(first_operation_code + static_cast<std::size_t>(op) * type_count +
                                    static_cast<std::size_t>(representative(op, type)));
}

constexpr detail::Table make_table() {
  detail::Table made{{},
                     {sum_exactly<float>, sum_exactly<double>, sum_exactly<float, 2>, sum_exactly<double, 2>},
                     split<float>,
                     split<double>};
  for (std::size_t row = 0; row < op_count; ++row)
    for (std::size_t column = 0; column < type_count; ++column) {
      const auto op = static_cast<Op>(row);
      const auto type = static_cast<Type>(column);
      const Entry entry = entry_of(op, type);
      if (entry.extent)
        made.operations[row][column] = {entry.kernel, op, type, code_of(op, type), entry.extent};
    }
  return made;
}

}  // namespace

constinit const detail::Table table = make_table();

}  // namespace espalier::reduce::ESPALIER_ISA
