// Looks at datatypes, and packs and unpacks their data through the host.
#include "mpi/datatype/datatype.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

#include "mpi/host/host.hpp"
#include "mpi/host/type_map.hpp"

namespace espalier::mpi {
namespace {

void check(int code, const char* call) {
  if (code != MPI_SUCCESS)
    throw Error(std::string("the host's ") + call + " failed with code " + std::to_string(code) +
                " while packing a datatype");
}

/// How many elements one host call with int counts may pack.
std::size_t elements_per_call(const Layout& layout) {
  if (layout.size > INT_MAX)
    throw Error(
        "one element of a datatype with gaps holds " + std::to_string(layout.size) +
        " bytes, and this host MPI packs at most 2147483647 at a time; use a datatype with smaller elements");
  return static_cast<std::size_t>(INT_MAX) / layout.size;
}

/// Calls `move(first element, elements)` for pieces that fit an int.
template <class Move>
void in_pieces(const Layout& layout, Move move) {
  const std::size_t most = elements_per_call(layout);
  for (std::size_t first = 0; first < layout.count; first += most)
    move(first, std::min(most, layout.count - first));
}

bool find_extents(Layout& layout) {
  MPI_Count size = 0;
  if (host.Type_size(layout.type, &size) != MPI_SUCCESS || size < 0) return false;
  if (host.Type_get_extent(layout.type, &layout.lower, &layout.extent) != MPI_SUCCESS) return false;
  if (host.Type_get_true_extent(layout.type, &layout.true_lower, &layout.true_extent) != MPI_SUCCESS)
    return false;
  layout.size = static_cast<std::size_t>(size);
  return true;
}

/// The cheap tests first: decoding the type map costs many calls.
bool is_packed(const Layout& layout) {
  if (static_cast<MPI_Count>(layout.size) != layout.true_extent) return false;
  if (layout.count > 1 && layout.extent != layout.true_extent) return false;
  const std::optional<Run> run = single_run(layout.type);
  return run && run->begin == layout.true_lower && run->end - run->begin == layout.true_extent;
}

std::byte* element(const Layout& layout, const void* data, std::size_t index) {
  return static_cast<std::byte*>(const_cast<void*>(data)) + static_cast<MPI_Count>(index) * layout.extent;
}

/// Calls `move(address, elements, type)` for elements at an address. MPICH 4 packs nothing from a null
/// address, MPICH 5 unpacks nothing to it: data at MPI_BOTTOM are counted from where they begin.
template <class Move>
int move_from(const Layout& layout, void* data, int elements, Move move) {
  if (data) [[likely]]
    return move(data, elements, layout.type);
  const MPI_Aint displacement = static_cast<MPI_Aint>(-layout.true_lower);
  MPI_Datatype shifted{};
  if (const int code = host.Type_create_hindexed(1, &elements, &displacement, layout.type, &shifted))
    return code;
  int code = host.Type_commit(&shifted);
  if (code == MPI_SUCCESS) code = move(reinterpret_cast<void*>(layout.true_lower), 1, shifted);
  host.Type_free(&shifted);
  return code;
}

/// Bytes [begin, end) from an element's address.
struct Span {
  MPI_Count begin, end;
  MPI_Count bytes() const { return end - begin; }
};

/// What a user's operator may touch of one element: data and bounds. Where data lie at absolute addresses the
/// bounds may be far from them, and then are no memory that the operator can touch.
Span reach_of_element(const Layout& layout) {
  const Span data{layout.true_lower, layout.true_lower + layout.true_extent};
  const MPI_Count upper = layout.lower + layout.extent;  // below the lower bound where the extent is negative
  const Span all{std::min({data.begin, layout.lower, upper}), std::max({data.end, layout.lower, upper})};
  constexpr MPI_Count far = MPI_Count{1} << 30;
  const MPI_Count bounds = layout.extent < 0 ? -layout.extent : layout.extent;
  return all.bytes() - data.bytes() - bounds > far ? data : all;
}

/// The same of all elements, which run backwards where the extent is negative.
Span reach(const Layout& layout) {
  const Span one = reach_of_element(layout);
  const MPI_Count last = layout.count ? static_cast<MPI_Count>(layout.count - 1) * layout.extent : 0;
  return {one.begin + std::min<MPI_Count>(0, last), one.end + std::max<MPI_Count>(0, last)};
}

}  // namespace

bool lay_out(MPI_Datatype type, MPI_Count count, Layout& layout) {
  layout.type = type;
  layout.count = static_cast<std::size_t>(count);
  std::size_t bytes = 0;
  // Every call of a user's operator comes here with such a type: the host need not be asked.
  if (const PredefinedType* predefined = predefined_type(type); predefined && predefined->dense) {
    layout.size = predefined->size;
    layout.extent = layout.true_extent = static_cast<MPI_Count>(predefined->size);
    layout.packed = true;
    return !__builtin_mul_overflow(layout.count, layout.size, &bytes);
  }
  if (!find_extents(layout)) return false;
  if (__builtin_mul_overflow(layout.count, layout.size, &bytes)) return false;
  if (bytes > 0) layout.packed = is_packed(layout);
  return true;
}

bool may_begin_at(const void* buffer, const Layout& layout) {
  if (buffer == MPI_IN_PLACE) return false;
  return buffer || layout.bytes() == 0 || (!predefined_type(layout.type) && layout.true_lower != 0);
}

void pack(const Layout& layout, const void* typed_data, void* packed_data, MPI_Comm comm) {
  if (layout.bytes() > INT_MAX && host.Pack_c && typed_data) {
    MPI_Count position = 0;
    return check(host.Pack_c(typed_data, static_cast<MPI_Count>(layout.count), layout.type, packed_data,
                             static_cast<MPI_Count>(layout.bytes()), &position, comm),
                 "MPI_Pack_c");
  }
  in_pieces(layout, [&](std::size_t first, std::size_t elements) {
    const auto bytes = static_cast<int>(elements * layout.size);
    auto* const packed = static_cast<std::byte*>(packed_data) + first * layout.size;
    int position = 0;
    check(move_from(layout, element(layout, typed_data, first), static_cast<int>(elements),
                    [&](const void* from, int count, MPI_Datatype type) {
                      return host.Pack(from, count, type, packed, bytes, &position, comm);
                    }),
          "MPI_Pack");
  });
}

void unpack(const Layout& layout, const void* packed_data, void* typed_data, MPI_Comm comm) {
  if (layout.bytes() > INT_MAX && host.Unpack_c && typed_data) {
    MPI_Count position = 0;
    return check(host.Unpack_c(packed_data, static_cast<MPI_Count>(layout.bytes()), &position, typed_data,
                               static_cast<MPI_Count>(layout.count), layout.type, comm),
                 "MPI_Unpack_c");
  }
  in_pieces(layout, [&](std::size_t first, std::size_t elements) {
    const auto bytes = static_cast<int>(elements * layout.size);
    const auto* const packed = static_cast<const std::byte*>(packed_data) + first * layout.size;
    int position = 0;
    check(move_from(layout, element(layout, typed_data, first), static_cast<int>(elements),
                    [&](void* to, int count, MPI_Datatype type) {
                      return host.Unpack(packed, bytes, &position, to, count, type, comm);
                    }),
          "MPI_Unpack");
  });
}

TypedBuffer::TypedBuffer(const Layout& layout) {
  const Span all = reach(layout);
  // The address to hand to MPI is aligned like memory, wherever the lowest byte lies from it.
  constexpr MPI_Count line = 128;
  const MPI_Count begin = all.begin - (all.begin % line + line) % line;
  const auto bytes = static_cast<std::size_t>(all.end - begin);
  memory = allocate(bytes);
  std::memset(memory.get(), 0, bytes);
  address = memory.get() - begin;
}

bool host_packs_bare_data(MPI_Comm comm) {
  MPI_Datatype type;
  if (host.Type_vector(2, 1, 2, host.constants.integer, &type) != MPI_SUCCESS) return false;
  host.Type_commit(&type);
  const int data[3] = {0x01020304, -1, 0x05060708};
  int packed[2] = {};
  int position = 0;
  const int code = host.Pack(data, 1, type, packed, sizeof packed, &position, comm);
  host.Type_free(&type);
  return code == MPI_SUCCESS && position == sizeof packed && packed[0] == data[0] && packed[1] == data[2];
}

}  // namespace espalier::mpi
