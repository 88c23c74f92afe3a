// Scan, exscan, reduce_scatter_block and reduce_scatter of sums over many sizes. Operators have their own
// subjects.
#include "prefixes.hpp"

#include "checks.hpp"
#include "values.hpp"

namespace checked {
namespace {

std::uint32_t value_of(std::uint32_t, std::uint64_t seed, int rank, long i) { return word(seed, rank, i); }
double value_of(double, std::uint64_t seed, int rank, long i) { return small_number<double>(seed, rank, i); }

template <class T>
auto sums(const Group& group, std::uint64_t seed, MPI_Datatype type, const char* name) {
  auto of = [seed](int rank, long count) {
    std::vector<T> values(static_cast<std::size_t>(count));
    for (long i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = value_of(T{}, seed, rank, i);
    return values;
  };
  auto add = [](std::vector<T> left, const std::vector<T>& right) {
    for (std::size_t i = 0; i < left.size(); ++i) left[i] += right[i];
    return left;
  };
  return Prefixes<T, decltype(of), decltype(add)>{group, type, MPI_SUM, name, "MPI_SUM", of, add};
}

}  // namespace

void one_prefix(const Group& group, int which, long count, std::uint64_t seed, bool large) {
  auto words = sums<std::uint32_t>(group, seed, MPI_UINT32_T, "MPI_UINT32_T");
  words.in_place = seed % 2;
  words.large = large;
  switch (which) {
    case 0:
      return words.scan(count);
    case 1:
      return words.exscan(count);
    case 2:
      return words.reduce_scatter_block(count);
    default:
      return words.reduce_scatter(count);
  }
}

void check_prefixes(const Group& world) {
  std::uint64_t seed = 14000;
  for (long count : {0L, 1L, 2L, 5L, 15L, 64L, 257L, 1024L, 3000L, 8192L, 20001L}) {
    if (count > 8000 && world.size > 8) count /= 4;
    for (int which = 0; which < kinds_of_prefixes; ++which)
      for (int round = 0; round < 2; ++round) one_prefix(world, which, count, ++seed, false);
    auto doubles = sums<double>(world, ++seed, MPI_DOUBLE, "MPI_DOUBLE");
    doubles.in_place = count % 2;
    doubles.all(count / 2);
  }
  for (int i = 0; i < 40; ++i) one_prefix(world, i % kinds_of_prefixes, 2 + i % 3 * 500, ++seed, false);
  begin({"reductions of nothing with null buffers", &world});
  std::vector<int> none(static_cast<std::size_t>(world.size), 0);
  MPI_Scan(nullptr, nullptr, 0, MPI_INT, MPI_SUM, world.comm);
  MPI_Exscan(nullptr, nullptr, 0, MPI_INT, MPI_SUM, world.comm);
  MPI_Reduce_scatter_block(nullptr, nullptr, 0, MPI_INT, MPI_SUM, world.comm);
  MPI_Reduce_scatter(nullptr, nullptr, none.data(), MPI_INT, MPI_SUM, world.comm);
  pass();
}

}  // namespace checked
