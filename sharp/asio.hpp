// Asio, for all files alike: what it uses depends on the macros of the C and C++ libraries, which must be
// known before it is included. Without, one file allocates with what another does not free.
#pragma once

#include <version>

#include <asio.hpp>
