#include "mpi/lifetime/creation.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "mpi/host/host.hpp"
#include "mpi/lifetime/communicators.hpp"
#include "runtime/node/membership.hpp"

namespace espalier::mpi {
namespace {

thread_local int depth = 0;

std::vector<int> words_of(Creation kind, std::uint64_t number, int tag) {
  return {static_cast<int>(kind), static_cast<int>(number), static_cast<int>(number >> 32), tag};
}

/// What the host refuses here (an attribute, for want of memory) is no error of the program's call. The ranks
/// may not come to one name then, of which the program's user should hear.
template <class Body>
void guarded(Body body) {
  try {
    body();
  } catch (const Error& error) {
    print_to(stderr,
             "espalier: a new communicator has no name on this rank: {}; if the job waits, set "
             "ESPALIER_SETUP=agree\n",
             error.what());
  }
}

}  // namespace

Creating::Creating(Creation kind, Handle parent, int tag)
    : is_outermost_(depth++ == 0), kind_(kind), parent_(parent), tag_(tag) {
  if (!is_outermost_) return;
  guarded([&] {
    if (communicators::Record* record = communicators::record_of(parent))
      number_ = kind == Creation::of_all ? ++record->children : 1;
  });
}

Creating::~Creating() { --depth; }

void Creating::made(Handle handle) const {
  if (number_ != 0) guarded([&] { name(handle); });
}

void Creating::name(Handle handle) const {
  const auto comm = typed<MPI_Comm>(handle);
  if (comm == host.constants.comm_null) return;
  const communicators::Record* parent = communicators::record_of(parent_);
  if (!parent) return;
  std::uint64_t number = number_;
  if (kind_ == Creation::by_group) {
    const auto processes = communicators::processes_of(comm);
    if (!processes || processes->empty()) return;
    number = communicators::count_by_group(
        parent_,
        runtime::identity_of(runtime::identity_of(parent->identity, words_of(kind_, 0, tag_)), *processes));
  }
  communicators::name(comm, runtime::identity_of(parent->identity, words_of(kind_, number, tag_)));
}

}  // namespace espalier::mpi
