// TCP connections by the system's own calls: a program's process has one descriptor for each aggregation
// node.
#pragma once

#include <chrono>
#include <string>

#include "base/descriptor.hpp"

namespace espalier::sharp {

/// A connection that never blocks. None: `why` says the reason.
Descriptor connected_to(const std::string& host, const std::string& port, std::chrono::milliseconds patience,
                        std::string& why);

/// Small frames at once; a dead host is noticed within `seconds` although nothing is sent.
void tune(int socket, int seconds);

}  // namespace espalier::sharp
