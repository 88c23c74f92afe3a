// The data of one side of a call in packed form: in the program's own buffer where that has no gaps, else in
// private memory. A rank decides for itself; the others see bytes only.
#pragma once

#include <array>
#include <memory_resource>
#include <vector>

#include "mpi/collectives.hpp"
#include "mpi/datatype.hpp"
#include "runtime/communicator.hpp"

namespace espalier::mpi {

/// Blocks of one length, one behind the other by the datatype's extent.
class EqualBlocks {
 public:
  /// Looks at what the program passed for this side. False: the call is the host's, to report what is wrong.
  bool look_at(const Part& part, int blocks);
  std::size_t bytes() const { return layout_.bytes(); }
  std::size_t block_bytes() const { return blocks_ == 0 ? 0 : layout_.bytes() / blocks_; }

  /// From here on data() is valid. Private memory is not filled: load() what is to be sent.
  void open(MPI_Comm comm);
  /// Brings data of the program into packed form, and back into the program's buffer.
  void load();
  void load(int block);
  void store();
  std::byte* data() const { return data_; }
  std::byte* block(int index) const { return data_ + static_cast<std::size_t>(index) * block_bytes(); }

 private:
  Layout layout_;  // of all blocks together
  std::size_t blocks_ = 0;
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
  void load();
  void load(int block);
  void store();
  std::byte* data() const { return data_; }
  std::byte* block(int index) const { return data_ + offsets_[static_cast<std::size_t>(index)]; }
  /// Offsets count from data().
  runtime::Blocks blocks() const { return {bytes_, offsets_}; }

 private:
  struct Piece;
  bool find_places(const Part& part);
  void measure_from_lowest();
  Piece piece(std::size_t index) const;

  Layout layout_;  // of the longest block
  void* buffer_ = nullptr;
  MPI_Comm comm_{};
  // Room for 32 blocks: a call among fewer ranks asks for no memory.
  alignas(std::size_t) std::array<std::byte, 3 * 32 * sizeof(std::size_t)> room_;
  std::pmr::monotonic_buffer_resource more_{room_.data(), room_.size()};
  std::pmr::vector<MPI_Count> places_{&more_};  // of each block in the program's buffer, in bytes
  std::pmr::vector<std::size_t> bytes_{&more_}, offsets_{&more_};
  std::size_t total_ = 0;
  Buffer memory_;
  std::byte* data_ = nullptr;
};

}  // namespace espalier::mpi
