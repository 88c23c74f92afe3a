#include "memory/layout/runs.hpp"

namespace espalier::memory {
namespace {

std::ptrdiff_t signed_of(std::size_t number) { return static_cast<std::ptrdiff_t>(number); }

/// Runs that touch are one.
Comb simplified(Comb comb) {
  if (comb.count > 1 && comb.stride == signed_of(comb.bytes))
    comb = {comb.offset, comb.bytes * comb.count, 1, 0};
  if (comb.count == 1) comb.stride = 0;
  return comb;
}

}  // namespace

/// Whether the last comb takes this one in.
bool Runs::join(const Comb& comb) {
  if (combs_.empty()) return false;
  Comb& last = combs_.back();
  if (last.count == 1 && comb.count == 1 && comb.offset == last.end_of_last()) {
    last.bytes += comb.bytes;
    return true;
  }
  if (last.bytes != comb.bytes) return false;
  const std::ptrdiff_t step = comb.offset - (last.offset + signed_of(last.count - 1) * last.stride);
  if ((last.count > 1 && step != last.stride) || (comb.count > 1 && step != comb.stride)) return false;
  last.stride = step;
  last.count += comb.count;
  return true;
}

void Runs::add(Comb comb) {
  if (comb.total() == 0) return;
  comb = simplified(comb);
  if (!join(comb)) {
    combs_.push_back(comb);
    begins_.push_back(size_);
  }
  size_ += comb.total();
}

bool Runs::add(const Runs& inner, std::size_t count, std::ptrdiff_t stride, std::ptrdiff_t offset) {
  if (inner.size_ == 0 || count == 0) return true;
  if (inner.is_one_run()) {
    const Comb& run = inner.combs_[0];
    add({run.offset + offset, run.bytes, count, stride});
    return combs_.size() <= most_combs;
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (Comb comb : inner.combs_) {
      comb.offset += offset + signed_of(i) * stride;
      add(comb);
    }
    if (combs_.size() > most_combs) return false;
  }
  return true;
}

}  // namespace espalier::memory
