// Every configuration key that Espalier knows.
#pragma once

#include <array>

#include "base/config.hpp"

namespace espalier {

// clang-format off
inline constexpr std::array config_keys = {
    ConfigKey{"ESPALIER", "on", true, "off: as if Espalier were not there"},
    ConfigKey{"ESPALIER_CONFIG", "", false, "file of KEY=VALUE lines; the environment wins over it"},
    ConfigKey{"ESPALIER_FALLBACK", "silent", false, "a call that the host has to serve: error | warn | silent"},
    ConfigKey{"ESPALIER_STATS", "", false, "1: print at finalize what ran; FILE.json: write it there"},
    ConfigKey{"ESPALIER_LIB", "", false, "folder of the libraries that `espalier run` preloads"},
    ConfigKey{"ESPALIER_RULES", "", true, "rules table (JSON) that is asked before the built-in one"},
    ConfigKey{"ESPALIER_BARRIER", "", true, "algorithm of every barrier, whatever the rules say"},
    ConfigKey{"ESPALIER_BCAST", "", true, "algorithm of every bcast"},
    ConfigKey{"ESPALIER_REDUCE", "", true, "algorithm of every reduce"},
    ConfigKey{"ESPALIER_ALLREDUCE", "", true, "algorithm of every allreduce"},
    ConfigKey{"ESPALIER_ALLGATHER", "", true, "algorithm of every allgather"},
    ConfigKey{"ESPALIER_ALLGATHERV", "", true, "algorithm of every allgatherv"},
    ConfigKey{"ESPALIER_GATHER", "", true, "algorithm of every gather"},
    ConfigKey{"ESPALIER_GATHERV", "", true, "algorithm of every gatherv"},
    ConfigKey{"ESPALIER_SCATTER", "", true, "algorithm of every scatter"},
    ConfigKey{"ESPALIER_SCATTERV", "", true, "algorithm of every scatterv"},
    ConfigKey{"ESPALIER_ALLTOALL", "", true, "algorithm of every alltoall"},
    ConfigKey{"ESPALIER_ALLTOALLV", "", true, "algorithm of every alltoallv"},
    ConfigKey{"ESPALIER_REDUCE_SCATTER_BLOCK", "", true, "algorithm of every reduce_scatter_block"},
    ConfigKey{"ESPALIER_REDUCE_SCATTER", "", true, "algorithm of every reduce_scatter"},
    ConfigKey{"ESPALIER_SCAN", "", true, "algorithm of every scan"},
    ConfigKey{"ESPALIER_EXSCAN", "", true, "algorithm of every exscan"},
    ConfigKey{"ESPALIER_NETWORK_BARRIER", "", true, "algorithm of every barrier between nodes, whatever the rules say"},
    ConfigKey{"ESPALIER_NETWORK_BCAST", "", true, "algorithm of every bcast between nodes"},
    ConfigKey{"ESPALIER_NETWORK_REDUCE", "", true, "algorithm of every reduce between nodes"},
    ConfigKey{"ESPALIER_NETWORK_ALLREDUCE", "", true, "algorithm of every allreduce between nodes"},
    ConfigKey{"ESPALIER_NETWORK_ALLGATHER", "", true, "algorithm of every allgather between nodes"},
    ConfigKey{"ESPALIER_NETWORK_ALLGATHERV", "", true, "algorithm of every allgatherv between nodes"},
    ConfigKey{"ESPALIER_NETWORK_GATHER", "", true, "algorithm of every gather between nodes"},
    ConfigKey{"ESPALIER_NETWORK_GATHERV", "", true, "algorithm of every gatherv between nodes"},
    ConfigKey{"ESPALIER_NETWORK_SCATTER", "", true, "algorithm of every scatter between nodes"},
    ConfigKey{"ESPALIER_NETWORK_SCATTERV", "", true, "algorithm of every scatterv between nodes"},
    ConfigKey{"ESPALIER_NETWORK_ALLTOALL", "", true, "algorithm of every alltoall between nodes"},
    ConfigKey{"ESPALIER_NETWORK_ALLTOALLV", "", true, "algorithm of every alltoallv between nodes"},
    ConfigKey{"ESPALIER_NETWORK_SCAN", "", true, "algorithm of every scan between nodes"},
    ConfigKey{"ESPALIER_NETWORK_EXSCAN", "", true, "algorithm of every exscan between nodes"},
    ConfigKey{"ESPALIER_NETWORK_REDUCE_SCATTER_BLOCK", "", true, "algorithm of every reduce_scatter_block between nodes"},
    ConfigKey{"ESPALIER_NETWORK_REDUCE_SCATTER", "", true, "algorithm of every reduce_scatter between nodes"},
    ConfigKey{"ESPALIER_NETWORK_TREE", "", true, "tree between nodes, such as \"knomial:2\""},
    ConfigKey{"ESPALIER_SEGMENT", "", true, "bytes of a segment of the network stage"},
    ConfigKey{"ESPALIER_LEADERS", "", true, "ranks of a node that share the network stage of an allreduce or allgather: a number, or all"},
    ConfigKey{"ESPALIER_NODES", "", true, "pretended nodes, for tests: 4, 4:cyclic or 3+1+3"},
    ConfigKey{"ESPALIER_NODE_STAGE", "shared", true, "p2p: messages instead of shared memory within a node (HIER)"},
    ConfigKey{"ESPALIER_WINDOW_TRANSPORT", "auto", true, "what carries windows between nodes: auto | message | rma | notify"},
    ConfigKey{"ESPALIER_SWITCHES", "", true, "file that says which nodes hang on which switch"},
    ConfigKey{"ESPALIER_CHUNK", "", true, "bytes of a chunk of the node stage"},
    ConfigKey{"ESPALIER_TREE", "", true, "gather and release tree, such as \"numa=flat socket=kary:2\""},
    ConfigKey{"ESPALIER_GATHER_TREE", "", true, "gather tree alone"},
    ConfigKey{"ESPALIER_RELEASE_TREE", "", true, "release tree alone"},
    ConfigKey{"ESPALIER_INLINE", "on", true, "small data travels in the flag line (RG III-D)"},
    ConfigKey{"ESPALIER_READ_FROM_PARENT", "on", true, "children poll their parent's flag (RG III-B)"},
    ConfigKey{"ESPALIER_SKIP_GATHER", "on", true, "bcast waits for its readers only when slots run out (RG III-C)"},
    ConfigKey{"ESPALIER_COPY_AVOIDANCE", "on", true, "the root reduces straight into the user's buffer (RG III-E)"},
    ConfigKey{"ESPALIER_SLOTS", "8", true, "slots of a rank: 1 to 64 (RG III-C)"},
    ConfigKey{"ESPALIER_SLOT", "32KiB", true, "bytes of a slot"},
    ConfigKey{"ESPALIER_SHM", "auto", true, "shared memory that the ranks of a node may use in all"},
    ConfigKey{"ESPALIER_MEMFD", "on", true, "off: use shm_open where memfd_create would do"},
    ConfigKey{"ESPALIER_SINGLE_COPY", "on", true, "off: never read another process's memory directly (CMA)"},
    ConfigKey{"ESPALIER_WAIT", "auto", true, "wait ladder: auto | spin | yield | sleep"},
    ConfigKey{"ESPALIER_TOPOLOGY", "", true, "synthetic machine in hwloc's notation, instead of the real one"},
};
// clang-format on

}  // namespace espalier
