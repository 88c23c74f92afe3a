#include "machine/host_machine.hpp"

#include "base/error.hpp"
#include "base/format.hpp"

namespace espalier::machine {

void report_failed_read(pid_t process, int peer, std::size_t bytes) {
  throw Error(
      formatted("cannot read {} bytes of rank {} (process {}) although a read at start-up worked: {}; if "
                "the buffer is device "
                "memory or the process changed its rights, set ESPALIER_SINGLE_COPY=off",
                bytes, peer, process, std::strerror(errno)));
}

}  // namespace espalier::machine
