// Alltoallw, and the neighbourhood collectives, in which any number of pieces of any layout go from each rank
// to any other. A rank knows its own pieces alone: one with nothing to do still takes part.
#include "generated/mpi/collectives/collectives.hpp"
#include "generated/mpi/collectives/forward.hpp"
#include "mpi/collectives/own_block.hpp"
#include "mpi/collectives/serve.hpp"
#include "mpi/neighbours/call_sides.hpp"

namespace espalier::mpi {
namespace {

using runtime::Communicator;

bool sends_itself_more(const Communicator& communicator, const PieceSide& send, const PieceSide& receive) {
  return send.bytes_of(communicator.rank()) > receive.bytes_of(communicator.rank());
}

int refuse_own_block(const Entry& entry, Collective collective, const PieceSide& send,
                     const PieceSide& receive) {
  const int rank = entry.communicator->rank();
  return mpi::refuse_own_block(entry, {collective, 0, 0}, send.bytes_of(rank), receive.bytes_of(rank));
}

int serve_alltoallw(Entry& entry, const Transfer& call, std::size_t&) {
  Communicator& communicator = *entry.communicator;
  if (!communicator.takes_pieces()) return refuse_by_plan(entry, Collective::alltoallw, 0);
  if (call.send.buffer == call.receive.buffer && has_aliases_for_host(call)) [[unlikely]]
    return to_host;
  const bool in_place = is_in_place(call.send.buffer);
  PieceSide send, receive;
  if (!look_at_sides(call, communicator.size(), send, receive)) return to_host;
  if (!in_place && sends_itself_more(communicator, send, receive)) [[unlikely]]
    return refuse_own_block(entry, Collective::alltoallw, send, receive);
  bool done = false;
  if (in_place) {
    receive.load(entry.comm);
    const KeptPieces kept(receive);
    done = communicator.exchange_pieces(Collective::alltoallw, kept.blocks(), receive.blocks());
  } else {
    send.load(entry.comm);
    done = communicator.exchange_pieces(Collective::alltoallw, send.blocks(), receive.blocks());
  }
  if (done) receive.store(entry.comm);
  return served(done, entry, Collective::alltoallw, 0);
}

/// All five: they differ in what the program's arrays say.
template <Collective collective>
int serve_neighbours(Entry& entry, const Transfer& call, std::size_t&) {
  Communicator& communicator = *entry.communicator;
  if (!communicator.takes_pieces()) return refuse_by_plan(entry, collective, 0);
  if (!entry.neighbours) entry.neighbours = neighbours_of(entry.comm);
  if (!entry.neighbours) return to_host;
  PieceSide send, receive;
  if (!look_at_sides<collective>(call, *entry.neighbours, communicator.size(), send, receive)) return to_host;
  if (sends_itself_more(communicator, send, receive)) [[unlikely]]
    return refuse_own_block(entry, collective, send, receive);
  send.load(entry.comm);
  const bool done = communicator.exchange_pieces(collective, send.blocks(), receive.blocks());
  if (done) receive.store(entry.comm);
  return served(done, entry, collective, 0);
}

template <Collective collective, int (*forward)(const Transfer&)>
int among_neighbours(const Transfer& call, void* caller) {
  return perform<collective, serve_neighbours<collective>, forward>(call, caller);
}

}  // namespace

int alltoallw(const Transfer& call, void* caller) {
  return perform<Collective::alltoallw, serve_alltoallw, forward_alltoallw>(call, caller);
}

int neighbor_allgather(const Transfer& call, void* caller) {
  return among_neighbours<Collective::neighbor_allgather, forward_neighbor_allgather>(call, caller);
}

int neighbor_allgatherv(const Transfer& call, void* caller) {
  return among_neighbours<Collective::neighbor_allgatherv, forward_neighbor_allgatherv>(call, caller);
}

int neighbor_alltoall(const Transfer& call, void* caller) {
  return among_neighbours<Collective::neighbor_alltoall, forward_neighbor_alltoall>(call, caller);
}

int neighbor_alltoallv(const Transfer& call, void* caller) {
  return among_neighbours<Collective::neighbor_alltoallv, forward_neighbor_alltoallv>(call, caller);
}

int neighbor_alltoallw(const Transfer& call, void* caller) {
  return among_neighbours<Collective::neighbor_alltoallw, forward_neighbor_alltoallw>(call, caller);
}

}  // namespace espalier::mpi
