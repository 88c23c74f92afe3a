#include "mpi/datatype/type_runs.hpp"

#include "mpi/host/handles.hpp"
#include "mpi/host/host.hpp"
#include "mpi/host/type_contents.hpp"

namespace espalier::mpi {
namespace {

using memory::Runs;
using Result = std::optional<Runs>;

std::size_t index(std::ptrdiff_t i) { return static_cast<std::size_t>(i); }

/// A datatype without gaps, of the size that the host says.
Result dense(MPI_Datatype type) {
  MPI_Count size = 0, lower = 0, span = 0;
  if (host.Type_size(type, &size) != MPI_SUCCESS ||
      host.Type_get_true_extent(type, &lower, &span) != MPI_SUCCESS || size != span || lower != 0)
    return std::nullopt;
  Runs runs;
  runs.add({0, static_cast<std::size_t>(size)});
  return runs;
}

/// `count` blocks: each is `length(i)` elements, `place(i)` bytes from the beginning.
template <class Length, class Place>
Result blocks(const Runs& inner, int count, Length length, Place place) {
  Runs runs;
  for (int i = 0; i < count; ++i)
    if (!runs.add(inner, index(length(i)), inner.extent(), place(i))) return std::nullopt;
  return runs;
}

/// `count` blocks of `length` elements, `stride` bytes apart: as rows, of which equal ones become a comb.
Result vector(const Runs& inner, int count, int length, std::ptrdiff_t stride) {
  Runs row, runs;
  if (!row.add(inner, index(length), inner.extent(), 0) || !runs.add(row, index(count), stride, 0))
    return std::nullopt;
  return runs;
}

/// The dimension that runs fastest first; each one repeats what the former ones are.
Result subarray(const Contents& contents, const Runs& inner) {
  const auto& numbers = contents.integers;
  const int dimensions = numbers[0];
  const bool fortran = numbers[index(3 * dimensions + 1)] == MPI_ORDER_FORTRAN;
  Runs runs = inner;
  std::ptrdiff_t stride = inner.extent();
  for (int i = 0; i < dimensions; ++i) {
    const int dimension = fortran ? i : dimensions - 1 - i;
    const auto number = [&](int group) { return numbers[index(1 + group * dimensions + dimension)]; };
    Runs next;
    if (!next.add(runs, index(number(1)), stride, number(2) * stride)) return std::nullopt;
    stride *= number(0);
    runs = std::move(next);
  }
  return runs;
}

Result structure(const Contents& contents) {
  Runs runs;
  for (int i = 0; i < contents.integers[0]; ++i) {
    const int count = contents.integers[index(i + 1)];
    if (count == 0) continue;
    const Result inner = runs_of(contents.types[index(i)]);
    if (!inner || !runs.add(*inner, index(count), inner->extent(), contents.addresses[index(i)]))
      return std::nullopt;
  }
  return runs;
}

Result with_inner(const Contents& contents, const Runs& inner) {
  const auto& numbers = contents.integers;
  const auto& addresses = contents.addresses;
  const int count = numbers[0];
  const auto address = [&](int i) { return addresses[index(i)]; };
  const auto behind = [&](int first) {
    return [&, first](int i) { return static_cast<std::ptrdiff_t>(numbers[index(first + i)]); };
  };
  const auto elements = [&](auto place) { return [&, place](int i) { return place(i) * inner.extent(); }; };
  const auto equal = [&](int) { return numbers[1]; };
  switch (contents.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return inner;
    case MPI_COMBINER_CONTIGUOUS:
      return vector(inner, 1, count, 0);
    case MPI_COMBINER_VECTOR:
      return vector(inner, count, numbers[1], numbers[2] * inner.extent());
    case MPI_COMBINER_HVECTOR:
      return vector(inner, count, numbers[1], address(0));
    case MPI_COMBINER_INDEXED:
      return blocks(inner, count, behind(1), elements(behind(1 + count)));
    case MPI_COMBINER_HINDEXED:
      return blocks(inner, count, behind(1), address);
    case MPI_COMBINER_INDEXED_BLOCK:
      return blocks(inner, count, equal, elements(behind(2)));
    case MPI_COMBINER_HINDEXED_BLOCK:
      return blocks(inner, count, equal, address);
    case MPI_COMBINER_SUBARRAY:
      return subarray(contents, inner);
    default:
      return std::nullopt;
  }
}

Result without_extent(MPI_Datatype type) {
  if (const PredefinedType* known = predefined_type(type)) return known->dense ? dense(type) : std::nullopt;
  const Contents contents(type);
  if (contents.predefined) return dense(type);
  if (contents.types.empty()) return std::nullopt;
  if (contents.combiner == MPI_COMBINER_STRUCT) return structure(contents);
  const Result inner = runs_of(contents.types[0]);
  return inner ? with_inner(contents, *inner) : std::nullopt;
}

}  // namespace

Result runs_of(MPI_Datatype type) {
  MPI_Count size = 0, lower = 0, extent = 0;
  if (host.Type_size(type, &size) != MPI_SUCCESS ||
      host.Type_get_extent(type, &lower, &extent) != MPI_SUCCESS)
    return std::nullopt;
  Result runs = without_extent(type);
  // A constructor that was read in another way than the host means it: the host packs.
  if (!runs || static_cast<MPI_Count>(runs->size()) != size) return std::nullopt;
  runs->set_extent(extent);
  return runs;
}

}  // namespace espalier::mpi
