// The blocks of a call whose data have gaps or whose arguments need a closer look.
#include "mpi/datatype/staging.hpp"

#include <algorithm>
#include <limits>

namespace espalier::mpi {
namespace {

std::byte* at(void* buffer, MPI_Count offset) { return static_cast<std::byte*>(buffer) + offset; }

}  // namespace

bool EqualBlocks::look_closer(const Part& part, int blocks) {
  const auto type = typed<MPI_Datatype>(part.type);
  MPI_Count elements = 0;
  Layout layout;
  if (part.count < 0 || type == host.constants.datatype_null ||
      __builtin_mul_overflow(part.count, blocks, &elements) || !lay_out(type, elements, layout))
    return false;
  bytes_ = layout.bytes();
  block_bytes_ = static_cast<std::size_t>(part.count) * layout.size;
  if (!may_begin_at(part.buffer, layout)) return false;
  if (bytes_ == 0) return true;
  if (layout.packed) {
    data_ = at(part.buffer, layout.true_lower);
  } else {
    EqualGaps& gaps = gaps_.emplace();
    gaps.layout = layout;
    gaps.buffer = part.buffer;
  }
  return true;
}

void EqualBlocks::open_memory(MPI_Comm comm) {
  gaps_->comm = comm;
  gaps_->memory = allocate(bytes_);
  data_ = gaps_->memory.get();
}

void EqualBlocks::pack_blocks() { pack(gaps_->layout, gaps_->buffer, data_, gaps_->comm); }

void EqualBlocks::pack_block(int index) {
  Layout one = gaps_->layout;
  one.count = block_bytes_ / one.size;
  const auto first = static_cast<MPI_Count>(one.count) * index;
  pack(one, at(gaps_->buffer, first * one.extent), block(index), gaps_->comm);
}

void EqualBlocks::unpack_blocks() { unpack(gaps_->layout, data_, gaps_->buffer, gaps_->comm); }

bool UnequalBlocks::look_at(const Part& part, int blocks) {
  if (!part.counts.data()) return false;
  const auto entries = static_cast<std::size_t>(blocks);
  bytes_.make(entries);
  offsets_.make(entries);
  const std::size_t size = plain_size(part.type);
  return (size > 0 && part.displacements.data() && is_plain_buffer(part.buffer) && are_plain(part, size)) ||
         look_closer(part);
}

/// For elements of `size` bytes without gaps. False: counts or displacements need a closer look.
bool UnequalBlocks::are_plain(const Part& part, std::size_t size) {
  std::size_t total = 0;
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    const auto rank = static_cast<int>(i);
    const std::int64_t count = part.counts[rank], displacement = part.displacements[rank];
    if (!is_plain_number(count | displacement)) return false;
    bytes_[i] = static_cast<std::size_t>(count) * size;
    offsets_[i] = count == 0 ? 0 : static_cast<std::size_t>(displacement) * size;
    total += bytes_[i];
  }
  total_ = total;
  data_ = static_cast<std::byte*>(part.buffer);
  return true;
}

bool UnequalBlocks::look_closer(const Part& part) {
  const auto type = typed<MPI_Datatype>(part.type);
  if (type == host.constants.datatype_null) return false;
  MPI_Count longest = 0;
  for (int i = 0; i < static_cast<int>(bytes_.size()); ++i) {
    const MPI_Count count = part.counts[i];
    if (count < 0) return false;
    longest = std::max(longest, count);
  }
  UnequalGaps& gaps = gaps_.emplace();
  gaps.buffer = part.buffer;
  if (!lay_out(type, longest, gaps.layout) || !find_places(part, gaps.layout, gaps.places) ||
      !may_begin_at(part.buffer, gaps.layout))
    return false;
  if (total_ > 0 && gaps.layout.packed) stay_at(at(part.buffer, gaps.layout.true_lower), gaps.places);
  if (total_ == 0 || gaps.layout.packed) gaps_.reset();
  return true;
}

/// Finds where each block begins in the program's buffer (`places`), and in packed form (`offsets_`). False:
/// there are no displacements, or they overflow.
bool UnequalBlocks::find_places(const Part& part, const Layout& layout, Places& places) {
  places.make(bytes_.size());
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    const auto rank = static_cast<int>(i);
    bytes_[i] = static_cast<std::size_t>(part.counts[rank]) * layout.size;
    places[i] = 0;
    offsets_[i] = total_;
    if (bytes_[i] == 0) continue;  // its displacement means nothing
    if (!part.displacements.data() ||
        __builtin_mul_overflow(MPI_Count{part.displacements[rank]}, layout.extent, &places[i]) ||
        __builtin_add_overflow(total_, bytes_[i], &total_))
      return false;
  }
  return true;
}

/// Data without gaps stay where they are; displacements may be negative, offsets are not.
void UnequalBlocks::stay_at(std::byte* buffer, const Places& places) {
  MPI_Count lowest = std::numeric_limits<MPI_Count>::max();
  for (std::size_t i = 0; i < bytes_.size(); ++i)
    if (bytes_[i] > 0) lowest = std::min(lowest, places[i]);
  for (std::size_t i = 0; i < bytes_.size(); ++i)
    offsets_[i] = bytes_[i] == 0 ? 0 : static_cast<std::size_t>(places[i] - lowest);
  data_ = at(buffer, lowest);
}

void UnequalBlocks::open_memory(MPI_Comm comm) {
  gaps_->comm = comm;
  gaps_->memory = allocate(total_);
  data_ = gaps_->memory.get();
}

/// One block: its elements, where they lie, and where they are packed.
struct UnequalBlocks::Piece {
  Layout layout;
  void* place;
  std::byte* packed;
};

UnequalBlocks::Piece UnequalBlocks::piece(std::size_t index) const {
  Piece one{gaps_->layout, at(gaps_->buffer, gaps_->places[index]), data_ + offsets_[index]};
  one.layout.count = bytes_[index] / one.layout.size;
  return one;
}

void UnequalBlocks::pack_block(std::size_t index) {
  if (bytes_[index] == 0) return;
  const Piece one = piece(index);
  pack(one.layout, one.place, one.packed, gaps_->comm);
}

void UnequalBlocks::unpack_blocks() {
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    if (bytes_[i] == 0) continue;
    const Piece one = piece(i);
    unpack(one.layout, one.packed, one.place, gaps_->comm);
  }
}

}  // namespace espalier::mpi
