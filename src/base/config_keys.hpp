// Every configuration key that Espalier knows.
#pragma once

#include <algorithm>
#include <array>

#include "base/collective.hpp"
#include "base/config.hpp"

namespace espalier {

namespace detail {

/// Text put together by the compiler.
struct ConstantText {
  std::array<char, 96> characters{};
  std::size_t length = 0;

  constexpr void add(std::string_view text) {
    std::copy(text.begin(), text.end(), characters.begin() + length);
    length += text.size();
  }
  constexpr void add_in_capitals(std::string_view text) {
    for (const char c : text)
      characters[length++] = 'a' <= c && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  constexpr std::string_view view() const { return {characters.data(), length}; }
};

struct AlgorithmKeyText {
  ConstantText name, help;
};

constexpr auto algorithm_key_texts(std::string_view prefix, std::string_view where) {
  std::array<AlgorithmKeyText, collective_count> texts{};
  for (const Collective collective : all_collectives) {
    AlgorithmKeyText& text = texts[static_cast<std::size_t>(collective)];
    text.name.add(prefix);
    text.name.add_in_capitals(to_string(collective));
    text.help.add("algorithm of every ");
    text.help.add(to_string(collective));
    text.help.add(where);
    text.help.add(", whatever the rules say");
  }
  return texts;
}
inline constexpr auto node_algorithm_texts = algorithm_key_texts("ESPALIER_", "");
inline constexpr auto network_algorithm_texts = algorithm_key_texts("ESPALIER_NETWORK_", " between nodes");

// clang-format off
inline constexpr std::array first_keys = {
    ConfigKey{"ESPALIER", "on", true, "off: as if Espalier were not there"},
    ConfigKey{"ESPALIER_CONFIG", "", false, "file of KEY=VALUE lines; the environment wins over it"},
    ConfigKey{"ESPALIER_FALLBACK", "silent", false, "a call that the host has to serve: error | warn | silent"},
    ConfigKey{"ESPALIER_GUARD", "off", true, "on: the host serves what it does faster here, where results do not depend on who serves; all: floating point, too"},
    ConfigKey{"ESPALIER_STATS", "", false, "1: print at finalize what ran; FILE.json: write it there"},
    ConfigKey{"ESPALIER_STATS_ARRIVALS", "off", false, "on: count how long ranks wait for the last one"},
    ConfigKey{"ESPALIER_STATS_SITES", "", false, "count where in the program calls came from: so many frames, 1 to 8"},
    ConfigKey{"ESPALIER_FLIGHT", "", false, "ranks write their last calls to FILE.rank-N when they are about to be ended, and at ESPALIER_FLIGHT_SIGNAL"},
    ConfigKey{"ESPALIER_FLIGHT_SIGNAL", "", false, "signal at which a rank writes its last calls, such as USR2, and goes on"},
    ConfigKey{"ESPALIER_FLIGHT_AT", "", false, "ranks also write them, and each call has its times: end (MPI_Finalize) | N, when a rank has made so many calls"},
    ConfigKey{"ESPALIER_LIB", "", false, "folder of the libraries that `espalier run` preloads"},
    ConfigKey{"ESPALIER_PYTHON", "python3", false, "what an installed command runs by"},
    ConfigKey{"ESPALIER_TORCH", "", false, "gloo: PyTorch scripts that name gloo get Espalier"},
    ConfigKey{"ESPALIER_TORCH_PYTHON", "", false, "Python that has torch, for `espalier bench --torch`"},
    ConfigKey{"ESPALIER_TORCH_NATIVE", "auto", false, "off: PyTorch's backend in Python, never the one in C++"},
    ConfigKey{"ESPALIER_RULES", "", true, "rules table (JSON) that is asked before the built-in one"},
    ConfigKey{"ESPALIER_TUNED", "auto", true, "rules of `espalier tune` for this machine: auto (the user's, then the site's) | off | the folder that has them"},
};
inline constexpr std::array later_keys = {
    ConfigKey{"ESPALIER_REPRODUCIBLE", "run", true, "bits of reductions do not depend on: run | placement (where ranks are, how a call is served) | exact (nor on the order; sums are rounded once)"},
    ConfigKey{"ESPALIER_NETWORK_TREE", "", true, "tree between nodes, such as \"knomial:2\""},
    ConfigKey{"ESPALIER_SEGMENT", "", true, "bytes of a segment of the network stage"},
    ConfigKey{"ESPALIER_LEADERS", "", true, "ranks of a node that share the network stage of an allreduce or allgather: a number, or all"},
    ConfigKey{"ESPALIER_NODES", "", true, "pretended nodes, for tests: 4, 4:cyclic or 3+1+3"},
    ConfigKey{"ESPALIER_NODE_STAGE", "shared", true, "p2p: messages instead of shared memory within a node (HIER)"},
    ConfigKey{"ESPALIER_WINDOW_TRANSPORT", "auto", true, "what carries windows between nodes: auto | message | rma | notify"},
    ConfigKey{"ESPALIER_SWITCHES", "", true, "file that says which nodes hang on which switch"},
    ConfigKey{"ESPALIER_SHARP", "off", true, "on: reductions and barriers between nodes on aggregation nodes in the network"},
    ConfigKey{"ESPALIER_SHARP_LIB", "", false, "library with SHARP's interface; without one libsharp_coll.so"},
    ConfigKey{"ESPALIER_SHARP_CALLS", "8", true, "a communicator's calls before its SHARP group is made"},
    ConfigKey{"ESPALIER_SHARP_LEADERS", "node", true, "who speaks to the aggregation nodes: one rank a node, or a socket"},
    ConfigKey{"ESPALIER_SHARP_TIMEOUT", "60000", true, "milliseconds to wait for leaders after aggregation nodes have failed"},
    ConfigKey{"ESPALIER_SHARP_FAULTS", "", false, "faults of libespalier-sharp.so on demand, for tests"},
    ConfigKey{"ESPALIER_AGGREGATION", "", false, "aggregation tree of libespalier-sharp.so: a file of `espalier aggregate`"},
    ConfigKey{"ESPALIER_CHUNK", "", true, "bytes of a chunk of the node stage"},
    ConfigKey{"ESPALIER_TREE", "", true, "gather and release tree, such as \"numa=flat socket=kary:2\""},
    ConfigKey{"ESPALIER_GATHER_TREE", "", true, "gather tree alone"},
    ConfigKey{"ESPALIER_RELEASE_TREE", "", true, "release tree alone"},
    ConfigKey{"ESPALIER_INLINE", "on", true, "small data travels in the flag line (RG III-D)"},
    ConfigKey{"ESPALIER_READ_FROM_PARENT", "on", true, "children poll their parent's flag (RG III-B)"},
    ConfigKey{"ESPALIER_SKIP_GATHER", "on", true, "bcast waits for its readers only when slots run out (RG III-C)"},
    ConfigKey{"ESPALIER_COPY_AVOIDANCE", "on", true, "the root reduces straight into the user's buffer (RG III-E)"},
    ConfigKey{"ESPALIER_SLOTS", "auto", true, "slots of a rank: auto | 1 to 64 (RG III-C)"},
    ConfigKey{"ESPALIER_SLOT", "32KiB", true, "bytes of a slot"},
    ConfigKey{"ESPALIER_SETUP", "auto", true, "how ranks of a new communicator come to share memory: auto (by what they know of each other, where they do) or agree (always by allgathers of the host)"},
    ConfigKey{"ESPALIER_SHORT_RINGS", "on", true, "of two ranks, 17 to 64 KiB that go one way stay in a few slots where these come back quickly; off: they take all slots in turn"},
    ConfigKey{"ESPALIER_PAIRWISE", "on", true, "two ranks that exchange write where they have just read; off: each in slots of its own"},
    ConfigKey{"ESPALIER_SHM", "auto", true, "shared memory that the ranks of a node may use in all"},
    ConfigKey{"ESPALIER_MEMFD", "on", true, "off: use shm_open where memfd_create would do"},
    ConfigKey{"ESPALIER_SINGLE_COPY", "on", true, "off: never read another process's memory directly (CMA)"},
    ConfigKey{"ESPALIER_ALLOC_MEM", "on", true, "off: MPI_Alloc_mem is the host's, its memory no ranks' but the caller's"},
    ConfigKey{"ESPALIER_ALLOC_KEEP", "auto", false, "bytes of blocks that MPI_Free_mem keeps for MPI_Alloc_mem, of each rank; 0: none"},
    ConfigKey{"ESPALIER_PERSISTENT", "on", true, "off: persistent collectives (MPI_Allreduce_init, ...) are the host's"},
    ConfigKey{"ESPALIER_NONBLOCKING", "auto", true, "nonblocking collectives (MPI_Iallreduce, ...): auto (the host's where it was measured to be faster) | on (Espalier's wherever it can) | off (the host's)"},
    ConfigKey{"ESPALIER_PROGRESS", "off", false, "thread: a thread of each rank advances long nonblocking and persistent collectives while the program computes"},
    ConfigKey{"ESPALIER_STREAMING", "auto", true, "copies into slots past the caches: auto (where the processor gains by it) | on | off"},
    ConfigKey{"ESPALIER_ONE_SESSION", "on", false, "off: MPICH's launcher gives each rank a session of its own, also where ranks share cores"},
    ConfigKey{"ESPALIER_WAIT", "auto", true, "wait ladder: auto | spin | yield | sleep"},
    ConfigKey{"ESPALIER_TOPOLOGY", "", true, "synthetic machine in hwloc's notation, instead of the real one"},
};
// clang-format on

}  // namespace detail

/// ESPALIER_REDUCE_SCATTER, ESPALIER_NETWORK_REDUCE_SCATTER: which algorithm serves every call of a collective.
constexpr std::string_view algorithm_key(Collective collective) {
  return detail::node_algorithm_texts[static_cast<std::size_t>(collective)].name.view();
}
constexpr std::string_view network_algorithm_key(Collective collective) {
  return detail::network_algorithm_texts[static_cast<std::size_t>(collective)].name.view();
}

inline constexpr auto config_keys = [] {
  std::array<ConfigKey, detail::first_keys.size() + 2 * collective_count + detail::later_keys.size()> keys{};
  auto next = std::copy(detail::first_keys.begin(), detail::first_keys.end(), keys.begin());
  for (const auto* texts : {&detail::node_algorithm_texts, &detail::network_algorithm_texts})
    for (const detail::AlgorithmKeyText& text : *texts)
      *next++ = {text.name.view(), "", true, text.help.view()};
  std::copy(detail::later_keys.begin(), detail::later_keys.end(), next);
  return keys;
}();

/// Names of former versions, read for one version more, with a warning.
struct FormerKey {
  std::string_view name, now;
};
inline constexpr std::array former_keys = {FormerKey{"ESPALIER_TRADE", "ESPALIER_PAIRWISE"}};

}  // namespace espalier
