// Reduction kernels beside a plain copy. Bytes per second count what is read and what is written, so a kernel
// that is limited by memory alone shows the figure of the copy at the same footprint; "of_copy" is the ratio.
#include <vector>

#include "measure.hpp"
#include "reduce/isa.hpp"
#include "reduce/names.hpp"

namespace espalier::bench {

namespace {

using namespace espalier::reduce;

void add_kernel(Isa isa, Op op, Type type, int sources, std::size_t bytes, bool in_place = false) {
  const Operation* const operation = detail::find(isa, op, type);
  if (!operation) return;
  static const char* const names[] = {"baseline", "avx2", "avx512"};
  const std::string name = std::string(to_string(op)) + "/" + std::string(to_string(type)) + "/" +
                           names[static_cast<int>(isa)] + "/" + std::to_string(sources) +
                           (in_place ? "_in_place" : "");
  add(name, bytes, bytes * static_cast<std::size_t>(sources + 1), [=] {
    const void* inputs[most_buffers];
    for (int k = 0; k < sources; ++k) inputs[k] = buffer(k, bytes);
    void* const target = buffer(in_place ? 0 : sources, bytes);
    operation->kernel(target, inputs, sources, bytes / operation->extent);
  });
}

// One element: what a call costs before any byte is moved.
void add_single(Op op, Type type, int sources) {
  const std::string name = "single/" + std::string(to_string(op)) + "/" + std::string(to_string(type)) + "/" +
                           std::to_string(sources);
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    std::vector<const void*> inputs;
    for (int k = 0; k < sources; ++k) inputs.push_back(buffer(k, 64));
    for (auto _ : state) {
      find(op, type)->kernel(buffer(sources, 64), inputs.data(), sources, 1);
      benchmark::ClobberMemory();
    }
  })->MinTime(0.05);
}

// What programs reduce most, by the number of sources, in cache and out of it.
void add_common(Isa best) {
  for (const Type type : {Type::float16, Type::bfloat16, Type::float32, Type::float64, Type::int32})
    for (const Op op : {Op::sum, Op::min, Op::max})
      for (const std::size_t bytes : {in_cache, out_of_cache}) {
        add_kernel(best, op, type, 2, bytes, true);
        for (const int sources : {2, 4, 8}) add_kernel(best, op, type, sources, bytes);
      }
  for (const std::size_t bytes : {512 * KiB, beyond_l2})
    for (const int sources : {2, 4, 8}) add_kernel(best, Op::sum, Type::float64, sources, bytes);
}

void add_instruction_sets() {
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512})
    for (const Type type : {Type::int8, Type::float16, Type::bfloat16, Type::float32, Type::float64,
                            Type::complex64, Type::double_int})
      for (const std::size_t bytes : {in_cache, beyond_l2})
        for (const Op op : {Op::sum, Op::prod, Op::maxloc}) {
          const bool slow = bytes == beyond_l2 && type == Type::float16 && isa == Isa::baseline;
          if (!slow) add_kernel(isa, op, type, 2, bytes);
        }
}

}  // namespace

void add_reductions() {
  add_common(detail::best_isa());
  add_instruction_sets();
  for (const int sources : {1, 2, 4, 8}) add_single(Op::sum, Type::float64, sources);
}

}  // namespace espalier::bench
