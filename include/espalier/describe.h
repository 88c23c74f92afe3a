/* What Espalier would do and why, as JSON text: what `espalier topo` and `espalier explain` print. */
#ifndef ESPALIER_DESCRIBE_H
#define ESPALIER_DESCRIBE_H

#include "espalier/espalier.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `request` is a JSON object; the answer is one too, to be freed with espalier_free(). Never NULL but when memory ends; a
 * request that cannot be served gives {"error": "what happened, where, what to do"}. Thread-safe.
 *
 * {"what": "topology", "synthetic": "package:2 core:4 pu:1" | null, "ranks": 8, "affinity": ["0", "1"] | null,
 *  "tree": "numa=flat" | null, "root": 0}
 *    -> {"topology": domains, "source", "groups", "gather": tree, "release": tree, "budget": {"cores", "quota", "text"}}
 * {"what": "plan", "collective": "allreduce", "bytes": 65536, "ranks": 8, "ranks_per_core": 4.0 | null,
 *  "commutative": true, "tuned": "/path/to/a file of espalier tune" (asked after ESPALIER_RULES) | absent}
 *    -> {"algorithm", "chunk", "slots", "gather_tree", "release_tree", ..., "rule": {"file", "line", "text"}, "why"}
 * {"what": "network", "collective": "allreduce", "bytes": 65536, "nodes": 16, "ranks_per_node": 4,
 *  "ranks_per_core": 1.0 | null, "consecutive": true, "commutative": true, "node_stage": "shared" | "messages",
 *  "sharp": false (the job has aggregation nodes),
 *  "network": {"network": "ring", "segment": "1MiB", ...} (a rule's results, instead of the rules) | null,
 *  "model": "/path/to/model.json" | null}
 *    -> {"network": {"algorithm", "segment", "leaders", "tree", "rule"}, "node": [{"collective", "bytes", "when",
 *        "algorithm", "chunk", "rule"}], "window": as below, and "otherwise" (of a notified ring), "why", "warnings", "model": {"file", "name"},
 *        "prediction": {"total_ns", "network_ns", "node_ns" (what of the node stage shows), "node_alone_ns",
 *        "ideal_speed_up", "rounds", "segments"} | null, "no_prediction": "why there is none"}
 * {"what": "window", "nodes": 4, "rma": true, "notify": true (what the hosts have)}
 *    -> {"transport": "memory" | "message" | "rma" | "notify", "why", "setting", "origin", "nodes"}
 * {"what": "memory", "ranks": 8, "ranks_per_core": 4.0 | null}: what a job with all ranks on this node takes, in bytes
 *    -> {"ranks", "ranks_per_core", "arena" (address space), "setting" and "origin" (of ESPALIER_SHM), "notes" (of the
 *        arena: what the ranks tell each other once), "communicators": [{"kind", "ranks", "bytes",
 *        "of_a_rank", "slots", "slot", "cell" (for pairs of ranks), "at_once" (how many the budget holds)}],
 *        "kept_of_a_rank" (of freed MPI_Alloc_mem blocks, at most), "no_heap": "why no such blocks are shared",
 *        "descriptors_of_a_rank", "measured_by": the command that measures}
 * {"what": "tuned", "host": "the first line of MPI_Get_library_version"}
 *    -> {"machine", "host", "espalier" (what tuned rules hold for), "name" (of their file), "folders" (where it is looked for,
 *        in order), "file" (the first one that is there) | null}
 * {"what": "config"} -> {"values": [{"key", "value", "default", "origin", "help"}], "warnings": [...]}
 * {"what": "algorithms"}
 *    -> {"collectives": [names], "algorithms": [{"scope": "node" | "network", "collectives", "algorithm",
 *        "requires" (or its rules are passed over), "description", "source" (paper and section)}]} */
ESPALIER_API char* espalier_describe(const char* request);
ESPALIER_API void espalier_free(char* text);

#ifdef __cplusplus
}
#endif
#endif
