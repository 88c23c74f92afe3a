// What algorithms in rounds cost between n leaders, one small formula each. `bytes` are those of a leader's
// vector. L, o, G as in Wire; a = L + 2o; R: to fold a byte, C: to copy one.
#pragma once

#include "plan/cost/call_cost.hpp"

namespace espalier::plan {

/// ceil(log2 n) a (D. Hensgen, R. Finkel, U. Manber, "Two Algorithms for Barrier Synchronization", 1988;
/// HIER 3.4 between the nodes). With more `ways` than two fewer rounds, of ways - 1 messages, each an
/// interval after the one before.
Cost dissemination(const Wire& wire, int n, int ways = 2);

/// An allreduce: floor(log2 n) (a + bG + bR), and a message that comes meanwhile and a fold for each further
/// power of two in n (NOTIFY III). With one vector a message; where the order of folds shows, up to 2 k of
/// 2^k peers travel.
Cost partial_reductions(const Wire& wire, int n, double bytes);

/// log2(n) (a + bG + bR); another exchange before and after for the leaders beyond the largest power of two
/// (R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in MPICH",
/// 2005, section 4.5; HIER's [15]).
Cost recursive_doubling(const Wire& wire, int n, double bytes);

/// 2 log2(n) a + 2 (n-1)/n bG + (n-1)/n bR, with the same for the leaders beyond (the same paper, 4.5). The
/// reduce gathers at the root where the allreduce gathers everywhere: the same time, but no way back for the
/// leaders beyond (4.4).
Cost allreduce_rabenseifner(const Wire& wire, int n, double bytes);
Cost reduce_rabenseifner(const Wire& wire, int n, double bytes);

/// 2 (n-1) (a + b/n G) + (n-1) b/n R (P. Patarasuk, X. Yuan, "Bandwidth Optimal All-reduce Algorithms for
/// Clusters of Workstations", 2009).
Cost ring(const Wire& wire, int n, double bytes);

/// ceil(log2 n) a + (n-1) bG, then n - 1 folds (J. Bruck, C. Ho, S. Kipnis, E. Upfal, D. Weathersby,
/// "Efficient Algorithms for All-to-All Communications in Multiport Message-Passing Systems", 1997, the
/// concatenation).
Cost gather_all(const Wire& wire, int n, double bytes, int ways = 2);

/// The same without folds, for parts of `bytes` each.
Cost allgather_bruck(const Wire& wire, int n, double bytes, int ways = 2);
/// (n-1) (a + bG): one link carries all but its own part.
Cost allgather_ring(const Wire& wire, int n, double bytes);
/// `count` messages to one leader, or from it, or as many each way: one behind the other.
Cost messages(const Wire& wire, int count, double bytes);

/// Of a vector of `bytes` every leader's part to it, which it folds: (n-1)/n (bG + bR) and a latency.
Cost reduce_scatter_direct(const Wire& wire, int n, double bytes);

/// A bcast: ceil(log2 n) a + (n-1)/n bG to scatter, (n-1) (a + b/n G) to collect (Thakur et al., section 4.2;
/// the longest way down the binomial tree is the one to the half that is sent first).
Cost scatter_allgather(const Wire& wire, int n, double bytes);

/// An exscan (HIER 3.5, step 3): ceil(log2 n) (a + bG); the first round copies what came, every round but the
/// first folds it into the result, and every round but the last into what is passed on.
Cost scan_doubling(const Wire& wire, int n, double bytes);

/// From leader to leader: (n-1) (a + bG) + (n-2) bR.
Cost chain(const Wire& wire, int n, double bytes);

/// Scans of nodes whose ranks do not follow on each other; `ranks` on each node, all of whose vectors travel.
/// Every leader gets all vectors (as gather_all), and folds all of them in rank order.
Cost scan_gather_all(const Wire& wire, int n, int ranks, double bytes, int ways = 2);
/// Two all-to-alls of 1/n of the vectors; in between a leader folds its slice of all ranks' vectors.
Cost scan_transpose(const Wire& wire, int n, int ranks, double bytes);

}  // namespace espalier::plan
