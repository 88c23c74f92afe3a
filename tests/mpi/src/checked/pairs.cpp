// MINLOC and MAXLOC: pair types, whose size is not their extent; equal values go to the lowest index.
#include "checks.hpp"
#include "harness.hpp"
#include "prefixes.hpp"
#include "values.hpp"

#include <vector>

namespace checked {
namespace {

template <class T, class I>
struct Located {
  T value;
  I index;
  bool operator==(const Located& other) const { return value == other.value && index == other.index; }
};

// Few distinct values, so that ties are common.
template <class P>
P pair_of(std::uint64_t seed, int rank, long i) {
  std::uint32_t bits = word(seed, rank, i);
  P pair{};
  pair.value = static_cast<decltype(pair.value)>(static_cast<int>(bits % 5) - 2);
  pair.index = static_cast<decltype(pair.index)>(bits / 5 % 1000);
  return pair;
}

template <class P>
P better(bool largest, const P& a, const P& b) {
  if (a.value == b.value) return a.index < b.index ? a : b;
  return (a.value > b.value) == largest ? a : b;
}

template <class P>
void check_one(const Group& world, MPI_Datatype type, const char* name, bool largest, long count, int root,
               std::uint64_t seed) {
  MPI_Op op = largest ? MPI_MAXLOC : MPI_MINLOC;
  const char* op_name = largest ? "MPI_MAXLOC" : "MPI_MINLOC";
  std::vector<P> send(static_cast<std::size_t>(count)), expected(send.size()), receive(send.size());
  for (long i = 0; i < count; ++i) {
    auto at = static_cast<std::size_t>(i);
    send[at] = pair_of<P>(seed, world.rank, i);
    expected[at] = pair_of<P>(seed, 0, i);
    for (int rank = 1; rank < world.size; ++rank)
      expected[at] = better(largest, expected[at], pair_of<P>(seed, rank, i));
  }
  begin({"allreduce", &world, -1, count, name, op_name});
  MPI_Allreduce(send.data(), receive.data(), static_cast<int>(count), type, op, world.comm);
  compare(expected, receive);
  begin({"allreduce in place", &world, -1, count, name, op_name});
  receive = send;
  MPI_Allreduce(MPI_IN_PLACE, receive.data(), static_cast<int>(count), type, op, world.comm);
  compare(expected, receive);
  begin({"reduce", &world, root, count, name, op_name});
  std::fill(receive.begin(), receive.end(), P{});
  MPI_Reduce(send.data(), receive.data(), static_cast<int>(count), type, op, root, world.comm);
  if (world.rank == root) compare(expected, receive);
  if (count <= 50) {
    auto of = [seed](int rank, long elements) {
      std::vector<P> pairs(static_cast<std::size_t>(elements));
      for (long i = 0; i < elements; ++i) pairs[static_cast<std::size_t>(i)] = pair_of<P>(seed, rank, i);
      return pairs;
    };
    auto best = [largest](std::vector<P> left, const std::vector<P>& right) {
      for (std::size_t i = 0; i < left.size(); ++i) left[i] = better(largest, left[i], right[i]);
      return left;
    };
    Prefixes<P, decltype(of), decltype(best)> prefixes{world, type, op, name, op_name, of, best};
    prefixes.in_place = count == 2;
    prefixes.all(count);
  }
  // Broadcast of a pair type: the layout has a gap for some of them.
  begin({"bcast", &world, root, count, name});
  std::vector<P> cast(send.size());
  for (long i = 0; i < count; ++i) {
    expected[static_cast<std::size_t>(i)] = pair_of<P>(seed, root, i);
    if (world.rank == root) cast[static_cast<std::size_t>(i)] = pair_of<P>(seed, root, i);
  }
  MPI_Bcast(cast.data(), static_cast<int>(count), type, root, world.comm);
  compare(expected, cast);
}

// Fortran's pairs exist only where the host was built for Fortran.
bool defined(MPI_Datatype type, std::size_t size) {
  if (type == MPI_DATATYPE_NULL) return false;
  const ErrorsCounted errors;
  alignas(64) char in[64] = {}, inout[64] = {};
  MPI_Aint lower = 0, extent = 0;
  return MPI_Type_get_extent(type, &lower, &extent) == MPI_SUCCESS && extent == static_cast<MPI_Aint>(size) &&
         MPI_Reduce_local(in, inout, 1, type, MPI_MAXLOC) == MPI_SUCCESS && errors.none();
}

template <class P>
void check_type(const Group& world, MPI_Datatype type, const char* name) {
  if (!defined(type, sizeof(P))) return;
  std::uint64_t seed = 5000;
  for (bool largest : {true, false})
    for (long count : {1L, 2L, 50L, 3001L}) {
      ++seed;
      check_one<P>(world, type, name, largest, count,
                   static_cast<int>(seed % static_cast<unsigned>(world.size)), seed);
    }
}

}  // namespace

void check_pairs(const Group& world) {
  check_type<Located<float, int>>(world, MPI_FLOAT_INT, "MPI_FLOAT_INT");
  check_type<Located<double, int>>(world, MPI_DOUBLE_INT, "MPI_DOUBLE_INT");
  check_type<Located<long, int>>(world, MPI_LONG_INT, "MPI_LONG_INT");
  check_type<Located<int, int>>(world, MPI_2INT, "MPI_2INT");
  check_type<Located<short, int>>(world, MPI_SHORT_INT, "MPI_SHORT_INT");
  check_type<Located<long double, int>>(world, MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT");
  check_type<Located<float, float>>(world, MPI_2REAL, "MPI_2REAL");
  check_type<Located<double, double>>(world, MPI_2DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION");
  check_type<Located<int, int>>(world, MPI_2INTEGER, "MPI_2INTEGER");
}

}  // namespace checked
