#include "mpi/requests/held_operator.hpp"

#include <atomic>
#include <map>
#include <mutex>

#include "mpi/host/host.hpp"

namespace espalier::mpi {
namespace {

struct Hold {
  int holders = 0;
  bool is_freed = false;  ///< by the program
};

// Never destroyed, as the requests that hold operators are not.
std::mutex& holds_mutex = *new std::mutex;
std::map<Handle, Hold>& holds = *new std::map<Handle, Hold>;
std::atomic<int> held_count{0};  // so that a program that has none takes no lock

}  // namespace

HeldOperator::HeldOperator(MPI_Op op) : op_(op) {
  const std::lock_guard lock(holds_mutex);
  ++holds[wide(op)].holders;
  held_count.fetch_add(1, std::memory_order_relaxed);
}

HeldOperator::~HeldOperator() {
  {
    const std::lock_guard lock(holds_mutex);
    const auto hold = holds.find(wide(op_));
    held_count.fetch_sub(1, std::memory_order_relaxed);
    if (--hold->second.holders > 0) return;
    const bool is_freed = hold->second.is_freed;
    holds.erase(hold);
    if (!is_freed) return;
  }
  if (host.next.Op_free) host.next.Op_free(&op_);
}

// relaxed: a thread that frees an operator has started the reductions with it, or has heard of them from those that did.
bool held_operators::free_later(MPI_Op op) {
  if (held_count.load(std::memory_order_relaxed) == 0) return false;
  const std::lock_guard lock(holds_mutex);
  const auto hold = holds.find(wide(op));
  if (hold == holds.end() || hold->second.is_freed) return false;
  hold->second.is_freed = true;
  return true;
}

}  // namespace espalier::mpi
