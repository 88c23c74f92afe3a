#include "layouts.hpp"

namespace checked {
namespace {

Layout plain() { return {"MPI_UINT32_T", MPI_UINT32_T, 12, {0}, 1}; }

Layout contiguous() {
  MPI_Datatype type;
  MPI_Type_contiguous(3, MPI_UINT32_T, &type);
  return {"contiguous(3)", type, 4, {0, 1, 2}, 3};
}

Layout vector() {
  MPI_Datatype type;
  MPI_Type_vector(3, 2, 5, MPI_UINT32_T, &type);
  return {"vector(3,2,5)", type, 2, {0, 1, 5, 6, 10, 11}, 12};
}

Layout indexed_out_of_order() {
  int lengths[4] = {2, 1, 2, 1}, places[4] = {9, 3, 0, 6};
  MPI_Datatype type;
  MPI_Type_indexed(4, lengths, places, MPI_UINT32_T, &type);
  return {"indexed out of order", type, 2, {9, 10, 3, 0, 1, 6}, 11};
}

Layout structure() {
  int lengths[3] = {1, 2, 1};
  MPI_Aint places[3] = {4, 16, 28};
  MPI_Datatype members[3] = {MPI_UINT32_T, MPI_UINT32_T, MPI_UINT32_T}, inner, type;
  MPI_Type_create_struct(3, lengths, places, members, &inner);
  MPI_Type_create_resized(inner, 0, 40, &type);
  MPI_Type_free(&inner);
  return {"struct with holes", type, 3, {1, 4, 5, 7}, 10};
}

Layout comb() {
  MPI_Datatype inner, type;
  MPI_Type_vector(2, 1, 4, MPI_UINT32_T, &inner);
  MPI_Type_create_resized(inner, 0, 8, &type);
  MPI_Type_free(&inner);
  return {"resized to less", type, 6, {0, 4}, 2};
}

Layout subarray() {
  int sizes[2] = {4, 5}, sub[2] = {2, 3}, starts[2] = {1, 2};
  MPI_Datatype type;
  MPI_Type_create_subarray(2, sizes, sub, starts, MPI_ORDER_C, MPI_UINT32_T, &type);
  return {"subarray", type, 2, {7, 8, 9, 12, 13, 14}, 20};
}

// One run of data, but more from one item to the next than the item holds: blocks of one item lie packed,
// several do not.
Layout spread() {
  MPI_Datatype inner, type;
  MPI_Type_contiguous(3, MPI_UINT32_T, &inner);
  MPI_Type_create_resized(inner, 0, 20, &type);
  MPI_Type_free(&inner);
  return {"contiguous(3), resized to more", type, 4, {0, 1, 2}, 5};
}

// One run of data that does not begin at the buffer's address.
Layout shifted() {
  int length = 6, place = 2;
  MPI_Datatype inner, type;
  MPI_Type_indexed(1, &length, &place, MPI_UINT32_T, &inner);
  MPI_Type_create_resized(inner, 0, 24, &type);
  MPI_Type_free(&inner);
  return {"indexed, shifted by 2", type, 2, {2, 3, 4, 5, 6, 7}, 6};
}

// Items reach into each other's extents without overlap: each one's second int lies between the first ints of
// later items.
Layout interlaced() {
  MPI_Datatype inner, type;
  MPI_Type_vector(2, 1, 3, MPI_UINT32_T, &inner);
  MPI_Type_create_resized(inner, 0, 8, &type);
  MPI_Type_free(&inner);
  return {"interlaced", type, 6, {0, 3}, 2};
}

Layout committed(Layout layout) {
  if (layout.type != MPI_UINT32_T) MPI_Type_commit(&layout.type);
  return layout;
}

}  // namespace

const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = {
      committed(plain()),     committed(contiguous()), committed(vector()), committed(indexed_out_of_order()),
      committed(structure()), committed(subarray()),   committed(spread()), committed(shifted()),
      committed(interlaced())};
  return all;
}

const Layout& plain_layout() { return layouts().front(); }

const Layout& comb_layout() {
  static const Layout layout = committed(comb());
  return layout;
}

long position(const Layout& layout, long k) {
  auto cells = static_cast<long>(layout.cells.size());
  return k / cells * layout.extent + layout.cells[static_cast<std::size_t>(k % cells)];
}

}  // namespace checked
