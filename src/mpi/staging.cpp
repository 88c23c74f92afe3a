#include "mpi/staging.hpp"

#include <algorithm>
#include <limits>

namespace espalier::mpi {
namespace {

std::byte* at(void* buffer, MPI_Count offset) { return static_cast<std::byte*>(buffer) + offset; }

}  // namespace

void EqualBlocks::open_memory(MPI_Comm comm) {
  comm_ = comm;
  memory_ = allocate(layout_.bytes());
  data_ = memory_.get();
}

void EqualBlocks::pack_block(int index) {
  Layout one = layout_;
  one.count = block_bytes_ / layout_.size;
  const auto first = static_cast<MPI_Count>(one.count) * index;
  pack(one, at(buffer_, first * layout_.extent), block(index), comm_);
}

/// One block: its elements, where they lie, and where they are packed.
struct UnequalBlocks::Piece {
  Layout layout;
  void* place;
  std::byte* packed;
};

UnequalBlocks::Piece UnequalBlocks::piece(std::size_t index) const {
  Piece one{layout_, at(buffer_, places_[index]), data_ + offsets_[index]};
  one.layout.count = bytes_[index] / layout_.size;
  return one;
}

bool UnequalBlocks::look_at(const Part& part, int blocks) {
  const auto type = typed<MPI_Datatype>(part.type);
  if (type == host.constants.datatype_null || !part.counts.data()) return false;
  MPI_Count longest = 0;
  for (int i = 0; i < blocks; ++i) {
    const MPI_Count count = part.counts[i];
    if (count < 0) return false;
    longest = std::max(longest, count);
  }
  if (!lay_out(type, longest, layout_)) return false;
  buffer_ = part.buffer;
  const auto entries = static_cast<std::size_t>(blocks);
  places_.make(entries);
  bytes_.make(entries);
  offsets_.make(entries);
  return find_places(part) && buffer_fits(buffer_, layout_, total_);
}

bool UnequalBlocks::find_places(const Part& part) {
  lowest_ = std::numeric_limits<MPI_Count>::max();
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    const auto rank = static_cast<int>(i);
    bytes_[i] = static_cast<std::size_t>(part.counts[rank]) * layout_.size;
    places_[i] = 0;
    offsets_[i] = total_;
    if (bytes_[i] == 0) continue;  // its displacement means nothing
    if (!part.displacements.data() ||
        __builtin_mul_overflow(MPI_Count{part.displacements[rank]}, layout_.extent, &places_[i]) ||
        __builtin_add_overflow(total_, bytes_[i], &total_))
      return false;
    lowest_ = std::min(lowest_, places_[i]);
  }
  return true;
}

/// Data without gaps stay where they are; displacements may be negative, offsets are not.
void UnequalBlocks::open(MPI_Comm comm) {
  if (total_ == 0) return;
  if (!layout_.packed) {
    comm_ = comm;
    memory_ = allocate(total_);
    data_ = memory_.get();
    return;
  }
  for (std::size_t i = 0; i < bytes_.size(); ++i)
    offsets_[i] = bytes_[i] == 0 ? 0 : static_cast<std::size_t>(places_[i] - lowest_);
  data_ = at(buffer_, lowest_ + layout_.true_lower);
}

void UnequalBlocks::pack_block(std::size_t index) {
  if (bytes_[index] == 0) return;
  const Piece one = piece(index);
  pack(one.layout, one.place, one.packed, comm_);
}

void UnequalBlocks::unpack_blocks() {
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    if (bytes_[i] == 0) continue;
    const Piece one = piece(i);
    unpack(one.layout, one.packed, one.place, comm_);
  }
}

}  // namespace espalier::mpi
