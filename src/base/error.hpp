// The base class of Espalier's exceptions.
#pragma once

#include <stdexcept>
#include <string>

namespace espalier {

/// Says what happened, where, and what to do about it, in one line fit for a user's terminal.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what_happened) : std::runtime_error(what_happened) {}
};

}  // namespace espalier
