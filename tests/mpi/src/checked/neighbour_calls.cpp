// MPI's functions of the neighbourhood collectives.
#include "neighbour_case.hpp"

#include <utility>
#include <vector>

namespace checked {
namespace {

template <class Count, class Place>
struct NeighbourArrays {
  template <class Buffer>
  explicit NeighbourArrays(const Buffer& buffer)
      : counts(buffer.template counts<Count>()), places(buffer.template places<Place>()) {}
  std::vector<Count> counts;
  std::vector<Place> places;
};

// The arrays of both sides, which stay as long as `held`.
template <class Count, class Place>
struct NeighbourSides {
  NeighbourArrays<Count, Place> out, in;
  template <class Buffer>
  static NeighbourSides& hold(const Buffer& send, const Buffer& receive, std::shared_ptr<void>& held) {
    auto made = std::make_shared<NeighbourSides>(
        NeighbourSides{NeighbourArrays<Count, Place>(send), NeighbourArrays<Count, Place>(receive)});
    held = made;
    return *made;
  }
};

// In the three manners, of the plain form or the one for large counts.
#define CHECKED_CALL(name, suffix, ...)                                                   \
  call_in(one.manner, request, MPI_Neighbor_##name##suffix, MPI_Ineighbor_##name##suffix, \
          MPI_Neighbor_##name##_init##suffix, __VA_ARGS__, one.topology.group.comm)

// In elements, where blocks have one length.
struct EvenCounts {
  long out, in;
};

#if MPI_VERSION >= 4
void call_large(const NeighbourCase& one, Side& send, Side& receive, const EvenCounts& even,
                std::shared_ptr<void>& held, MPI_Request* request) {
  const auto& [out, in] = NeighbourSides<MPI_Count, MPI_Aint>::hold(send, receive, held);
  void *from = send.address(), *to = receive.address();
  switch (one.kind) {
    case NeighbourKind::allgather:
      return CHECKED_CALL(allgather, _c, from, even.out, send.type(), to, even.in, receive.type());
    case NeighbourKind::allgatherv:
      return CHECKED_CALL(allgatherv, _c, from, even.out, send.type(), to, in.counts.data(), in.places.data(),
                          receive.type());
    case NeighbourKind::alltoall:
      return CHECKED_CALL(alltoall, _c, from, even.out, send.type(), to, even.in, receive.type());
    default:
      CHECKED_CALL(alltoallv, _c, from, out.counts.data(), out.places.data(), send.type(), to,
                   in.counts.data(), in.places.data(), receive.type());
  }
}
#endif

}  // namespace

void call_neighbours(const NeighbourCase& one, Mixed& send, Mixed& receive, std::shared_ptr<void>& held,
                     MPI_Request* request) {
#if MPI_VERSION >= 4
  if (one.large) {
    const auto& [out, in] = NeighbourSides<MPI_Count, MPI_Aint>::hold(send, receive, held);
    return CHECKED_CALL(alltoallw, _c, send.address(), out.counts.data(), out.places.data(), send.types(),
                        receive.address(), in.counts.data(), in.places.data(), receive.types());
  }
#endif
  const auto& [out, in] = NeighbourSides<int, MPI_Aint>::hold(send, receive, held);
  CHECKED_CALL(alltoallw, , send.address(), out.counts.data(), out.places.data(), send.types(),
               receive.address(), in.counts.data(), in.places.data(), receive.types());
}

void call_neighbours(const NeighbourCase& one, Side& send, Side& receive, std::shared_ptr<void>& held,
                     MPI_Request* request) {
  const long ints = one.longest * ints_per_item;
  const auto elements = [](long of, const Layout& layout) {
    return of / static_cast<long>(layout.cells.size());
  };
  const EvenCounts even{
      elements(one.kind == NeighbourKind::allgatherv ? one.ints(one.rank(), 0) : ints, one.layout(1)),
      elements(ints, one.layout(0))};
#if MPI_VERSION >= 4
  if (one.large) return call_large(one, send, receive, even, held, request);
#endif
  const auto& [out, in] = NeighbourSides<int, int>::hold(send, receive, held);
  const int count = static_cast<int>(even.out), theirs = static_cast<int>(even.in);
  void *from = send.address(), *to = receive.address();
  switch (one.kind) {
    case NeighbourKind::allgather:
      return CHECKED_CALL(allgather, , from, count, send.type(), to, theirs, receive.type());
    case NeighbourKind::allgatherv:
      return CHECKED_CALL(allgatherv, , from, count, send.type(), to, in.counts.data(), in.places.data(),
                          receive.type());
    case NeighbourKind::alltoall:
      return CHECKED_CALL(alltoall, , from, count, send.type(), to, theirs, receive.type());
    default:
      CHECKED_CALL(alltoallv, , from, out.counts.data(), out.places.data(), send.type(), to, in.counts.data(),
                   in.places.data(), receive.type());
  }
}

}  // namespace checked
