// All predefined operators on all predefined types that the host defines. Values are chosen so that the right
// result does not depend on the order of the operands and never overflows (hosts saturate or wrap small
// integers).
#include "checks.hpp"
#include "harness.hpp"
#include "prefixes.hpp"
#include "values.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <vector>

namespace checked {
namespace {

// Address: signed by the standard, but Open MPI 5 orders MPI_OFFSET as unsigned: no negative numbers there.
enum class Kind {
  Address,
  Signed,
  Unsigned,
  Floating,
  LongDouble,
  Float128,
  Complex,
  LongDoubleComplex,
  Float128Complex,
  Logical,
  Byte
};
enum class Op { Max, Min, Sum, Prod, LogicalAnd, LogicalOr, LogicalXor, BitAnd, BitOr, BitXor };

template <class T>
struct Pair {
  T re, im;
  Pair operator+(const Pair& other) const { return {re + other.re, im + other.im}; }
  Pair operator*(const Pair& other) const {
    return {re * other.re - im * other.im, re * other.im + im * other.re};
  }
  bool operator==(const Pair& other) const { return re == other.re && im == other.im; }
};
template <class T>
struct IsComplex : std::false_type {};
template <class T>
struct IsComplex<Pair<T>> : std::true_type {};
template <class T>
constexpr bool is_whole = T(3) / T(2) == T(1);
template <class T>
constexpr bool is_whole<Pair<T>> = false;

struct Type {
  const char* name;
  MPI_Datatype type;
  Kind kind;
};
struct Operator {
  const char* name;
  MPI_Op op;
  Op what;
};

std::vector<Operator> operators() {
  return {{"MPI_MAX", MPI_MAX, Op::Max},          {"MPI_MIN", MPI_MIN, Op::Min},
          {"MPI_SUM", MPI_SUM, Op::Sum},          {"MPI_PROD", MPI_PROD, Op::Prod},
          {"MPI_LAND", MPI_LAND, Op::LogicalAnd}, {"MPI_LOR", MPI_LOR, Op::LogicalOr},
          {"MPI_LXOR", MPI_LXOR, Op::LogicalXor}, {"MPI_BAND", MPI_BAND, Op::BitAnd},
          {"MPI_BOR", MPI_BOR, Op::BitOr},        {"MPI_BXOR", MPI_BXOR, Op::BitXor}};
}

#define TYPE(name, kind) {#name, name, Kind::kind}
std::vector<Type> types() {
  return {TYPE(MPI_SIGNED_CHAR, Signed),
          TYPE(MPI_UNSIGNED_CHAR, Unsigned),
          TYPE(MPI_SHORT, Signed),
          TYPE(MPI_UNSIGNED_SHORT, Unsigned),
          TYPE(MPI_INT, Signed),
          TYPE(MPI_UNSIGNED, Unsigned),
          TYPE(MPI_LONG, Signed),
          TYPE(MPI_UNSIGNED_LONG, Unsigned),
          TYPE(MPI_LONG_LONG_INT, Signed),
          TYPE(MPI_LONG_LONG, Signed),
          TYPE(MPI_UNSIGNED_LONG_LONG, Unsigned),
          TYPE(MPI_INT8_T, Signed),
          TYPE(MPI_INT16_T, Signed),
          TYPE(MPI_INT32_T, Signed),
          TYPE(MPI_INT64_T, Signed),
          TYPE(MPI_UINT8_T, Unsigned),
          TYPE(MPI_UINT16_T, Unsigned),
          TYPE(MPI_UINT32_T, Unsigned),
          TYPE(MPI_UINT64_T, Unsigned),
          TYPE(MPI_AINT, Address),
          TYPE(MPI_OFFSET, Address),
          TYPE(MPI_COUNT, Address),
          TYPE(MPI_INTEGER, Signed),
          TYPE(MPI_INTEGER1, Signed),
          TYPE(MPI_INTEGER2, Signed),
          TYPE(MPI_INTEGER4, Signed),
          TYPE(MPI_INTEGER8, Signed),
#ifdef MPI_INTEGER16
          TYPE(MPI_INTEGER16, Signed),
#endif
          TYPE(MPI_FLOAT, Floating),
          TYPE(MPI_DOUBLE, Floating),
          TYPE(MPI_LONG_DOUBLE, LongDouble),
          TYPE(MPI_REAL, Floating),
          TYPE(MPI_DOUBLE_PRECISION, Floating),
          TYPE(MPI_REAL4, Floating),
          TYPE(MPI_REAL8, Floating),
#ifdef MPI_REAL2
          TYPE(MPI_REAL2, Floating),
#endif
#ifdef MPI_REAL16
          TYPE(MPI_REAL16, Float128),
#endif
          TYPE(MPI_C_COMPLEX, Complex),
          TYPE(MPI_C_FLOAT_COMPLEX, Complex),
          TYPE(MPI_C_DOUBLE_COMPLEX, Complex),
          TYPE(MPI_C_LONG_DOUBLE_COMPLEX, LongDoubleComplex),
          TYPE(MPI_CXX_FLOAT_COMPLEX, Complex),
          TYPE(MPI_CXX_DOUBLE_COMPLEX, Complex),
          TYPE(MPI_CXX_LONG_DOUBLE_COMPLEX, LongDoubleComplex),
          TYPE(MPI_COMPLEX, Complex),
          TYPE(MPI_DOUBLE_COMPLEX, Complex),
          TYPE(MPI_COMPLEX8, Complex),
          TYPE(MPI_COMPLEX16, Complex),
#ifdef MPI_COMPLEX32
          TYPE(MPI_COMPLEX32, Float128Complex),
#endif
          TYPE(MPI_LOGICAL, Logical),
          TYPE(MPI_C_BOOL, Logical),
          TYPE(MPI_CXX_BOOL, Logical),
          TYPE(MPI_BYTE, Byte)};
}
#undef TYPE

bool meaningful(Kind kind, Op op) {
  bool order = op == Op::Max || op == Op::Min;
  bool arithmetic = op == Op::Sum || op == Op::Prod;
  bool logical = op == Op::LogicalAnd || op == Op::LogicalOr || op == Op::LogicalXor;
  bool bits = !order && !arithmetic && !logical;
  switch (kind) {
    case Kind::Address:
    case Kind::Signed:
    case Kind::Unsigned:
      return true;
    case Kind::Floating:
    case Kind::LongDouble:
    case Kind::Float128:
      return order || arithmetic;
    case Kind::Complex:
    case Kind::LongDoubleComplex:
    case Kind::Float128Complex:
      return arithmetic;
    case Kind::Logical:
      return logical;
    case Kind::Byte:
      return bits;
  }
  return false;
}

// Factors are units but for ranks below 6, where they may be 2: the product stays below 2^7.
template <class T>
T factor(std::uint32_t bits, int rank) {
  bool two = rank < 6 && bits % 4 == 0;
  if constexpr (IsComplex<T>::value) {
    using Part = decltype(T::re);
    Part size = two ? Part(2) : Part(1);
    switch (bits >> 8 & 3) {
      case 0:
        return {size, Part(0)};
      case 1:
        return {Part(0), size};
      case 2:
        return {-size, Part(0)};
      default:
        return {Part(0), -size};
    }
  } else {
    return two ? T(2) : T(1);
  }
}

template <class T>
T value(Kind kind, Op op, std::uint64_t seed, int rank, long i) {
  std::uint64_t bits = random_bits(seed, static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(i));
  auto low = static_cast<std::uint32_t>(bits);
  if (op == Op::Prod) return factor<T>(low, rank);
  if constexpr (IsComplex<T>::value) {
    using Part = decltype(T::re);
    return {Part(static_cast<int>(low % 15) - 7), Part(static_cast<int>(low / 15 % 15) - 7)};
  } else if constexpr (!is_whole<T>) {
    if (op == Op::Sum) return T(static_cast<int>(low % 15) - 7);
    return T(static_cast<std::int32_t>(low)) / T(8);
  } else {
    if (kind == Kind::Address && (op == Op::Max || op == Op::Min)) return T(bits >> 1);
    if (op == Op::Sum) return kind == Kind::Unsigned ? T(low % 15) : T(static_cast<int>(low % 15) - 7);
    // True is often enough, and often enough not 1, that AND, OR and XOR all give both results.
    if (op == Op::LogicalAnd) return low % 13 == 0 ? T(0) : (kind == Kind::Logical ? T(1) : T(low % 13));
    if (op == Op::LogicalOr)
      return low % 13 != 0 ? T(0) : (kind == Kind::Logical ? T(1) : T(low / 13 % 7 + 1));
    if (op == Op::LogicalXor) return low % 2 == 0 ? T(0) : (kind == Kind::Logical ? T(1) : T(low % 11 + 1));
    if (op == Op::BitAnd)
      return T(bits |
               random_bits(seed + 1, static_cast<std::uint64_t>(rank), 7 + static_cast<std::uint64_t>(i)));
    if (op == Op::BitOr)
      return T(bits &
               random_bits(seed + 1, static_cast<std::uint64_t>(rank), 7 + static_cast<std::uint64_t>(i)));
    T result = T(bits);
    if constexpr (sizeof(T) > 8) result = T(result << 60) ^ T(bits >> 7);
    return result;
  }
}

template <class T>
T combine(Op op, T a, T b) {
  if constexpr (!IsComplex<T>::value) {
    if (op == Op::Max) return a > b ? a : b;
    if (op == Op::Min) return a < b ? a : b;
    if constexpr (is_whole<T>) {
      if (op == Op::LogicalAnd) return T(a && b);
      if (op == Op::LogicalOr) return T(a || b);
      if (op == Op::LogicalXor) return T(!a != !b);
      if (op == Op::BitAnd) return T(a & b);
      if (op == Op::BitOr) return T(a | b);
      if (op == Op::BitXor) return T(a ^ b);
    }
  }
  return op == Op::Prod ? T(a * b) : T(a + b);
}

bool is_logical(Op op) { return op == Op::LogicalAnd || op == Op::LogicalOr || op == Op::LogicalXor; }

template <class T>
struct Case {
  const Group& world;
  const Type& type;
  const Operator& op;
  std::uint64_t seed;

