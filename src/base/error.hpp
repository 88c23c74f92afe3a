// The base class of Espalier's exceptions.
#pragma once

#include <stdexcept>
#include <string>

namespace espalier {

/// Says what happened, where, and what to do about it, in one line fit for a user's terminal.
class Error : public std::runtime_error {
 public:
  /// What programs tell apart by more than the text. Truncation: a rank gets more than it takes.
  enum class Kind { other, truncation };

  explicit Error(const std::string& what_happened, Kind kind = Kind::other)
      : std::runtime_error(what_happened), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

}  // namespace espalier
