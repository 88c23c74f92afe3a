// Long messages that the program has begun to send or receive and has not completed: the other side may need
// this rank's progress for them while it waits in a collective of Espalier's.
#pragma once

#include <array>
#include <atomic>

#include "mpi/host/handles.hpp"
#include "mpi/host/host.hpp"

namespace espalier::mpi::long_messages {

/// What is shorter travels without the other side's help under every host.
inline constexpr MPI_Count least = 4096;
/// So many are known at once; with more there is a reason for progress as long as one of these is left.
inline constexpr std::size_t most = 16;

extern std::atomic<int> known;

/// After the host has begun it. Handles are compared with, never handed to the host: one that is completed
/// where Espalier does not see it costs waits that drive the host, and nothing else.
void remember(Handle request);

/// `peer`: the other rank. What is sent to no rank may have any datatype, also one that is none.
inline void begun(MPI_Count count, Handle datatype, int peer, const void* request) {
  if (count == 0 || peer == MPI_PROC_NULL) return;
  const PredefinedType* type = predefined_type(typed<MPI_Datatype>(datatype));
  MPI_Count size = 0;
  if (type)
    size = static_cast<MPI_Count>(type->size);
  else if (typed<MPI_Datatype>(datatype) == host.constants.datatype_null ||
           host.Type_size(typed<MPI_Datatype>(datatype), &size) != MPI_SUCCESS)
    return;
  if (count * size >= least) remember(wide(*static_cast<const MPI_Request*>(request)));
}

/// Around a call that may complete requests of an array: forgets those that have left it.
class Completions {
 public:
  Completions(int count, const void* requests) {
    // relaxed: who completes a request has heard of it from the thread that began it.
    if (known.load(std::memory_order_relaxed) != 0) [[unlikely]]
      find(count, static_cast<const MPI_Request*>(requests));
  }
  ~Completions() {
    if (found_ != 0) [[unlikely]]
      forget_completed();
  }
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;

 private:
  void find(int count, const MPI_Request* requests);
  void forget_completed();

  struct Found {
    const MPI_Request* place;
    Handle request;
  };
  std::size_t found_ = 0;
  std::array<Found, most> all_;  // the first found_
};

}  // namespace espalier::mpi::long_messages
