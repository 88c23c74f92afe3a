// Fortran's entry points that start, complete and free requests (see fortran.hpp). A program may make a
// persistent request in one language and wait for it in the other.
//
// The host's own functions complete its requests and fill in the statuses. To them the carriers of Espalier's
// requests look complete. Where one of several requests is asked for and it is Espalier's, its status stays
// as it is: MPI leaves source and tag undefined in the status of a collective.
#include "generated/mpi/bindings/fortran/bodies.hpp"
#include "mpi/host/repeat_test.hpp"
#include "mpi/requests/completion.hpp"
#include "runtime/flight/recorder.hpp"

namespace espalier::mpi::fortran {
namespace {

using persistent::Request;

/// The array of requests that the program passed; looks Espalier's up in it.
struct Requests {
  Request* any_state(int i) const { return persistent::find(c_request(first + i)); }
  Request* operator()(int i) const { return completion::if_active(any_state(i)); }
  void set_null(int i) const { first[i] = abi::fortran_request(host, host.constants.request_null); }
  Int* first;
};

bool may_be_ours(void* caller) { return take(caller) && persistent::any(); }

/// Whether a test goes to the host as it is.
bool is_hosts(void* caller) { return runtime::asking::is_plain() || !take(caller); }

/// A test that may have to be done again (repeat_test.hpp); `once()` returns an error code.
template <class Once, class Found>
void test_twice(Int* error, Once once, Found found) {
  set(error, ask_twice(once, once, found));
}

/// The test that belongs to a wait, spelled for the same kind of caller.
const Names& test_for(const Names& wait, const Names& f08, const Names& others) {
  return wait.spelling[1] ? others : f08;
}
#define ESPALIER_TEST_FOR(wait, lower, upper) \
  test_for(wait, {{#lower "_f08_"}}, {{#lower "_", #lower "__", #lower, #upper}})

const auto no_status = [](int) { return MPI_SUCCESS; };

/// From an index of C to one of Fortran; MPI_UNDEFINED is no index.
void count_from_one(Int* index) {
  if (*index != MPI_UNDEFINED) ++*index;
}

}  // namespace

void start(const Names& names, Int* request, Int* error, void* caller) {
  Request* ours = may_be_ours(caller) ? Requests{request}.any_state(0) : nullptr;
  ours ? set(error, ours->start()) : forward(names, error, request);
}

void startall(const Names& names, Int* count, Int* requests, Int* error, void* caller) {
  if (!may_be_ours(caller)) return forward(names, error, count, requests);
  int code = MPI_SUCCESS;
  for (int i = 0; i < *count && code == MPI_SUCCESS; ++i) {
    Int one = 1;
    Request* ours = Requests{requests}.any_state(i);
    code = ours ? ours->start() : ask(names, &one, requests + i);
  }
  set(error, code);
}

void wait(const Names& names, Int* request, void* status, Int* error, void* caller) {
  const runtime::flight::InRequests in_requests(caller);
  if (!may_be_ours(caller)) return forward(names, error, request, status);
  set(error, completion::wait_all(1, Requests{request}, [&] { return ask(names, request, status); }));
}

void waitall(const Names& names, Int* count, Int* requests, void* statuses, Int* error, void* caller) {
  const runtime::flight::InRequests in_requests(caller);
  if (!may_be_ours(caller)) return forward(names, error, count, requests, statuses);
  set(error, completion::wait_all(*count, Requests{requests},
                                  [&] { return ask(names, count, requests, statuses); }));
}

void test(const Names& names, Int* request, Int* flag, void* status, Int* error, void* caller) {
  if (is_hosts(caller)) return forward(names, error, request, flag, status);
  const auto once = [&] {
    return completion::test_all(1, Requests{request}, flag,
                                [&](Int* done) { return ask(names, request, done, status); });
  };
  test_twice(error, once, [&] { return *flag != 0; });
}

void testall(const Names& names, Int* count, Int* requests, Int* flag, void* statuses, Int* error,
             void* caller) {
  if (is_hosts(caller)) return forward(names, error, count, requests, flag, statuses);
  const auto once = [&] {
    return completion::test_all(*count, Requests{requests}, flag,
                                [&](Int* done) { return ask(names, count, requests, done, statuses); });
  };
  test_twice(error, once, [&] { return *flag != 0; });
}

namespace {

int test_any(const Names& names, Int* count, Int* requests, Int* index, Int* flag, void* status) {
  const auto host_tests = [&](Int* at, Int* done) {
    const int code = ask(names, count, requests, at, done, status);
    if (code == MPI_SUCCESS && *at != MPI_UNDEFINED) --*at;
    return code;
  };
  const int code = completion::test_any(*count, Requests{requests}, index, flag, host_tests, no_status);
  if (code == MPI_SUCCESS) count_from_one(index);
  return code;
}

}  // namespace

void testany(const Names& names, Int* count, Int* requests, Int* index, Int* flag, void* status, Int* error,
             void* caller) {
  if (is_hosts(caller)) return forward(names, error, count, requests, index, flag, status);
  const auto once = [&] { return test_any(names, count, requests, index, flag, status); };
  test_twice(error, once, [&] { return *flag != 0; });
}

void waitany(const Names& names, Int* count, Int* requests, Int* index, void* status, Int* error,
             void* caller) {
  const runtime::flight::InRequests in_requests(caller);
  if (!may_be_ours(caller)) return forward(names, error, count, requests, index, status);
  set(error, completion::wait_any(
                 *count, Requests{requests}, [&] { return ask(names, count, requests, index, status); },
                 [&](Int* flag) {
                   return test_any(ESPALIER_TEST_FOR(names, mpi_testany, MPI_TESTANY), count, requests, index,
                                   flag, status);
                 }));
}

namespace {

int test_some(const Names& names, Int* count, Int* requests, Int* outcount, Int* indices, void* statuses) {
  return completion::test_some(
      *count, Requests{requests}, outcount,
      [&](Int* done) { return ask(names, count, requests, done, indices, statuses); },
      [&](int i, int n) {
        indices[n] = i + 1;
        return MPI_SUCCESS;
      });
}

}  // namespace

void testsome(const Names& names, Int* count, Int* requests, Int* outcount, Int* indices, void* statuses,
              Int* error, void* caller) {
  if (is_hosts(caller)) return forward(names, error, count, requests, outcount, indices, statuses);
  const auto once = [&] { return test_some(names, count, requests, outcount, indices, statuses); };
  test_twice(error, once, [&] { return *outcount != 0; });
}

void waitsome(const Names& names, Int* count, Int* requests, Int* outcount, Int* indices, void* statuses,
              Int* error, void* caller) {
  const runtime::flight::InRequests in_requests(caller);
  if (!may_be_ours(caller)) return forward(names, error, count, requests, outcount, indices, statuses);
  set(error, completion::wait_any(
                 *count, Requests{requests},
                 [&] { return ask(names, count, requests, outcount, indices, statuses); },
                 [&](Int* flag) {
                   const int code = test_some(ESPALIER_TEST_FOR(names, mpi_testsome, MPI_TESTSOME), count,
                                              requests, outcount, indices, statuses);
                   *flag = *outcount != 0;
                   return code;
                 }));
}

void request_free(const Names& names, Int* request, Int* error, void* caller) {
  Request* ours = may_be_ours(caller) ? Requests{request}.any_state(0) : nullptr;
  if (ours)
    if (const int code = ours->leave(); code != MPI_SUCCESS) return set(error, code);
  forward(names, error, request);
}

void cancel(const Names& names, Int* request, Int* error, void* caller) {
  Request* ours = may_be_ours(caller) ? Requests{request}.any_state(0) : nullptr;
  ours ? set(error, ours->cancel()) : forward(names, error, request);
}

void request_get_status(const Names& names, Int* request, Int* flag, void* status, Int* error, void* caller) {
  if (is_hosts(caller)) return forward(names, error, request, flag, status);
  const auto once = [&]() -> int {
    if (completion::all_ready(1, Requests{request})) return ask(names, request, flag, status);
    *flag = 0;
    return MPI_SUCCESS;
  };
  test_twice(error, once, [&] { return *flag != 0; });
}

void request_get_status_all(const Names& names, Int* count, Int* requests, Int* flag, void* statuses,
                            Int* error, void* caller) {
  if (is_hosts(caller)) return forward(names, error, count, requests, flag, statuses);
  const auto once = [&]() -> int {
    if (completion::all_ready(*count, Requests{requests})) return ask(names, count, requests, flag, statuses);
    *flag = 0;
    return MPI_SUCCESS;
  };
  test_twice(error, once, [&] { return *flag != 0; });
}

// The functions of MPI 4.1 that say which of several requests are complete, and complete none.

namespace {

int status_of_any(const Names& names, Int* count, Int* requests, Int* index, Int* flag, void* status) {
  int ready = -1;
  bool some = false;
  completion::for_each(*count, Requests{requests}, [&](Request& request, int i) {
    some = true;
    if (request.is_ready()) ready = i;
    return ready < 0;
  });
  if (!some) return ask(names, count, requests, index, flag, status);
  *flag = 1;
  *index = ready + 1;
  int code = MPI_SUCCESS;
  if (ready < 0) code = ask(names, count, requests, index, flag, status);
  if (code == MPI_SUCCESS && *index == MPI_UNDEFINED) *flag = 0;
  return code;
}

}  // namespace

void request_get_status_any(const Names& names, Int* count, Int* requests, Int* index, Int* flag,
                            void* status, Int* error, void* caller) {
  if (is_hosts(caller)) return forward(names, error, count, requests, index, flag, status);
  const auto once = [&] { return status_of_any(names, count, requests, index, flag, status); };
  test_twice(error, once, [&] { return *flag != 0; });
}

namespace {

int status_of_some(const Names& names, Int* count, Int* requests, Int* outcount, Int* indices,
                   void* statuses) {
  const Requests all{requests};
  const int code = ask(names, count, requests, outcount, indices, statuses);
  if (code != MPI_SUCCESS || !completion::has_active(*count, all)) return code;
  if (*outcount == MPI_UNDEFINED) *outcount = 0;
  completion::for_each(*count, all, [&](Request& request, int i) {
    if (request.is_ready()) indices[(*outcount)++] = i + 1;
    return true;
  });
  return code;
}

}  // namespace

void request_get_status_some(const Names& names, Int* count, Int* requests, Int* outcount, Int* indices,
                             void* statuses, Int* error, void* caller) {
  if (is_hosts(caller)) return forward(names, error, count, requests, outcount, indices, statuses);
  const auto once = [&] { return status_of_some(names, count, requests, outcount, indices, statuses); };
  test_twice(error, once, [&] { return *outcount != 0; });
}

}  // namespace espalier::mpi::fortran
