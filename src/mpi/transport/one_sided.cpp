#include "mpi/transport/one_sided.hpp"

#include <algorithm>
#include <array>

#include "mpi/transport/notify_window.hpp"
#include "mpi/transport/rma_window.hpp"

namespace espalier::mpi {
namespace {

using network::WindowTransport;

class ThisHost final : public network::OneSidedHost {
 public:
  network::WindowMeans means() const override {
#define ESPALIER_HAS(name) host.name != nullptr,
    const std::array calls = {ESPALIER_HOST_WINDOW_CALLS(ESPALIER_HAS)};
#undef ESPALIER_HAS
    const bool rma = std::all_of(calls.begin(), calls.end(), [](bool has) { return has; });
    return {rma, rma && host.Win_create_notify && host.Win_free_notify && host.Win_get_notify &&
                     host.Win_set_notify && host.Put_notify};
  }

  std::unique_ptr<network::OneSided> open(const Spec& spec) override {
    if (spec.kind == WindowTransport::notify) return std::make_unique<NotifyWindow>(spec);
    return std::make_unique<RmaWindow>(spec);
  }
};

}  // namespace

std::unique_ptr<network::OneSidedHost> open_one_sided() { return std::make_unique<ThisHost>(); }

}  // namespace espalier::mpi
