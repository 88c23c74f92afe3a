"""The plans among which rules are derived: every algorithm that the simulated machine runs, with the trees, chunks and
segments that may matter."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

_KIB = 1024
# Trees of a node: RG III-A's shapes, over the machine's domains, per package (RG VI-B), or without them.
_GATHER = (
    "flat", "flat levels=none", "kary:2", "kary:3", "kary:4", "kary:8", "knomial:2", "knomial:4", "knomial:4 levels=none",
    "kary:2 levels=package", "kary:3 levels=package", "kary:4 levels=package", "flat virtual=4", "flat virtual=8",
)
_LATE = " leaders=last skew=right"  # upward the far ones are taken last (RG III-A.2, III-A.3)
_RELEASE = ("flat leaders=first", "flat levels=none", "kary:4", "kary:4 levels=package", "kary:8 levels=none", "knomial:4")
# Upward for packed blocks. Downward all read the root's slot.
_COLLECT = (
    "flat l3=flat numa=kary:4 package=kary:4 leaders=last", "kary:4 levels=package leaders=last skew=right",
    "knomial:4 leaders=last skew=right", "flat leaders=last skew=right",
)
_NETWORK_TREES = ("knomial:2", "knomial:4", "knomial:8", "kary:2", "kary:4", "chain", "flat")


def _chunks(size: int, ladder: tuple[int, ...]) -> list[int]:
    """Those that cut the message, and one that does not."""
    return [chunk for chunk in ladder if chunk < size] + [next((c for c in ladder if c >= size), ladder[-1])]


def _unique(plans: list[Json]) -> list[Json]:
    found: list[Json] = []
    for plan in plans:
        if plan not in found:
            found.append(plan)
    return found


def _with_chunks(algorithm: str, size: int, ladder: tuple[int, ...], **keys: str) -> list[Json]:
    return [{"algorithm": algorithm, "chunk": chunk, **keys} for chunk in dict.fromkeys(_chunks(size, ladder))]


def of_node(collective: str, size: int, ranks: int) -> list[Json]:
    """Rules within a node. `size`: as rules count bytes."""
    # Each rank folds what all ranks have: of long vectors that is never the best with many, and long to simulate.
    all_fold = size <= 32 * _KIB or ranks <= 8
    few = (8 * _KIB, 32 * _KIB)
    # Short chunks of long vectors take long to simulate, and are not the best.
    shorter = (4 * _KIB, 16 * _KIB) if size <= 1024 * _KIB else ()
    some = (*shorter, 32 * _KIB, 64 * _KIB)
    late = [tree + _LATE for tree in _GATHER]
    if collective == "barrier":
        trees = [{"algorithm": "tree", "gather_tree": tree, "release_tree": down} for tree in late for down in _RELEASE]
        return [{"algorithm": "exchange"}, *trees]
    if collective == "bcast":
        return _unique([plan for tree in (*_RELEASE, "flat virtual=8", "kary:8")
                        for plan in _with_chunks("tree", size, (8 * _KIB, 16 * _KIB, 32 * _KIB), tree=tree)])
    if collective == "reduce":
        return _unique([plan for tree in late for plan in _with_chunks("tree", size, few, tree=tree)])
    if collective == "allreduce":
        down = ("flat leaders=first", "flat levels=none", "kary:4 levels=package") if size <= 64 * _KIB else ()
        trees = [plan for tree in late for release in down
                 for plan in _with_chunks("tree", size, few, gather_tree=tree, release_tree=release)]
        exchange = _with_chunks("exchange", size, some) if all_fold else []  # trees: short vectors (they fold all at the root)
        return _unique([*exchange, *_with_chunks("sliced", size, some), *trees])
    if collective in ("scan", "exscan"):
        exchange = _with_chunks("exchange", size, some) if all_fold else []
        chains = [{"algorithm": "chain", "chunk": chunk}
                  for chunk in ((512, _KIB, 4 * _KIB) if size <= 1024 * _KIB else (2 * _KIB, 4 * _KIB, 16 * _KIB))]
        return _unique([*exchange, *_with_chunks("sliced", size, some), *chains, *_packed(size, ranks)])
    if collective in ("gather", "gatherv", "scatter", "scatterv"):
        return _unique(_with_chunks("direct", size, (8 * _KIB, 32 * _KIB, 128 * _KIB)))
    exchange = _with_chunks("exchange", size, some)
    if collective in ("allgather", "allgatherv"):
        grouped = _grouped() if size <= 64 * _KIB else []
        return _unique([*exchange, *grouped, *_packed(size, ranks)])
    if collective == "alltoallv":
        return exchange
    # Ranks that meet by one counter: only where that is little beside the data.
    central = [{"algorithm": "central", "chunk": 128 * _KIB}] if collective == "alltoall" and size >= 64 * _KIB else []
    # In groups all goes through a slot twice: not for long blocks.
    return _unique([*exchange, *central, *(_grouped() if size <= ranks * 16 * _KIB else [])])


def _grouped() -> list[Json]:
    return [{"algorithm": "grouped", "chunk": chunk} for chunk in (16 * _KIB, 32 * _KIB, 128 * _KIB)]


def _packed(size: int, ranks: int) -> list[Json]:
    """Along trees; the root's slot has what all ranks have: short vectors."""
    if size * ranks > 64 * _KIB:
        return []
    return [{"algorithm": "tree", "chunk": 32 * _KIB, "gather_tree": up, "release_tree": down}
            for up in _COLLECT for down in ("flat leaders=first", "kary:4 levels=package")]


