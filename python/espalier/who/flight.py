"""The last calls of all ranks as a file: JSON, which `espalier stats` reads, and what PyTorch's flight recorder writes, which
its viewer (torch.distributed.flight_recorder.fr_trace) reads: one pickled dictionary a rank."""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

from espalier.problem import Problem
from espalier.who import waiting
from espalier.who.seen import Call, Seen, from_document

SCHEMA = "espalier-flight/1"
_OF_PYTORCH = "2.10"  # the version of its format whose fields stand here
_NAMES = {
    **{"bcast": "broadcast", "allreduce": "all_reduce", "allgather": "all_gather", "allgatherv": "all_gather"},
    **{"alltoall": "all_to_all", "alltoallv": "all_to_all", "alltoallw": "all_to_all", "barrier": "all_reduce_barrier"},
    **{"reduce_scatter_block": "reduce_scatter", "gatherv": "gather", "scatterv": "scatter"},
}


def write(ranks: list[Seen], dump: Optional[Path], pytorch: Optional[Path]) -> list[Path]:
    """The files that were written."""
    written = []
    try:
        if dump is not None:
            dump.write_text(json.dumps(document(ranks), indent=1) + "\n", encoding="utf-8")
            written.append(dump)
        if pytorch is not None:
            for seen in ranks:
                path = pytorch.with_name(f"{pytorch.name}{seen.rank}")
                path.write_bytes(pickle.dumps(of_pytorch(seen, ranks), protocol=4))
                written.append(path)
    except OSError as error:
        raise Problem(f"{error.filename or dump or pytorch} cannot be written ({error.strerror})") from error
    return written


def document(ranks: list[Seen]) -> dict[str, Any]:
    first = ranks[0]
    return {
        "schema": SCHEMA,
        "job": first.job,
        "ranks": first.ranks,
        "host": first.host,
        "build": first.build,
        "seen": [seen.document() for seen in ranks],
    }


def of_pytorch(seen: Seen, ranks: list[Seen]) -> dict[str, Any]:
    now = time.time_ns()
    groups = {
        comm.id: {"name": comm.id, "desc": comm.name or f"{comm.size} ranks", "ranks": json.dumps(_members(comm.id, ranks))}
        for comm in seen.communicators
    }
    numbers = {identity: number for number, identity in enumerate(groups)}
    calls = [*((call, True) for call in seen.calls), *((call, False) for call in seen.inside)]
    known = [(call, is_over) for call, is_over in calls if call.communicator in groups]
    entries = [_entry(at, call, is_over, numbers, groups, now) for at, (call, is_over) in enumerate(known)]
    status = {str(number): _status(identity, seen) for identity, number in numbers.items()}
    return {"version": _OF_PYTORCH, "pg_config": groups, "pg_status": status, "entries": entries}


def _members(identity: str, ranks: list[Seen]) -> list[int]:
    return sorted(rank for rank in waiting.members_of(identity, ranks).values() if rank is not None)


def _entry(at: int, call: Call, is_over: bool, numbers: dict[str, int], groups: dict[str, Any], now: int) -> dict[str, Any]:
    identity = call.communicator or ""
    frame = {"name": call.place.partition(" (")[0] or "??", "filename": call.place, "line": 0}
    return {
        "record_id": at,
        "pg_id": numbers[identity],
        "process_group": (groups[identity]["name"], groups[identity]["desc"]),
        "collective_seq_id": call.sequence or 0,
        "p2p_seq_id": 0,
        "op_id": at,
        "profiling_name": f"nccl:{_NAMES.get(call.collective, call.collective)}",  # the viewer knows no other back end
        "time_created_ns": now - round((call.seconds or 0) * 1e9),
        "input_sizes": [[call.bytes or 0]],
        "input_dtypes": ["Byte"],
        "output_sizes": [[call.bytes or 0]],
        "output_dtypes": ["Byte"],
        "state": "completed" if is_over else "started",
        "time_discovered_started_ns": now - round((call.seconds or 0) * 1e9),
        "time_discovered_completed_ns": now - round((call.ended or 0) * 1e9) if is_over else None,
        "retired": is_over,
        "timeout_ms": 0,
        "is_p2p": False,
        "frames": [frame],
    }


def _status(identity: str, seen: Seen) -> dict[str, Any]:
    inside = [call for call in seen.inside if call.communicator == identity]
    done = [call for call in seen.calls if call.communicator == identity]
    return {
        "last_enqueued_collective": max((call.sequence or 0 for call in (*done, *inside)), default=-1),
        "last_started_collective": max((call.sequence or 0 for call in (*done, *inside)), default=-1),
        "last_completed_collective": max((call.sequence or 0 for call in done), default=-1),
    }


def statistics_of(flight: dict[str, Any]) -> dict[str, Any]:
    """The calls of such a file as `espalier stats` counts a run: of each rank the last ones, times of those that have some."""
    ranks = [from_document(item) for item in flight["seen"]]
    sums: dict[tuple[int, str, int, bool], dict[int, list[Call]]] = {}
    for seen, call in _calls(ranks):
        comm = seen.comm(call.communicator)
        size = comm.size if comm else seen.ranks
        key = (size, call.collective, (call.bytes or 0).bit_length(), call.by_host)
        sums.setdefault(key, {}).setdefault(seen.rank, []).append(call)
    sizes = {size: number for number, size in enumerate(sorted({key[0] for key in sums}))}
    communicators = [
        {"id": number, "size": size, "name": f"{size} ranks", "transport": "not known"} for size, number in sizes.items()
    ]
    return {
        "schema": 1,
        "ranks": flight["ranks"],
        "counted": len(ranks),
        "host": flight["host"],
        "build": flight["build"],
        "communicators": communicators,
        "allocated": {"blocks": 0, "reads": 0},
        "rows": [_row(key, sums[key], sizes) for key in sorted(sums)],
    }


def _calls(ranks: list[Seen]) -> Iterator[tuple[Seen, Call]]:
    for seen in ranks:
        for call in (*seen.calls, *seen.inside):
            yield seen, call


def _row(key: tuple[int, str, int, bool], by_rank: dict[int, list[Call]], sizes: dict[int, int]) -> dict[str, Any]:
    size, collective, size_class, by_host = key
    first = 0 if size_class == 0 else 1 << (size_class - 1)
    spent = [sum(_seconds(call) for call in calls) for calls in by_rank.values()]
    return {
        "communicator": sizes[size],
        "collective": collective,
        "bytes_from": first,
        "bytes_to": first * 2 - 1 if first else 0,
        "calls": round(sum(map(len, by_rank.values())) / len(by_rank)),
        "seconds": sum(spent) / len(spent),
        "mean_seconds": sum(spent) / len(spent),
        "slowest_seconds": max(spent),
        "waited_seconds": None,
        "mostly_last": None,
        "algorithm": "host" if by_host else "not recorded",
        "transport": "host" if by_host else "not recorded",
        "wait": {"spin": 0, "progress": 0, "yield": 0, "sleep": 0},
        "fallback": "served by the host" if by_host else None,
        "passed_over": None,
    }


def _seconds(call: Call) -> float:
    return (call.seconds or 0) - (call.ended or 0) if call.seconds is not None else 0.0
