#include "mpi/staging.hpp"

#include <algorithm>

#include "mpi/handles.hpp"
#include "mpi/host.hpp"

namespace espalier::mpi {
namespace {

/// Derived datatypes may hold absolute addresses: only for predefined ones a null buffer is an error.
bool buffer_fits(const void* buffer, const Layout& layout, std::size_t bytes) {
  return buffer != MPI_IN_PLACE && (bytes == 0 || buffer || !predefined_type(layout.type));
}

std::byte* at(void* buffer, MPI_Count offset) { return static_cast<std::byte*>(buffer) + offset; }

}  // namespace

bool EqualBlocks::look_at(const Part& part, int blocks) {
  const auto type = typed<MPI_Datatype>(part.type);
  MPI_Count elements = 0;
  if (part.count < 0 || type == host.constants.datatype_null ||
      __builtin_mul_overflow(part.count, blocks, &elements) || !lay_out(type, elements, layout_))
    return false;
  blocks_ = static_cast<std::size_t>(blocks);
  buffer_ = part.buffer;
  return buffer_fits(buffer_, layout_, layout_.bytes());
}

void EqualBlocks::open(MPI_Comm comm) {
  comm_ = comm;
  if (!layout_.packed) memory_ = allocate(layout_.bytes());
  data_ = memory_ ? memory_.get() : at(buffer_, layout_.true_lower);
}

void EqualBlocks::load() {
  if (memory_) pack(layout_, buffer_, data_, comm_);
}

void EqualBlocks::load(int index) {
  if (!memory_) return;
  Layout one = layout_;
  one.count = layout_.count / blocks_;
  const auto first = static_cast<MPI_Count>(one.count) * index;
  pack(one, at(buffer_, first * layout_.extent), block(index), comm_);
}

void EqualBlocks::store() {
  if (memory_) unpack(layout_, data_, buffer_, comm_);
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
  places_.resize(entries);
  bytes_.resize(entries);
  offsets_.resize(entries);
  return find_places(part) && buffer_fits(buffer_, layout_, total_);
}

bool UnequalBlocks::find_places(const Part& part) {
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    const auto rank = static_cast<int>(i);
    bytes_[i] = static_cast<std::size_t>(part.counts[rank]) * layout_.size;
    if (bytes_[i] == 0) continue;  // its displacement means nothing
    if (!part.displacements.data() ||
        __builtin_mul_overflow(MPI_Count{part.displacements[rank]}, layout_.extent, &places_[i]))
      return false;
    offsets_[i] = total_;
    if (__builtin_add_overflow(total_, bytes_[i], &total_)) return false;
  }
  return true;
}

void UnequalBlocks::open(MPI_Comm comm) {
  comm_ = comm;
  if (total_ == 0) return;
  if (layout_.packed) return measure_from_lowest();
  memory_ = allocate(total_);
  data_ = memory_.get();
}

/// Displacements may be negative; offsets are not.
void UnequalBlocks::measure_from_lowest() {
  MPI_Count lowest = 0;
  bool first = true;
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    if (bytes_[i] == 0) continue;
    lowest = first ? places_[i] : std::min(lowest, places_[i]);
    first = false;
  }
  for (std::size_t i = 0; i < bytes_.size(); ++i)
    offsets_[i] = bytes_[i] == 0 ? 0 : static_cast<std::size_t>(places_[i] - lowest);
  data_ = at(buffer_, lowest + layout_.true_lower);
}

void UnequalBlocks::load(int block) {
  const auto index = static_cast<std::size_t>(block);
  if (!memory_ || bytes_[index] == 0) return;
  const Piece one = piece(index);
  pack(one.layout, one.place, one.packed, comm_);
}

void UnequalBlocks::load() {
  for (std::size_t i = 0; i < bytes_.size(); ++i) load(static_cast<int>(i));
}

void UnequalBlocks::store() {
  if (!memory_) return;
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    if (bytes_[i] == 0) continue;
    const Piece one = piece(i);
    unpack(one.layout, one.packed, one.place, comm_);
  }
}

}  // namespace espalier::mpi