def _network(algorithm: str, size: int, ladder: tuple[int, ...], **keys: Any) -> list[Json]:
    return [{"network": algorithm, "segment": segment, **keys} for segment in dict.fromkeys(_chunks(size, ladder))]


def _few(size: int, segments: tuple[int, ...]) -> tuple[int, ...]:
    """Each goes around a ring by itself: many are never the best, and take long to simulate on many nodes."""
    return tuple(segment for segment in segments if segment >= size // 4) or segments[-1:]


def of_network(collective: str, size: int) -> list[Json]:
    """Rules between nodes."""
    pieces = (16 * _KIB, 32 * _KIB, 128 * _KIB, 1024 * _KIB)
    large = (64 * _KIB, 256 * _KIB, 1024 * _KIB)
    trees = [plan for tree in _NETWORK_TREES for plan in _network("tree", size, pieces, tree=tree)]
    if collective == "barrier":
        return [{"network": "dissemination"}, *({"network": "tree", "tree": tree} for tree in _NETWORK_TREES)]
    if collective == "bcast":
        return _unique([*trees, *_network("scatter-allgather", size, _few(size, large))])
    if collective == "reduce":
        return _unique([*trees, *_network("rabenseifner", size, large)])
    if collective == "allreduce":
        doubling = [plan for name in ("recursive-doubling", "dissemination") for plan in _network(name, size, pieces)]
        long = [plan for name, segments in (("rabenseifner", large), ("ring", _few(size, large))) for leaders in (1, 4, "all")
                for plan in _network(name, size, segments, leaders=leaders)]
        short = trees if size <= 16 * _KIB else []
        return _unique([*short, *doubling, *long, *(_network("gather-all", size, (1024 * _KIB,)) if size <= 4096 else [])])
    if collective in ("scan", "exscan"):
        few = [plan for name in ("recursive-doubling", "chain") for plan in _network(name, size, pieces)]
        return _unique([*few, *(_network("gather-all", size, (1024 * _KIB,)) if size <= 4096 else [])])
    if collective in ("allgather", "allgatherv"):
        return _unique([*_network("dissemination", size, (1024 * _KIB,)), *_network("ring", size, (32 * _KIB, 128 * _KIB))])
    if collective in ("reduce_scatter", "reduce_scatter_block"):
        return [{"network": "allreduce"}, {"network": "transpose"}]
    return _unique(_network("direct", size, (8 * _KIB, 16 * _KIB, 64 * _KIB)))
