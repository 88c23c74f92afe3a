// One side of a call whose blocks are pieces of any layout: alltoallw, and what neighbours exchange. Data stay
// where they lie; only those of datatypes that cannot be followed are packed by the host.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/by_rank.hpp"
#include "collective/pieces/piece_blocks.hpp"
#include "mpi/call.hpp"
#include "mpi/datatype/datatype.hpp"

namespace espalier::mpi {

/// What says which of the program's blocks go to which rank. Empty `order`: block r is that of rank r.
struct BlockOrder {
  std::span<const std::size_t> order, first;
  int ranks = 0;
};

class PieceSide {
 public:
  enum class Lives { in_call, with_request };
  /// With a request: the program may free its datatypes before.
  explicit PieceSide(Lives lives = Lives::in_call) : lives_(lives) {}

  /// Looks at what the program passed for this side. `same`: the one block goes to all (neighbor_allgather).
  /// False: the call is the host's, to report what is wrong.
  bool look_at(const Part& part, const BlockOrder& order, bool same = false);

  std::size_t bytes_of(int rank) const { return bytes_[static_cast<std::size_t>(rank)]; }
  std::size_t total() const { return total_; }
  /// load() packs what is to be sent and store() unpacks what has come, where the host has to do it.
  void load(MPI_Comm comm);
  void store(MPI_Comm comm);
  /// Whether they do anything.
  bool is_staged() const { return !staged_.empty(); }
  /// `kept(type)`: a datatype that lives as long as the request, for each that load() and store() use.
  template <class Kept>
  void keep_types(Kept kept) {
    for (Staged& staged : staged_) staged.layout.type = kept(staged.layout.type);
  }
  collective::PieceBlocks blocks() const {
    return {{pieces_.begin(), pieces_.size()}, first_, {bytes_.begin(), bytes_.size()}};
  }

 private:
  /// One block, as the program passed it.
  struct Block {
    MPI_Count count = 0, displacement = 0;  // in elements, or bytes
    Handle type = 0;
    bool in_bytes = false;
  };
  struct Staged {
    std::size_t piece;
    Layout layout;
    void* place;
    Buffer memory;
  };
  static std::optional<Block> block_at(const Part& part, int edge, bool same);
  bool add(std::size_t index, const Block& block, void* buffer);
  bool add_derived(std::size_t index, const Block& block, void* buffer);
  bool stage(std::size_t index, MPI_Datatype type, MPI_Count count, void* place);

  Lives lives_;
  std::vector<std::shared_ptr<const memory::Runs>> kept_runs_;  ///< of a request
  ByRank<memory::Piece> pieces_;
  ByRank<std::size_t> bytes_, own_first_;
  std::span<const std::size_t> first_;
  std::vector<Staged> staged_;
  std::size_t total_ = 0;
};

/// What MPI_IN_PLACE sends, set aside: what is received goes where it lay.
class KeptPieces {
 public:
  explicit KeptPieces(const PieceSide& side);
  collective::PieceBlocks blocks() const;

 private:
  Buffer memory_;
  ByRank<memory::Piece> pieces_;
  ByRank<std::size_t> first_, bytes_;
};

}  // namespace espalier::mpi
