// Barrier: no rank leaves before all have come.
#pragma once

#include "collective/core/meeting.hpp"
#include "collective/core/tree_primitives.hpp"

namespace espalier::collective {

/// Every rank sets its flag and looks at all others': one flag exchange, for few ranks.
template <Machine M>
void barrier_exchange(M& m) {
  const Step step = m.advance(1).last();
  meet_by_flags(m, step);
  m.all_finished(step - 1);
  m.finish(step);
  m.prefetch_own_line(Channel::release);
}

/// One arrival counter: a rank that waits is switched in once, when the last has come. For more ranks than
/// cores.
template <Machine M>
void barrier_central(M& m) {
  const Step step = m.advance(1).last();
  if (m.arrive_last(step))
    m.release_all(step, nullptr, 0);
  else
    m.await_release_all(step);
  m.all_finished(step - 1);
  m.finish(step);
}

/// Gather up, release down (RG II-B; OSMP V-E with the tree as its levels). In between the root calls
/// at_top().
template <Machine M, class AtTop>
void barrier_tree(M& m, const TreePosition& up, const TreePosition& down, const Plan& plan, AtTop at_top) {
  const Steps steps = m.advance(1);
  const Step step = steps.last();
  gather(m, up, steps);
  if (up.is_root()) {
    at_top();
    pass_down(m, down, steps, nullptr, 0, plan);
  } else {
    m.reserve(steps);  // as meet_by_flags() says; but here release lines are in use, too
    m.publish(Channel::gather, step);
    release(m, down, steps, 0, plan);
  }
  m.all_finished(step - 1);
  m.finish(step);
}

template <Machine M>
void barrier_tree(M& m, const TreePosition& up, const TreePosition& down, const Plan& plan) {
  barrier_tree(m, up, down, plan, [] {});
}

}  // namespace espalier::collective
