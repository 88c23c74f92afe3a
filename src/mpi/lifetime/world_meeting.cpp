#include "mpi/lifetime/world_meeting.hpp"

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "machine/host_platform.hpp"
#include "mpi/host/callback.hpp"
#include "mpi/lifetime/communicators.hpp"

namespace espalier::mpi::communicators {
namespace {

using machine::HostPlatform;

constexpr std::int64_t first_question_ns = 100'000'000, time_between_questions_ns = 10'000'000;

/// An allgather of the host's that is under way, and its memory, of which the host may make use for as long as it likes:
/// the other ranks never come to one that was in vain.
struct Exchange {
  Exchange(const void* from, const void* to, std::size_t bytes, std::size_t ranks)
      : mine(bytes), all(bytes * ranks) {
    std::memcpy(mine.data(), from, bytes);
    std::memcpy(all.data(), to, all.size());  // what shows whether anything came
  }
  std::vector<std::byte> mine, all;
  MPI_Request request{};
};

int start(Exchange& exchange) {
  const auto count = static_cast<int>(exchange.mine.size());
  const MPI_Datatype byte = host.constants.byte;
  return call_program([&] {
    return host.Iallgather(exchange.mine.data(), count, byte, exchange.all.data(), count, byte,
                           host.constants.world, &exchange.request);
  });
}

/// False: it was in vain.
bool wait(Exchange& exchange, const std::function<bool()>& has_begun, int& code) {
  MPI_Status status;
  std::int64_t next_question = HostPlatform::now_ns() + first_question_ns;
  for (int done = 0;;) {
    code = call_program([&] { return host.Test(&exchange.request, &done, &status); });
    if (done || code != MPI_SUCCESS) return true;
    HostPlatform::yield();
    const std::int64_t now = HostPlatform::now_ns();
    if (now < next_question) continue;
    if (has_begun()) return false;
    next_question = now + time_between_questions_ns;
  }
}

}  // namespace

runtime::Bootstrap meeting_of_world(std::function<bool()> has_begun) {
  const MPI_Comm world = host.constants.world;
  if (!host.Iallgather) return bootstrap(world);
  int ranks = 0;
  host.Comm_size(world, &ranks);
  return bootstrap(world, [has_begun = std::move(has_begun), ranks](const void* mine, void* all, int bytes) {
    auto exchange = std::make_unique<Exchange>(mine, all, static_cast<std::size_t>(bytes),
                                               static_cast<std::size_t>(ranks));
    int code = start(*exchange);
    if (code == MPI_SUCCESS && !wait(*exchange, has_begun, code)) {
      static_cast<void>(exchange.release());
      throw BegunWithoutMeeting{};
    }
    std::memcpy(all, exchange->all.data(), exchange->all.size());
    return code;
  });
}

}  // namespace espalier::mpi::communicators
