#include "network/window/message_carrier.hpp"

#include "network/window/message_carrier_impl.hpp"

namespace espalier::network {

template class BasicMessageCarrier<HostPlatform>;

}  // namespace espalier::network
