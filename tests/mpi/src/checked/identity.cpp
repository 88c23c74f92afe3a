// Sums that round: all ranks must get the same bits, every call must give them again, and so must every run
// (the digest).
#include "checks.hpp"
#include "harness.hpp"
#include "values.hpp"

#include <cstring>
#include <vector>

namespace checked {
namespace {

constexpr int identity_tag = 4713;

bool repeats_promised() { return !on_bare_host(); }  // hosts promise no equal bits in later calls

template <class T>
std::vector<T> uneven_numbers(const Group& world, long count, std::uint64_t seed) {
  std::vector<T> numbers(static_cast<std::size_t>(count));
  for (long i = 0; i < count; ++i) {
    std::uint32_t bits = word(seed, world.rank, i);
    // Exponents spread over 2^20, so that nearly every order of summation rounds differently.
    numbers[static_cast<std::size_t>(i)] =
        static_cast<T>(static_cast<int>(bits % 2000003) - 1000001) / static_cast<T>(3 * (1u << (bits >> 27)));
  }
  return numbers;
}

template <class T>
bool same_bits(const std::vector<T>& expected, const std::vector<T>& got) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (std::memcmp(&expected[i], &got[i], sizeof(T)) != 0) {
      fail(static_cast<long>(i), show(expected[i]), show(got[i]));
      return false;
    }
  pass();
  return true;
}

template <class T>
void same_on_all_ranks(const Group& world, const std::vector<T>& sum) {
  auto bytes = static_cast<int>(sum.size() * sizeof(T));
  if (world.rank == 0) {
    for (int rank = 1; rank < world.size; ++rank)
      MPI_Send(sum.data(), bytes, MPI_BYTE, rank, identity_tag, world.comm);
    return;
  }
  std::vector<T> first(sum.size());
  MPI_Recv(first.data(), bytes, MPI_BYTE, 0, identity_tag, world.comm, MPI_STATUS_IGNORE);
  same_bits(first, sum);
}

// The sums must be near the truth too, or a wrong result that all agree on would pass.
template <class T>
void near_the_truth(const Group& world, const std::vector<T>& sum, std::uint64_t seed) {
  auto count = static_cast<long>(sum.size());
  std::vector<long double> exact(sum.size()), scale(sum.size());
  for (int rank = 0; rank < world.size; ++rank) {
    Group other = world;
    other.rank = rank;
    std::vector<T> theirs = uneven_numbers<T>(other, count, seed);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      exact[i] += theirs[i];
      scale[i] += theirs[i] < 0 ? -theirs[i] : theirs[i];
    }
  }
  long double tolerance = (sizeof(T) == 4 ? 1e-6L : 1e-14L) * world.size;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    long double error = exact[i] - static_cast<long double>(sum[i]);
    if ((error < 0 ? -error : error) > tolerance * scale[i])
      return fail(static_cast<long>(i), show(exact[i]), show(static_cast<long double>(sum[i])));
  }
  pass();
}

template <class T>
void check_type(const Group& world, MPI_Datatype type, const char* name, long count, std::uint64_t seed) {
  std::vector<T> send = uneven_numbers<T>(world, count, seed), sum(send.size()), again(send.size());
  begin({"allreduce of rounding sums", &world, -1, count, name, "MPI_SUM"});
  MPI_Allreduce(send.data(), sum.data(), static_cast<int>(count), type, MPI_SUM, world.comm);
  near_the_truth(world, sum, seed);
  same_on_all_ranks(world, sum);
  digest(sum.data(), sum.size() * sizeof(T));
  for (int round = 0; round < 12; ++round) {
    begin({round % 2 ? "allreduce again" : "allreduce again, in place", &world, -1, count, name, "MPI_SUM"});
    if (round % 2 == 0) again = send;
    if (world.rank == round % world.size) sleep_for(2e-4);  // the order of arrival must not matter
    MPI_Allreduce(round % 2 ? send.data() : MPI_IN_PLACE, again.data(), static_cast<int>(count), type,
                  MPI_SUM, world.comm);
    if (repeats_promised()) same_bits(sum, again);
  }
  int root = static_cast<int>(seed % static_cast<unsigned>(world.size));
  for (int round = 0; round < 6; ++round) {
    begin({"reduce again", &world, root, count, name, "MPI_SUM"});
    if (world.rank == round % world.size) sleep_for(2e-4);
    MPI_Reduce(send.data(), round ? again.data() : sum.data(), static_cast<int>(count), type, MPI_SUM, root,
               world.comm);
    if (world.rank == root && round && repeats_promised()) same_bits(sum, again);
  }
}

}  // namespace

void check_identity(const Group& world) {
  std::uint64_t seed = 10000;
  for (long count : {1L, 3L, 17L, 1000L, 9000L}) {
    check_type<double>(world, MPI_DOUBLE, "MPI_DOUBLE", count, ++seed);
    check_type<float>(world, MPI_FLOAT, "MPI_FLOAT", count, ++seed);
  }
  check_type<double>(world, MPI_DOUBLE, "MPI_DOUBLE", 70001, ++seed);
}

}  // namespace checked
