// No exception leaves the C API: it becomes a code and a text.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "espalier/espalier.h"
#include "runtime/failure/node_failure.hpp"

namespace espalier::capi {

/// An Error that knows its code of espalier.h.
class CodedError : public Error {
 public:
  CodedError(int error_code, const std::string& text) : Error(text), code(error_code) {}
  const int code;
};

/// Of this thread: what its last call threw, or "". A long text is cut.
const char* last_error();
void set_last_error(std::string_view text);

/// Runs `body`; returns ESPALIER_OK or the code of what it threw.
template <class Body>
int guarded(Body body) noexcept {
  try {
    set_last_error("");
    body();
    return ESPALIER_OK;
  } catch (const CodedError& error) {
    set_last_error(error.what());
    return error.code;
  } catch (const runtime::OutOfTime& error) {
    set_last_error(error.what());
    return ESPALIER_ERR_TIMEOUT;
  } catch (const runtime::OutOfStep& error) {
    set_last_error(error.what());
    return ESPALIER_ERR_PEERS;
  } catch (const std::exception& error) {
    set_last_error(error.what());
    return ESPALIER_ERR_SYSTEM;
  }
}

}  // namespace espalier::capi
