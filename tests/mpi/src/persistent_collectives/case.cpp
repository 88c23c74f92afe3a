#include "case.hpp"

#include <algorithm>

namespace persistent {
namespace {

constexpr long untouched = -1, nothing_sent = -2;

// The last block first and a gap before each, where that may be; and places counted from the buffer's end, so
// that they are negative.
void arrange(Side& side, bool apart, bool negative) {
  const int blocks = static_cast<int>(side.lengths.size());
  side.places.resize(side.lengths.size());
  int at = 0;
  for (int k = 0; k < blocks; ++k) {
    const auto block = static_cast<std::size_t>(apart ? blocks - 1 - k : k);
    at += apart;
    side.places[block] = at;
    at += side.lengths[block];
  }
  side.data.resize(static_cast<std::size_t>(at) + 1);
  const int base = negative ? at : 0;
  side.base = side.data.data() + base;
  for (int& place : side.places) place -= base;
  side.wide_lengths.assign(side.lengths.begin(), side.lengths.end());
  side.wide_places.assign(side.places.begin(), side.places.end());
}

}  // namespace

Case::Case(const Plan& plan) : plan_(plan), place_(plan.comm) {
  lay_out();
  prepare();
}

Case::~Case() {
  MPI_Request_free(&request);
  expect(request == MPI_REQUEST_NULL, [&] { return words(-1) + ": it is freed, but not null"; });
}

std::string Case::words(int round) const {
  return std::string(traits[plan_.kind].name) + (plan_.large ? "_c" : "") + " of " +
         std::to_string(plan_.length) + " with root " + std::to_string(plan_.root) +
         (plan_.in_place ? " in place" : "") + ", round " + std::to_string(round) + ", rank " +
         std::to_string(place_.rank) + " of " + std::to_string(place_.size);
}

bool Case::gathers() const {
  return plan_.kind == gather || plan_.kind == gatherv || plan_.kind == allgather || plan_.kind == allgatherv;
}

// Where there is a root, MPI_IN_PLACE is its alone.
bool Case::in_place() const { return plan_.in_place && (!traits[plan_.kind].rooted || at_root()); }

bool Case::has_result() const {
  if (scatters()) return !in_place();
  if (plan_.kind == exscan) return place_.rank > 0;
  return !traits[plan_.kind].rooted || plan_.kind == bcast || at_root();
}

// Symmetric, as MPI_Alltoallv in place wants it.
int Case::length(int one, int other) const {
  return traits[plan_.kind].unequal ? plan_.length * ((one + other + 1) % 3) : plan_.length;
}

void Case::lay_out() {
  const Traits& kind = traits[plan_.kind];
  const int me = plan_.kind == alltoallv ? place_.rank : 0;
  const auto lengths_of = [&](int blocks, bool my_share) {
    std::vector<int> lengths;
    for (int block = 0; block < (blocks == each ? place_.size : blocks); ++block)
      lengths.push_back(blocks == each ? length(block, me)
                        : my_share     ? length(place_.rank, 0)
                                       : plan_.length);
    return lengths;
  };
  send_.lengths = lengths_of(kind.sends, gathers());
  receive_.lengths = lengths_of(kind.receives, scatters() || combines_blocks());
  const bool apart = kind.unequal && !combines_blocks();
  arrange(send_, apart && kind.sends == each, false);
  arrange(receive_, apart && kind.receives == each, apart && kind.receives == each);
  if (!combines_blocks()) return;
  receive_.data.resize(send_.data.size());  // in place the vector of all blocks lies there
  receive_.base = receive_.data.data();
}

void Case::fill(int round) {
  std::fill(send_.data.begin(), send_.data.end(), nothing_sent);
  std::fill(receive_.data.begin(), receive_.data.end(), untouched);
  if (plan_.kind == bcast && at_root())
    for (int i = 0; i < plan_.length; ++i) receive_.base[i] = told(plan_.root, 0, i, round);
  const bool sends = !scatters() || at_root(), into_receive = in_place() && !scatters();
  for (std::size_t block = 0; block < send_.lengths.size() && sends; ++block) {
    long* to = send_.base + send_.places[block];
    if (into_receive && gathers())
      to = receive_.base + receive_.places[static_cast<std::size_t>(place_.rank)];
    else if (into_receive)
      to = combines_blocks() ? receive_.base + send_.places[block] : receive_.base + receive_.places[block];
    for (int i = 0; i < send_.lengths[block]; ++i)
      to[i] = told(place_.rank, static_cast<int>(block), i, round);
  }
}

long Case::sum(int ranks, int target, int i, int round) const {
  long total = 0;
  for (int source = 0; source < ranks; ++source) total += told(source, target, i, round);
  return total;
}

// Element i of a block of the receive buffer.
long Case::right(int block, int i, int round) const {
  switch (plan_.kind) {
    case bcast:
      return told(plan_.root, 0, i, round);
    case reduce:
    case allreduce:
      return sum(place_.size, 0, i, round);
    case scatter:
    case scatterv:
      return told(plan_.root, place_.rank, i, round);
    case alltoall:
    case alltoallv:
      return told(block, place_.rank, i, round);
    case reduce_scatter_block:
    case reduce_scatter:
      return sum(place_.size, place_.rank, i, round);
    case scan:
      return sum(place_.rank + 1, 0, i, round);
    case exscan:
      return sum(place_.rank, 0, i, round);
    default:
      return told(block, 0, i, round);
  }
}

void Case::check(int round) {
  const std::vector<long> sent = send_.data, got = receive_.data;
  fill(round);  // as it was before the start: nothing but the blocks may have changed
  for (std::size_t block = 0; block < receive_.lengths.size() && has_result(); ++block)
    for (int i = 0; i < receive_.lengths[block]; ++i)
      receive_.base[receive_.places[block] + i] = right(static_cast<int>(block), i, round);
  // In place, what lies behind the result is undefined.
  const std::size_t defined =
      combines_blocks() && in_place() ? static_cast<std::size_t>(receive_.lengths[0]) : got.size();
  const bool undefined = plan_.kind == exscan && place_.rank == 0;
  expect(
      undefined || std::equal(got.begin(), got.begin() + static_cast<long>(defined), receive_.data.begin()),
      [&] { return words(round) + ": the receive buffer"; });
  expect(sent == send_.data, [&] { return words(round) + ": the send buffer has changed"; });
}

}  // namespace persistent
