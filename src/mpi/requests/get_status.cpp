// MPI_Request_get_status and MPI 4.1's forms for several requests, where some may be Espalier's. The latter
// also for hosts that do not have them: programs that look for these names weakly (mpi4py does) would help
// themselves if Espalier did not have them either. Arrays are of this build's ABI.
#include "generated/mpi/requests/serve.hpp"
#include "mpi/host/host.hpp"
#include "mpi/requests/completion.hpp"
#include "mpi/requests/persistent.hpp"

namespace espalier::mpi {
namespace {

using completion::Requests;

MPI_Status* nth(void* statuses, int n) {
  auto* first = static_cast<MPI_Status*>(statuses);
  return first == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : first + n;
}

bool can_ask() { return host.next.Request_get_status && host_has_this_abi(); }

int status_of(MPI_Request request, MPI_Status* status) {
  int flag = 0;
  return status == MPI_STATUS_IGNORE ? MPI_SUCCESS : serve_request_get_status(wide(request), &flag, status);
}

// What the host says of its own, one by one where it cannot be asked for all. Inactive persistent requests of
// its own count as complete then, for it says no more of them.

/// Calls found(i) for those of the host's that are complete, until it returns false. How many it was asked
/// for.
template <class Found>
int for_hosts(int count, const MPI_Request* requests, int& code, Found found) {
  int asked = 0;
  for (int i = 0; i < count && code == MPI_SUCCESS; ++i) {
    if (requests[i] == host.constants.request_null || persistent::find(wide(requests[i]))) continue;
    ++asked;
    int flag = 0;
    code = host.next.Request_get_status(wide(requests[i]), &flag, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && flag && !found(i)) break;
  }
  return asked;
}

int hosts_any(int count, const void* requests, int* index, int* flag, void* status) {
  if (host.next.Request_get_status_any)
    return host.next.Request_get_status_any(count, requests, index, flag, status);
  const auto* all = static_cast<const MPI_Request*>(requests);
  int code = MPI_SUCCESS;
  *index = MPI_UNDEFINED;
  const int asked = for_hosts(count, all, code, [&](int i) {
    *index = i;
    return false;
  });
  *flag = *index != MPI_UNDEFINED || asked == 0;
  if (code != MPI_SUCCESS || !*flag) return code;
  auto* const to = static_cast<MPI_Status*>(status);
  if (asked > 0) return status_of(all[*index], to);
  // MPI-4.1 3.7.6: with no active request the status is empty. So is that of the null request, but for the
  // error, which functions of one status leave as it was.
  if (to != MPI_STATUS_IGNORE) to->MPI_ERROR = MPI_SUCCESS;
  return status_of(host.constants.request_null, to);
}

int hosts_some(int count, const void* requests, int* outcount, int* indices, void* statuses) {
  if (host.next.Request_get_status_some)
    return host.next.Request_get_status_some(count, requests, outcount, indices, statuses);
  const auto* all = static_cast<const MPI_Request*>(requests);
  int code = MPI_SUCCESS, found = 0;
  const int asked = for_hosts(count, all, code, [&](int i) {
    indices[found++] = i;
    return true;
  });
  for (int n = 0; n < found && code == MPI_SUCCESS; ++n) code = status_of(all[indices[n]], nth(statuses, n));
  *outcount = asked == 0 ? MPI_UNDEFINED : found;
  return code;
}

}  // namespace

int serve_request_get_status(Handle request, int* flag, void* status) {
  persistent::Request* ours = persistent::find(request);
  if (!ours || !ours->active() || ours->is_ready())
    return host.next.Request_get_status(request, flag, status);
  *flag = 0;
  return MPI_SUCCESS;
}

int serve_request_get_status_all(int count, const void* requests, int* flag, void* statuses) {
  if (!can_ask()) return no_such_function("MPI_Request_get_status_all");
  const auto* all = static_cast<const MPI_Request*>(requests);
  *flag = completion::all_ready(count, Requests(all));
  if (!*flag) return MPI_SUCCESS;
  if (host.next.Request_get_status_all)
    return host.next.Request_get_status_all(count, requests, flag, statuses);
  int code = MPI_SUCCESS;
  for (int i = 0; i < count && *flag && code == MPI_SUCCESS; ++i)
    code = serve_request_get_status(wide(all[i]), flag, nth(statuses, i));
  return code;
}

int serve_request_get_status_any(int count, const void* requests, int* index, int* flag, void* status) {
  if (!can_ask()) return no_such_function("MPI_Request_get_status_any");
  const auto* all = static_cast<const MPI_Request*>(requests);
  const Requests ours(all);
  const bool none_ready = completion::for_each(count, ours, [&](persistent::Request& request, int i) {
    *index = i;
    return !request.is_ready();
  });
  if (!none_ready) return host.next.Request_get_status(wide(all[*index]), flag, status);
  const int code = hosts_any(count, requests, index, flag, status);
  // Not as if there were none.
  if (code == MPI_SUCCESS && *index == MPI_UNDEFINED && completion::has_active(count, ours)) *flag = 0;
  return code;
}

int serve_request_get_status_some(int count, const void* requests, int* outcount, int* indices,
                                  void* statuses) {
  if (!can_ask()) return no_such_function("MPI_Request_get_status_some");
  const auto* all = static_cast<const MPI_Request*>(requests);
  const Requests ours(all);
  int code = hosts_some(count, requests, outcount, indices, statuses);
  if (code != MPI_SUCCESS || !completion::has_active(count, ours)) return code;
  if (*outcount == MPI_UNDEFINED) *outcount = 0;
  completion::for_each(count, ours, [&](persistent::Request& request, int i) {
    if (!request.is_ready()) return true;
    const int n = (*outcount)++;
    indices[n] = i;
    code = status_of(all[i], nth(statuses, n));
    return code == MPI_SUCCESS;
  });
  return code;
}

}  // namespace espalier::mpi