  std::vector<T> of(int rank, long count) const {
    std::vector<T> values(static_cast<std::size_t>(count));
    for (long i = 0; i < count; ++i)
      values[static_cast<std::size_t>(i)] = value<T>(type.kind, op.what, seed, rank, i);
    return values;
  }
  std::vector<T> expected(long count) const {
    std::vector<T> all = of(0, count);
    for (int rank = 1; rank < world.size; ++rank) {
      std::vector<T> next = of(rank, count);
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = combine(op.what, all[i], next[i]);
    }
    // A lone rank's value is copied as it is; among several, truth is 1.
    if (is_logical(op.what) && world.size > 1)
      if constexpr (is_whole<T>)
        for (T& cell : all) cell = T(cell != 0);
    return all;
  }
  void allreduce(long count, bool in_place) const {
    begin({in_place ? "allreduce in place" : "allreduce", &world, -1, count, type.name, op.name});
    std::vector<T> send = of(world.rank, count), receive(send.size());
    if (in_place) receive = send;
    MPI_Allreduce(in_place ? MPI_IN_PLACE : send.data(), receive.data(), static_cast<int>(count), type.type,
                  op.op, world.comm);
    compare(expected(count), receive);
  }
  // Truth is kept as 1 when two are combined, as `expected` does.
  auto prefixes() const {
    auto own = [this](int rank, long count) { return of(rank, count); };
    auto both = [this](std::vector<T> left, const std::vector<T>& right) {
      for (std::size_t i = 0; i < left.size(); ++i) left[i] = combine(op.what, left[i], right[i]);
      return left;
    };
    return Prefixes<T, decltype(own), decltype(both)>{world, type.type, op.op, type.name, op.name, own, both};
  }
  void reduce(long count, int root) const {
    begin({"reduce", &world, root, count, type.name, op.name});
    std::vector<T> send = of(world.rank, count), receive(send.size());
    MPI_Reduce(send.data(), receive.data(), static_cast<int>(count), type.type, op.op, root, world.comm);
    if (world.rank == root) compare(expected(count), receive);
  }
};

// All operators, on some types of every kind and size: the kernels are those of allreduce.
bool checks_prefixes(const Type& type) {
  constexpr std::string_view some[] = {"MPI_INT8_T",
                                       "MPI_UNSIGNED_SHORT",
                                       "MPI_INT",
                                       "MPI_LONG",
                                       "MPI_FLOAT",
                                       "MPI_DOUBLE",
                                       "MPI_C_BOOL",
                                       "MPI_LONG_DOUBLE",
                                       "MPI_C_DOUBLE_COMPLEX",
                                       "MPI_LOGICAL",
                                       "MPI_BYTE"};
  return std::find(std::begin(some), std::end(some), type.name) != std::end(some);
}

template <class T>
void check(const Group& world, const Type& type, const Operator& op, std::uint64_t seed) {
  Case<T> one{world, type, op, seed};
  one.allreduce(1, seed % 2);
  one.allreduce(7, seed % 2 == 0);
  one.allreduce(world.size > 8 ? 301 : 1037, false);  // many ranks work out many vectors
  one.reduce(37, static_cast<int>(seed % static_cast<unsigned>(world.size)));
  if (!checks_prefixes(type)) return;
  auto prefixes = one.prefixes();
  prefixes.in_place = seed % 2;
  prefixes.all(11);
}

// True if there was a C type for it.
bool check_by_size(const Group& world, const Type& type, int size, const Operator& op, std::uint64_t seed) {
  auto with = [&]<class T>(T) {
    check<T>(world, type, op, seed);
    return true;
  };
  switch (type.kind) {
    case Kind::Address:
    case Kind::Signed:
      if (size == 1) return with(std::int8_t{});
      if (size == 2) return with(std::int16_t{});
      if (size == 4) return with(std::int32_t{});
      if (size == 8) return with(std::int64_t{});
      if (size == 16) return with(static_cast<__int128>(0));
      return false;
    case Kind::Logical:
    case Kind::Unsigned:
    case Kind::Byte:
      if (size == 1) return with(std::uint8_t{});
      if (size == 2) return with(std::uint16_t{});
      if (size == 4) return with(std::uint32_t{});
      if (size == 8) return with(std::uint64_t{});
      return false;
    case Kind::Floating:
#ifdef __FLT16_MAX__
      if (size == 2) return with(static_cast<_Float16>(0));
#endif
      if (size == 4) return with(float{});
      if (size == 8) return with(double{});
      return false;
    case Kind::LongDouble:
      return size == sizeof(long double) && with(0.0L);
    case Kind::Float128:
      return size == sizeof(__float128) && with(static_cast<__float128>(0));
    case Kind::Complex:
      if (size == 8) return with(Pair<float>{});
      if (size == 16) return with(Pair<double>{});
      return false;
    case Kind::LongDoubleComplex:
      return size == sizeof(Pair<long double>) && with(Pair<long double>{});
    case Kind::Float128Complex:
      return size == sizeof(Pair<__float128>) && with(Pair<__float128>{});
  }
  return false;
}

// The host's own word on whether it knows the pair.
bool host_defines(const Type& type, const Operator& op) {
  const ErrorsCounted errors;
  alignas(64) char in[64] = {}, inout[64] = {};
  return MPI_Reduce_local(in, inout, 1, type.type, op.op) == MPI_SUCCESS && errors.none();
}

int size_if_defined(const Type& type) {
  if (type.type == MPI_DATATYPE_NULL) return 0;
  const ErrorsCounted errors;
  int size = 0;
  if (MPI_Type_size(type.type, &size) != MPI_SUCCESS || !errors.none() || size == MPI_UNDEFINED) return 0;
  return size;
}

}  // namespace

void check_operators(const Group& world, const std::string& without) {
  std::uint64_t seed = 4000;
  int done = 0;
  std::string missing;
  for (const Type& type : types()) {
    if (without.find(std::string(",") + type.name + ",") != std::string::npos) continue;
    int defined = 0;
    for (const Operator& op : operators()) {
      if (!meaningful(type.kind, op.what)) continue;
      const int size = size_if_defined(type);
      const bool defines = size > 0 && size <= 64 && host_defines(type, op);
      if (defines && check_by_size(world, type, size, op, ++seed)) ++defined;
    }
    done += defined;
    if (!defined) missing += std::string(" ") + type.name;
  }
  if (world.rank == 0)
    std::printf("operators: %d pairs; types not defined by the host:%s\n", done, missing.c_str());
}

}  // namespace checked
