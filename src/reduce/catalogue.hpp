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

// S and U: the signed or unsigned type itself, and its unsigned twin, whose kernels it shares where the bits
// agree.
template <class S, class U>
constexpr Entry integer(Op op) {
  switch (op) {
    case Op::max:
      return by<Max<S>>;
    case Op::min:
      return by<Min<S>>;
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
constexpr Entry complex(Op op) {
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

template <class U>
constexpr Entry logical(Op op) {
  return op == Op::land || op == Op::lor || op == Op::lxor ? integer<U, U>(op) : Entry{};
}

constexpr Entry bitwise(Op op) {
  return op == Op::band || op == Op::bor || op == Op::bxor ? integer<std::uint8_t, std::uint8_t>(op)
                                                           : Entry{};
}

// Types whose kernels gain from wider vectors.
constexpr Entry vectorised(Op op, Type type) {
  switch (type) {
    case Type::int8:
      return integer<std::int8_t, std::uint8_t>(op);
    case Type::int16:
      return integer<std::int16_t, std::uint16_t>(op);
    case Type::int32:
      return integer<std::int32_t, std::uint32_t>(op);
    case Type::int64:
      return integer<std::int64_t, std::uint64_t>(op);
    case Type::uint8:
      return integer<std::uint8_t, std::uint8_t>(op);
    case Type::uint16:
      return integer<std::uint16_t, std::uint16_t>(op);
    case Type::uint32:
      return integer<std::uint32_t, std::uint32_t>(op);
    case Type::uint64:
      return integer<std::uint64_t, std::uint64_t>(op);
#if ESPALIER_HAS_FLOAT16
    case Type::float16:
      return floating<Float16>(op);
#endif
    case Type::float32:
      return floating<float>(op);
    case Type::float64:
      return floating<double>(op);
    case Type::complex64:
      return complex<float>(op);
    case Type::complex128:
      return complex<double>(op);
    case Type::boolean:
    case Type::logical8:
      return logical<std::uint8_t>(op);
    case Type::logical16:
      return logical<std::uint16_t>(op);
    case Type::logical32:
      return logical<std::uint32_t>(op);
    case Type::logical64:
      return logical<std::uint64_t>(op);
    case Type::byte:
      return bitwise(op);
    default:
      return {};
  }
}

#if ESPALIER_ISA_IS_BASELINE

#if defined(__x86_64__)
static_assert(!fuses_products,
              "compile the baseline kernels without -mfma and -march=native: see flags.cmake");
#endif
static_assert(sizeof(bool) == 1);

template <class V, class I>
constexpr Entry located(Op op) {
  return op == Op::maxloc ? by<MaxLoc<V, I>> : op == Op::minloc ? by<MinLoc<V, I>> : Entry{};
}

constexpr Entry scalar(Op op, Type type) {
  switch (type) {
    case Type::float_extended:
      return floating<long double>(op);
    case Type::complex_extended:
      return complex<long double>(op);
#if ESPALIER_HAS_FLOAT128
    case Type::float128:
      return floating<Float128>(op);
    case Type::complex256:
      return complex<Float128>(op);
#endif
#if ESPALIER_HAS_INT128
    case Type::int128:
      return integer<Int128, Uint128>(op);
    case Type::logical128:
      return logical<Uint128>(op);
#endif
    case Type::float_int:
      return located<float, int>(op);
    case Type::double_int:
      return located<double, int>(op);
    case Type::long_int:
      return located<long, int>(op);
    case Type::int_int:
      return located<int, int>(op);
    case Type::short_int:
      return located<short, int>(op);
    case Type::long_double_int:
      return located<long double, int>(op);
    case Type::float_float:
      return located<float, float>(op);
    case Type::double_double:
      return located<double, double>(op);
    default:
      return {};
  }
}

#else

constexpr Entry scalar(Op, Type) { return {}; }

#endif

constexpr detail::Table make_table() {
  detail::Table made{};
  for (std::size_t row = 0; row < op_count; ++row)
    for (std::size_t column = 0; column < type_count; ++column) {
      const auto op = static_cast<Op>(row);
      const auto type = static_cast<Type>(column);
      Entry entry = vectorised(op, type);
      if (!entry.extent) entry = scalar(op, type);
      if (entry.extent) made.operations[row][column] = {entry.kernel, op, type, entry.extent};
    }
  return made;
}

}  // namespace

constinit const detail::Table table = make_table();

}  // namespace espalier::reduce::ESPALIER_ISA
