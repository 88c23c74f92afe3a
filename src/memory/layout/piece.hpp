// Data of any layout in a buffer, and the walk through a part of them in the order of their packed form.
#pragma once

#include <algorithm>
#include <cstddef>

#include "memory/layout/runs.hpp"

namespace espalier::memory {

/// Elements of one datatype at an address. `bytes` of data, a multiple of runs->size().
struct Piece {
  std::byte* data;    ///< the first element's address; of dense data, their first byte
  std::size_t bytes;  ///< in packed form
  const Runs* runs;   ///< null: the data are dense
};

namespace detail {

/// `bytes` of a comb from `offset` of its data on.
template <class Visit>
void walk_comb(std::byte* element, const Comb& comb, std::size_t offset, std::size_t bytes, Visit& visit) {
  std::byte* place = element + comb.offset;
  if (comb.count == 1) return visit(place + offset, bytes, std::size_t{1}, std::ptrdiff_t{0});
  if (offset > 0) {
    place += static_cast<std::ptrdiff_t>(offset / comb.bytes) * comb.stride;
    if (const std::size_t begun = offset % comb.bytes; begun > 0) {
      const std::size_t rest = std::min(comb.bytes - begun, bytes);
      visit(place + begun, rest, std::size_t{1}, std::ptrdiff_t{0});
      place += comb.stride;
      bytes -= rest;
    }
  }
  const std::size_t whole = bytes / comb.bytes;
  if (whole > 0) visit(place, comb.bytes, whole, comb.stride);
  if (const std::size_t rest = bytes - whole * comb.bytes; rest > 0)
    visit(place + static_cast<std::ptrdiff_t>(whole) * comb.stride, rest, std::size_t{1}, std::ptrdiff_t{0});
}

/// `bytes` of elements that have several combs.
template <class Visit>
void walk_elements(std::byte* data, const Runs& runs, std::size_t offset, std::size_t bytes, Visit& visit) {
  std::byte* element = data + static_cast<std::ptrdiff_t>(offset / runs.size()) * runs.extent();
  offset %= runs.size();
  std::size_t which = offset == 0 ? 0 : runs.comb_at(offset);
  offset -= runs.begin_of(which);
  while (bytes > 0) {
    const Comb& comb = runs.combs()[which];
    const std::size_t some = std::min(comb.total() - offset, bytes);
    walk_comb(element, comb, offset, some, visit);
    bytes -= some;
    offset = 0;
    if (++which < runs.combs().size()) continue;
    which = 0;
    element += runs.extent();
  }
}

}  // namespace detail

/// Calls visit(address, bytes, count, stride) for `bytes` of the piece's packed form from `offset` on, in that
/// order: `count` runs of `bytes` each, `stride` bytes apart.
template <class Visit>
void walk(const Piece& piece, std::size_t offset, std::size_t bytes, Visit&& visit) {
  if (bytes == 0) return;
  if (!piece.runs) return visit(piece.data + offset, bytes, std::size_t{1}, std::ptrdiff_t{0});
  const Runs& runs = *piece.runs;
  if (runs.combs().size() > 1) return detail::walk_elements(piece.data, runs, offset, bytes, visit);
  // One comb in each element, and one in all where these go on from element to element.
  Comb all = runs.combs()[0];
  if (const std::size_t elements = piece.bytes / runs.size(); elements > 1) {
    if (all.count > 1 && runs.extent() != static_cast<std::ptrdiff_t>(all.count) * all.stride)
      return detail::walk_elements(piece.data, runs, offset, bytes, visit);
    if (all.count == 1) all.stride = runs.extent();
    all.count *= elements;
  }
  detail::walk_comb(piece.data, all, offset, bytes, visit);
}

}  // namespace espalier::memory
