// No exception leaves the C API: it becomes a code and a text.
#pragma once

#include <string>

#include "base/error.hpp"
#include "espalier/espalier.h"
#include "runtime/node_failure.hpp"

namespace espalier::capi {

/// An Error that knows its code of espalier.h.
class CodedError : public Error {
 public:
  CodedError(int error_code, const std::string& text) : Error(text), code(error_code) {}
  const int code;
};

std::string& last_error();

/// Runs `body`; returns ESPALIER_OK or the code of what it threw.
template <class Body>
int guarded(Body body) noexcept {
  try {
    last_error().clear();
    body();
    return ESPALIER_OK;
  } catch (const CodedError& error) {
    last_error() = error.what();
    return error.code;
  } catch (const runtime::OutOfStep& error) {
    last_error() = error.what();
    return ESPALIER_ERR_PEERS;
  } catch (const std::exception& error) {
    last_error() = error.what();
    return ESPALIER_ERR_SYSTEM;
  }
}

}  // namespace espalier::capi
