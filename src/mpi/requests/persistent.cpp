// Makes, finds, starts, completes and frees the requests of persistent collectives.
#include "mpi/requests/persistent.hpp"

#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"
#include "collective/schedule/length_check.hpp"
#include "mpi/host/handles.hpp"
#include "mpi/lifetime/lifecycle.hpp"
#include "mpi/requests/nonblocking.hpp"
#include "runtime/communicator/separate_call.hpp"

namespace espalier::mpi::persistent {

namespace {

std::mutex mutex;  // of everything below but the readers' side of `buckets`
// Never destroyed, as the communicators' entries are not.
std::deque<Request>& requests = *new std::deque<Request>;
std::vector<Request*>& unused = *new std::vector<Request*>;
std::vector<Request*>& unused_once = *new std::vector<Request*>;  // which have their carriers
std::atomic<Request*> next_once{nullptr};  // one more of them, of which a call takes no lock
std::unordered_map<Handle, Request*>& by_handle = *new std::unordered_map<Handle, Request*>;

/// Direct-mapped: how many requests belong to a bucket, and one of them.
struct Bucket {
  std::atomic<int> members{0};
  std::atomic<Request*> one{nullptr};
};
constexpr int bucket_bits = 10;
std::array<Bucket, 1 << bucket_bits> buckets;

Bucket& bucket_of(Handle handle) { return buckets[(handle * 0x9E3779B97F4A7C15u) >> (64 - bucket_bits)]; }
Handle normal_form(Handle handle) { return wide(typed<MPI_Request>(handle)); }

void enter(Request& request, Handle handle) {
  const std::lock_guard lock(mutex);
  by_handle[handle] = &request;
  request.handle.store(handle, std::memory_order_relaxed);
  Bucket& bucket = bucket_of(handle);
  bucket.members.fetch_add(1, std::memory_order_relaxed);
  // release: pairs with the acquire in find(); the request is whole before it can be found.
  bucket.one.store(&request, std::memory_order_release);
}

/// What must be destroyed of a request.
struct Content {
  Draft draft;
  std::unique_ptr<runtime::PersistentMeeting> meeting;
  std::unique_ptr<runtime::Persistent> collective;
  runtime::KeptNonblocking nonblocking;
  std::unique_ptr<runtime::SeparateCall> separate;
};

Content empty(Request& request) {
  const Handle handle = request.handle.exchange(0, std::memory_order_relaxed);
  Bucket& bucket = bucket_of(handle);
  if (bucket.one.load(std::memory_order_relaxed) == &request)
    bucket.one.store(nullptr, std::memory_order_relaxed);
  bucket.members.fetch_sub(1, std::memory_order_relaxed);
  by_handle.erase(handle);
  if (!request.is_once || request.nonblocking || request.separate) runtime::asking::remove_request();
  request.is_once = false;
  unused.push_back(&request);
  return {std::move(request.draft), std::move(request.meeting), std::move(request.collective),
          std::move(request.nonblocking), std::move(request.separate)};
}

Request& take_request() {
  const std::lock_guard lock(mutex);
  if (unused.empty()) return requests.emplace_back();
  Request* request = unused.back();
  unused.pop_back();
  return *request;
}

/// The request of the host that the program gets: a message to this rank itself, which is never started.
MPI_Request make_carrier(const Entry& entry) {
  const MPI_Comm comm = lasting(host.constants.self, entry);
  const int rank = comm == entry.comm ? entry.communicator->rank() : 0;
  MPI_Request carrier{};
  const int code = host.Send_init(nullptr, 0, host.constants.byte, rank, 0, comm, &carrier);
  if (code != MPI_SUCCESS) throw Error("the host made no persistent request: " + words_of(code));
  return carrier;
}

int raise_for(const Request& request, const std::string& what) {
  const collective::PersistentSpec& spec = request.draft.spec;
  return raise_error(request.errors, spec.collective, spec.bytes, what, MPI_ERR_OTHER,
                     request.is_once ? Form::nonblocking : Form::persistent);
}

/// `comm` is about to be freed: from now on its requests report errors to MPI_COMM_WORLD.
void outlive(MPI_Comm comm) {
  const std::lock_guard lock(mutex);
  for (Request& request : requests)
    if (request.errors == comm && has_world()) request.errors = host.constants.world;
}

void retire_all() {
  std::vector<Content> gone;
  const std::lock_guard lock(mutex);
  unused_once.clear();
  next_once.store(nullptr, std::memory_order_relaxed);
  for (Request& request : requests) {
    const Handle handle = request.handle.load(std::memory_order_relaxed);
    if (handle == 0) continue;
    if (request.nonblocking) request.nonblocking->forget(request.call);  // the program never completed it
    gone.push_back(empty(request));
    auto carrier = typed<MPI_Request>(handle);
    host.next.Request_free(&carrier);  // hosts report requests that are not freed
  }
}

constexpr lifecycle::Dependents told = {outlive, retire_all};

}  // namespace

MPI_Comm lasting(MPI_Comm predefined, const Entry& entry) { return has_world() ? predefined : entry.comm; }

KeptType::KeptType(Handle type) : handle_(type) {
  const auto datatype = typed<MPI_Datatype>(type);
  if (datatype == host.constants.datatype_null || predefined_type(datatype)) return;
  // No duplicate: it would call the program's copy and delete callbacks of the datatype's attributes.
  MPI_Datatype copy{};
  int code = host.Type_contiguous(1, datatype, &copy);
  if (code == MPI_SUCCESS) code = host.Type_commit(&copy);
  if (code != MPI_SUCCESS) throw Error("the host cannot keep a datatype: " + words_of(code));
  handle_ = wide(copy);
  owned_ = true;
}

KeptType::KeptType(KeptType&& other) noexcept
    : handle_(other.handle_), owned_(std::exchange(other.owned_, false)) {}

KeptType::~KeptType() {
  if (!owned_) return;
  auto datatype = typed<MPI_Datatype>(handle_);
  host.Type_free(&datatype);
}

void refuse_own_block(const Draft& draft, MPI_Comm comm) {
  int rank = 0;
  host.Comm_rank(comm, &rank);
  collective::refuse_excess(rank, draft.own.taken, rank, draft.own.sent);
}

int Request::start() {
  if (is_once)
    return raise_for(*this, "MPI_Start takes persistent requests, not those of nonblocking collectives");
  if (active())
    return raise_for(*this,
                     "its persistent request is started, and not complete; wait for it, or test it, "
                     "before it is started again");
  return guarded(
      wide(errors), draft.spec.collective, draft.spec.bytes,
      [&] {
        if (!collective && !separate) [[unlikely]]
          prepare();
        if (draft.load) draft.load();
        separate ? separate->start() : collective->start();
        return MPI_SUCCESS;
      },
      Form::persistent);
}

/// MPI_Allreduce_init may wait for the other ranks to call it. It did not, but here this rank may as well:
/// they come there whatever it does now.
void Request::prepare() {
  if (!meeting) throw Error("the ranks have not asked for the same persistent collective");
  const auto met = std::exchange(meeting, nullptr);
  collective = met->finish();
}

int Request::complete() {
  if (is_once) return nonblocking::complete(*this);
  return guarded(
      wide(errors), draft.spec.collective, draft.spec.bytes,
      [&] {
        separate ? separate->complete() : collective->complete();
        if (draft.store) draft.store();
        look_at_own_block(draft, errors);
        return MPI_SUCCESS;
      },
      Form::persistent);
}

// To be called before the host frees the carrier, whose handle may be another request's from then on.
int Request::leave() {
  if (is_once) return raise_for(*this, "its request is freed while it is active; complete it before");
  if (active())
    return raise_for(*this, "its persistent request is freed while it is active; complete it before");
  const Content gone = [&] {
    const std::lock_guard lock(mutex);
    return empty(*this);
  }();  // and is destroyed without the lock
  return MPI_SUCCESS;
}

int Request::cancel() { return raise_for(*this, "MPI_Cancel takes no requests of collectives"); }

Request& take_once(Entry& entry) {
  // Acquires what give_back() has released, where there are several threads: another one may have used the request.
  if (Request* const next = runtime::exchange_in_call<Request>(next_once, nullptr)) return *next;
  {
    const std::lock_guard lock(mutex);
    if (!unused_once.empty()) {
      Request* const request = unused_once.back();
      unused_once.pop_back();
      return *request;
    }
  }
  const MPI_Request carrier = make_carrier(entry);
  lifecycle::tell(told);
  Request& made = take_request();
  made.is_once = true;
  enter(made, wide(carrier));
  return made;
}

void give_back(Request& request) {
  Request* const other = runtime::exchange_in_call(next_once, &request);
  if (!other) return;
  const std::lock_guard lock(mutex);
  unused_once.push_back(other);
}

Request* find(Handle handle) {
  const Handle wanted = normal_form(handle);
  Bucket& bucket = bucket_of(wanted);
  // relaxed: a request that is looked for was counted by the thread that made it.
  if (bucket.members.load(std::memory_order_relaxed) == 0) return nullptr;
  // acquire: pairs with the release in enter().
  Request* const one = bucket.one.load(std::memory_order_acquire);
  if (one && one->handle.load(std::memory_order_relaxed) == wanted) return one;
  // Other threads add and remove requests meanwhile, so the two loads above need not belong together.
  const std::lock_guard lock(mutex);
  const auto found = by_handle.find(wanted);
  return found == by_handle.end() ? nullptr : found->second;
}

std::unique_ptr<MovedByHost> move_by_host(const Entry& entry, const Draft& draft, MovedByHost::Use use,
                                          const std::string& why) {
  const bool able = host.Iallgather && (use == MovedByHost::Use::once || host.Comm_create_group);
  if (!draft.at_once || !able || entry.communicator->size() == 1 || why.ends_with(bad_arguments))
    return nullptr;
  entry.communicator->count_host(
      draft.spec.collective, draft.spec.bytes,
      (why.empty() ? std::string() : why + "; ") + "it moves the vectors, Espalier folds");
  return std::make_unique<MovedByHost>(use, draft.spec, draft.vector, *draft.at_once,
                                       entry.communicator->size(), entry.comm);
}

/// Of a collective whose blocks are all of one length, by which their readers go.
bool is_own_block_wrong(const Draft& draft) {
  return draft.own.sent != draft.own.taken && !traits(draft.spec.collective).has_v_form;
}

int raise_for_own_block(const Entry& entry, const Draft& draft) {
  const int rank = entry.communicator->rank();
  const auto [sent, taken] = draft.own;
  return raise_error(entry.comm, draft.spec.collective, draft.spec.bytes,
                     collective::print_lengths(rank, taken, rank, sent),
                     sent > taken ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER, Form::persistent);
}

int begin(Entry& entry, Draft&& draft, MPI_Request* request) {
  const Collective what = draft.spec.collective;
  const std::size_t bytes = draft.spec.bytes;
  if (draft.unable.empty() && is_own_block_wrong(draft)) draft.unable = bad_arguments;
  // The host says what is wrong. Of a v form the ranks ask each other, of others this one tells them.
  if (draft.unable == bad_arguments && !traits(what).has_v_form) {
    const runtime::Refusal refusal = entry.communicator->refuse_to_prepare(draft.spec);
    // Hosts deliver a shorter block, and would wait there for the others.
    if (refusal == runtime::Refusal::fails && is_own_block_wrong(draft))
      return raise_for_own_block(entry, draft);
    if (refusal != runtime::Refusal::untold) return to_host;
  }
  std::unique_ptr<runtime::Persistent> collective;
  std::unique_ptr<runtime::SeparateCall> separate;
  auto meeting = draft.unable.empty() ? entry.communicator->begin_to_prepare(draft.spec) : nullptr;
  if (!meeting) {
    std::string why;
    collective =
        entry.communicator->prepare(communicators::bootstrap(entry.comm), draft.spec, draft.unable, why);
    if (!collective)
      separate = entry.communicator->prepare_across(draft.spec, draft.kernel, draft.unable, why);
    if (!collective && !separate) separate = move_by_host(entry, draft, MovedByHost::Use::again, why);
    if (!collective && !separate) {
      const bool host_reports = why.empty() || why.ends_with(bad_arguments);
      return host_reports ? to_host : refuse(entry, what, bytes, why, Form::persistent);
    }
  }
  *request = make_carrier(entry);
  lifecycle::tell(told);
  Request& made = take_request();
  made.draft = std::move(draft);
  made.draft.spec.collective = what;  // what errors name
  made.draft.spec.bytes = bytes;
  made.meeting = std::move(meeting);
  made.collective = std::move(collective);
  made.separate = std::move(separate);
  made.errors = entry.comm;
  enter(made, wide(*request));
  runtime::asking::add_request();
  return MPI_SUCCESS;
}

}  // namespace espalier::mpi::persistent
