// Where the data of a datatype lies, and how to bring it into packed form: the bytes of its basic elements in
// the order of the type map, without gaps. Ranks that pass different datatypes of equal signature agree on
// nothing else.
#pragma once

#include <cstddef>

#include "mpi/abi/abi.hpp"
#include "mpi/host/buffer.hpp"
#include "mpi/host/handles.hpp"

namespace espalier::mpi {

/// `count` elements of a datatype in memory.
struct Layout {
  MPI_Datatype type{};
  std::size_t count = 0;
  std::size_t size = 0;       ///< bytes of data of one element
  MPI_Count lower = 0;        ///< lower bound of one element, from the buffer's address
  MPI_Count extent = 0;       ///< bytes from one element to the next
  MPI_Count true_lower = 0;   ///< of the first byte of data, from the buffer's address
  MPI_Count true_extent = 0;  ///< bytes that one element's data spans
  bool packed = false;        ///< the data lies in memory as in packed form, from `true_lower` on

  std::size_t bytes() const { return count * size; }
  /// What a program may touch of an element, from its lower to its upper bound, is its data and nothing else.
  bool is_bare() const { return packed && lower == 0 && true_lower == 0 && extent == true_extent; }
};

/// Looks at a datatype, predefined or derived. Returns false when the host does not know the datatype or the
/// bytes do not fit a size_t: then the call is the host's, to report.
bool lay_out(MPI_Datatype type, MPI_Count count, Layout& layout);

/// False where the host reports the buffer: data at MPI_BOTTOM are of derived datatypes that hold absolute
/// addresses.
bool may_begin_at(const void* buffer, const Layout& layout);

/// Copies data to and from packed form through the host; throws Error when the host fails.
void pack(const Layout& layout, const void* typed_data, void* packed_data, MPI_Comm comm);
void unpack(const Layout& layout, const void* packed_data, void* typed_data, MPI_Comm comm);

/// Memory for all elements of a layout, from the lowest lower bound or data to the highest upper bound or
/// data: a user's operator may assign elements as a whole. `address` is what to hand to MPI for it, aligned
/// as memory is. Gaps are zero.
struct TypedBuffer {
  explicit TypedBuffer(const Layout& layout);
  Buffer memory;
  void* address;
};

/// True if this host's MPI_Pack writes bare data, which all of the above needs.
bool host_packs_bare_data(MPI_Comm comm);

}  // namespace espalier::mpi
