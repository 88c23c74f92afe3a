#include "topology/cpu_set.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/error.hpp"
#include "base/format.hpp"

namespace espalier::topology {

namespace {

constexpr int bits = 64;

std::uint64_t bit_of(int cpu) { return std::uint64_t{1} << (cpu % bits); }

// Reads "8" and "0-3" one after the other out of a CPU list, and knows where it is for the sake of its
// errors.
class ListReader {
 public:
  explicit ListReader(std::string_view text) : text_(text) { skip_blanks(); }

  bool at_end() const { return at_ == text_.size(); }

  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  int number() {
    int value = 0;
    const char* begin = text_.data() + at_;
    auto [end, failure] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (failure != std::errc() || value < 0 || value > CpuSet::max_cpu || end == begin || *begin == '-')
      fail();
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  void skip_blanks() {
    while (!at_end() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }

  [[noreturn]] void fail() const {
    throw Error(formatted(
        "CPU list \"{}\": cannot read column {}; write numbers up to {} and ranges, as in \"0-3,8\"", text_,
        at_ + 1, CpuSet::max_cpu));
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

CpuSet::CpuSet(std::initializer_list<int> cpus) {
  for (int cpu : cpus) set(cpu);
}

CpuSet CpuSet::range(int first, int last) {
  CpuSet result;
  for (int cpu = first; cpu <= last; ++cpu) result.set(cpu);
  return result;
}

CpuSet CpuSet::parse(std::string_view text) {
  CpuSet result;
  ListReader reader(text);
  if (reader.at_end()) return result;
  do {
    int first = reader.number();
    int last = reader.take('-') ? reader.number() : first;
    if (last < first) reader.fail();
    result |= range(first, last);
  } while (reader.take(','));
  reader.skip_blanks();
  if (!reader.at_end()) reader.fail();
  return result;
}

std::string CpuSet::to_string() const {
  std::string text;
  for (int first = this->first(); first >= 0;) {
    int last = first;
    while (test(last + 1)) ++last;
    if (!text.empty()) text += ',';
    text += first == last ? formatted("{}", first) : formatted("{}-{}", first, last);
    first = next(last);
  }
  return text;
}

void CpuSet::set(int cpu) {
  if (cpu < 0 || cpu > max_cpu) throw Error(formatted("CPU number {} is not between 0 and {}", cpu, max_cpu));
  auto word = static_cast<std::size_t>(cpu / bits);
  if (word >= words_.size()) words_.resize(word + 1);
  words_[word] |= bit_of(cpu);
}

bool CpuSet::test(int cpu) const {
  if (cpu < 0) return false;
  auto word = static_cast<std::size_t>(cpu / bits);
  return word < words_.size() && (words_[word] & bit_of(cpu)) != 0;
}

int CpuSet::count() const {
  int total = 0;
  for (std::uint64_t word : words_) total += std::popcount(word);
  return total;
}

int CpuSet::next(int after) const {
  int from = std::max(after + 1, 0);
  for (auto i = static_cast<std::size_t>(from / bits); i < words_.size(); ++i) {
    std::uint64_t word = words_[i];
    if (i == static_cast<std::size_t>(from / bits)) word &= ~std::uint64_t{0} << (from % bits);
    if (word != 0) return static_cast<int>(i) * bits + std::countr_zero(word);
  }
  return -1;
}

bool CpuSet::intersects(const CpuSet& other) const {
  for (std::size_t i = 0; i < std::min(words_.size(), other.words_.size()); ++i) {
    if (words_[i] & other.words_[i]) return true;
  }
  return false;
}

bool CpuSet::contains(const CpuSet& other) const {
  if (other.words_.size() > words_.size()) return false;
  for (std::size_t i = 0; i < other.words_.size(); ++i) {
    if (other.words_[i] & ~words_[i]) return false;
  }
  return true;
}

CpuSet& CpuSet::operator|=(const CpuSet& other) {
  if (other.words_.size() > words_.size()) words_.resize(other.words_.size());
  for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
  return *this;
}

CpuSet& CpuSet::operator&=(const CpuSet& other) {
  words_.resize(std::min(words_.size(), other.words_.size()));
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  trim();
  return *this;
}

CpuSet& CpuSet::operator-=(const CpuSet& other) {
  for (std::size_t i = 0; i < std::min(words_.size(), other.words_.size()); ++i)
    words_[i] &= ~other.words_[i];
  trim();
  return *this;
}

void CpuSet::trim() {
  while (!words_.empty() && words_.back() == 0) words_.pop_back();
}

CpuSet current_affinity(std::size_t first_guess_bytes) {
  constexpr std::size_t widest = (CpuSet::max_cpu + 1) / 8;
  for (std::size_t bytes = std::max<std::size_t>(first_guess_bytes, 1); bytes <= widest; bytes *= 2) {
    // Whole longs, whatever the size told to the kernel: CPU_ISSET_S reads longs.
    std::vector<unsigned long> buffer(bytes / sizeof(unsigned long) + 1);
    auto* mask = reinterpret_cast<cpu_set_t*>(buffer.data());
    if (sched_getaffinity(0, bytes, mask) == 0) {
      CpuSet result;
      for (std::size_t cpu = 0; cpu < bytes * 8; ++cpu) {
        if (CPU_ISSET_S(cpu, bytes, mask)) result.set(static_cast<int>(cpu));
      }
      return result;
    }
    if (errno != EINVAL) break;
  }
  throw Error(formatted("the kernel does not tell this process' CPU affinity (sched_getaffinity: {})",
                        std::strerror(errno)));
}

bool set_current_affinity(const CpuSet& cpus) {
  if (cpus.empty()) return false;
  std::vector<unsigned long> buffer;
  for (int cpu = cpus.first(); cpu >= 0; cpu = cpus.next(cpu)) {
    constexpr std::size_t bits = 8 * sizeof(unsigned long);
    const auto at = static_cast<std::size_t>(cpu);
    buffer.resize(at / bits + 1);
    buffer[at / bits] |= 1UL << (at % bits);
  }
  return sched_setaffinity(0, buffer.size() * sizeof(unsigned long),
                           reinterpret_cast<const cpu_set_t*>(buffer.data())) == 0;
}

}  // namespace espalier::topology
