#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::topology {

// A set of logical CPU numbers as the operating system counts them. A plain value of any width; as every
// value type here it may be read by many threads at once and written by one.
class CpuSet {
 public:
  // The largest CPU number a set can hold: beyond what Linux can be built for, small enough that a mistyped
  // list does not eat the memory.
  static constexpr int max_cpu = (1 << 20) - 1;

  CpuSet() = default;
  CpuSet(std::initializer_list<int> cpus);

  // The CPUs first..last, both included.
  static CpuSet range(int first, int last);

  // Reads the kernel's list form, "0-3,8"; blanks around it are allowed and an empty text is the empty set.
  // Throws Error naming the place that cannot be read.
  static CpuSet parse(std::string_view text);

  // The kernel's list form: ranges in rising order, "" when empty.
  std::string to_string() const;

  void set(int cpu);  // throws Error unless 0 <= cpu <= max_cpu
  bool test(int cpu) const;
  int count() const;
  bool empty() const { return words_.empty(); }
  int first() const { return next(-1); }  // -1 when empty
  int next(int after) const;              // the lowest CPU above `after`, -1 when there is none

  bool intersects(const CpuSet& other) const;
  bool contains(const CpuSet& other) const;  // every CPU of `other` is here; so the empty set is in every set

  CpuSet& operator|=(const CpuSet& other);
  CpuSet& operator&=(const CpuSet& other);
  CpuSet& operator-=(const CpuSet& other);
  friend CpuSet operator|(CpuSet a, const CpuSet& b) { return a |= b; }
  friend CpuSet operator&(CpuSet a, const CpuSet& b) { return a &= b; }
  friend CpuSet operator-(CpuSet a, const CpuSet& b) { return a -= b; }
  friend bool operator==(const CpuSet&, const CpuSet&) = default;

 private:
  void trim();

  std::vector<std::uint64_t> words_;  // without zero words at the end, so that equal sets have equal words
};

// The CPUs that the calling thread may run on, on machines of any width: the kernel refuses a buffer narrower
// than its own masks, so the buffer doubles from `first_guess_bytes` until it is accepted. Throws Error when
// the kernel will not say.
CpuSet current_affinity(std::size_t first_guess_bytes = 128);

// The calling thread runs on these CPUs alone from now on, or on those of them that it may use. False: it may use none.
bool set_current_affinity(const CpuSet& cpus);

}  // namespace espalier::topology
