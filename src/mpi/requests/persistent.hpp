// Persistent collectives that Espalier serves.
//
// The handle that the program gets is that of an inactive persistent message of the host's, which is never
// started: so it may stand among other requests wherever requests are taken, and the host, when asked, finds
// that it is complete. What completes or starts requests asks here first (requests.cpp).
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mpi/abi/abi.hpp"
#include "mpi/collectives/serve.hpp"
#include "mpi/host/host.hpp"
#include "mpi/lifetime/communicators.hpp"
#include "mpi/lifetime/fallback.hpp"
#include "mpi/requests/moved_by_host.hpp"
#include "runtime/communicator/nonblocking.hpp"
#include "runtime/communicator/persistent.hpp"
#include "runtime/communicator/persistent_meeting.hpp"
#include "runtime/progress/missed_tests.hpp"

namespace espalier::mpi::persistent {

/// The program may free its communicator before the request: MPI_COMM_WORLD or MPI_COMM_SELF in its stead,
/// where there are (sessions have none).
MPI_Comm lasting(MPI_Comm predefined, const Entry& entry);

/// A datatype that the program may free before the request.
class KeptType {
 public:
  /// Predefined ones are kept as they are. Throws Error when the host fails.
  explicit KeptType(Handle type);
  KeptType(KeptType&& other) noexcept;
  ~KeptType();
  Handle handle() const { return handle_; }

 private:
  Handle handle_;
  bool owned_ = false;
};

/// Why a rank is unable where the host is to say what is wrong.
using runtime::bad_arguments;

/// What this rank makes of an init call.
struct Draft {
  collective::PersistentSpec spec;
  std::string unable;                         ///< why not
  const reduce::Operation* kernel = nullptr;  ///< of a reduction by a kernel, also where nothing is folded
  /// Of a reduction whose operands must be folded at once: what it is, and this rank's vector; else null.
  const reduce::Operation* at_once = nullptr;
  const std::byte* vector = nullptr;
  /// What brings data with gaps into packed form before a start, and back at completion; empty where the
  /// program's buffers are used as they are.
  std::function<void()> load, store;
  std::shared_ptr<void> sides;  ///< what they and the spec refer to
  /// Of the block that this rank sends to itself: how long it is, and how much it takes. More is an error, which it gets
  /// when the call is complete, so that the other ranks do not notice.
  struct OwnBlock {
    std::size_t sent = 0, taken = 0;
  };
  OwnBlock own;
  std::vector<KeptType> types;

  /// Of a nonblocking call, whose maker may leave the lists of the spec alone: what brief_call.hpp says.
  bool may_be_brief = false, is_brief = false;
  collective::BriefCall brief;
  /// `bytes`: as in the spec.
  void be_brief(std::size_t bytes, const collective::BriefCall& call, const reduce::Operation* operation,
                bool folds) {
    is_brief = true;
    brief = call;
    spec.bytes = bytes;
    spec.operation = operation ? operation->code : reduce::no_operation;
    spec.fold.operation = folds ? operation : nullptr;
    kernel = operation;
  }
};

[[noreturn, gnu::cold]] void refuse_own_block(const Draft& draft, MPI_Comm comm);
/// Of a call on `comm` that is complete. Throws if this rank has sent itself more than it takes.
inline void look_at_own_block(const Draft& draft, MPI_Comm comm) {
  if (draft.own.sent > draft.own.taken) [[unlikely]]
    refuse_own_block(draft, comm);
}

/// One of the program's.
struct Request {
  /// 0 while it is unused. Requests are never given back to the system, only used again, so that who looks
  /// for another one reads a request.
  std::atomic<Handle> handle{0};
  Draft draft;
  std::unique_ptr<runtime::PersistentMeeting>
      meeting;                                      ///< before the first start: the ranks may not know yet
  std::unique_ptr<runtime::Persistent> collective;  ///< from the first start on, if not before
  MPI_Comm errors{};                                ///< whose handler gets them
  /// Of a nonblocking collective, whose handle the program has until it is complete: then the request and its
  /// carrier wait for the next one.
  bool is_once = false;
  runtime::KeptNonblocking nonblocking;  ///< while it is under way
  runtime::Nonblocking::Call call;
  std::unique_ptr<runtime::SeparateCall> separate;  ///< instead of both

  bool active() const {
    if (separate) return separate->active();
    return is_once ? static_cast<bool>(nonblocking) : collective && collective->active();
  }
  /// Each returns an MPI error code, raised already.
  int start();
  int complete();
  bool is_ready() {
    if (separate) return separate->is_ready();
    return is_once ? nonblocking->is_ready(call) : collective->is_ready();
  }
  void prepare();
  /// The program frees the request, which is not active; the carrier is left to the host.
  int leave();
  int cancel();
};

/// Whether there are any. Programs without pay for one look at a word wherever they complete requests: a
/// thread that has a request got it from the one that made it, and so sees it counted.
inline bool any() { return runtime::asking::has_requests(); }

/// nullptr: the host's. Thread-safe; a request that others use at the same time is not looked for.
Request* find(Handle handle);

/// An unused request of a nonblocking collective, which the program may have now. It goes back by give_back().
Request& take_once(Entry& entry);
void give_back(Request& request);

/// For a reduction that must be folded at once and is not served otherwise, because of `why`; nullptr: it is none,
/// or the host cannot move it.
std::unique_ptr<MovedByHost> move_by_host(const Entry& entry, const Draft& draft, MovedByHost::Use use,
                                          const std::string& why);

/// Meets the other ranks, or tells them what they read at their first start. MPI_SUCCESS: `request` is made;
/// to_host: all ranks leave it to the host.
int begin(Entry& entry, Draft&& draft, MPI_Request* request);

/// Collective: serves an init call, or hands it on. `make(call, entry, draft)` fills in the draft, whose
/// spec says at least which collective it is.
template <class Call, class Forward>
int init(void (*make)(const Call&, Entry&, Draft&), Collective collective, const Call& call, void* request,
         void* caller, Forward forward) {
  Draft draft;
  const int code = guarded(
      call.comm, collective, draft.spec.bytes,
      [&] {
        Entry* entry = entry_of(call.comm, caller);
        if (!entry) return to_host;
        draft.spec.collective = collective;
        draft.spec.root = call.root;
        make(call, *entry, draft);
        return begin(*entry, std::move(draft), static_cast<MPI_Request*>(request));
      },
      Form::persistent);
  return code == to_host ? forward() : code;
}

}  // namespace espalier::mpi::persistent
