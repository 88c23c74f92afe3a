#include "runtime/guard/trial.hpp"

#include "base/format.hpp"

namespace espalier::runtime::guard {

bool Trial::note(std::uint64_t ticks) {
  if (call_ >= calls_that_warm_up) (server_ == Server::host ? mine_.host : mine_.espalier) += ticks;
  if (++call_ < calls_of_block) return false;
  call_ = 0;
  const bool pair_is_over = block_ % 2 == 1;
  server_ = server_of(++block_);
  return pair_is_over;
}

void Trial::judge(Pair of_all_ranks) {
  mine_ = {};
  const auto espalier = static_cast<double>(of_all_ranks.espalier);
  const auto host = static_cast<double>(of_all_ranks.host);
  if (block_ == 2) {
    all_ = {};
    if (host > hopeless * espalier) settle(Server::espalier, 0);
    return;
  }
  all_.espalier += of_all_ranks.espalier;
  all_.host += of_all_ranks.host;
  ++(host < (1 - margin) * espalier ? won_ : lost_);
  if (won_ >= wins) return settle(Server::host, pause);
  if (lost_ >= losses) settle(Server::espalier, all_.host > 2 * all_.espalier ? 0 : pause);
}

void Trial::settle(Server server, std::uint32_t until_next) {
  stage_ = Stage::settled;
  server_ = server;
  until_next_ = until_next;
}

void Trial::begin_again() {
  stage_ = Stage::measured;
  call_ = block_ = won_ = lost_ = 0;
  server_ = server_of(0);
}

std::string Trial::why_host(double seconds, int ranks) const {
  if (stage_ == Stage::measured) return tries_host;
  const int measured = (won_ + lost_) * (calls_of_block - calls_that_warm_up) * ranks;
  const double unit = seconds * 1e6 / measured;
  return formatted("ESPALIER_GUARD found the host faster: {:.2f} us a call, Espalier {:.2f}",
                   static_cast<double>(all_.host) * unit, static_cast<double>(all_.espalier) * unit);
}

}  // namespace espalier::runtime::guard
