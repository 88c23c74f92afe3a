#include "mpi/host/type_contents.hpp"

#include <utility>

#include "mpi/host/handles.hpp"
#include "mpi/host/host.hpp"
#include "mpi/host/type_arrays.hpp"

namespace espalier::mpi {

Envelope::Envelope(MPI_Datatype type) {
  // The plain call refuses datatypes that were made with MPI_Count arguments.
  if (host.Type_get_envelope_c) {
    MPI_Count large_integers = 0, large_addresses = 0, counts = 0, large_types = 0;
    decodable = host.Type_get_envelope_c(type, &large_integers, &large_addresses, &counts, &large_types,
                                         &combiner) == MPI_SUCCESS &&
                counts == 0;
    integers = static_cast<int>(large_integers);
    addresses = static_cast<int>(large_addresses);
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
  integers.resize(static_cast<std::size_t>(envelope.integers) + 1);
  addresses.resize(static_cast<std::size_t>(envelope.addresses) + 1);
  std::vector<MPI_Datatype> inner(static_cast<std::size_t>(envelope.types));
  if (host.Type_get_contents(type, envelope.integers, envelope.addresses, envelope.types, integers.data(),
                             addresses.data(), inner.data()) == MPI_SUCCESS)
    types = std::move(inner);
}

Contents::~Contents() {
  for (MPI_Datatype& type : types)
    if (!predefined_types.find(wide(type)) && !Envelope(type).predefined()) host.Type_free(&type);
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
