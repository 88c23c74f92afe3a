#include "mpi/host/host_behaviour.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

#include "mpi/host/buffer.hpp"
#include "mpi/host/host.hpp"

namespace espalier::mpi {
namespace questions {

std::array<std::atomic<Answer>, collective_count> aliases{};

namespace {

std::mutex mutex;
std::atomic<bool> made{false};
MPI_Comm of_self{};  // written once before `made`

thread_local int reported = MPI_SUCCESS;
// NOLINTNEXTLINE(readability-non-const-parameter): it has the type of an error handler of MPI
void take_report(MPI_Comm*, int* code, ...) { reported = *code; }

/// What the host says to a call on `of_self`. MPICH 5 returns success from a call that has failed if a handler
/// that is not its own has heard of it.
template <class Call>
int answer_to(Call call) {
  reported = MPI_SUCCESS;
  const int code = call();
  return code != MPI_SUCCESS ? code : reported;
}

/// Not a duplicate of MPI_COMM_SELF, which would call the program's copy callbacks.
bool make_communicator(MPI_Comm& comm) {
  if (!has_world() || !host.Comm_create_group) return false;
  MPI_Group self;
  MPI_Errhandler silent;
  if (host.Comm_group(host.constants.self, &self) != MPI_SUCCESS) return false;
  constexpr int tag = 17171;
  const bool done = host.Comm_create_group(host.constants.self, self, tag, &comm) == MPI_SUCCESS;
  host.Group_free(&self);
  // One of our own: not all hosts mean the same by MPI_ERRORS_RETURN.
  if (!done || host.Comm_create_errhandler(take_report, &silent) != MPI_SUCCESS) return false;
  host.Comm_set_errhandler(comm, silent);
  return host.Errhandler_free(&silent) == MPI_SUCCESS;
}

/// False: there is none to ask on.
bool can_ask() {
  // acquire: pairs with the release below, so that `of_self` is seen.
  if (made.load(std::memory_order_acquire)) [[likely]]
    return true;
  const std::lock_guard lock(mutex);
  if (made.load(std::memory_order_relaxed)) return true;
  if (!make_communicator(of_self)) return false;
  made.store(true, std::memory_order_release);
  return true;
}

/// The host's answer to the same buffer on both sides, in a call with itself.
int with_one_buffer(Collective collective, int count) {
  int data[2] = {0, 0}, place = 0;
  const MPI_Datatype type = host.constants.integer;
  const MPI_Op op = host.constants.sum;
  switch (collective) {
    case Collective::reduce:
      return host.Reduce(data, data, count, type, op, 0, of_self);
    case Collective::allreduce:
      return host.Allreduce(data, data, count, type, op, of_self);
    case Collective::reduce_scatter_block:
      return host.Reduce_scatter_block(data, data, count, type, op, of_self);
    case Collective::reduce_scatter:
      return host.Reduce_scatter(data, data, &count, type, op, of_self);
    case Collective::scan:
      return host.Scan(data, data, count, type, op, of_self);
    case Collective::exscan:
      return host.Exscan(data, data, count, type, op, of_self);
    case Collective::allgather:
      return host.Allgather(data, count, type, data, count, type, of_self);
    case Collective::allgatherv:
      return host.Allgatherv(data, count, type, data, &count, &place, type, of_self);
    case Collective::gather:
      return host.Gather(data, count, type, data, count, type, 0, of_self);
    case Collective::gatherv:
      return host.Gatherv(data, count, type, data, &count, &place, type, 0, of_self);
    case Collective::scatter:
      return host.Scatter(data, count, type, data, count, type, 0, of_self);
    case Collective::scatterv:
      return host.Scatterv(data, &count, &place, type, data, count, type, 0, of_self);
    case Collective::alltoall:
      return host.Alltoall(data, count, type, data, count, type, of_self);
    case Collective::alltoallv:
      return host.Alltoallv(data, &count, &place, type, data, &count, &place, type, of_self);
    case Collective::alltoallw:
      return host.Alltoallw(data, &count, &place, &type, data, &count, &place, &type, of_self);
    default:
      return MPI_SUCCESS;
  }
}

}  // namespace

/// A host that does not look at arguments may still fail in the midst of the call: that is another error.
bool is_about_arguments(int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) host.Error_class(code, &error_class);
  return error_class == MPI_ERR_BUFFER || error_class == MPI_ERR_ARG;
}

Answer ask_about_aliases(Collective collective) {
  if (!can_ask()) return Answer::accepts;
  const bool one = is_about_arguments(answer_to([&] { return with_one_buffer(collective, 1); }));
  const bool several = is_about_arguments(answer_to([&] { return with_one_buffer(collective, 2); }));
  const Answer answer = one ? Answer::rejects : several ? Answer::rejects_several : Answer::accepts;
  aliases[static_cast<std::size_t>(collective)].store(answer, std::memory_order_relaxed);
  return answer;
}

void close() {
  const std::lock_guard lock(mutex);
  if (made.exchange(false, std::memory_order_relaxed)) host.Comm_free(&of_self);
}

}  // namespace questions

