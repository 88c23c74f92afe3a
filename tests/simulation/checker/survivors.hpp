// Mutants that nothing can catch, and why: what they leave out is implied by something else, or costs only
// time.
#pragma once

#include <vector>

namespace espalier::testing {

struct Survivor {
  const char* mutant;
  const char* reason;
};

inline const std::vector<Survivor> survivors = {
    {"collective/node/reductions/allreduce.hpp reduce_and_bcast_at_root reserve: removed",
     "The root has just gathered this chunk from all. Who sends a chunk has finished all but the last half "
     "ring of "
     "steps before it, so every loan of a slot that comes round again is over."},
    {"collective/node/reductions/reduce.hpp receive_at_root reserve: removed",
     "The same: all ranks below have sent this chunk, and finished the steps of a ring ago before."},
    {"collective/node/reductions/allreduce_central.hpp central_inline set_readers: removed",
     "The lines are read by the last to arrive alone, and before it releases the others: who goes on knows "
     "that."},
    {"collective/node/reductions/allreduce_central.hpp central_inline all_finished: one step more",
     "The same: at the step itself nothing is read any more once a rank goes on."},
    {"collective/node/all_to_all/alltoallv.hpp meet set_readers: removed",
     "The line of a rank that has nothing is read by the last to arrive alone, before it releases the "
     "others."},
    {"collective/node/barrier.hpp barrier_central all_finished: one step more",
     "A barrier lends nothing at its own step. So with the next two."},
    {"collective/node/barrier.hpp barrier_exchange all_finished: one step more", "A barrier lends nothing."},
    {"collective/node/barrier.hpp barrier_tree all_finished: one step more", "A barrier lends nothing."},
    {"collective/node/rooted/bcast.hpp bcast_tree await_finish: removed",
     "RG's plain form, in which the root leaves last, is kept to be measured: where it does not wait, "
     "reserve() "
     "does, at the slot's next use."},
    {"collective/node/rooted/scatterv.hpp await_all await_finish: removed",
     "A root that tries a way waits to know how long it takes; where it does not wait, reserve() does."},
    {"collective/node/rooted/scatterv.hpp expose_blocks set_readers: removed",
     "The root waits for all that have a block. Only a rank that expects one where the root has none could "
     "read "
     "the line while it is written again; it reads there without saying so, and copies nothing either way."},
    {"network/window/landings.hpp replace compare_exchange: release only",
     "What stands was read by the acquire loads just before, and the exchange succeeds only where that has "
     "not "
     "changed."},
    {"collective/multinode/allgather_window.hpp run drive: removed",
     "The blocks of the scenarios ride in their requests, which are copies; the flush is for longer ones, "
     "which are "
     "read from the segment until then."},
    {"collective/multinode/allreduce_window.hpp run drive#2: removed", "The same."},
    {"collective/multinode/network/notified_peers.hpp drive_until drive#2: removed", "The same."},
    {"collective/multinode/allreduce_window.hpp gather_by_slices drive: removed",
     "A look in between, so that blocks go on while the node still folds: without it they go on at the end."},
    {"machine/counters.hpp take_piece compare_exchange step: relaxed",
     "It is relaxed as it stands: who comes there has heard from all ranks. So with the next three."},
    {"machine/counters.hpp take_piece compare_exchange step: acquire only", "The same."},
    {"machine/counters.hpp take_piece compare_exchange step: release only", "The same."},
    {"machine/counters.hpp take_piece compare_exchange step: failure relaxed", "The same."},
    {"machine/placed_lines.hpp agree_at compare_exchange step: release only",
     "It is release as it stands: what the word said before was read by the load."},
    {"machine/placed_lines.hpp claim_at compare_exchange step: relaxed",
     "It is relaxed as it stands: a claim is a hint, with which nothing is handed over. So with the next "
     "three."},
    {"machine/placed_lines.hpp claim_at compare_exchange step: acquire only", "The same."},
    {"machine/placed_lines.hpp claim_at compare_exchange step: release only", "The same."},
    {"machine/placed_lines.hpp claim_at compare_exchange step: failure relaxed", "The same."},
    {"machine/placed_lines.hpp claim_at compare_exchange step: in two steps",
     "Two ranks that both claim both make a value, and one of them is heard."},
    {"collective/schedule/claims.hpp claim_number compare_exchange: relaxed",
     "It is relaxed as it stands: what the claim is for the ranks have told each other before. So with the "
     "next three."},
    {"collective/schedule/claims.hpp claim_number compare_exchange: acquire only", "The same."},
    {"collective/schedule/claims.hpp claim_number compare_exchange: release only", "The same."},
    {"collective/schedule/claims.hpp claim_number compare_exchange: failure relaxed", "The same."},
    {"runtime/across/basic_channel.hpp step await#2: removed",
     "The numbers are claimed in order without it: where all of a younger call's data are there, each rank "
     "of the node has "
     "given its data to the older one and looked, so one of them has claimed that."},
    {"machine/copy_requests.hpp fetch add step#2: removed",
     "The count of ranks that ask for copies stays too high: others look at the requests in vain, which "
     "costs "
     "time "
     "only."},
    {"machine/wait_ladder.hpp fall_asleep add sleepers#2: removed",
     "The mark stays when no rank sleeps any more: publishers wake in vain, which costs time only."},
};

}  // namespace espalier::testing
