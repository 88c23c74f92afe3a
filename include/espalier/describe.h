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
 *  "commutative": true}
 *    -> {"algorithm", "chunk", "slots", "gather_tree", "release_tree", ..., "rule": {"file", "line", "text"}, "why"}
 * {"what": "config"} -> {"values": [{"key", "value", "default", "origin", "help"}], "warnings": [...]} */
ESPALIER_API char* espalier_describe(const char* request);
ESPALIER_API void espalier_free(char* text);

#ifdef __cplusplus
}
#endif
#endif
