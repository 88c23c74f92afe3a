// How requests are completed where some of them may be Espalier's, for the entry points of every language.
//
// Each function gets `at(i)`, the i-th request if it is Espalier's and active, else nullptr, with
// `at.set_null(i)`, and a function that asks the host. To the host Espalier's requests look as if they were complete or did not exist.
// MPI_Testany and the like ask the host only if no request is Espalier's and active, or if none of these can
// complete yet.
#pragma once

#include "mpi/requests/persistent.hpp"

namespace espalier::mpi::completion {

using persistent::Request;

inline Request* if_active(Request* request) { return request && request->active() ? request : nullptr; }

/// The array that a C program passed, as `at`.
struct Requests {
  explicit Requests(const void* requests) : first(static_cast<const MPI_Request*>(requests)) {}
  Request* operator()(int i) const { return if_active(any_state(i)); }
  /// Espalier's, active or not.
  Request* any_state(int i) const { return persistent::find(wide(first[i])); }
  MPI_Request* place(int i) const { return const_cast<MPI_Request*>(first + i); }
  void set_null(int i) const { *place(i) = host.constants.request_null; }
  const MPI_Request* first;
};

/// Calls body(request, i) for Espalier's active requests, until it returns false. False if it did.
template <class At, class Body>
bool for_each(int count, At at, Body body) {
  for (int i = 0; i < count; ++i)
    if (Request* request = at(i))
      if (!body(*request, i)) return false;
  return true;
}

template <class At>
bool has_active(int count, At at) {
  return !for_each(count, at, [](Request&, int) { return false; });
}

/// Whether complete() would wait for none of them. Makes progress on one that is not ready.
template <class At>
bool all_ready(int count, At at) {
  return for_each(count, at, [](Request& request, int) { return request.is_ready(); });
}

/// Completes the i-th, which the program has no more if it was a nonblocking collective.
template <class At>
int complete_one(At at, int i, Request& request) {
  const bool is_once = request.is_once;
  const int code = request.complete();
  if (is_once) at.set_null(i);
  return code;
}

/// Completes all of them; returns the first error code.
template <class At>
int complete_all(int count, At at) {
  int code = MPI_SUCCESS;
  for_each(count, at, [&](Request& request, int i) {
    const int each = complete_one(at, i, request);
    if (code == MPI_SUCCESS) code = each;
    return true;
  });
  return code;
}

/// MPI_Wait, MPI_Waitall. Espalier's waits drive the host's progress, so they may come before the host's.
template <class At, class Host>
int wait_all(int count, At at, Host host_waits) {
  const int code = complete_all(count, at);
  const int hosts = host_waits();
  return code == MPI_SUCCESS ? hosts : code;
}

/// MPI_Test, MPI_Testall: all or nothing. `host_tests(flag)`.
template <class At, class Host>
int test_all(int count, At at, int* flag, Host host_tests) {
  if (!all_ready(count, at)) {
    *flag = 0;
    return MPI_SUCCESS;
  }
  const int code = host_tests(flag);
  return code == MPI_SUCCESS && *flag ? complete_all(count, at) : code;
}

/// MPI_Testany. `host_tests(index, flag)`, and `settle(i)`, which fills in the status of a request of
/// Espalier's. Indices count from 0.
template <class At, class Host, class Settle>
int test_any(int count, At at, int* index, int* flag, Host host_tests, Settle settle) {
  int code = MPI_SUCCESS;
  bool some = false;
  const bool none_ready = for_each(count, at, [&](Request& request, int i) {
    some = true;
    if (!request.is_ready()) return true;
    *index = i;
    *flag = 1;
    code = complete_one(at, i, request);
    if (code == MPI_SUCCESS) code = settle(i);
    return false;
  });
  if (!none_ready) return code;
  code = host_tests(index, flag);
  if (some && code == MPI_SUCCESS && *index == MPI_UNDEFINED) *flag = 0;  // else: no request is active
  return code;
}

/// MPI_Waitany, MPI_Waitsome: repeats the test. `host_waits()` if no request is Espalier's and active.
template <class At, class Host, class Test>
int wait_any(int count, At at, Host host_waits, Test test) {
  if (!has_active(count, at)) return host_waits();
  for (;;) {
    int flag = 0;
    const int code = test(&flag);
    if (code != MPI_SUCCESS || flag) return code;
  }
}

/// MPI_Testsome. `host_tests(outcount)` comes first; `add(i, n)` then says of Espalier's i-th that it is the
/// n-th of those that are complete.
template <class At, class Host, class Add>
int test_some(int count, At at, int* outcount, Host host_tests, Add add) {
  const bool some = has_active(count, at);
  int code = host_tests(outcount);
  if (code != MPI_SUCCESS || !some) return code;
  if (*outcount == MPI_UNDEFINED) *outcount = 0;
  for_each(count, at, [&](Request& request, int i) {
    if (!request.is_ready()) return true;
    code = complete_one(at, i, request);
    if (code == MPI_SUCCESS) code = add(i, (*outcount)++);
    return code == MPI_SUCCESS;
  });
  return code;
}

}  // namespace espalier::mpi::completion
