#include "mpi/host/type_map.hpp"

#include "mpi/host/handles.hpp"
#include "mpi/host/host.hpp"
#include "mpi/host/type_contents.hpp"

namespace espalier::mpi {
namespace {

using Result = std::optional<Run>;

/// A datatype seen as an element of a larger one.
struct Element {
  Run run;
  MPI_Count extent = 0;
};

std::optional<Element> element(MPI_Datatype type) {
  const Result run = single_run(type);
  MPI_Count lower = 0, extent = 0;
  if (!run || host.Type_get_extent(type, &lower, &extent) != MPI_SUCCESS) return std::nullopt;
  return Element{*run, extent};
}

/// `count` elements, one extent apart.
Result repeat(const Element& element, MPI_Count count) {
  if (count == 0 || element.run.empty()) return Run{};
  if (count > 1 && element.extent != element.run.bytes()) return std::nullopt;
  return Run{element.run.begin, element.run.begin + count * element.run.bytes()};
}

/// Appends a block that starts `displacement` bytes from the beginning; false if a gap, an overlap or a step
/// back appears.
bool append(Run& run, const Result& block, MPI_Count displacement) {
  if (!block) return false;
  if (block->empty()) return true;
  const Run moved{block->begin + displacement, block->end + displacement};
  if (!run.empty() && run.end != moved.begin) return false;
  run = run.empty() ? moved : Run{run.begin, moved.end};
  return true;
}

/// `count` blocks of `length` elements, `stride` bytes apart.
Result vector(const Element& inner, int count, int length, MPI_Count stride) {
  const Result block = repeat(inner, length);
  if (!block || block->empty() || count == 0) return block ? Result(Run{}) : block;
  if (count > 1 && stride != block->bytes()) return std::nullopt;
  return Run{block->begin, block->begin + count * block->bytes()};
}

/// Blocks with their own lengths and places: `length(i)` elements, `place(i)` bytes from the beginning.
template <class Length, class Place>
Result blocks(const Element& inner, int count, Length length, Place place) {
  Run run;
  for (int i = 0; i < count; ++i)
    if (!append(run, repeat(inner, length(i)), place(i))) return std::nullopt;
  return run;
}

Result structure(const Contents& contents) {
  Run run;
  for (int i = 0; i < contents.integers[0]; ++i) {
    const auto inner = element(contents.types[static_cast<std::size_t>(i)]);
    const auto index = static_cast<std::size_t>(i);
    if (!inner || !append(run, repeat(*inner, contents.integers[index + 1]), contents.addresses[index]))
      return std::nullopt;
  }
  return run;
}

/// The type map of a subarray ascends through memory in either storage order, so it is one run if its data
/// fills its span.
Result subarray(MPI_Datatype type, const Element& inner) {
  MPI_Count size = 0, lower = 0, span = 0;
  if (inner.extent != inner.run.bytes() || host.Type_size(type, &size) != MPI_SUCCESS ||
      host.Type_get_true_extent(type, &lower, &span) != MPI_SUCCESS || size != span)
    return std::nullopt;
  return Run{lower, lower + span};
}

Result with_inner(MPI_Datatype type, const Contents& contents, const Element& inner) {
  const auto& integers = contents.integers;
  const auto& addresses = contents.addresses;
  const int first = integers[0];
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  switch (contents.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return inner.run;
    case MPI_COMBINER_CONTIGUOUS:
      return repeat(inner, first);
    case MPI_COMBINER_VECTOR:
      return vector(inner, first, integers[1], integers[2] * inner.extent);
    case MPI_COMBINER_HVECTOR:
      return vector(inner, first, integers[1], addresses[0]);
    case MPI_COMBINER_INDEXED:
      return blocks(
          inner, first, [&](int i) { return integers[at(i + 1)]; },
          [&](int i) { return integers[at(first + i + 1)] * inner.extent; });
    case MPI_COMBINER_HINDEXED:
      return blocks(
          inner, first, [&](int i) { return integers[at(i + 1)]; }, [&](int i) { return addresses[at(i)]; });
    case MPI_COMBINER_INDEXED_BLOCK:
      return blocks(
          inner, first, [&](int) { return integers[1]; },
          [&](int i) { return integers[at(i + 2)] * inner.extent; });
    case MPI_COMBINER_HINDEXED_BLOCK:
      return blocks(inner, first, [&](int) { return integers[1]; }, [&](int i) { return addresses[at(i)]; });
    case MPI_COMBINER_SUBARRAY:
      return subarray(type, inner);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Run> single_run(MPI_Datatype type) {
  if (const PredefinedType* known = predefined_type(type)) {
    if (known->dense) return Run{0, static_cast<MPI_Count>(known->size)};
    return std::nullopt;
  }
  const Contents contents(type);
  if (contents.types.empty()) return std::nullopt;
  if (contents.combiner == MPI_COMBINER_STRUCT) return structure(contents);
  const auto inner = element(contents.types[0]);
  return inner ? with_inner(type, contents, *inner) : std::nullopt;
}

int combiner_of(MPI_Datatype type) { return Envelope(type).combiner; }

}  // namespace espalier::mpi
