#include "simulation/levels/simulated_levels.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "simulation/engine/call.hpp"
#include "simulation/engine/sink.hpp"
#include "simulation/levels/ending_operations.hpp"

namespace espalier::simulation {
namespace {

constexpr std::size_t line_bytes = 64;

/// The segments' memory, which all ranks share. Each line has a flag of the engine's, whose value counts the
/// operations on the line's words.
struct Lines {
  struct Line {
    std::uint64_t operations = 0;
    int writer = -1;  ///< whose put was the last; -1: no rank's
  };

  explicit Lines(std::size_t bytes)
      : words((bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t)),
        lines((bytes + line_bytes - 1) / line_bytes) {}

  std::byte* at(std::size_t offset) { return reinterpret_cast<std::byte*>(words.data()) + offset; }
  std::uint64_t& word(std::size_t offset) { return words[offset / sizeof(std::uint64_t)]; }
  Line& line(std::size_t offset) { return lines[offset / line_bytes]; }

  std::vector<std::uint64_t> words;
  std::vector<Line> lines;
};

class SimulatedOperations final : public machine::GroupOperations {
 public:
  SimulatedOperations(Lines& all, const machine::GroupSegment& segment, int rank)
      : GroupOperations(segment.bytes), all_(all), begin_(segment.offset), rank_(rank) {}

  void put(std::size_t offset, const void* source, std::size_t bytes) override {
    check_range(offset, bytes);
    if (bytes == 0) return;
    Sink::current().act({Act::copy, 0, rank_, bytes});
    std::memcpy(all_.at(begin_ + offset), source, bytes);
    for (std::size_t at = offset; at < offset + bytes; at = next_line(at))
      all_.line(begin_ + at).writer = rank_;
  }
  // Piece by piece, as far as one rank has put it.
  void get(std::size_t offset, void* target, std::size_t bytes) override {
    check_range(offset, bytes);
    const std::size_t end = offset + bytes;
    for (std::size_t at = offset; at < end;) {
      const int writer = all_.line(begin_ + at).writer;
      std::size_t to = at;
      while (to < end && all_.line(begin_ + to).writer == writer) to = next_line(to);
      to = std::min(to, end);
      Sink::current().act({Act::copy, 0, writer < 0 ? rank_ : writer, to - at});
      at = to;
    }
    if (bytes > 0) std::memcpy(target, all_.at(begin_ + offset), bytes);
  }
  void store(std::size_t offset, std::uint64_t value) override {
    change(offset, [&](std::uint64_t) { return value; });
  }
  std::uint64_t load(std::size_t offset) override {
    check_word(offset);
    Sink::current().act({Act::await, 0, flag(offset), 0});
    return all_.word(begin_ + offset);
  }
  std::uint64_t fetch_add(std::size_t offset, std::uint64_t value) override {
    return change(offset, [&](std::uint64_t before) { return before + value; });
  }
  std::uint64_t compare_swap(std::size_t offset, std::uint64_t expected, std::uint64_t desired) override {
    return change(offset, [&](std::uint64_t before) { return before == expected ? desired : before; });
  }
  // Whatever changes on the line is a reason to look again.
  void wait_until(std::size_t offset, machine::Until until, std::uint64_t value) override {
    while (!machine::is_reached(until, load(offset), value))
      Sink::current().act({Act::await, 0, flag(offset), all_.line(begin_ + offset).operations + 1});
  }
  void* segment() override { return nullptr; }  // what is done there would cost nothing

 private:
  std::size_t next_line(std::size_t at) const {
    return ((begin_ + at) / line_bytes + 1) * line_bytes - begin_;
  }
  std::int32_t flag(std::size_t offset) const {
    return static_cast<std::int32_t>((begin_ + offset) / line_bytes);
  }

  // The engine orders it: the rank has the line when add() returns, and no other rank runs before its word is
  // changed.
  template <class Change>
  std::uint64_t change(std::size_t offset, Change change) {
    check_word(offset);
    all_.line(begin_ + offset).operations = Sink::current().add(flag(offset), 1) + 1;
    std::uint64_t& word = all_.word(begin_ + offset);
    const std::uint64_t before = word;
    word = change(before);
    return before;
  }

  Lines& all_;
  std::size_t begin_;
  int rank_;
};

class SimulatedLevels final : public machine::Levels {
 public:
  SimulatedLevels(const machine::LevelsLayout& levels_layout, Lines& all, int own_rank)
      : Levels(levels_layout, own_rank) {
    take_own([&](const machine::GroupSegment& segment, int) {
      return std::make_unique<EndingOperations>(
          std::make_unique<SimulatedOperations>(all, segment, own_rank));
    });
  }
};

// Of the ranks' shares, which the engine counts its flags by: a flag for each line.
machine::Layout share_with(const Shape& shape, std::size_t lines) {
  machine::Layout layout = layout_for(Call{}, shape);
  while (layout.bytes() / sizeof(memory::FlagLine) < lines) layout.slot_bytes *= 2;
  return layout;
}

}  // namespace

Times run_levels(const Model& model, const Shape& shape, const machine::LevelsLayout& layout,
                 std::uint64_t seed, const LevelsBody& body) {
  if (shape.nodes != 1) throw Error("simulation has levels on one node only");
  Lines all(layout.bytes());
  return run_live(model, shape, share_with(shape, all.lines.size()), seed, [&](SimulatedMachine&, int rank) {
    body(std::make_unique<SimulatedLevels>(layout, all, rank));
  });
}

}  // namespace espalier::simulation
