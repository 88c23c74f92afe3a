// What serves C's calls with requests where some may be Espalier's.
#include "generated/mpi/requests/serve.hpp"
#include "mpi/host/host.hpp"
#include "mpi/requests/completion.hpp"

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

}  // namespace

int serve_start(void* request) {
  Request* ours = Requests(request).any_state(0);
  return ours ? ours->start() : host.next.Start(request);
}

int serve_startall(int count, void* requests) {
  const Requests all(requests);
  int code = MPI_SUCCESS;
  for (int i = 0; i < count && code == MPI_SUCCESS; ++i) code = serve_start(all.place(i));
  return code;
}

int serve_wait(void* request, void* status) {
  const Requests all(request);
  Request* ours = all(0);
  if (!ours) return host.next.Wait(request, status);
  const int code = completion::complete_one(all, 0, *ours);
  return code == MPI_SUCCESS ? settle(all.place(0), static_cast<MPI_Status*>(status)) : code;
}

int serve_waitall(int count, void* requests, void* statuses) {
  return completion::wait_all(count, Requests(requests),
                              [&] { return host.next.Waitall(count, requests, statuses); });
}

int serve_testany(int count, void* requests, int* index, int* flag, void* status) {
  const Requests all(requests);
  return completion::test_any(
      count, all, index, flag,
      [&](int* at, int* done) { return host.next.Testany(count, requests, at, done, status); },
      [&](int i) { return settle(all.place(i), static_cast<MPI_Status*>(status)); });
}

int serve_waitany(int count, void* requests, int* index, void* status) {
  return completion::wait_any(
      count, Requests(requests), [&] { return host.next.Waitany(count, requests, index, status); },
      [&](int* flag) { return serve_testany(count, requests, index, flag, status); });
}

int serve_testsome(int count, void* requests, int* outcount, int* indices, void* statuses) {
  const Requests all(requests);
  return completion::test_some(
      count, all, outcount,
      [&](int* done) { return host.next.Testsome(count, requests, done, indices, statuses); },
      [&](int i, int n) {
        indices[n] = i;
        return settle_nth(all.place(i), statuses, n);
      });
}

int serve_waitsome(int count, void* requests, int* outcount, int* indices, void* statuses) {
  return completion::wait_any(
      count, Requests(requests),
      [&] { return host.next.Waitsome(count, requests, outcount, indices, statuses); },
      [&](int* flag) {
        const int code = serve_testsome(count, requests, outcount, indices, statuses);
        *flag = *outcount != 0;
        return code;
      });
}

int serve_test(void* request, int* flag, void* status) {
  return completion::test_all(1, Requests(request), flag,
                              [&](int* done) { return host.next.Test(request, done, status); });
}

int serve_testall(int count, void* requests, int* flag, void* statuses) {
  return completion::test_all(count, Requests(requests), flag,
                              [&](int* done) { return host.next.Testall(count, requests, done, statuses); });
}

int serve_cancel(void* request) {
  Request* ours = Requests(request).any_state(0);
  return ours ? ours->cancel() : host.next.Cancel(request);
}

// A collective that is complete, as the program may know by MPI_Request_get_status, it may free, as hosts let it.
int serve_request_free(void* request) {
  const Requests one(request);
  Request* ours = one.any_state(0);
  if (!ours) return host.next.Request_free(request);
  if (ours->active() && ours->is_ready()) {
    const bool is_gone = ours->is_once;
    const int code = completion::complete_one(one, 0, *ours);
    if (is_gone || code != MPI_SUCCESS) return code;
  }
  const int code = ours->leave();
  return code == MPI_SUCCESS ? host.next.Request_free(request) : code;
}

}  // namespace espalier::mpi
