// The C entry points that start, complete and free requests. In a program without persistent collectives of
// Espalier's each is a look at two counters and a call of the host's.
#include "mpi/bindings/c/export.hpp"
#include "mpi/host/repeat_test.hpp"
#include "mpi/requests/completion.hpp"
#include "mpi/requests/get_status.hpp"
#include "mpi/requests/long_messages.hpp"
#include "mpi/requests/persistent.hpp"

// A name, its parameters and the same as arguments, how many requests it may complete and where, the function
// that is asked where some may be Espalier's, and what does it where the host has no such function.
#define ESPALIER_REQUESTS(symbol, parameters, arguments, count, requests, serve)             \
  extern "C" int export_##symbol parameters ESPALIER_EXPORT(MPI_##symbol);                   \
  extern "C" int export_##symbol parameters {                                                \
    const Mode mode = resolve(__builtin_return_address(0));                                  \
    const long_messages::Completions completions(count, requests);                           \
    if (mode == Mode::active && persistent::any()) [[unlikely]]                              \
      return serve arguments;                                                                \
    return host.next.symbol ? host.next.symbol arguments : no_such_function("MPI_" #symbol); \
  }

// The same for what returns at once, and `found`, whether that was with a result (repeat_test.hpp).
#define ESPALIER_TESTS_OR(symbol, parameters, arguments, count, requests, serve, found, otherwise)       \
  extern "C" int export_##symbol parameters ESPALIER_EXPORT(MPI_##symbol);                               \
  extern "C" int export_##symbol parameters {                                                            \
    const Mode mode = resolve(__builtin_return_address(0));                                              \
    const long_messages::Completions completions(count, requests);                                       \
    const auto from = [&](const Asks& asks) { return asks.symbol ? asks.symbol arguments : otherwise; }; \
    if (mode != Mode::active || runtime::asking::is_plain()) [[likely]]                                  \
      return from(host.next);                                                                            \
    const auto is_found = [&] { return found; };                                                         \
    const auto serves = [&] { return serve arguments; };                                                 \
    if (persistent::any()) return ask_twice(serves, serves, is_found);                                   \
    return ask_twice([&] { return from(host.next); }, [&] { return from(host.again); }, is_found);       \
  }
