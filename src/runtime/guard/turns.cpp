#include "runtime/guard/turns.hpp"

namespace espalier::runtime::guard {

void Turns::judge(Pair of_all_ranks) {
  trial_.judge(of_all_ranks);
  if (!trial_.is_settled()) return;
  const std::uint32_t until_next = trial_.calls_until_next();
  (trial_.server() == Server::espalier ? plain_ : hosts_) = until_next != 0 ? until_next : always;
}

Server Turns::begin() {
  if (plain_ > 0) return --plain_, Server::espalier;
  if (hosts_ > 0) return --hosts_, Server::host;
  if (trial_.is_settled()) trial_.begin_again();
  is_measured_ = true;
  return trial_.server();
}

}  // namespace espalier::runtime::guard
