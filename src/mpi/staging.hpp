// The data of one side of a call in packed form: in the program's own buffer where that has no gaps, else in
// private memory. A rank decides for itself; the others see bytes only.
#pragma once

#include "base/by_rank.hpp"
#include "mpi/collectives.hpp"
#include "mpi/datatype.hpp"
#include "mpi/host.hpp"
#include "runtime/communicator.hpp"

namespace espalier::mpi {

/// Derived datatypes may hold absolute addresses: only for predefined ones a null buffer is an error.
inline bool buffer_fits(const void* buffer, const Layout& layout, std::size_t bytes) {
  return buffer != MPI_IN_PLACE && (buffer || bytes == 0 || !predefined_type(layout.type));
}

/// Blocks of one length, one behind the other by the datatype's extent. Short calls pass here: what data
/// without gaps need is inlined.
class EqualBlocks {
 public:
  /// Looks at what the program passed for this side. False: the call is the host's, to report what is wrong.
  bool look_at(const Part& part, int blocks) {
    const auto type = typed<MPI_Datatype>(part.type);
    MPI_Count elements = 0;
    if (part.count < 0 || type == host.constants.datatype_null ||
        __builtin_mul_overflow(part.count, blocks, &elements) || !lay_out(type, elements, layout_))
      return false;
    block_bytes_ = static_cast<std::size_t>(part.count) * layout_.size;
    buffer_ = part.buffer;
    return buffer_fits(buffer_, layout_, layout_.bytes());
  }
  std::size_t bytes() const { return layout_.bytes(); }
  std::size_t block_bytes() const { return block_bytes_; }
  std::size_t block_bytes(int) const { return block_bytes_; }

  /// From here on data() is valid. Private memory is not filled: load() what is to be sent.
  void open(MPI_Comm comm) {
    data_ = static_cast<std::byte*>(buffer_) + layout_.true_lower;
    if (!layout_.packed) [[unlikely]]
      open_memory(comm);
  }
  /// Brings data of the program into packed form, and back into the program's buffer.
  void load() {
    if (memory_) [[unlikely]]
      pack(layout_, buffer_, data_, comm_);
  }
  void load(int block) {
    if (memory_) [[unlikely]]
      pack_block(block);
  }
  void store() {
    if (memory_) [[unlikely]]
      unpack(layout_, data_, buffer_, comm_);
  }
  /// Whether packed form is in private memory, and load() and store() do anything.
  bool is_packed_apart() const { return memory_ != nullptr; }
  std::byte* data() const { return data_; }
  std::byte* block(int index) const { return data_ + static_cast<std::size_t>(index) * block_bytes_; }

 private:
  void open_memory(MPI_Comm comm);
  void pack_block(int index);

  Layout layout_;  // of all blocks together
  std::size_t block_bytes_ = 0;
  void* buffer_ = nullptr;
  MPI_Comm comm_{};
  Buffer memory_;
  std::byte* data_ = nullptr;
};

/// Blocks of any lengths at any displacements (the v forms).
class UnequalBlocks {
 public:
  bool look_at(const Part& part, int blocks);
  std::size_t bytes() const { return total_; }
  std::size_t block_bytes(int index) const { return bytes_[static_cast<std::size_t>(index)]; }

  void open(MPI_Comm comm);
  void load() {
    if (memory_) [[unlikely]]
      for (std::size_t i = 0; i < bytes_.size(); ++i) pack_block(i);
  }
  void load(int block) {
    if (memory_) [[unlikely]]
      pack_block(static_cast<std::size_t>(block));
  }
  void store() {
    if (memory_) [[unlikely]]
      unpack_blocks();
  }
  bool is_packed_apart() const { return memory_ != nullptr; }
  std::byte* data() const { return data_; }
  std::byte* block(int index) const { return data_ + offsets_[static_cast<std::size_t>(index)]; }
  /// Offsets count from data().
  runtime::Blocks blocks() const { return {bytes_, offsets_}; }

 private:
  struct Piece;
  bool find_places(const Part& part);
  Piece piece(std::size_t index) const;
  void pack_block(std::size_t index);
  void unpack_blocks();

  Layout layout_;  // of the longest block
  void* buffer_ = nullptr;
  MPI_Comm comm_{};
  ByRank<MPI_Count> places_;  // of each block in the program's buffer, in bytes
  ByRank<std::size_t> bytes_, offsets_;
  std::size_t total_ = 0;
  MPI_Count lowest_ = 0;  // of all places with data
  Buffer memory_;
  std::byte* data_ = nullptr;
};

}  // namespace espalier::mpi
