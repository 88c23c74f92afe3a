/* A base case as a user writes it, which knows of no machine. */
#pragma once

#include "espalier/espalier_levels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* *value: of each rank; on return the largest of all, on all ranks. */
int stranger_max(espalier_levels* levels, uint64_t* value);

#ifdef __cplusplus
}
#endif
