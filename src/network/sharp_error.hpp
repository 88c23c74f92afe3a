// What the SHARP library answers when it cannot.
#pragma once

#include <string>

#include "base/error.hpp"

namespace espalier::network {

/// "-7 SHARP_COLL_EQUOTA: quota exhausted"
std::string decode_sharp(int code);

/// A call of the library that failed, decoded; `code` is below 0 and one of enum sharp_error_no, or
/// `no_library`.
class SharpError : public Error {
 public:
  static constexpr int no_library = -1000;
  SharpError(int code, const std::string& what) : Error(what), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

}  // namespace espalier::network
