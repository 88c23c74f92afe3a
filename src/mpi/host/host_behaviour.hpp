// What the host would say to arguments: asked before anything is published, on a communicator of this process
// alone whose errors come back to Espalier, so that no handler of the program hears of them.
#pragma once

#include <array>
#include <atomic>

#include "base/collective.hpp"
#include "mpi/host/handles.hpp"

namespace espalier::mpi {

/// MPI has no call that tells. True where the host's MPI_Bcast does not mind, and in sessions, where there is
/// no communicator to ask on. Other collectives differ from rank to rank in what they look at: there a rank
/// that left its call to the host might wait for others.
bool is_committed_for_bcast(MPI_Datatype datatype);

/// How a predefined operator on a predefined type, without a kernel so far, is served. Asked once for each
/// pair: where MPI defines the pair, and by its name alone, so all ranks get the same answer.
Service service_of(const PredefinedType& type, const PredefinedOp& op);

namespace questions {

enum class Answer : std::uint8_t {
  unknown,
  accepts,
  rejects_several,  ///< elements, but not one alone (Open MPI's MPI_Allreduce)
  rejects
};
extern std::array<std::atomic<Answer>, collective_count> aliases;
Answer ask_about_aliases(Collective collective);

/// Given back before the host ends.
void close();

}  // namespace questions

/// Whether the host reports, on the rank that does it, that a program sends from where it receives. Hosts
/// that do not check let it pass, and programs live by it: there it counts as MPI_IN_PLACE.
inline bool host_rejects_aliases(Collective collective, bool several) {
  // relaxed: every thread that asks gets the same answer.
  questions::Answer answer =
      questions::aliases[static_cast<std::size_t>(collective)].load(std::memory_order_relaxed);
  if (answer == questions::Answer::unknown) [[unlikely]]
    answer = questions::ask_about_aliases(collective);
  return answer == questions::Answer::rejects || (several && answer == questions::Answer::rejects_several);
}

}  // namespace espalier::mpi
