#include "plan/algorithms.hpp"

namespace espalier::plan {

const AlgorithmUse* find_use(Scope scope, Collective collective, Algorithm algorithm) {
  for (const AlgorithmUse& use : algorithm_uses)
    if (use.scope == scope && use.algorithm == algorithm && use.collectives.contains(collective)) return &use;
  return nullptr;
}

std::vector<Algorithm> algorithms_of(Scope scope, Collective collective) {
  std::vector<Algorithm> found = {Algorithm::host};
  for (const AlgorithmUse& use : algorithm_uses)
    if (use.scope == scope && use.collectives.contains(collective)) found.push_back(use.algorithm);
  return found;
}

bool has_algorithm(Scope scope, Collective collective, Algorithm algorithm) {
  return algorithm == Algorithm::host || find_use(scope, collective, algorithm);
}

Requirement requirement_of(Scope scope, Collective collective, Algorithm algorithm) {
  const AlgorithmUse* use = find_use(scope, collective, algorithm);
  return use ? use->requirement : Requirement::nothing;
}

}  // namespace espalier::plan
