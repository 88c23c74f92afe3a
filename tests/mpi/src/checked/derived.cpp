// Broadcasts of derived types: ranks use different layouts at once (equal signatures), and what lies in the
// holes must stay.
#include "checks.hpp"
#include "harness.hpp"
#include "layouts.hpp"
#include "values.hpp"

#include <cstring>
#include <numeric>
#include <vector>

namespace checked {
namespace {

void cast(const Group& world, const Layout& layout, int root, long items, std::uint64_t seed) {
  long ints = items * ints_per_item;
  long count = items * layout.items;
  begin({"bcast", &world, root, count, layout.name});
  std::vector<std::uint32_t> buffer(static_cast<std::size_t>(count * layout.extent + 16), hole),
      expected = buffer;
  for (long k = 0; k < ints; ++k)
    expected[static_cast<std::size_t>(position(layout, k))] = word(seed, root, k);
  if (world.rank == root) buffer = expected;
  MPI_Bcast(buffer.data(), static_cast<int>(count), layout.type, root, world.comm);
  compare(expected, buffer);
}

// Items of 7 bytes of three basic types: nothing is a multiple of anything.
void cast_of_mixed_struct(const Group& world, int root, long count, std::uint64_t seed) {
  struct Mixed {
    double far;
    char near;
    short middle;
  };
  int lengths[3] = {1, 1, 1};
  MPI_Aint places[3] = {offsetof(Mixed, near), offsetof(Mixed, middle), offsetof(Mixed, far)};
  MPI_Datatype members[3] = {MPI_CHAR, MPI_SHORT, MPI_DOUBLE}, inner, type;
  MPI_Type_create_struct(3, lengths, places, members, &inner);
  MPI_Type_create_resized(inner, 0, sizeof(Mixed), &type);
  MPI_Type_commit(&type);
  begin({"bcast", &world, root, count, "struct of char, short, double"});
  std::vector<Mixed> buffer(static_cast<std::size_t>(count));
  std::memset(static_cast<void*>(buffer.data()), 0, buffer.size() * sizeof(Mixed));
  std::vector<std::uint64_t> expected, got;
  for (long i = 0; i < count; ++i) {
    std::uint32_t bits = word(seed, root, i);
    auto at = static_cast<std::size_t>(i);
    if (world.rank == root) {
      buffer[at].near = static_cast<char>(bits);
      buffer[at].middle = static_cast<short>(bits);
      buffer[at].far = bits;
    }
    expected.insert(expected.end(), {bits & 0xffu, bits & 0xffffu, bits});
  }
  MPI_Bcast(buffer.data(), static_cast<int>(count), type, root, world.comm);
  for (const Mixed& item : buffer)
    got.insert(got.end(), {static_cast<unsigned char>(item.near), static_cast<unsigned short>(item.middle),
                           static_cast<std::uint64_t>(item.far)});
  compare(expected, got);
  MPI_Type_free(&type);
  MPI_Type_free(&inner);
}

// The whole message as one item, on ranks where `whole`; elsewhere as single bytes of a packed layout.
void cast_one_item_against_many(const Group& world, int root, long ints, std::uint64_t seed) {
  MPI_Datatype whole;
  MPI_Type_contiguous(static_cast<int>(ints), MPI_UINT32_T, &whole);
  MPI_Type_commit(&whole);
  bool one = (world.rank + root) % 2 == 0;
  begin({"bcast, one item on some ranks", &world, root, one ? 1 : ints,
         one ? "contiguous(n)" : "MPI_UINT32_T"});
  std::vector<std::uint32_t> buffer(static_cast<std::size_t>(ints)), expected(buffer.size());
  for (long i = 0; i < ints; ++i) expected[static_cast<std::size_t>(i)] = word(seed, root, i);
  if (world.rank == root) buffer = expected;
  MPI_Bcast(buffer.data(), one ? 1 : static_cast<int>(ints), one ? whole : MPI_UINT32_T, root, world.comm);
  compare(expected, buffer);
  MPI_Type_free(&whole);
}

// Sending from overlapping items is allowed; only the root may use this one.
void cast_from_comb(const Group& world, int root, long items) {
  const Layout& teeth = comb_layout();
  long ints = items * ints_per_item;
  std::vector<std::uint32_t> source(static_cast<std::size_t>(items * teeth.items * teeth.extent + 16)),
      expected, got;
  std::iota(source.begin(), source.end(), 1000u);
  for (long k = 0; k < ints; ++k) expected.push_back(source[static_cast<std::size_t>(position(teeth, k))]);
  got.assign(expected.size(), hole);
  begin({"bcast from overlapping items", &world, root, items, teeth.name});
  if (world.rank == root) {
    MPI_Bcast(source.data(), static_cast<int>(items * teeth.items), teeth.type, root, world.comm);
    pass();
  } else {
    MPI_Bcast(got.data(), static_cast<int>(ints), MPI_UINT32_T, root, world.comm);
    compare(expected, got);
  }
}

}  // namespace

void check_derived(const Group& world) {
  std::uint64_t seed = 7000;
  const std::vector<Layout>& all = layouts();
  auto kinds = static_cast<int>(all.size());
  for (long items : {1L, 3L, 90L, 700L, 6000L}) {
    for (int kind = 0; kind < kinds; ++kind) {
      int root = kind % world.size;
      cast(world, all[static_cast<std::size_t>(kind)], root, items, ++seed);
    }
    for (int shift = 0; shift < kinds; ++shift) {
      int root = (shift + static_cast<int>(items)) % world.size;
      cast(world, all[static_cast<std::size_t>((world.rank + shift) % kinds)], root, items, ++seed);
    }
    cast_of_mixed_struct(world, static_cast<int>(items) % world.size, items, ++seed);
    cast_one_item_against_many(world, static_cast<int>(items) % world.size, items * 37, ++seed);
    cast_from_comb(world, static_cast<int>(items + 1) % world.size, items);
  }
  for (int root = 0; root < world.size; ++root)
    cast(world, all[static_cast<std::size_t>((world.rank * 2 + root) % kinds)], root, 20, ++seed);
}

}  // namespace checked
