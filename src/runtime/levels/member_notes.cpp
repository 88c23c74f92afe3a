#include "runtime/levels/member_notes.hpp"

#include <algorithm>
#include <array>

#include "base/format.hpp"

namespace espalier::runtime {
namespace {

// A note: [state][text]. The state is the number of the traversal that is finished, above two marks.
constexpr std::uint64_t left_bit = 1, failed_bit = 2;
constexpr int traversal_shift = 2;
constexpr std::size_t most_text = machine::LevelsLayout::note_bytes - sizeof(std::uint64_t);

}  // namespace

MemberNotes::MemberNotes(network::NodeWindow& window, int node, std::size_t segments,
                         const machine::GroupSegment& segment, int place)
    : window_(window),
      node_(node),
      first_(segments + machine::LevelsLayout::note_of(segment, 0)),
      place_(static_cast<std::size_t>(place)),
      members_(segment.group.members) {}

void MemberNotes::finish(std::uint64_t traversal) {
  finished_ = traversal;
  say();
}

// The text is there before the mark that says so: messages of one rank keep their order.
void MemberNotes::fail(std::string_view why) {
  if ((marks_ & failed_bit) != 0) return;
  window_.put(node_, at(place_) + sizeof(std::uint64_t), why.data(), std::min(why.size(), most_text));
  marks_ |= failed_bit;
  say();
}

void MemberNotes::leave() {
  marks_ |= left_bit;
  say();
}

void MemberNotes::say() { window_.store(node_, at(place_), finished_ << traversal_shift | marks_); }

// Adding nothing reads a word, wherever it is.
std::uint64_t MemberNotes::state_of(std::size_t place) { return window_.fetch_add(node_, at(place), 0); }

bool MemberNotes::all_finished(std::uint64_t traversal) {
  for (std::size_t place = 1; place < members_.size(); ++place)
    if (state_of(place) >> traversal_shift < traversal) return false;
  return true;
}

std::string MemberNotes::trouble(std::uint64_t traversal) {
  if (place_ > 0) return trouble_of(0, traversal);
  std::string why;
  for (std::size_t place = 1; place < members_.size() && why.empty(); ++place)
    why = trouble_of(place, traversal);
  return why;
}

std::string MemberNotes::trouble_of(std::size_t place, std::uint64_t traversal) {
  const std::uint64_t state = state_of(place);
  if (state >> traversal_shift >= traversal || (state & (left_bit | failed_bit)) == 0) return {};
  if ((state & failed_bit) == 0) return formatted("rank {} has freed its levels", members_[place]);
  std::array<char, most_text> text{};
  window_.get(node_, at(place) + sizeof(std::uint64_t), text.data(), text.size());
  window_.flush();
  return {text.data(), strnlen(text.data(), text.size())};
}

}  // namespace espalier::runtime
