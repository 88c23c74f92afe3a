"""HIER's figure 1 and its table 1: who knows of nodes, and what shared memory adds."""

from __future__ import annotations

from figures.outputs import Times
from figures.text import ms, table, times, us

# Collective, size: total of Table 1 in us, its ideal speed-up.
PUBLISHED = {("bcast", "256KiB"): ("9.3 ms", "1.046"), ("reduce", "256KiB"): ("12.1 ms", "1.057"),
             ("reduce", "1MiB"): ("71.9 ms", "1.044"), ("scan", "256KiB"): ("17.1 ms", "1.138"),
             ("scan", "1MiB"): ("69.0 ms", "1.172"), ("allreduce", "256KiB"): ("34.7 ms", "1.040"),
             ("allreduce", "1MiB"): ("71.8 ms", "1.108"), ("barrier", "-"): ("252 µs", "1.059")}


def roots(output: str) -> list[list[str]]:
    t = Times(output)
    flat, by_nodes = t.of(variant="flat"), t.of(variant="by nodes")
    head = ["bcast of 4 B, 16 ranks on 4 nodes, µs", "root 0", "root 1", "root 2", "root 3"]
    return [table(head, [["binomial tree over ranks", *map(us, flat)], ["by nodes", *map(us, by_nodes)]])]


def table_one(output: str) -> list[list[str]]:
    t = Times(output)
    rows = []
    for (collective, size), (total, ideal) in PUBLISHED.items():
        what = {"collective": collective, "bytes": size}
        printed = us if size == "-" else ms
        title = collective if size == "-" else f"{collective} {size.replace('KiB', ' KiB').replace('MiB', ' MiB')}"
        rows.append([title, total, printed(t.us(variant="messages", **what)) + (" µs" if size == "-" else ""), ideal,
                     f"{t.ratio('messages', 'shared', **what):.3f}", times(t.ratio("same plan", "messages", **what)),
                     times(t.ratio("MPICH2", "messages", **what))])
    return [table(["", "published, by nodes", "simulated, `messages`", "published, ideal speed-up of shared memory",
                   "`messages` / `shared`", "`same plan` / `messages`", "`MPICH2` / `messages`"], rows)]


TABLES = {"hier-fig-1": roots, "hier-table-1": table_one}
