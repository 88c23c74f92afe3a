// Persistent and nonblocking alltoallw and neighbourhood collectives: pieces of any layout go from each rank to
// each other. They are packed straight into shared memory at the start, and unpacked from there at completion.
#include "collective/pieces/piece_blocks.hpp"
#include "generated/mpi/requests/prepare/make.hpp"
#include "mpi/collectives/own_block.hpp"
#include "mpi/neighbours/call_sides.hpp"
#include "mpi/requests/prepare/blocks.hpp"

namespace espalier::mpi::persistent {
namespace {

/// As long as the request.
struct PieceSides {
  PieceSide send{PieceSide::Lives::with_request}, receive{PieceSide::Lives::with_request};
};

/// What the host packs has a datatype of the program's.
void keep_types(PieceSide& side, Draft& draft) {
  side.keep_types([&](MPI_Datatype type) {
    draft.types.emplace_back(wide(type));
    return typed<MPI_Datatype>(draft.types.back().handle());
  });
}

/// `in_place`: what is sent lies where it is received. A start copies all of it before anything arrives.
void make_of_sides(const std::shared_ptr<PieceSides>& sides, bool in_place, Entry& entry, Draft& draft) {
  PieceSide &receive = sides->receive, &send = in_place ? receive : sides->send;
  keep_types(receive, draft);
  if (!in_place) keep_types(send, draft);
  const MPI_Comm comm = comm_for_packing(entry);
  if (send.is_staged()) draft.load = [&send, comm] { send.load(comm); };
  if (receive.is_staged()) draft.store = [&receive, comm] { receive.store(comm); };
  draft.spec = collective::pieces_spec(rank_info_of(entry), draft.spec.collective, send.blocks(),
                                       receive.blocks(), std::move(draft.spec));
  note_own_block(send.bytes_of(entry.communicator->rank()), receive.bytes_of(entry.communicator->rank()),
                 draft);
  draft.sides = sides;
}

/// Communicators of other kinds leave it to the host, on all ranks.
bool takes_pieces(const Entry& entry, Draft& draft) {
  if (entry.communicator->schedules_pieces()) return true;
  draft.unable = entry.communicator->why_host(draft.spec.collective);
  return false;
}

template <Collective collective>
void make_neighbours(const Transfer& call, Entry& entry, Draft& draft) {
  if (!takes_pieces(entry, draft)) return;
  if (!entry.neighbours) entry.neighbours = neighbours_of(entry.comm);
  const RankInfo rank_info = rank_info_of(entry);
  const auto sides = std::make_shared<PieceSides>();
  if (fails(!entry.neighbours || !look_at_sides<collective>(call, *entry.neighbours, rank_info.size,
                                                            sides->send, sides->receive),
            draft))
    return;
  make_of_sides(sides, false, entry, draft);
}

}  // namespace

void make_alltoallw(const Transfer& call, Entry& entry, Draft& draft) {
  if (!takes_pieces(entry, draft)) return;
  const RankInfo rank_info = rank_info_of(entry);
  const auto sides = std::make_shared<PieceSides>();
  if (fails((call.send.buffer == call.receive.buffer && has_aliases_for_host(call)) ||
                !look_at_sides(call, rank_info.size, sides->send, sides->receive),
            draft))
    return;
  make_of_sides(sides, is_in_place(call.send.buffer), entry, draft);
}

void make_neighbor_allgather(const Transfer& call, Entry& entry, Draft& draft) {
  make_neighbours<Collective::neighbor_allgather>(call, entry, draft);
}

void make_neighbor_allgatherv(const Transfer& call, Entry& entry, Draft& draft) {
  make_neighbours<Collective::neighbor_allgatherv>(call, entry, draft);
}

void make_neighbor_alltoall(const Transfer& call, Entry& entry, Draft& draft) {
  make_neighbours<Collective::neighbor_alltoall>(call, entry, draft);
}

void make_neighbor_alltoallv(const Transfer& call, Entry& entry, Draft& draft) {
  make_neighbours<Collective::neighbor_alltoallv>(call, entry, draft);
}

void make_neighbor_alltoallw(const Transfer& call, Entry& entry, Draft& draft) {
  make_neighbours<Collective::neighbor_alltoallw>(call, entry, draft);
}

}  // namespace espalier::mpi::persistent
