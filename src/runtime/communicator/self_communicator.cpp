#include "runtime/communicator/self_communicator.hpp"

#include "base/config.hpp"
#include "collective/pieces/piece_blocks.hpp"
#include "collective/schedule/moves.hpp"
#include "runtime/communicator/local_copy.hpp"

namespace espalier::runtime {
namespace {

void reduce_alone(const void* send, void* receive, std::size_t count, const reduce::Operation& operation) {
  if (count > 0 && send != Communicator::in_place) operation.kernel(receive, &send, 1, count);
}

/// A persistent collective: its start does all.
class LocalCall final : public SeparateCall {
 public:
  explicit LocalCall(const collective::PersistentSpec& spec) : keep_(spec.keep), fold_(spec.fold) {}

  bool active() const override { return active_; }
  void start() override {
    active_ = true;
    LocalCopies copies;
    collective::move_kept(copies, keep_);
    const bool has_result = fold_.target && fold_.ranks == 1;  // an exscan has none
    if (has_result) copy_alone(fold_.target, fold_.own, fold_.bytes);
  }
  bool is_ready() override { return true; }
  void complete() override { active_ = false; }

 private:
  collective::Schedule::Keep keep_;
  collective::Schedule::Fold fold_;
  bool active_ = false;
};

}  // namespace

bool SelfCommunicator::barrier() { return true; }

bool SelfCommunicator::bcast(void*, std::size_t, int) { return true; }

bool SelfCommunicator::reduce(const void* send, void* receive, std::size_t count,
                              const reduce::Operation& operation, int) {
  reduce_alone(send, receive, count, operation);
  return true;
}

bool SelfCommunicator::allreduce(const void* send, void* receive, std::size_t count,
                                 const reduce::Operation& operation) {
  reduce_alone(send, receive, count, operation);
  return true;
}

bool SelfCommunicator::reduce(const void* send, void* receive, std::size_t bytes, const UserOperation&, int) {
  copy_alone(receive, send, bytes);
  return true;
}

bool SelfCommunicator::allreduce(const void* send, void* receive, std::size_t bytes, const UserOperation&) {
  copy_alone(receive, send, bytes);
  return true;
}

bool SelfCommunicator::allgather(const void* send, void* receive, std::size_t bytes) {
  copy_alone(receive, send, bytes);
  return true;
}

bool SelfCommunicator::allgatherv(const void* send, void* receive, const Blocks& blocks) {
  copy_alone(at_offset(receive, blocks.offsets[0]), send, blocks.bytes[0]);
  return true;
}

bool SelfCommunicator::allgatherv_shared(const void* send, std::span<const std::size_t> bytes,
                                         SharedResult& shared_result) {
  kept_result_.resize(bytes[0]);
  copy_alone(kept_result_.data(), send, bytes[0]);
  shared_result = {kept_result_.data(), {0}};
  return true;
}

bool SelfCommunicator::gather(const void* send, void* receive, std::size_t bytes, int) {
  copy_alone(receive, send, bytes);
  return true;
}

bool SelfCommunicator::gatherv(const void* send, std::size_t bytes, void* receive, const Blocks& blocks,
                               int) {
  copy_alone(at_offset(receive, blocks.offsets[0]), send, bytes);
  return true;
}

bool SelfCommunicator::scatter(const void* send, void* receive, std::size_t bytes, int) {
  copy_alone(receive, send, bytes);
  return true;
}

bool SelfCommunicator::scatterv(const void* send, const Blocks& blocks, void* receive, std::size_t bytes,
                                int) {
  if (receive != in_place) copy_alone(receive, at_offset(send, blocks.offsets[0]), bytes);
  return true;
}

bool SelfCommunicator::alltoall(const void* send, void* receive, std::size_t bytes) {
  copy_alone(receive, send, bytes);
  return true;
}

bool SelfCommunicator::alltoallv(const void* send, const Blocks& out, void* receive, const Blocks& in) {
  if (send != in_place)
    copy_alone(at_offset(receive, in.offsets[0]), at_offset(send, out.offsets[0]), out.bytes[0]);
  return true;
}

bool SelfCommunicator::exchange_pieces(Collective, const collective::PieceBlocks& out,
                                       const collective::PieceBlocks& in) {
  LocalCopies copies;
  collective::copy_own(copies, in.block(0), out.block(0), {0, in.bytes_of(0)});
  return true;
}

bool SelfCommunicator::reduce_scatter_block(const void* send, void* receive, std::size_t count,
                                            const reduce::Operation& operation) {
  reduce_alone(send, receive, count, operation);
  return true;
}

bool SelfCommunicator::reduce_scatter(const void* send, void* receive, std::span<const std::size_t> counts,
                                      const reduce::Operation& operation) {
  reduce_alone(send, receive, counts[0], operation);
  return true;
}

bool SelfCommunicator::scan(const void* send, void* receive, std::size_t count,
                            const reduce::Operation& operation) {
  reduce_alone(send, receive, count, operation);
  return true;
}

bool SelfCommunicator::exscan(const void*, void*, std::size_t, const reduce::Operation&) { return true; }

bool SelfCommunicator::reduce_scatter_block(const void* send, void* receive, std::size_t bytes,
                                            const UserOperation&) {
  copy_alone(receive, send, bytes);
  return true;
}

bool SelfCommunicator::reduce_scatter(const void* send, void* receive, std::span<const std::size_t> bytes,
                                      const UserOperation&) {
  copy_alone(receive, send, bytes[0]);
  return true;
}

bool SelfCommunicator::scan(const void* send, void* receive, std::size_t bytes, const UserOperation&) {
  copy_alone(receive, send, bytes);
  return true;
}

bool SelfCommunicator::exscan(const void*, void*, std::size_t, const UserOperation&) { return true; }

// A schedule would have no other rank; prepare_across() serves these.
std::unique_ptr<Persistent> SelfCommunicator::prepare(const Bootstrap&, collective::PersistentSpec&,
                                                      const std::string&, std::string&) {
  return nullptr;
}

std::unique_ptr<SeparateCall> SelfCommunicator::prepare_across(const collective::PersistentSpec& spec,
                                                               const reduce::Operation*,
                                                               const std::string& unable, std::string&) {
  const bool is_served = unable.empty() && Config::instance().flag("ESPALIER_PERSISTENT");
  return is_served ? std::make_unique<LocalCall>(spec) : nullptr;
}

}  // namespace espalier::runtime
