// The subjects of the checked run, one file each. All are collective over `world`.
#pragma once

#include "group.hpp"

#include <cstdint>
#include <string>

namespace checked {

void check_barrier(const Group& world);
void check_roots(const Group& world);  // every root, several rounds
void check_sizes(const Group& world);  // sizes around powers of two and chunk borders
void check_in_place(const Group& world);
void check_zero_counts(const Group& world);
// All predefined operators on all types that the host defines, without those named in ",MPI_X,MPI_Y,".
void check_operators(const Group& world, const std::string& without);
void check_pairs(const Group& world);           // MINLOC and MAXLOC
void check_user_operators(const Group& world);  // non-commutative, on derived types
void check_derived(const Group& world);  // layouts with holes, out of order; unequal pairs of equal signature
void check_blocks(const Group& world);   // allgather, gather, scatter, alltoall and their v forms
void check_derived_blocks(const Group& world);  // the same on layouts with holes
void check_alltoallw(const Group& world);       // a layout for each block
void check_neighbours(const Group& world);      // neighbourhood collectives on topologies of all kinds
void check_prefixes(const Group& world);        // scan, exscan, reduce_scatter_block, reduce_scatter
void check_communicators(const Group& world);
void check_interleaved(const Group& world);
void check_random(const Group& world, std::uint64_t seed);
void check_identity(const Group& world);     // the same bits on all ranks and every time
void check_count_forms(const Group& world);  // MPI_Bcast_c and its sisters

void one_alltoallw(const Group& group, std::uint64_t seed, long longest, bool derived, bool in_place,
                   bool large);

// A short check of all collectives on one communicator: every root, small and middling sizes.
void check_all(const Group& group, std::uint64_t seed);
// One checked call each; counts are in elements of 32 bits unless the type is double.
void one_barrier(const Group& group, double late_by);
void one_bcast(const Group& group, int root, long count, std::uint64_t seed);
void one_reduce(const Group& group, int root, long count, std::uint64_t seed);
void one_reduce_double(const Group& group, int root, long count, std::uint64_t seed);
void one_allreduce(const Group& group, long count, std::uint64_t seed);
void one_allreduce_double(const Group& group, long count, std::uint64_t seed);
void one_ordered_reduce(const Group& group, int root, long count, std::uint64_t seed);
void one_ordered_allreduce(const Group& group, long count, std::uint64_t seed);
// One of scan, exscan, reduce_scatter_block, reduce_scatter: a sum, and a product that is not commutative.
void one_prefix(const Group& group, int which, long count, std::uint64_t seed, bool large = false);
void one_ordered_prefix(const Group& group, int which, long count, std::uint64_t seed);
constexpr int kinds_of_prefixes = 4;

}  // namespace checked