namespace {

using questions::answer_to;
using questions::can_ask;
using questions::of_self;

/// Operands in all pairs: integers of the size of the type, whatever that makes of them.
class Operands {
 public:
  Operands(std::size_t size, reduce::Op op) : size_(size) {
    const std::vector<std::int64_t> numbers = numbers_for(op);
    pairs_ = numbers.size() * numbers.size();
    for (Buffer* buffer : {&left, &right}) {
      *buffer = allocate(bytes());
      std::memset(buffer->get(), 0, bytes());
    }
    for (std::size_t i = 0; i < pairs_; ++i) {
      put(left, i, numbers[i / numbers.size()]);
      put(right, i, numbers[i % numbers.size()]);
    }
  }
  std::size_t bytes() const { return pairs_ * size_; }
  int count() const { return static_cast<int>(pairs_); }

  Buffer left, right;

 private:
  /// Sums and products of signed numbers that fit a byte; hosts differ beyond (docs/operators.md).
  static std::vector<std::int64_t> numbers_for(reduce::Op op) {
    std::vector<std::int64_t> numbers = {0, 1, 2, 3, 5, 7, 11, -1, -2, -3, -5, -7, -11};
    if (op == reduce::Op::sum || op == reduce::Op::prod) return numbers;
    for (int bits = 7; bits < 64; bits += 8)
      for (std::uint64_t add : {~std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{1}})
        numbers.push_back(static_cast<std::int64_t>((std::uint64_t{1} << bits) + add));
    return numbers;
  }
  /// The first bytes are the low ones, as on all processors that Espalier runs on; the sign is in all above.
  void put(Buffer& buffer, std::size_t index, std::int64_t number) {
    std::byte* const place = buffer.get() + index * size_;
    std::memset(place, number < 0 ? 0xff : 0, size_);
    std::memcpy(place, &number, std::min(size_, sizeof number));
  }
  std::size_t size_, pairs_ = 0;
};

/// The kernel that gives what the host gave for these operands; nullptr: none does.
const reduce::Operation* kernel_like_host(reduce::Op op, std::size_t size, const Operands& operands,
                                          const void* result) {
  const Buffer ours = allocate(operands.bytes());
  const void* sources[2] = {operands.left.get(), operands.right.get()};
  for (std::size_t i = 0; i < reduce::type_count; ++i) {
    const auto type = static_cast<reduce::Type>(i);
    if (reduce::extent(type) != size || reduce::packed_size(type) != size) continue;
    const reduce::Operation* found = reduce::find(op, type);
    if (!found) continue;
    found->kernel(ours.get(), sources, 2, static_cast<std::size_t>(operands.count()));
    if (std::memcmp(ours.get(), result, operands.bytes()) == 0) return found;
  }
  return nullptr;
}

/// Only a call of the host's that reports to us alone shows whether it accepts the pair.
bool host_accepts(MPI_Datatype datatype, MPI_Op op, const Operands& operands) {
  const Buffer result = allocate(operands.bytes());
  const auto ask = [&] {
    return host.Allreduce(operands.left.get(), result.get(), 1, datatype, op, of_self);
  };
  return answer_to(ask) == MPI_SUCCESS;
}

Service learn(const PredefinedType& type, const PredefinedOp& op) {
  if (op.op == reduce::Op::none || !can_ask()) return Service::left_to_host;
  const auto datatype = typed<MPI_Datatype>(type.handle);
  const auto handle = typed<MPI_Op>(op.handle);
  // Pairs of value and index have padding, which no host may count on: zero here, and left alone.
  const Operands operands(type.extent, op.op);
  if (!host_accepts(datatype, handle, operands)) return Service::left_to_host;
  const Buffer result = allocate(operands.bytes());
  std::memcpy(result.get(), operands.right.get(), operands.bytes());
  if (host.Reduce_local(operands.left.get(), result.get(), operands.count(), datatype, handle) != MPI_SUCCESS)
    return Service::left_to_host;
  // MPICH 5 accepts every pair, and computes nothing where it has no function for it.
  if (std::memcmp(result.get(), operands.right.get(), operands.bytes()) == 0) return Service::left_to_host;
  const reduce::Operation* like = kernel_like_host(op.op, type.extent, operands, result.get());
  if (!like) return Service::by_host_function;
  // relaxed: what it points to is constant from the start.
  type.operations[static_cast<std::size_t>(op.op)].store(like, std::memory_order_relaxed);
  return Service::by_kernel;
}

}  // namespace

bool is_committed_for_bcast(MPI_Datatype datatype) {
  // A message to no rank: the host checks its arguments and sends nothing. A bcast with oneself moves nothing
  // either, and tells for sure, but takes longer.
  char data = 0;
  const auto send = [&] { return host.Send(&data, 1, datatype, MPI_PROC_NULL, 0, of_self); };
  const auto bcast = [&] { return host.Bcast(&data, 1, datatype, 0, of_self); };
  return !can_ask() || answer_to(send) == MPI_SUCCESS || answer_to(bcast) == MPI_SUCCESS;
}

Service service_of(const PredefinedType& type, const PredefinedOp& op) {
  std::atomic<Service>& known = type.services[static_cast<std::size_t>(op.op)];
  // relaxed: every thread that learns it learns the same.
  Service service = known.load(std::memory_order_relaxed);
  if (service == Service::unknown) {
    service = learn(type, op);
    known.store(service, std::memory_order_relaxed);
  }
  return service;
}

}  // namespace espalier::mpi
