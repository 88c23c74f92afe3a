// What is known of a datatype is an attribute of it: the host says when it has gone, and its handle may be
// another's.
#include <memory>
#include <mutex>
#include <utility>

#include "mpi/datatype/type_runs.hpp"
#include "mpi/host/host.hpp"
#include "mpi/host/host_behaviour.hpp"

namespace espalier::mpi {
namespace {

std::mutex keeping;  // of the keyval, and of who sets an attribute
std::atomic<int> kept_keyval{MPI_KEYVAL_INVALID};

int forget_type(MPI_Datatype, int, void* attribute, void*) {
  delete static_cast<KeptType*>(attribute);
  return MPI_SUCCESS;
}

/// A duplicate finds its own.
int copy_nothing(MPI_Datatype, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

const KeptType* attribute_of(MPI_Datatype type, int keyval) {
  void* attribute = nullptr;
  int found = 0;
  if (keyval == MPI_KEYVAL_INVALID || host.Type_get_attr(type, keyval, &attribute, &found) != MPI_SUCCESS)
    return nullptr;
  return found ? static_cast<const KeptType*>(attribute) : nullptr;
}

bool look_at(MPI_Datatype type, KeptType& kept) {
  MPI_Count size = 0, lower = 0;
  if (host.Type_size(type, &size) != MPI_SUCCESS || size < 0 ||
      host.Type_get_extent(type, &lower, &kept.extent) != MPI_SUCCESS || !is_committed_for_bcast(type))
    return false;
  kept.size = static_cast<std::size_t>(size);
  if (std::optional<memory::Runs> runs = runs_of(type))
    kept.runs = std::make_shared<const memory::Runs>(std::move(*runs));
  kept.goes_on = kept.runs && kept.runs->is_one_run() && size == kept.extent;
  return true;
}

}  // namespace

const KeptType* kept_type(MPI_Datatype type) {
  // acquire: pairs with the release below, so that the host knows the keyval.
  if (const KeptType* kept = attribute_of(type, kept_keyval.load(std::memory_order_acquire))) return kept;
  auto fresh = std::make_unique<KeptType>();
  if (!look_at(type, *fresh)) return nullptr;
  const std::lock_guard lock(keeping);
  int keyval = kept_keyval.load(std::memory_order_relaxed);
  if (keyval == MPI_KEYVAL_INVALID) {
    if (host.Type_create_keyval(copy_nothing, forget_type, &keyval, nullptr) != MPI_SUCCESS) return nullptr;
    kept_keyval.store(keyval, std::memory_order_release);
  }
  // Another thread may have kept it meanwhile, and use it.
  if (const KeptType* kept = attribute_of(type, keyval)) return kept;
  if (host.Type_set_attr(type, keyval, fresh.get()) != MPI_SUCCESS) return nullptr;
  return fresh.release();
}

void close_kept_types() {
  const std::lock_guard lock(keeping);
  int keyval = kept_keyval.exchange(MPI_KEYVAL_INVALID, std::memory_order_relaxed);
  if (keyval != MPI_KEYVAL_INVALID) host.Type_free_keyval(&keyval);
}

}  // namespace espalier::mpi
