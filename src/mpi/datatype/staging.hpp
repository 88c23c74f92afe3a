// The data of one side of a call in packed form: in the program's own buffer where that has no gaps, else in
// private memory. A rank decides for itself; the others see bytes only.
//
// Nearly all calls pass predefined types without gaps, called plain here. What these need is inlined, for it
// is a good part of the time of a short call.
#pragma once

#include <cstdint>
#include <optional>

#include "base/by_rank.hpp"
#include "mpi/call.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/host/host.hpp"
#include "mpi/host/host_behaviour.hpp"
#include "runtime/communicator/communicator.hpp"

namespace espalier::mpi {

/// Bytes of an element of a plain type; 0 for other types.
inline std::size_t plain_size(Handle type) {
  const PredefinedType* predefined = predefined_type(typed<MPI_Datatype>(type));
  return predefined && predefined->dense ? predefined->size : 0;
}

/// Whether the data of plain types begin at this address: a null buffer or MPI_IN_PLACE needs a closer look.
inline bool is_plain_buffer(const void* buffer) { return buffer && buffer != MPI_IN_PLACE; }

/// Whether a count or displacement is not negative, and so small that its product with the size of a plain
/// type does not overflow.
inline bool is_plain_number(std::int64_t number) { return static_cast<std::uint64_t>(number) >> 32 == 0; }

/// Whether the host reports an error because the program sends a block from the place where it receives it. A
/// host looks for that only where both sides have one plain type; other such blocks count as MPI_IN_PLACE.
inline bool is_alias_for_host(const Transfer& call, const std::byte* from, const std::byte* to,
                              Collective collective) {
  return from == to && from && normal(call.send.type) == normal(call.receive.type) &&
         plain_size(call.send.type) > 0 && host_rejects_aliases(collective, false);
}

/// Equal blocks that do not lie in packed form. `memory` is empty until open().
struct EqualGaps {
  Layout layout;  // of all blocks together
  void* buffer = nullptr;
  MPI_Comm comm{};
  Buffer memory;
};

/// Blocks of one length, one behind the other by the datatype's extent.
class EqualBlocks {
 public:
  /// Looks at what the program passed for this side. False: the call is the host's, to report what is wrong.
  bool look_at(const Part& part, int blocks) {
    const std::size_t size = plain_size(part.type);
    if (size == 0 || part.count == 0 || !is_plain_number(part.count) || !is_plain_buffer(part.buffer))
        [[unlikely]]
      return look_closer(part, blocks);
    data_ = static_cast<std::byte*>(part.buffer);
    block_bytes_ = static_cast<std::size_t>(part.count) * size;
    bytes_ = block_bytes_ * static_cast<std::size_t>(blocks);
    return true;
  }
  std::size_t bytes() const { return bytes_; }
  std::size_t block_bytes() const { return block_bytes_; }
  std::size_t block_bytes(int) const { return block_bytes_; }

  /// From here on data() is valid. Private memory is not filled: load() does that for what is to be sent.
  void open(MPI_Comm comm) {
    if (gaps_) [[unlikely]]
      open_memory(comm);
  }
  /// load() brings data of the program into packed form, store() back into the program's buffer.
  void load() {
    if (gaps_) [[unlikely]]
      pack_blocks();
  }
  void load(int block) {
    if (gaps_) [[unlikely]]
      pack_block(block);
  }
  void store() {
    if (gaps_) [[unlikely]]
      unpack_blocks();
  }
  /// Whether the packed form is in private memory. Else load() and store() do nothing.
  bool is_packed_apart() const { return gaps_.has_value(); }
  std::byte* data() const { return data_; }
  std::byte* block(int index) const { return data_ + static_cast<std::size_t>(index) * block_bytes_; }

 private:
  bool look_closer(const Part& part, int blocks);
  void open_memory(MPI_Comm comm);
  void pack_blocks();
  void pack_block(int index);
  void unpack_blocks();

  std::byte* data_ = nullptr;
  std::size_t block_bytes_ = 0, bytes_ = 0;
  std::optional<EqualGaps> gaps_;
};

/// Unequal blocks that do not lie in packed form. `memory` is empty until open().
struct UnequalGaps {
  using Places = ByRank<MPI_Count>;  // of each block in the program's buffer, in bytes
  Layout layout;                     // of the longest block
  void* buffer = nullptr;
  Places places;
  MPI_Comm comm{};
  Buffer memory;
};

/// Blocks of any lengths at any displacements (the v forms).
class UnequalBlocks {
 public:
  /// The functions do the same as those of EqualBlocks.
  bool look_at(const Part& part, int blocks);
  std::size_t bytes() const { return total_; }
  std::size_t block_bytes(int index) const { return bytes_[static_cast<std::size_t>(index)]; }

  void open(MPI_Comm comm) {
    if (gaps_) [[unlikely]]
      open_memory(comm);
  }
  void load() {
    if (gaps_) [[unlikely]]
      for (std::size_t i = 0; i < bytes_.size(); ++i) pack_block(i);
  }
  void load(int block) {
    if (gaps_) [[unlikely]]
      pack_block(static_cast<std::size_t>(block));
  }
  void store() {
    if (gaps_) [[unlikely]]
      unpack_blocks();
  }
  bool is_packed_apart() const { return gaps_.has_value(); }
  std::byte* data() const { return data_; }
  std::byte* block(int index) const { return data_ + offsets_[static_cast<std::size_t>(index)]; }
  /// Offsets count from data().
  runtime::Blocks blocks() const { return {bytes_, offsets_}; }

 private:
  using Places = UnequalGaps::Places;
  struct Piece;
  bool are_plain(const Part& part, std::size_t size);
  bool look_closer(const Part& part);
  bool find_places(const Part& part, const Layout& layout, Places& places);
  void stay_at(std::byte* buffer, const Places& places);
  void open_memory(MPI_Comm comm);
  Piece piece(std::size_t index) const;
  void pack_block(std::size_t index);
  void unpack_blocks();

  std::byte* data_ = nullptr;
  std::size_t total_ = 0;
  ByRank<std::size_t> bytes_, offsets_;
  std::optional<UnequalGaps> gaps_;
};

}  // namespace espalier::mpi
