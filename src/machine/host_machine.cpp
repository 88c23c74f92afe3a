#include "machine/host_machine.hpp"

#include "base/error.hpp"
#include "base/format.hpp"

namespace espalier::machine {

void HostMachine::report_pull(int peer, std::size_t bytes) const {
  throw Error(
      formatted("cannot read {} bytes of rank {} (process {}) although a read at start-up worked: {}; if "
                "the buffer is device "
                "memory or the process changed its rights, set ESPALIER_SINGLE_COPY=off",
                bytes, peer, process_of(peer), std::strerror(errno)));
}

}  // namespace espalier::machine
