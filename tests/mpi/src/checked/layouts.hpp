// Derived types of equal signature: each places 12 ints per item, in its own order and with its own holes.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace checked {

constexpr int ints_per_item = 12;
constexpr std::uint32_t hole = 0x5a5a5a5a;

struct Layout {
  const char* name;
  MPI_Datatype type;
  int items;               // of this type for 12 ints
  std::vector<int> cells;  // where the ints of one type lie, in units of ints from the buffer's address
  int extent;              // in ints
};

// Committed at their first use, and never freed.
const std::vector<Layout>& layouts();
// MPI_UINT32_T itself.
const Layout& plain_layout();
/// One of them, as the bits say.
inline const Layout& any_layout(std::uint64_t bits) { return layouts()[bits % layouts().size()]; }
// The items overlap each other's extents like the teeth of two combs: the extent is smaller than the true
// extent. Only to send from.
const Layout& comb_layout();

// Position of the k-th int of a message in the buffer, in ints.
long position(const Layout& layout, long k);

}  // namespace checked
