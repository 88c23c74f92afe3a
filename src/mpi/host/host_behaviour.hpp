// What the host does with certain arguments. It is asked before a rank publishes anything, on a communicator
// of this process alone that returns its errors to Espalier, so that no error handler of the program is
// called.
#pragma once

#include <array>
#include <atomic>

#include "base/collective.hpp"
#include "mpi/host/handles.hpp"

namespace espalier::mpi {

/// Whether the datatype is committed, which MPI has no call to ask for. True also where the host's MPI_Bcast
/// accepts types that are not, and in sessions, where there is no communicator to ask on. Not for other
/// collectives: their ranks look at different arguments, so a rank that left its call to the host might wait
/// for others.
bool is_committed_for_bcast(MPI_Datatype datatype);

/// How a predefined operator on a predefined type is served if no kernel is known for the pair. The host is
/// asked once for each pair that MPI defines. The answer depends on the pair alone, so all ranks get the
/// same.
Service service_of(const PredefinedType& type, const PredefinedOp& op);

namespace questions {

enum class Answer : std::uint8_t {
  unknown,
  accepts,
  rejects_several,  ///< blocks of several elements, but not of one (Open MPI's MPI_Allreduce)
  rejects
};
/// By collective: what the host does if a program sends from where it receives, without MPI_IN_PLACE.
extern std::array<std::atomic<Answer>, collective_count> aliases;
Answer ask_about_aliases(Collective collective);

/// Frees the communicator on which the host was asked; before the host is finalised.
void close();

}  // namespace questions

/// Whether the host reports an error, on the rank that does it, if a program sends from where it receives.
/// Other hosts do not check, and some programs depend on that: there it counts as MPI_IN_PLACE. `several`:
/// the block has more than one element.
inline bool host_rejects_aliases(Collective collective, bool several) {
  // relaxed: every thread that asks gets the same answer.
  questions::Answer answer =
      questions::aliases[static_cast<std::size_t>(collective)].load(std::memory_order_relaxed);
  if (answer == questions::Answer::unknown) [[unlikely]]
    answer = questions::ask_about_aliases(collective);
  return answer == questions::Answer::rejects || (several && answer == questions::Answer::rejects_several);
}

}  // namespace espalier::mpi
