// What all kinds of communicators have in common.
#include "runtime/communicator/communicator.hpp"

#include <utility>

#include "plan/nonblocking_rules.hpp"
#include "runtime/communicator/nonblocking.hpp"
#include "runtime/communicator/persistent_meeting.hpp"
#include "runtime/communicator/separate_call.hpp"
#include "runtime/communicator/wanted.hpp"
#include "runtime/flight/recorder.hpp"
#include "runtime/statistics/counters.hpp"
#include "runtime/statistics/sites.hpp"
#include "runtime/statistics/statistics.hpp"

namespace espalier::runtime {
namespace {

const char in_place_mark = 0;

}  // namespace

const void* const Communicator::in_place = &in_place_mark;

Communicator::Communicator(int rank, int size, std::string refusal)
    : rank_(rank), size_(size), refusal_(std::move(refusal)) {}

Communicator::~Communicator() = default;

std::unique_ptr<PersistentMeeting> Communicator::begin_to_prepare(collective::PersistentSpec&) {
  return nullptr;
}

KeptNonblocking Communicator::nonblocking(const collective::PersistentSpec&, std::string& why) {
  if (plan::nonblocking_is_off()) return nullptr;
  why = active() ? "nonblocking collectives over nodes are the host's" : refusal_;
  return nullptr;
}

void Communicator::note_nonblocking(Collective) {}

std::unique_ptr<SeparateCall> Communicator::begin_across(across::Wanted, std::string&) { return nullptr; }

std::unique_ptr<SeparateCall> Communicator::prepare_across(const collective::PersistentSpec&,
                                                           const reduce::Operation*, const std::string&,
                                                           std::string&) {
  return nullptr;
}

std::string Communicator::why_host(Collective) const { return active() ? "its rule says host" : refusal_; }

bool Communicator::refuse_own_block(const machine::CallFacts&, std::size_t, std::size_t) { return false; }

bool Communicator::limit_waits(int) { return false; }
bool Communicator::sleep_in_waits(bool) { return false; }
bool Communicator::set_label(std::uint16_t) { return false; }
bool Communicator::name_labels(std::vector<std::string>) { return false; }

void Communicator::count_host(Collective collective, std::size_t bytes, const std::string& why) {
  flight::note_host_call(++calls_of_host_, bytes);
  if (!statistics::enabled()) return;
  if (!host_calls_) host_calls_ = std::make_unique<statistics::Counters>(size_);
  if (statistics::Row* row =
          host_calls_->row({collective, bytes, plan::Algorithm::host, statistics::Carrier::host, &why}))
    statistics::count_untimed(*row);
}

}  // namespace espalier::runtime
