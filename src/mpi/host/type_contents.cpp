#include "mpi/host/type_contents.hpp"

#include <utility>

#include "mpi/host/handles.hpp"
#include "mpi/host/host.hpp"
#include "mpi/host/type_arrays.hpp"

namespace espalier::mpi {

Envelope::Envelope(MPI_Datatype type) {
  // The plain call refuses datatypes that were made with MPI_Count arguments. (Those of mpi4py are, where it can.)
  if (host.Type_get_envelope_c) {
    MPI_Count large_integers = 0, large_addresses = 0, large_counts = 0, large_types = 0;
    decodable = host.Type_get_envelope_c(type, &large_integers, &large_addresses, &large_counts, &large_types,
                                         &combiner) == MPI_SUCCESS &&
                (large_counts == 0 || (host.Type_get_contents_c && std::in_range<int>(large_counts)));
    integers = static_cast<int>(large_integers);
    addresses = static_cast<int>(large_addresses);
    counts = static_cast<int>(large_counts);
    types = static_cast<int>(large_types);
    return;
  }
  decodable = host.Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS;
}

bool Envelope::predefined() const {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

Contents::Contents(MPI_Datatype type) {
  const Envelope envelope(type);
  combiner = envelope.combiner;
  predefined = envelope.predefined();
  if (!envelope.decodable || envelope.types == 0) return;
  types.resize(static_cast<std::size_t>(envelope.types));
  if (!(envelope.counts == 0 ? read(type, envelope) : read_counts(type, envelope))) types.clear();
}

Contents::~Contents() { free_types(); }

void Contents::free_types() {
  for (MPI_Datatype& type : types)
    if (!predefined_types.find(wide(type)) && !Envelope(type).predefined()) host.Type_free(&type);
}

bool Contents::read(MPI_Datatype type, const Envelope& envelope) {
  integers.resize(static_cast<std::size_t>(envelope.integers) + 1);
  addresses.resize(static_cast<std::size_t>(envelope.addresses) + 1);
  return host.Type_get_contents(type, envelope.integers, envelope.addresses, envelope.types, integers.data(),
                                addresses.data(), types.data()) == MPI_SUCCESS;
}

bool Contents::read_counts(MPI_Datatype type, const Envelope& envelope) {
  std::vector<int> given(static_cast<std::size_t>(envelope.integers) + 1);
  std::vector<MPI_Aint> none(static_cast<std::size_t>(envelope.addresses) + 1);
  std::vector<MPI_Count> counts(static_cast<std::size_t>(envelope.counts));
  if (host.Type_get_contents_c(type, envelope.integers, envelope.addresses, envelope.counts, envelope.types,
                               given.data(), none.data(), counts.data(), types.data()) != MPI_SUCCESS)
    return false;
  if (put_in_order(counts, given)) return true;
  free_types();
  return false;
}

/// False: a constructor that is not followed, or a number that the plain constructor could not have.
bool Contents::put_in_order(const std::vector<MPI_Count>& counts, const std::vector<int>& given) {
  std::size_t behind = counts.size();  // so many are integers there, the others are addresses
  switch (combiner) {
    case MPI_COMBINER_CONTIGUOUS:
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
      break;
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_HINDEXED_BLOCK:
      behind = 2;
      break;
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
      behind = 1 + static_cast<std::size_t>(counts[0]);
      break;
    case MPI_COMBINER_RESIZED:
      behind = 0;
      break;
    case MPI_COMBINER_SUBARRAY:
      integers.push_back(given[0]);  // dimensions
      break;
    default:
      return false;
  }
  if (behind > counts.size()) return false;
  for (std::size_t i = 0; i < behind; ++i) {
    if (!std::in_range<int>(counts[i])) return false;
    integers.push_back(static_cast<int>(counts[i]));
  }
  addresses.assign(counts.begin() + static_cast<std::ptrdiff_t>(behind), counts.end());
  if (combiner == MPI_COMBINER_SUBARRAY) integers.push_back(given[1]);  // the order of the dimensions
  integers.push_back(0);  // as behind those that are read by the plain call
  return true;
}

MPI_Datatype type_of_fortran(int type) {
#if ESPALIER_FORTRAN_CALLS_PMPI
  return abi::c_datatype(host, type);
#else
  return typed<MPI_Datatype>(
      static_cast<Handle>(static_cast<unsigned>(type)));  // no host of this ABI has others
#endif
}

}  // namespace espalier::mpi
