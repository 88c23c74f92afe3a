// The pages of a communicator's slots in this process.
#pragma once

#include <cstddef>

#include "machine/layout.hpp"
#include "memory/arena.hpp"

namespace espalier::runtime {

/// Whether map_slots() is worth its time: each of many ranks would map all others' rings, the most of which
/// it never comes to.
bool should_map_slots(const machine::Layout& layout);

/// Maps the slots of all ranks of a share into this process at once. Done before the first call that may need
/// some: else each that comes to a fresh slot would pay for its pages, for as long as it takes to go around
/// the ring, and before that a communicator of short calls would pay for nothing. Local.
void map_slots(const memory::Arena& arena, memory::Share share, const machine::Layout& layout, int rank);

}  // namespace espalier::runtime
