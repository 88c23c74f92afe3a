#include "mpi/datatype/piece_side.hpp"

#include "mpi/datatype/staging.hpp"
#include "mpi/datatype/type_runs.hpp"
#include "mpi/host/host.hpp"
#include "runtime/communicator/local_copy.hpp"

namespace espalier::mpi {
namespace {

/// Also from a null buffer, with addresses as displacements.
std::byte* moved(void* buffer, MPI_Count bytes) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(buffer) +
                                      static_cast<std::uintptr_t>(bytes));
}

/// False: more than the number holds.
bool place_of(MPI_Count displacement, bool in_bytes, MPI_Count extent, MPI_Count& place) {
  if (!in_bytes) return !__builtin_mul_overflow(displacement, extent, &place);
  place = displacement;
  return true;
}

}  // namespace

std::optional<PieceSide::Block> PieceSide::block_at(const Part& part, int edge, bool same) {
  Block block{part.count, 0, part.type, false};
  if (part.counts.data()) {
    block.count = part.counts[edge];
    if (block.count != 0 && !part.displacements.data()) return std::nullopt;
    if (block.count != 0) block.displacement = part.displacements[edge];
  } else if (!same && __builtin_mul_overflow(part.count, MPI_Count{edge}, &block.displacement)) {
    return std::nullopt;
  }
  if (part.types.data()) {
    block.in_bytes = true;
    if (block.count != 0) block.type = wide(part.types[edge]);
  }
  return block.count < 0 ? std::nullopt : std::optional(block);
}

bool PieceSide::look_at(const Part& part, const BlockOrder& order, bool same) {
  const auto ranks = static_cast<std::size_t>(order.ranks);
  const bool by_rank = order.first.empty();
  pieces_.make(by_rank ? ranks : order.order.size());
  bytes_.make(ranks);
  if (by_rank) {
    own_first_.make(ranks + 1);
    for (std::size_t rank = 0; rank <= ranks; ++rank) own_first_[rank] = rank;
  }
  first_ = by_rank ? std::span<const std::size_t>(own_first_.begin(), ranks + 1) : order.first;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    bytes_[rank] = 0;
    for (std::size_t i = first_[rank]; i < first_[rank + 1]; ++i) {
      const auto block = block_at(part, static_cast<int>(by_rank ? i : order.order[i]), same);
      if (!block || !add(i, *block, part.buffer) ||
          __builtin_add_overflow(bytes_[rank], pieces_[i].bytes, &bytes_[rank]) ||
          __builtin_add_overflow(total_, pieces_[i].bytes, &total_))
        return false;
    }
  }
  return true;
}

bool PieceSide::add(std::size_t index, const Block& block, void* buffer) {
  pieces_[index] = {nullptr, 0, nullptr};
  if (block.count == 0) return true;  // its datatype and displacement mean nothing
  const std::size_t size = plain_size(block.type);
  if (size == 0) return add_derived(index, block, buffer);
  MPI_Count place = 0;
  std::size_t bytes = 0;
  // A null buffer is MPI_BOTTOM where displacements may be addresses.
  if (buffer == MPI_IN_PLACE ||
      !place_of(block.displacement, block.in_bytes, static_cast<MPI_Count>(size), place) ||
      (!buffer && !(block.in_bytes && place != 0)) ||
      __builtin_mul_overflow(static_cast<std::size_t>(block.count), size, &bytes))
    return false;
  pieces_[index] = {moved(buffer, place), bytes, nullptr};
  return true;
}

bool PieceSide::add_derived(std::size_t index, const Block& block, void* buffer) {
  const auto type = typed<MPI_Datatype>(block.type);
  if (type == host.constants.datatype_null || buffer == MPI_IN_PLACE) return false;
  const KeptType* kept = kept_type(type);
  MPI_Count place = 0;
  std::size_t bytes = 0;
  if (!kept || !place_of(block.displacement, block.in_bytes, kept->extent, place) ||
      __builtin_mul_overflow(static_cast<std::size_t>(block.count), kept->size, &bytes))
    return false;
  if (bytes == 0) return true;
  // Data at MPI_BOTTOM lie at absolute addresses: the host's functions know what a null address means.
  if (!kept->runs || !moved(buffer, place)) return stage(index, type, block.count, moved(buffer, place));
  const memory::Runs& runs = *kept->runs;
  const bool dense = runs.is_one_run() && (kept->goes_on || block.count == 1);
  if (!dense && lives_ == Lives::with_request) kept_runs_.push_back(kept->runs);
  pieces_[index] = dense ? memory::Piece{moved(buffer, place + runs.combs()[0].offset), bytes, nullptr}
                         : memory::Piece{moved(buffer, place), bytes, &runs};
  return true;
}

bool PieceSide::stage(std::size_t index, MPI_Datatype type, MPI_Count count, void* place) {
  Staged staged{index, {}, place, {}};
  if (!lay_out(type, count, staged.layout) || !may_begin_at(place, staged.layout)) return false;
  staged.memory = allocate(staged.layout.bytes());
  pieces_[index] = {staged.memory.get(), staged.layout.bytes(), nullptr};
  staged_.push_back(std::move(staged));
  return true;
}

void PieceSide::load(MPI_Comm comm) {
  for (const Staged& staged : staged_) pack(staged.layout, staged.place, staged.memory.get(), comm);
}

void PieceSide::store(MPI_Comm comm) {
  for (const Staged& staged : staged_) unpack(staged.layout, staged.memory.get(), staged.place, comm);
}

KeptPieces::KeptPieces(const PieceSide& side) : memory_(allocate(side.total())) {
  const collective::PieceBlocks from = side.blocks();
  const std::size_t ranks = from.bytes.size();
  pieces_.make(ranks);
  bytes_.make(ranks);
  first_.make(ranks + 1);
  std::byte* next = memory_.get();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    runtime::LocalCopies copies;
    const std::size_t bytes = from.bytes[rank];
    collective::copy_part(copies, next, from.block(static_cast<int>(rank)), {0, bytes});
    pieces_[rank] = {next, bytes, nullptr};
    bytes_[rank] = bytes;
    first_[rank] = rank;
    next += bytes;
  }
  first_[ranks] = ranks;
}

collective::PieceBlocks KeptPieces::blocks() const {
  return {
      {pieces_.begin(), pieces_.size()}, {first_.begin(), first_.size()}, {bytes_.begin(), bytes_.size()}};
}

}  // namespace espalier::mpi
