// Reads of memory of other ranks, where it lies.
#pragma once

#include "machine/copy_requests.hpp"
#include "machine/slots.hpp"

namespace espalier::machine {

/// Models ReadsDirectly.
template <class Platform>
class DirectReads : public Slots<Platform> {
  using Base = Slots<Platform>;

 public:
  using Base::Base;
  using Base::rank;

  /// As ShareView's, which see.
  void add_slots(std::size_t slots_from) {
    Base::add_slots(slots_from);
    requests_.add_slots(slots_from);
  }

  bool can_expose(const void* source, std::size_t bytes, bool by_kernel) {
    if (!Platform::readable_remotely(source, bytes, by_kernel)) return false;
    requests_.allow(source, bytes, waiter_.fingerprint());
    return true;
  }

  void pull(int peer, void* target, const void* source, std::size_t bytes) {
    if (!Platform::read_remotely(process_of(peer), target, source, bytes))
      requests_.fetch(waiter_, peer, target, source, bytes);
  }
  bool try_pull(int peer, void* target, const void* source, std::size_t bytes) {
    return Platform::read_remotely(process_of(peer), target, source, bytes);
  }
  bool knows_refused_reads() const { return Platform::refuses_reads(); }
  /// Copies for ranks whose pull() is refused; to be called in every wait.
  void serve_pulls() { requests_.serve(waiter_); }
  const void* view(int peer, const void* source, std::size_t bytes) {
    return Platform::view_of(process_of(peer), source, bytes);
  }

 protected:
  using Base::layout_;
  using Base::process_of;
  using Base::share_;
  using Base::waiter_;

 private:
  CopyRequests<Platform> requests_{share_, layout_, rank()};
};

}  // namespace espalier::machine
