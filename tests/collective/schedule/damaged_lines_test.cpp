// What another rank says of a nonblocking collective may be anything: this rank takes what lies within the
// memory that they share, or throws; it writes nowhere but where its result goes.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>

#include "collective/schedule/calls_under_way.hpp"
#include "memory/read_refusals.hpp"
#include "tests/collective/doubles.hpp"
#include "tests/collective/ranks.hpp"
#include "tests/collective/under_way.hpp"

namespace espalier::collective {
namespace {

using testing::bytes_of;
using testing::RankMemory;
using testing::RankMemoryOf;
using testing::Ranks;
using testing::WatchedMachine;
using Calls = CallsUnderWay<WatchedMachine, RankMemoryOf>;

constexpr std::size_t memory_bytes = 64 * 1024, guard = 4096;
constexpr std::byte untouched{0x5a};

/// The bytes of a result, and those around it.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes) : bytes_(bytes), all_(bytes + 2 * guard, untouched) {}
  std::byte* data() { return all_.data() + guard; }
  bool is_whole() const {
    const auto is_untouched = [](std::byte each) { return each == untouched; };
    return std::all_of(all_.begin(), all_.begin() + guard, is_untouched) &&
           std::all_of(all_.begin() + static_cast<std::ptrdiff_t>(guard + bytes_), all_.end(), is_untouched);
  }

 private:
  std::size_t bytes_;
  std::vector<std::byte> all_;
};

/// Rank 0, whose others say what the test says.
class Hearer {
 public:
  Hearer(int ranks, const PersistentSpec& spec) : ranks_(ranks, 4) {
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(4096, memory_bytes)));
    std::fill_n(memory_.get(), memory_bytes, std::byte{});
    const testing::CallMemoryLayout layout(Calls::Pages::bytes(ranks));
    own_.emplace(layout.rest(memory_.get(), memory_bytes, taken_), 32 * 1024);
    const CallArea area{memory_.get(), memory_bytes};
    calls_.emplace(ranks_.machine(0),
                   CallMemory<RankMemoryOf>{
                       area, area.base + layout.pages, {&*own_}, memory_bytes, usual_log2_chunk, true});
    call_.spec = spec;
    EXPECT_TRUE(calls_->start(call_));
  }

  void say(int rank, const Notice& notice) {
    WatchedMachine& other = ranks_.machine(rank);
    std::byte* const line = call_.lines.of(rank);
    other.begin_call(call_.fingerprint);
    other.copy(other.payload_at(line), &notice, sizeof notice);
    other.signal_at(line, call_.number);
  }
  /// A table of places behind the notice in a line.
  void write_line(int rank, std::mt19937_64& random) {
    WatchedMachine& other = ranks_.machine(rank);
    write_places(other.payload_at(call_.lines.of(rank)) + sizeof(Notice), 33, 16, random);
  }
  /// A step, and a table of places, where a notice may say that a buffer is.
  void write_buffer(std::size_t at, std::mt19937_64& random) {
    if (at + sizeof(memory::FlagLine) + BufferParts::table > memory_bytes) return;
    WatchedMachine& other = ranks_.machine(1);
    other.signal_at(memory_.get() + at, random() % 2 ? 1 : random());
    write_places(memory_.get() + at + BufferParts::table, 1600, 800, random);
  }

  /// False: what was said cannot be.
  bool hears() {
    try {
      for (int i = 0; i < 3; ++i) calls_->advance(call_);
      return true;
    } catch (const Error&) {
      return false;
    }
  }
  bool is_done() const { return call_.done; }

 private:
  /// Of three blocks, of `bytes`, which begin before `end`, or anywhere.
  static void write_places(std::byte* at, std::size_t end, std::size_t bytes, std::mt19937_64& random) {
    for (int i = 0; i < 3; ++i, at += sizeof(PersistentSpec::Place)) {
      const PersistentSpec::Place possible{random() % end, bytes}, wild{random(), random()};
      std::memcpy(at, random() % 4 ? &possible : &wild, sizeof possible);
    }
  }
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  Ranks ranks_;
  std::unique_ptr<std::byte, Free> memory_;
  testing::TakenBlocks taken_;
  std::optional<RankMemory> own_;
  std::optional<Calls> calls_;
  CallUnderWay call_;
};

Notice some_notice(std::mt19937_64& random, std::size_t wanted, std::size_t& buffer) {
  const auto below = [&](std::uint64_t n) { return random() % n; };
  Notice notice;
  switch (below(5)) {
    case 0:
      buffer = 0;
      break;
    case 1:
      buffer = random();
      break;
    case 2:
      buffer = memory_bytes - below(64) * 128;
      break;
    default:
      buffer = below(memory_bytes / 128) * 128;
  }
  notice.buffer = buffer;
  notice.bytes = below(3) ? wanted : below(2) ? below(1 << 17) : random();
  notice.log2_chunk = below(3) ? 0 : below(64);
  notice.behind = below(4) ? 0 : below(1024);
  return notice;
}

