// Why a refused communicator prepares no persistent collective.
#include "runtime/communicator/refused_communicator.hpp"

#include "base/config.hpp"

namespace espalier::runtime {

std::unique_ptr<Persistent> RefusedCommunicator::prepare(const Bootstrap&, collective::PersistentSpec&,
                                                         const std::string&, std::string& why) {
  // Where the user has switched persistent collectives off, there is no reason to report.
  if (Config::instance().flag("ESPALIER_PERSISTENT")) why = refusal();
  return nullptr;
}

}  // namespace espalier::runtime
