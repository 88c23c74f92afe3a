"""NOTIFY's figures 3 and 6: an allgather once a node, and allreduce by dissemination."""

from __future__ import annotations

from figures.outputs import Times
from figures.text import span, table, us


def allgather(output: str) -> list[list[str]]:
    t = Times(output)
    nodes = [2, 4, 8, 16]
    plans = {"NOTIFY": "once a node, ring of nodes", "Bruck": "dissemination (Bruck) over ranks", "ring": "ring over ranks",
             "gatherv, bcast": "gatherv and bcast by nodes"}
    rows = [[title, *(us(t.us(variant=name, nodes=n)) for n in nodes), "" if name == "NOTIFY" else
             span(t.ratio(name, "NOTIFY", nodes=n) for n in nodes)] for name, title in plans.items()]
    return [table(["allgather, 256 KiB in all, 32 ranks a node, µs", "2 nodes", "4", "8", "16", "/ once a node"], rows)]


def allreduce(output: str) -> list[list[str]]:
    t = Times(output)
    nodes = [8, 16, 32, 64, 80]
    plans = {"NOTIFY": "dissemination with partial reductions, once a node",
             "recursive doubling": "recursive doubling over ranks",
             "Rabenseifner": "Rabenseifner over ranks", "reduce, bcast": "reduce and bcast over ranks",
             "the same by nodes": "reduce and bcast by nodes", "doubling by nodes": "recursive doubling once a node"}
    rows = [[title, *(us(t.us(variant=name, nodes=n, bytes="8B")) for n in nodes)] for name, title in plans.items()]
    hosts = [name for name in plans if name not in ("NOTIFY", "doubling by nodes")]
    for title, size in (("of one integer", "8B"), ("of 100 integers", "400B")):
        best = [min(t.us(variant=name, nodes=n, bytes=size) for name in hosts) for n in nodes]
        rows.append([f"best of the others over dissemination, {title}",
                     *(f"{time / t.us(variant='NOTIFY', nodes=n, bytes=size):.2f}" for n, time in zip(nodes, best))])
    return [table(["allreduce, 24 ranks a node, µs", "8 nodes", "16", "32", "64", "80"], rows)]


TABLES = {"notify-fig-3": allgather, "notify-fig-6": allreduce}
