// An error of the SHARP interface: the code that the caller gets, and the reason in words.
#pragma once

#include <cstdint>

#include "base/error.hpp"

namespace espalier::sharp {

class Problem : public Error {
 public:
  /// `code`: enum sharp_error_no.
  Problem(std::int32_t code, const std::string& what) : Error(what), code_(code) {}
  std::int32_t code() const { return code_; }

 private:
  std::int32_t code_;
};

}  // namespace espalier::sharp
