// The kernels of every operation, for any CPU of the architecture.
#define ESPALIER_ISA baseline
#define ESPALIER_ISA_IS_BASELINE 1
#include "reduce/catalogue.hpp"
