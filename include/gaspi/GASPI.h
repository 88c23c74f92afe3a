/* The name by which GASPI programs include their interface: espalier/gaspi.h. */
#ifndef ESPALIER_GASPI_FORWARD_H
#define ESPALIER_GASPI_FORWARD_H

#include "espalier/gaspi.h"

#endif
