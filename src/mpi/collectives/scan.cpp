// Scan and exscan.
#include "generated/mpi/collectives/collectives.hpp"
#include "generated/mpi/collectives/forward.hpp"
#include "mpi/collectives/serve_reduction.hpp"

namespace espalier::mpi {
namespace {

using runtime::Communicator;

int serve_scan(Entry& entry, const Call& call, std::size_t& bytes) {
  Communicator& communicator = *entry.communicator;
  return serve_shape(
      entry, call, {Collective::scan, call.count, true}, bytes,
      [&](const void* send, const reduce::Operation& operation) {
        return communicator.scan(send, call.receive, static_cast<std::size_t>(call.count), operation);
      },
      [&](UserReduction& reduction, const void* send) {
        return reduction.scan(communicator, send, call.receive);
      });
}

int serve_exscan(Entry& entry, const Call& call, std::size_t& bytes) {
  Communicator& communicator = *entry.communicator;
  // Rank 0 gets no result; in place its receive buffer still holds what it gives.
  const bool is_target = communicator.rank() != 0 || is_in_place(call.send);
  return serve_shape(
      entry, call, {Collective::exscan, call.count, is_target}, bytes,
      [&](const void* send, const reduce::Operation& operation) {
        return communicator.exscan(send, is_target ? call.receive : nullptr,
                                   static_cast<std::size_t>(call.count), operation);
      },
      [&](UserReduction& reduction, const void* send) {
        return reduction.exscan(communicator, send, is_target ? call.receive : nullptr);
      });
}

}  // namespace

int scan(const Call& call, void* caller) {
  return perform<Collective::scan, serve_scan, forward_scan>(call, caller);
}

int exscan(const Call& call, void* caller) {
  return perform<Collective::exscan, serve_exscan, forward_exscan>(call, caller);
}

}  // namespace espalier::mpi