/// A rank that is said to have a buffer in its own memory, where none is, has not refused other tests to read there.
class OwnRefusals {
 public:
  OwnRefusals() { memory::read_refusals::share(&word_); }
  ~OwnRefusals() { memory::read_refusals::share(nullptr); }
  OwnRefusals(const OwnRefusals&) = delete;
  OwnRefusals& operator=(const OwnRefusals&) = delete;

 private:
  std::atomic<std::uint32_t> word_{0};
};

struct Outcomes {
  int refused = 0, done = 0;
};

/// `spec_for(result)`: of a call in which ranks 1 and up give `wanted` bytes and more.
template <class SpecFor>
Outcomes try_many(int ranks, std::size_t result_bytes, std::size_t wanted, SpecFor spec_for) {
  std::mt19937_64 random(ranks + result_bytes);
  Outcomes outcomes;
  for (int i = 0; i < 1200; ++i) {
    const OwnRefusals refusals;
    Guarded result(result_bytes);
    Hearer hearer(ranks, spec_for(result.data()));
    for (int rank = 1; rank < ranks; ++rank) {
      std::size_t buffer = 0;
      const Notice notice = some_notice(random, wanted, buffer);
      if (buffer != 0 && buffer < memory_bytes) hearer.write_buffer(buffer, random);
      hearer.write_line(rank, random);
      hearer.say(rank, notice);
    }
    outcomes.refused += !hearer.hears();
    outcomes.done += hearer.is_done();
    EXPECT_TRUE(result.is_whole()) << i;
  }
  return outcomes;
}

void expect_both(const Outcomes& outcomes) {
  EXPECT_GT(outcomes.refused, 50);
  EXPECT_GT(outcomes.done, 10) << "what is possible is taken";
}

TEST(DamagedLines, OfABcast) {
  for (const std::size_t bytes : {8, 3000})
    expect_both(try_many(2, bytes, bytes, [&](std::byte* result) {
      const std::vector<Block> none(2), in = {{}, {result, bytes}};
      return transfer_spec({0, 2}, Collective::bcast, 1, bytes, none, in);
    }));
}

TEST(DamagedLines, OfAnAlltoallWithATableOfPlaces) {
  constexpr std::size_t ranks = 3;
  for (const std::size_t bytes : {16, 800}) {  // in lines, in buffers
    const std::vector<std::byte> send(ranks * bytes);
    expect_both(try_many(ranks, ranks * bytes, ranks * bytes, [&](std::byte* result) {
      std::vector<Block> out, in;
      for (std::size_t i = 0; i < ranks; ++i) {
        out.push_back({const_cast<std::byte*>(send.data()) + i * bytes, bytes});
        in.push_back({result + i * bytes, bytes});
      }
      return transfer_spec({0, ranks}, Collective::alltoallv, 0, ranks * bytes, out, in);
    }));
  }
}

TEST(DamagedLines, OfReductions) {
  for (const std::size_t bytes : {16, 1600, 8000})
    for (const int ranks : {2, 3})
      for (const Collective collective : {Collective::reduce, Collective::allreduce}) {
        const std::vector<std::byte> send(bytes);
        const Outcomes outcomes = try_many(ranks, bytes, bytes, [&](std::byte* result) {
          return reduction_spec({0, ranks}, collective, 0, send.data(), result, bytes,
                                testing::sum_of_doubles());
        });
        EXPECT_GT(outcomes.refused, 50);
      }
}

// The word of the next page of lines.
TEST(DamagedLines, OfPages) {
  std::mt19937_64 random(1);
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    Ranks ranks(2, 4);
    std::vector<memory::FlagLine> memory(memory_bytes / sizeof(memory::FlagLine));
    const CallArea area{reinterpret_cast<std::byte*>(memory.data()), memory_bytes};
    const std::size_t page = Calls::Pages::bytes(2);
    testing::TakenBlocks taken;
    RankMemory own({area.base + 128 + 2 * page, memory_bytes - 128 - 2 * page, taken}, 32 * 1024);
    LinePages<RankMemoryOf> pages(area, area.base + 128, 2, {&own});
    const std::uint64_t word = random() & ((std::uint64_t{1} << (i % 2 ? 40 : 10)) - 1);
    static_cast<void>(ranks.machine(1).agree_at(area.base + 128, 2, word));
    try {
      pages.open(ranks.machine(0), 16);
    } catch (const Error&) {
      ++refused;
      continue;
    }
    if (word == 0) continue;
    std::byte* const line = pages.lines(16).of(1);
    EXPECT_TRUE(line >= area.base && line + sizeof(memory::FlagLine) <= area.base + memory_bytes) << word;
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace espalier::collective
