// Messages between nodes as MPI_Isend and MPI_Irecv of the host MPI.
#include "mpi/transport/transport.hpp"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "mpi/host/host.hpp"
#include "runtime/process/process.hpp"

namespace espalier::mpi {
namespace {

using network::Ticket;

/// A request is a word or a pointer, so it is its own ticket and no table is needed.
Ticket ticket_of(MPI_Request request) {
  Ticket ticket = 0;
  static_assert(sizeof request <= sizeof ticket);
  std::memcpy(&ticket, &request, sizeof request);
  return ticket;
}

MPI_Request request_of(Ticket ticket) {
  MPI_Request request;
  std::memcpy(&request, &ticket, sizeof request);
  return request;
}

void check(int code, const char* what, int process) {
  if (code == MPI_SUCCESS) return;
  std::string peer = process < 0 ? "" : " with process " + std::to_string(process) + " of MPI_COMM_WORLD";
  throw Error(std::string("the host's ") + what + peer + " failed (" + words_of(code) +
              "); do all ranks call the same collective with equal sizes?");
}

class HostTransport final : public network::Transport {
 public:
  HostTransport(MPI_Comm comm, int tags) : comm_(comm), tags_(tags) {}
  // The communicator stays until MPI_Finalize is over. After a failure it may have messages that no rank
  // receives, also on ranks that do not know of the failure. MPICH ends the job when a communicator with such
  // messages is freed.
  ~HostTransport() override = default;

  Ticket send(int process, int tag, const void* data, std::size_t bytes) override {
    MPI_Request request;
    check(host.Isend(data, static_cast<int>(bytes), host.constants.byte, process, tag, comm_, &request),
          "MPI_Isend", process);
    return ticket_of(request);
  }

  Ticket receive(int process, int tag, void* data, std::size_t bytes) override {
    MPI_Request request;
    check(host.Irecv(data, static_cast<int>(bytes), host.constants.byte, process, tag, comm_, &request),
          "MPI_Irecv", process);
    return ticket_of(request);
  }

  bool test(Ticket ticket) override {
    MPI_Request request = request_of(ticket);
    MPI_Status status;
    int done = 0;
    check(host.Test(&request, &done, &status), "MPI_Test of a message", -1);
    return done != 0;
  }

  std::optional<network::Arrival> probe(int tag) override {
    MPI_Status status;
    int there = 0, bytes = 0;
    check(host.Iprobe(MPI_ANY_SOURCE, tag, comm_, &there, &status), "MPI_Iprobe", -1);
    if (!there) return std::nullopt;
    check(host.Get_count(&status, host.constants.byte, &bytes), "MPI_Get_count", status.MPI_SOURCE);
    return network::Arrival{status.MPI_SOURCE, static_cast<std::size_t>(bytes)};
  }

  void make_progress() override { runtime::Process::instance().make_progress(); }
  void cancel(Ticket ticket) override {
    MPI_Request request = request_of(ticket);
    if (host.Cancel(&request) != MPI_SUCCESS) return;
    // A receive that was cancelled is done at once. A receive whose data are on their way is done when its
    // sender has gone on. The sender may have died, hence the deadline.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    MPI_Status status;
    for (int done = 0; !done && std::chrono::steady_clock::now() < deadline;)
      if (host.Test(&request, &done, &status) != MPI_SUCCESS) return;
  }
  void drive_others() override { runtime::Process::instance().drive_windows(); }

  int tags() const override { return tags_; }

 private:
  MPI_Comm comm_;
  int tags_;
};

int tags_of(MPI_Comm comm) {
  int* highest = nullptr;
  int found = 0;
  constexpr int least = 32767;  // what MPI promises
  if (host.Comm_get_attr(comm, MPI_TAG_UB, &highest, &found) != MPI_SUCCESS || !found) return least;
  return *highest < least ? least : *highest;
}

}  // namespace

std::unique_ptr<network::Transport> open_transport() {
  MPI_Comm comm;
  if (host.Comm_dup(host.constants.world, &comm) != MPI_SUCCESS) {
    std::fprintf(stderr,
                 "espalier: the host MPI gave no communicator for messages between nodes; "
                 "communicators that span nodes are its own\n");
    return nullptr;
  }
  host.Comm_set_errhandler(comm, host.constants.errors_return);
  return std::make_unique<HostTransport>(comm, tags_of(host.constants.world));
}

}  // namespace espalier::mpi
