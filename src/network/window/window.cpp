#include "network/window/window.hpp"

#include "network/window/window_text.hpp"

namespace espalier::network {

template class BasicNodeWindow<HostPlatform>;

}  // namespace espalier::network
