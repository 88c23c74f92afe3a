"""Which algorithms there are, from the library's own table: tests that run each of them are made from it."""

from espalier.explain import algorithms as table

COLLECTIVES = table.collectives()
# Those that are served over several nodes, too, and in all their forms. The others go through the memory of one node.
SPANNING = [name for name in COLLECTIVES if table.of("network", name)]


def pairs(scope, collectives=COLLECTIVES, without=()):
    """(collective, algorithm), for each algorithm that a collective has in the scope."""
    return [(collective, algorithm) for collective in collectives for algorithm in table.of(scope, collective)
            if algorithm not in without]


def rounds(scope, collectives, without=()):
    """{collective: algorithm} for as many runs as one collective has algorithms: in the n-th each takes its n-th."""
    found = {name: [algorithm for algorithm in table.of(scope, name) if algorithm not in without] for name in collectives}
    most = max(map(len, found.values()))
    return [{name: names[n] for name, names in found.items() if n < len(names)} for n in range(most)]


def collectives_by_algorithm(scope, collectives):
    """(algorithm, the collectives that have it), for each algorithm of any of them."""
    found = {}
    for collective, algorithm in pairs(scope, collectives):
        found.setdefault(algorithm, []).append(collective)
    return list(found.items())
