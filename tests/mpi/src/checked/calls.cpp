// One checked call of each collective: the bricks of the other subjects.
#include "checks.hpp"
#include "harness.hpp"
#include "moves.hpp"
#include "values.hpp"

#include <vector>

namespace checked {
namespace {

constexpr long guard = 8;  // elements behind the buffer that no rank may touch
constexpr std::uint32_t untouched = 0xabadcafe;

// Alternate calls use buffers that begin off any cache-line border.
long misalignment(std::uint64_t seed) { return static_cast<long>(seed % 3); }

template <class T>
T element_of(std::uint64_t seed, int rank, long i);
template <>
std::uint32_t element_of(std::uint64_t seed, int rank, long i) {
  return word(seed, rank, i);
}
template <>
double element_of(std::uint64_t seed, int rank, long i) {
  return small_number<double>(seed, rank, i);
}

template <class T>
std::vector<T> sum_of_all(const Group& group, long count, std::uint64_t seed) {
  std::vector<T> sum(static_cast<std::size_t>(count), T{});
  for (int rank = 0; rank < group.size; ++rank)
    for (long i = 0; i < count; ++i) sum[static_cast<std::size_t>(i)] += element_of<T>(seed, rank, i);
  return sum;
}

template <class T>
std::vector<T> mine(const Group& group, long count, std::uint64_t seed) {
  long shift = misalignment(seed);
  std::vector<T> buffer(static_cast<std::size_t>(shift + count), T{});
  for (long i = 0; i < count; ++i)
    buffer[static_cast<std::size_t>(shift + i)] = element_of<T>(seed, group.rank, i);
  return buffer;
}

template <class T>
struct Result {
  std::vector<T> cells;
  long shift, count;
  Result(long n, std::uint64_t seed)
      : cells(static_cast<std::size_t>(misalignment(seed) + n + guard), static_cast<T>(untouched)),
        shift(misalignment(seed)),
        count(n) {}
  T* data() { return cells.data() + shift; }
  bool guard_holds() {
    for (long i = 0; i < guard; ++i)
      if (data()[count + i] != static_cast<T>(untouched)) {
        fail(count + i, "nothing written behind the buffer", show(data()[count + i]));
        return false;
      }
    return true;
  }
};

template <class T>
void reduce(const Group& group, int root, long count, std::uint64_t seed, MPI_Datatype type,
            const char* type_name) {
  begin({"reduce", &group, root, count, type_name, "MPI_SUM"});
  std::vector<T> send = mine<T>(group, count, seed), before = send;
  Result<T> receive(count, seed);
  bool here = group.rank == root;
  bool pass_null = !here && seed % 2 == 0;  // the receive buffer means nothing elsewhere than at the root
  MPI_Reduce(send.data() + misalignment(seed), pass_null ? nullptr : receive.data(), static_cast<int>(count),
             type, MPI_SUM, root, group.comm);
  compare(before, send);
  if (here) {
    compare(sum_of_all<T>(group, count, seed).data(), receive.data(), count);
    receive.guard_holds();
  }
}

template <class T>
void allreduce(const Group& group, long count, std::uint64_t seed, MPI_Datatype type, const char* type_name) {
  begin({"allreduce", &group, -1, count, type_name, "MPI_SUM"});
  std::vector<T> send = mine<T>(group, count, seed), before = send;
  Result<T> receive(count, seed);
  MPI_Allreduce(send.data() + misalignment(seed), receive.data(), static_cast<int>(count), type, MPI_SUM,
                group.comm);
  compare(before, send);
  compare(sum_of_all<T>(group, count, seed).data(), receive.data(), count);
  receive.guard_holds();
}

}  // namespace

void one_bcast(const Group& group, int root, long count, std::uint64_t seed) {
  begin({"bcast", &group, root, count, "MPI_UINT32_T"});
  Result<std::uint32_t> buffer(count, seed);
  std::vector<std::uint32_t> expected(static_cast<std::size_t>(count));
  for (long i = 0; i < count; ++i) expected[static_cast<std::size_t>(i)] = word(seed, root, i);
  if (group.rank == root) std::copy(expected.begin(), expected.end(), buffer.data());
  MPI_Bcast(buffer.data(), static_cast<int>(count), MPI_UINT32_T, root, group.comm);
  compare(expected.data(), buffer.data(), count);
  buffer.guard_holds();
}

void one_reduce(const Group& group, int root, long count, std::uint64_t seed) {
  reduce<std::uint32_t>(group, root, count, seed, MPI_UINT32_T, "MPI_UINT32_T");
}

void one_reduce_double(const Group& group, int root, long count, std::uint64_t seed) {
  reduce<double>(group, root, count, seed, MPI_DOUBLE, "MPI_DOUBLE");
}

void one_allreduce(const Group& group, long count, std::uint64_t seed) {
  allreduce<std::uint32_t>(group, count, seed, MPI_UINT32_T, "MPI_UINT32_T");
}

void one_allreduce_double(const Group& group, long count, std::uint64_t seed) {
  allreduce<double>(group, count, seed, MPI_DOUBLE, "MPI_DOUBLE");
}

void check_all(const Group& group, std::uint64_t seed) {
  for (int root = 0; root < group.size; ++root) {
    one_bcast(group, root, 1 + root, ++seed);
    one_reduce(group, root, 1 + root, ++seed);
    one_ordered_reduce(group, root, 3, ++seed);
  }
  for (long count : {0L, 1L, 100L, 3000L, 20000L}) {
    int root = static_cast<int>(count % group.size);
    one_bcast(group, root, count, ++seed);
    one_reduce_double(group, root, count, ++seed);
    one_allreduce(group, count, ++seed);
    one_allreduce_double(group, count, ++seed);
    one_ordered_allreduce(group, count / 10, ++seed);
  }
  for (int root = 0; root < group.size; ++root)
    for (int which : {1, 2, 5, 6}) one_move(which, {.group = group, .seed = ++seed, .root = root}, 1 + root);
  for (long count : {1L, 100L, 3000L}) {
    for (bool in_place : {false, true})
      all_moves({.group = group, .seed = ++seed, .in_place = in_place, .root = group.size - 1}, count);
    for (int which = 0; which < kinds_of_prefixes; ++which) {
      one_prefix(group, which, count, ++seed);
      one_ordered_prefix(group, which, count / 20 + 1, ++seed);
    }
  }
  one_barrier(group, 1e-4);
}

}  // namespace checked
