#include "network/sharp_error.hpp"

#include <array>

#include <sharp/api/sharp_coll.h>

#include "base/format.hpp"

namespace espalier::network {
namespace {

struct Code {
  int value;
  const char *name, *meaning;
};

// By value, so that the enumeration of a user's header is held against the values that were read in public.
constexpr std::array codes = {
    Code{SHARP_COLL_ERROR, "ERROR", "an error in the aggregation tree"},
    Code{SHARP_COLL_ENOT_SUPP, "ENOT_SUPP", "the aggregation nodes cannot do this"},
    Code{SHARP_COLL_ENOMEM, "ENOMEM", "no memory"},
    Code{SHARP_COLL_EGROUP_ALLOC, "EGROUP_ALLOC", "no group could be allocated"},
    Code{SHARP_COLL_ECONN_TREE, "ECONN_TREE", "no connection to the aggregation tree"},
    Code{SHARP_COLL_EGROUP_JOIN, "EGROUP_JOIN", "a member could not join the group"},
    Code{SHARP_COLL_EQUOTA, "EQUOTA", "the quota is exhausted"},
    Code{SHARP_COLL_ESESS_INIT, "ESESS_INIT", "no session with the aggregation manager"},
    Code{SHARP_COLL_EDEV, "EDEV", "no usable network device"},
    Code{SHARP_COLL_EINVAL, "EINVAL", "an invalid argument"},
    Code{SHARP_COLL_EJOB_CREATE, "EJOB_CREATE", "the job was refused"},
    Code{SHARP_COLL_ETREE_INFO, "ETREE_INFO", "the tree is not known"},
    Code{SHARP_COLL_ENOTREE, "ENOTREE", "there is no tree for this"},
    Code{SHARP_COLL_EGROUP_ID, "EGROUP_ID", "the group is not known"},
    Code{SHARP_COLL_EOOB, "EOOB", "an exchange over the host MPI failed"},
    Code{SHARP_COLL_EGROUP_MCAST, "EGROUP_MCAST", "no multicast for the group"},
    Code{SHARP_COLL_EGROUP_TRIM, "EGROUP_TRIM", "the group could not be trimmed"},
    Code{SHARP_COLL_ELOCK_FAILED, "ELOCK_FAILED", "another group holds the tree's lock"},
    Code{SHARP_COLL_ELOCK_DENIED, "ELOCK_DENIED", "the tree's lock was denied"},
    Code{SHARP_COLL_ENO_RESOURCE, "ENO_RESOURCE", "the aggregation nodes have no resources left"},
};
static_assert(codes.front().value == -1 && codes.back().value == -20);

}  // namespace

std::string decode_sharp(int code) {
  for (const Code& each : codes)
    if (each.value == code) return formatted("{} SHARP_COLL_{}: {}", code, each.name, each.meaning);
  if (code == SharpError::no_library) return "the SHARP library cannot be loaded (ESPALIER_SHARP_LIB)";
  return formatted("{}, a code that Espalier does not know", code);
}

}  // namespace espalier::network