#define ESPALIER_TESTS(symbol, parameters, arguments, count, requests, serve, found) \
  ESPALIER_TESTS_OR(symbol, parameters, arguments, count, requests, serve, found,    \
                    no_such_function("MPI_" #symbol))

namespace espalier::mpi {
namespace {

using completion::Requests;
using persistent::Request;

/// The host's word for a request that is complete.
int settle(MPI_Request* carrier, MPI_Status* status) {
  return status == MPI_STATUS_IGNORE ? MPI_SUCCESS : host.next.Wait(carrier, status);
}
int settle_nth(MPI_Request* carrier, void* statuses, int n) {
  auto* first = static_cast<MPI_Status*>(statuses);
  return first == MPI_STATUSES_IGNORE ? MPI_SUCCESS : host.next.Wait(carrier, first + n);
}

int start(void* request) {
  Request* ours = Requests(request).any_state(0);
  return ours ? ours->start() : host.next.Start(request);
}

int startall(int count, void* requests) {
  const Requests all(requests);
  int code = MPI_SUCCESS;
  for (int i = 0; i < count && code == MPI_SUCCESS; ++i) code = start(all.place(i));
  return code;
}

int wait(void* request, void* status) {
  const Requests all(request);
  Request* ours = all(0);
  if (!ours) return host.next.Wait(request, status);
  const int code = ours->complete();
  return code == MPI_SUCCESS ? settle(all.place(0), static_cast<MPI_Status*>(status)) : code;
}

int waitall(int count, void* requests, void* statuses) {
  return completion::wait_all(count, Requests(requests),
                              [&] { return host.next.Waitall(count, requests, statuses); });
}

int testany(int count, void* requests, int* index, int* flag, void* status) {
  const Requests all(requests);
  return completion::test_any(
      count, all, index, flag,
      [&](int* at, int* done) { return host.next.Testany(count, requests, at, done, status); },
      [&](int i) { return settle(all.place(i), static_cast<MPI_Status*>(status)); });
}

int waitany(int count, void* requests, int* index, void* status) {
  return completion::wait_any(
      count, Requests(requests), [&] { return host.next.Waitany(count, requests, index, status); },
      [&](int* flag) { return testany(count, requests, index, flag, status); });
}

int testsome(int count, void* requests, int* outcount, int* indices, void* statuses) {
  const Requests all(requests);
  return completion::test_some(
      count, all, outcount,
      [&](int* done) { return host.next.Testsome(count, requests, done, indices, statuses); },
      [&](int i, int n) {
        indices[n] = i;
        return settle_nth(all.place(i), statuses, n);
      });
}

int waitsome(int count, void* requests, int* outcount, int* indices, void* statuses) {
  return completion::wait_any(
      count, Requests(requests),
      [&] { return host.next.Waitsome(count, requests, outcount, indices, statuses); },
      [&](int* flag) {
        const int code = testsome(count, requests, outcount, indices, statuses);
        *flag = *outcount != 0;
        return code;
      });
}

int test(void* request, int* flag, void* status) {
  return completion::test_all(1, Requests(request), flag,
                              [&](int* done) { return host.next.Test(request, done, status); });
}

int testall(int count, void* requests, int* flag, void* statuses) {
  return completion::test_all(count, Requests(requests), flag,
                              [&](int* done) { return host.next.Testall(count, requests, done, statuses); });
}

int request_free(void* request) {
  Request* ours = Requests(request).any_state(0);
  if (ours) {
    if (const int code = ours->leave(); code != MPI_SUCCESS) return code;
  }
  return host.next.Request_free(request);
}

}  // namespace

ESPALIER_REQUESTS(Start, (void* request), (request), 0, nullptr, start)
ESPALIER_REQUESTS(Startall, (int count, void* requests), (count, requests), 0, nullptr, startall)
ESPALIER_REQUESTS(Wait, (void* request, void* status), (request, status), 1, request, wait)
ESPALIER_REQUESTS(Waitall, (int count, void* requests, void* statuses), (count, requests, statuses), count,
                  requests, waitall)
ESPALIER_REQUESTS(Waitany, (int count, void* requests, int* index, void* status),
                  (count, requests, index, status), count, requests, waitany)
ESPALIER_REQUESTS(Waitsome, (int count, void* requests, int* outcount, int* indices, void* statuses),
                  (count, requests, outcount, indices, statuses), count, requests, waitsome)
ESPALIER_TESTS(Test, (void* request, int* flag, void* status), (request, flag, status), 1, request, test,
               *flag)
ESPALIER_TESTS(Testall, (int count, void* requests, int* flag, void* statuses),
               (count, requests, flag, statuses), count, requests, testall, *flag)
ESPALIER_TESTS(Testany, (int count, void* requests, int* index, int* flag, void* status),
               (count, requests, index, flag, status), count, requests, testany, *flag)
ESPALIER_TESTS(Testsome, (int count, void* requests, int* outcount, int* indices, void* statuses),
               (count, requests, outcount, indices, statuses), count, requests, testsome, *outcount != 0)
ESPALIER_REQUESTS(Request_free, (void* request), (request), 1, request, request_free)
ESPALIER_TESTS(Request_get_status, (Handle request, int* flag, void* status), (request, flag, status), 0,
               nullptr, get_status::of_one, *flag)
ESPALIER_TESTS_OR(Request_get_status_all, (int count, const void* requests, int* flag, void* statuses),
                  (count, requests, flag, statuses), 0, nullptr, get_status::of_all, *flag,
                  get_status::of_all(count, requests, flag, statuses))
ESPALIER_TESTS_OR(Request_get_status_any,
                  (int count, const void* requests, int* index, int* flag, void* status),
                  (count, requests, index, flag, status), 0, nullptr, get_status::of_any, *flag,
                  get_status::of_any(count, requests, index, flag, status))
ESPALIER_TESTS_OR(Request_get_status_some,
                  (int count, const void* requests, int* outcount, int* indices, void* statuses),
                  (count, requests, outcount, indices, statuses), 0, nullptr, get_status::of_some,
                  *outcount != 0, get_status::of_some(count, requests, outcount, indices, statuses))

}  // namespace espalier::mpi
