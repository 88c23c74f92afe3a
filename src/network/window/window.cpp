#include "network/window/window.hpp"

#include "network/window/window_impl.hpp"

namespace espalier::network {

template class BasicNodeWindow<HostPlatform>;

}  // namespace espalier::network
