// Long messages that the program has begun to send or receive and has not completed: the other side may need
// this rank's progress for them while it waits in a collective of Espalier's.
#pragma once

#include <array>
#include <atomic>

#include "mpi/host/handles.hpp"
#include "mpi/host/host.hpp"

namespace espalier::mpi::long_messages {

/// Under every host shorter messages arrive without the other side's progress.
inline constexpr MPI_Count least = 4096;
/// At most so many are remembered at once. Further ones are not, and do not prolong the need for progress.
inline constexpr std::size_t most = 16;

/// How many are remembered now.
extern std::atomic<int> known;

/// Remembers a message that the host has begun. Its handle is only compared, never handed to the host: a
/// message that completes where Espalier does not see it costs waits that drive the host, and nothing else.
void remember(Handle request);

/// Remembers a message that the host has begun, if it is long. `peer`: the other rank. With MPI_PROC_NULL the
/// datatype may be invalid.
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

/// Lives during a call that may complete requests of an array: then forgets those that are no longer in it.
class Completions {
 public:
  Completions(int count, const void* requests) {
    // relaxed: a thread that completes a request got it from the one that began it, and so sees it counted.
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
