// Rank 0 of a meeting.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "capi/meeting/frames.hpp"
#include "capi/meeting/meeting.hpp"

namespace espalier::capi {

class MeetingHost : public Meeting {
 public:
  MeetingHost(const std::string& name, int size, int timeout_ms);
  void allgather(const void* mine, void* all, std::size_t bytes) override;

 private:
  /// A process of this user that has not said yet who it is.
  struct Guest {
    Descriptor connection;
    Greeting greeting{};
    std::size_t come = 0;  // bytes of it
  };
  /// What has come of a rank's frame.
  struct Incoming {
    FrameHead head{};
    std::size_t come = 0;
  };
  void wait_for_all();
  void accept_all();
  void hear_guests();
  void receive_guest(Guest guest);
  bool hear(Guest& guest);
  void seat(Guest& guest);
  void gather(std::byte* table, std::size_t bytes);
  bool receive(int rank, Incoming& incoming, std::byte* place, std::size_t bytes);
  void send_to(int rank, const void* data, std::size_t bytes);
  template <class IsMissing>
  std::string names_of(IsMissing is_missing) const;
  ssize_t receive_some(const Descriptor& connection, void* place, std::size_t bytes);
  /// Tells all ranks, also those that come in the next moment, and throws.
  [[noreturn]] void fail(int code, const std::string& text);
  [[noreturn]] void fail_call(const char* call);
  [[noreturn]] void fail_as_gone(int rank);

  Descriptor listener_;                  // until all have come
  std::vector<Descriptor> connections_;  // by rank; 0 has none
  std::vector<Guest> guests_;
};

}  // namespace espalier::capi
