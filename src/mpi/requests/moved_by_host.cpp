#include "mpi/requests/moved_by_host.hpp"

#include <climits>

#include "base/error.hpp"
#include "mpi/host/host.hpp"
#include "runtime/progress/spin_limits.hpp"

namespace espalier::mpi {
namespace {

// The host's ranks may be anywhere.
constexpr double ranks_per_core_unknown = 1;
constexpr bool over_nodes = true;

void check_moved(int code, const char* call) {
  if (code != MPI_SUCCESS)
    throw Error("the host's " + std::string(call) +
                ", which moves the vectors of a reproducible reduction, failed: " + words_of(code));
}

}  // namespace

MovedByHost::MovedByHost(Use use, const collective::PersistentSpec& spec, const std::byte* vector,
                         const reduce::Operation& operation, int ranks, MPI_Comm comm)
    : use_(use),
      fold_(spec.fold),
      folded_from_(spec.folded_from),
      vector_(vector),
      bytes_(spec.bytes),
      operation_(operation),
      comm_(comm),
      all_(std::make_unique_for_overwrite<std::byte[]>(bytes_ * static_cast<std::size_t>(ranks))),
      sources_(static_cast<std::size_t>(ranks)),
      element_(host.constants.byte),
      polls_(runtime::spin_limits_for(ranks_per_core_unknown, over_nodes)) {
  std::size_t unit = 1;
  if (bytes_ > INT_MAX) {  // the host counts in int
    unit = operation.extent;
    check_moved(host.Type_contiguous(static_cast<int>(unit), host.constants.byte, &element_),
                "MPI_Type_contiguous");
    owns_element_ = true;
    check_moved(host.Type_commit(&element_), "MPI_Type_commit");
  }
  if (bytes_ / unit > INT_MAX) throw Error("more than 2147483647 elements in a reproducible reduction");
  count_ = static_cast<int>(bytes_ / unit);
  if (use == Use::again) use_own_communicator();
}

// As the standard advises (4.0, 6.13): persistent collectives may be started in another order on each rank, which
// nonblocking ones of one communicator may not. (The host's own MPI_Allgather_init would do, too; but that of Intel
// MPI 2021.18 gives wrong data from its second start on.) By its group: a duplicate would call the program's
// attribute callbacks.
void MovedByHost::use_own_communicator() {
  MPI_Group group{};
  MPI_Comm own{};
  check_moved(host.Comm_group(comm_, &group), "MPI_Comm_group");
  const int code = host.Comm_create_group(comm_, group, 0, &own);
  host.Group_free(&group);
  check_moved(code, "MPI_Comm_create_group");
  comm_ = own;
  host.Comm_set_errhandler(comm_, host.constants.errors_return);
}

MovedByHost::~MovedByHost() {
  if (active_) {  // at finalize: the host may still write there
    static_cast<void>(all_.release());
    return;
  }
  if (use_ == Use::again) host.Comm_free(&comm_);
  if (owns_element_) host.Type_free(&element_);
}

void MovedByHost::start() {
  check_moved(host.Iallgather(vector_, count_, element_, all_.get(), count_, element_, comm_, &request_),
              "MPI_Iallgather");
  active_ = true;
  polls_.begin_anew();
}

// A host that does not yield itself would keep the core from the rank whose data it waits for.
bool MovedByHost::is_ready() {
  int flag = 0;
  check_moved(host.Test(&request_, &flag, MPI_STATUS_IGNORE), "MPI_Test");
  if (!flag) polls_.pass_poll();
  return flag != 0;
}

// A request that MPI_Test has completed is null: no wait.
void MovedByHost::complete() {
  check_moved(host.Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
  active_ = false;
  fold();
}

void MovedByHost::fold() {
  if (!fold_.target || fold_.bytes == 0) return;
  for (int i = 0; i < fold_.ranks; ++i)
    sources_[static_cast<std::size_t>(i)] =
        all_.get() + static_cast<std::size_t>(fold_.first + i) * bytes_ + folded_from_;
  operation_.kernel(fold_.target, sources_.data(), fold_.ranks, fold_.bytes / operation_.extent);
}

}  // namespace espalier::mpi
