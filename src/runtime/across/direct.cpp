// Calls in which each rank sends each reader what that one wants of it, and takes or folds for itself what has come.
// All that it gives it sends in its start.
#include <algorithm>
#include <limits>

#include "collective/schedule/length_check.hpp"
#include "collective/schedule/moves.hpp"
#include "runtime/across/stream_end.hpp"
#include "runtime/communicator/local_copy.hpp"

namespace espalier::runtime::across {
namespace {

using collective::Part;
using collective::PersistentSpec;
using Place = PersistentSpec::Place;

/// What ranks fold by a kernel comes in one piece; other blocks may have any length, which not all ranks know.
std::size_t longest_piece(const PersistentSpec& spec) {
  const bool by_kernel = spec.operation != reduce::no_operation && spec.operation != reduce::user_operation;
  return by_kernel ? std::numeric_limits<std::size_t>::max() : std::size_t{1} << 20;
}

/// Calls body(number, part) for each piece of a block. The last one is shorter than the others, and may be empty: so a
/// rank that wants more, or less, knows it.
template <class Body>
void by_pieces(const PersistentSpec& spec, std::size_t bytes, Body body) {
  const std::size_t longest = longest_piece(spec);
  std::size_t done = 0, some = 0;
  int number = 0;
  do {
    some = std::min(bytes - done, longest);
    body(number++, Part{done, some});
    done += some;
  } while (some == longest);
}

/// `part` of all that this rank gives.
void copy_part_of_given(std::byte* target, const PersistentSpec& spec, const Part& part) {
  if (part.bytes == 0) return;
  const auto give = std::find_if(spec.gives.begin(), spec.gives.end(), [&](const collective::Give& each) {
    return each.offset <= part.offset && part.offset + part.bytes <= each.offset + each.bytes;
  });
  LocalCopies copies;
  collective::copy_given(copies, target, *give, Part{part.offset - give->offset, part.bytes});
}

/// Whether the result overwrites what this rank folds of its own, so that it needs a copy.
bool keeps_own(const PersistentSpec& spec, int rank) {
  return spec.fold.ranks > 0 && !spec.fold.own && rank >= spec.fold.first &&
         rank < spec.fold.first + spec.fold.ranks;
}

}  // namespace

/// In turns from the next higher rank on. Neighbours in that order that get the same share a letter.
void StreamEnd::send_direct(const Call& call) {
  const PersistentSpec& spec = *call.direct;
  const bool is_barrier = spec.collective == Collective::barrier;
  std::vector<int> readers;
  Place place_of_readers;
  for (int i = 1; i <= placement().ranks(); ++i) {
    const int reader = (rank_ + i) % placement().ranks();
    if (reader == rank_ && !keeps_own(spec, rank_)) continue;
    const Place place = spec.places.empty() ? Place{} : spec.places[static_cast<std::size_t>(reader)];
    if (place.bytes == 0 && !is_barrier) continue;
    const bool is_same = place.offset == place_of_readers.offset && place.bytes == place_of_readers.bytes;
    if (!readers.empty() && !is_same) {
      send_block(call, readers);
      readers.clear();
    }
    place_of_readers = place;
    readers.push_back(reader);
  }
  if (!readers.empty()) send_block(call, readers);
  LocalCopies copies;
  collective::move_kept(copies, spec.keep);
}

/// To readers that get the same.
void StreamEnd::send_block(const Call& call, const std::vector<int>& readers) {
  const PersistentSpec& spec = *call.direct;
  const Place place = spec.places.empty() ? Place{} : spec.places[static_cast<std::size_t>(readers.front())];
  by_pieces(spec, place.bytes, [&](int number, const Part& part) {
    const auto letter = letter_of(call, local_rank_, part.bytes, number);
    copy_part_of_given(letter->data() + sizeof(Head), spec, Part{place.offset + part.offset, part.bytes});
    for (const int reader : readers) {
      if (reader == rank_)
        mail_->of_call(stream_, call.number).insert_or_assign(from_rank(rank_, number), *letter);
      else
        mail_->send(reader, letter);
    }
  });
}

bool StreamEnd::has_sources(Call& call) {
  const std::vector<int>& sources = call.direct->sources;
  const Arrived& arrived = mail_->of_call(stream_, call.number);
  while (call.heard < sources.size() && has_block(call, arrived, sources[call.heard])) ++call.heard;
  return call.heard == sources.size();
}

/// Calls body(letter, offset) for each piece of the block of `source` for this rank, up to one with which it is too long.
/// False: not all of them have come.
template <class Body>
bool StreamEnd::by_arrived(const Call& call, const Arrived& arrived, int source, Body body) const {
  const std::size_t longest = longest_piece(*call.direct), wanted = call.direct->arrives_from(source);
  std::size_t offset = 0;
  for (int number = 0; offset <= wanted; ++number) {
    const auto found = arrived.find(from_rank(source, number));
    if (found == arrived.end()) return false;
    const Letter& letter = found->second;
    body(letter, offset);
    if (data_bytes(letter) < longest) return true;
    offset += data_bytes(letter);
  }
  return true;
}

bool StreamEnd::has_block(const Call& call, const Arrived& arrived, int source) const {
  return by_arrived(call, arrived, source, [](const Letter&, std::size_t) {});
}

void StreamEnd::take_direct(Call& call) {
  const PersistentSpec& spec = *call.direct;
  const Arrived& arrived = mail_->of_call(stream_, call.number);
  LocalCopies copies;
  for (const collective::Take& wanted : spec.wants)
    by_arrived(call, arrived, wanted.peer, [&](const Letter& letter, std::size_t offset) {
      const Part part{offset, data_bytes(letter)};
      if (const std::size_t sent = part.offset + part.bytes; sent > wanted.bytes)
        collective::refuse_excess(rank_, wanted.bytes, wanted.peer, sent, part.bytes < longest_piece(spec));
      if (part.bytes > 0) collective::store_taken(copies, wanted, part, data_of(letter));
    });
  if (spec.collective == Collective::barrier)
    for (const int source : spec.sources) find(call, arrived, from_rank(source), 0);
  if (spec.fold.ranks > 0 && spec.fold.bytes > 0) fold_direct(call, arrived);
}

/// In the order of the ranks, as on one node.
void StreamEnd::fold_direct(const Call& call, const Arrived& arrived) const {
  const collective::Schedule::Fold& fold = call.direct->fold;
  std::vector<const void*> vectors;
  for (int rank = fold.first; rank < fold.first + fold.ranks; ++rank)
    vectors.push_back(rank == rank_ && fold.own ? fold.own
                                                : find(call, arrived, from_rank(rank), fold.bytes));
  fold.operation->kernel(fold.target, vectors.data(), fold.ranks, fold.bytes / fold.operation->extent);
}

}  // namespace espalier::runtime::across
