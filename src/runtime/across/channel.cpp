#include "runtime/across/channel.hpp"

#include <utility>

#include "runtime/process/process.hpp"
#include "runtime/progress/missed_tests.hpp"

namespace espalier::runtime::across {

template class BasicChannel<HostSide>;

void HostSide::make_progress() { Process::instance().make_progress(); }
void HostSide::note_completed() { asking::note_collective(); }

// Behind the node's calls in the list: what these have brought forward this finds (see drive()).
std::shared_ptr<Channel> Channel::open(std::shared_ptr<Mail> mail, int rank, int stream, KeptNonblocking node,
                                       network::SpinLimits spin_limits) {
  std::shared_ptr<Channel> made(new Channel(std::move(mail), rank, stream, std::move(node), spin_limits));
  CollectiveProgress::instance().add(made);
  return made;
}

}  // namespace espalier::runtime::across
