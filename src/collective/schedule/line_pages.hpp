// The flag lines of the calls that are under way on a communicator, as many as there are.
//
// A page has the lines of all ranks for some calls, one after another. The first rank that starts a call of
// the next page says where that is, and the others follow: the oldest page if no rank needs it any more, else
// new memory, so that a start finds a line however many calls are under way. So all ranks know all pages, in
// one order. Where there is no memory for a page, all of them hear that no more calls can be started.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "collective/schedule/call_area.hpp"
#include "machine/concept.hpp"
#include "memory/flag_line.hpp"

namespace espalier::collective {

/// Where the ranks' lines of one call are.
struct CallLines {
  std::byte* first = nullptr;  ///< rank 0's
  std::size_t stride = 0;      ///< to the next rank's
  std::byte* of(int rank) const { return first + static_cast<std::size_t>(rank) * stride; }
};

/// A page: [where the next one is][what the ranks agree on, call by call][rank 0's lines][rank 1's]...
///
/// `Memory` as in GivenBuffers.
template <class Memory, int calls = 16>
class LinePages {
 public:
  using Step = memory::Step;
  static constexpr std::size_t calls_in_page = calls;

  /// Of a page.
  static std::size_t bytes(int ranks) {
    return (1 + calls_in_page * (1 + static_cast<std::size_t>(ranks))) * line;
  }

  /// `first`: of two pages side by side, whose lines are clear, and which stay when the others go. Places
  /// count from the area's base.
  LinePages(const CallArea& area, std::byte* first, int ranks, Memory memory)
      : area_(area), first_(first), ranks_(ranks), memory_(memory) {
    pages_ = {{0, first + bytes(ranks)}, {1, first}};
  }

  /// Call `number` has a page from now on, if it comes after those that had one; local. False, on all ranks
  /// alike: there is no memory for it.
  template <machine::Machine M>
  bool open(M& m, Step number) {
    return page_of(number) <= pages_.back().number || follow(choose(m));
  }

  CallLines lines(Step number) const {
    return {place(number) + (1 + calls_in_page + in_page(number)) * line, calls_in_page * line};
  }
  /// Whether the call's lines are there still; if not, all ranks have finished it, or none has started it.
  bool has(Step number) const {
    return page_of(number) >= pages_.front().number && page_of(number) <= pages_.back().number;
  }
  static Step last_in_page(Step number) { return number | (calls_in_page - 1); }
  /// Where the ranks agree on something, as in agree_at().
  std::byte* agreement(Step number) const { return place(number) + (1 + in_page(number)) * line; }

  /// No rank uses any page any more, and this one has seen all that the others did: calls body(page) for
  /// those that were allocated. Throws Error where the pages are damaged.
  template <machine::Machine M, class Body>
  void for_each_allocated(M& m, Body body) {
    for (auto said = m.agreed_at(pages_.back().place, turn()); said && follow(*said);)
      said = m.agreed_at(pages_.back().place, turn());
    for (const Page& page : pages_)
      if (!is_one_of_the_first(page.place)) body(page.place);
  }

 private:
  static constexpr std::size_t line = sizeof(memory::FlagLine);
  struct Page {
    Step number;  ///< it has the calls from (number - 1) * calls_in_page on
    std::byte* place;
  };

  /// What the ranks say of the next page: where it is, in lines from the base, and whether the oldest one goes
  /// back. None is at the base.
  static constexpr std::uint64_t refused = 0, drops_oldest = std::uint64_t{1} << 39;
  std::uint64_t word(const std::byte* place) const {
    return static_cast<std::uint64_t>(place - area_.base) / line;
  }
  std::byte* said_place(std::uint64_t word) const {
    return area_.at((word & ~drops_oldest) * line, bytes(ranks_));
  }

  static Step page_of(Step number) { return number / calls_in_page + 1; }
  static std::size_t in_page(Step number) { return static_cast<std::size_t>(number) % calls_in_page; }
  std::byte* place(Step number) const {
    return pages_[static_cast<std::size_t>(page_of(number) - pages_.front().number)].place;
  }
  Step turn() const { return pages_.back().number + 1; }
  bool is_one_of_the_first(const std::byte* place) const {
    return place == first_ || place == first_ + bytes(ranks_);
  }

  /// All ranks have finished the first call of the page after it: so they have found that one, and read
  /// nothing of this one any more.
  template <machine::Machine M>
  bool is_unused(M& m, const Page& page) const {
    if (page.number == 0) return true;
    const Step first_of_next = page.number * calls_in_page;
    for (int rank = 0; rank < ranks_; ++rank)
      if (!m.finished(rank, first_of_next)) return false;
    return true;
  }

  /// What all ranks are told of the next page.
  template <machine::Machine M>
  std::uint64_t choose(M& m) {
    std::byte* const where = pages_.back().place;
    if (const auto said = m.agreed_at(where, turn())) return *said;
    if (is_unused(m, pages_.front())) return choose_old(m, where);
    std::byte* const made = memory_.allocate(bytes(ranks_));
    if (!made) return m.agree_at(where, turn(), refused).value;
    for (std::size_t at = 0; at < bytes(ranks_); at += line) m.clear_line(made + at);
    const machine::Agreed said = m.agree_at(where, turn(), word(made));
    if (!said.by_this_rank) memory_.free(made, bytes(ranks_));
    return said.value;
  }

  /// The oldest page; the next one if both are unused: then the oldest goes back.
  template <machine::Machine M>
  std::uint64_t choose_old(M& m, std::byte* where) {
    std::byte* const oldest = pages_.front().place;
    const bool drops = pages_.size() > 2 && !is_one_of_the_first(oldest) && is_unused(m, pages_[1]);
    const std::uint64_t mine = drops ? word(pages_[1].place) | drops_oldest : word(oldest);
    const machine::Agreed said = m.agree_at(where, turn(), mine);
    if (drops && said.by_this_rank) memory_.free(oldest, bytes(ranks_));
    return said.value;
  }

  bool follow(std::uint64_t said) {
    if (said == refused) return false;
    const Step number = turn();
    std::byte* const next = said_place(said);
    if (said & drops_oldest) {
      if (pages_.size() <= 2) [[unlikely]]  // no rank drops one of the last two
        refuse_damaged();
      pages_.pop_front();
    }
    if (next == pages_.front().place) pages_.pop_front();
    pages_.push_back({number, next});
    return true;
  }

  CallArea area_;
  std::byte* first_;
  int ranks_;
  Memory memory_;
  std::deque<Page> pages_;  // the oldest one first
};

}  // namespace espalier::collective
