"""What `espalier bench` is asked for: texts of the command line as checked settings."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Optional

from espalier.bench.collectives import ALL, ALLTOALLW, NEIGHBOURS
from espalier.interface import suggest
from espalier.problem import Problem
from espalier.sizes import parse_bytes

if TYPE_CHECKING:
    from espalier.bench.hosts import Host
    from espalier.bench.jobs import Settings

SIZES = "8,64,512,4K,32K,256K,1M,4M"
OVERSUBSCRIBED_SIZES = "8,512,8K,32K,256K,1M"
QUICK_SIZES = "8,1024,32K,1M"
QUICK_OVERSUBSCRIBED = "8,8K"


def numbers(text: str, what: str, low: int, high: int) -> tuple[int, ...]:
    try:
        found = tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise Problem(f"'{text}' is no list of {what}; write it as 2,4,8") from None
    if not found or not all(low <= value <= high for value in found):
        raise Problem(f"{what} must lie between {low} and {high}, not '{text}'")
    return found


def sizes(text: str) -> tuple[int, ...]:
    found = tuple(sorted({parse_bytes(part) for part in text.split(",") if part.strip()}))
    if not found or any(value <= 0 or value % 8 for value in found):
        raise Problem(f"sizes are whole numbers of doubles: multiples of 8 bytes, not '{text}'")
    if len(found) > 32:
        raise Problem(f"{len(found)} sizes are too many; at most 32")
    return found


def collectives(text: str) -> tuple[str, ...]:
    found = tuple(part.strip() for part in text.split(",") if part.strip())
    for name in found:
        if name not in ALL:
            raise suggest.unknown(f"'{name}' is no collective that is measured", name, ALL)
    return found


def chosen_collectives(given: SimpleNamespace) -> tuple[str, ...]:
    """--alltoallw and --neighbour-collectives take the place of --collectives."""
    pieces = (ALLTOALLW if given.alltoallw else ()) + (NEIGHBOURS if given.neighbour_collectives else ())
    return pieces or collectives(given.collectives)


def cpus(text: Optional[str]) -> tuple[int, ...]:
    if not text:
        return ()
    from espalier.bench import hosts

    found = numbers(text, "processors", 0, 4095)
    missing = sorted(set(found) - set(hosts.cores()))
    if missing:
        raise Problem(f"processor {missing[0]} is not among those this process may use: {hosts.cores()}")
    return tuple(sorted(set(found)))


def one_of(value: str, option: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise Problem(f"{option} {value}: choose {', '.join(choices[:-1])} or {choices[-1]}")
    return value


def late(value: float) -> float:
    if not 0 <= value <= 1_000_000:
        raise Problem(f"--late {value:g}: microseconds, at most 1000000")
    return value


def computing(value: float, has_requests: bool) -> float:
    if not 0 <= value <= 1_000_000:
        raise Problem(f"--computing {value:g}: microseconds, at most 1000000")
    if value and not has_requests:
        raise Problem("--computing goes with --nonblocking or --persistent: a blocking call leaves no time for it")
    return value


def mode(persistent: bool, nonblocking: bool) -> str:
    if persistent and nonblocking:
        raise Problem("--persistent and --nonblocking: choose one")
    return "persistent" if persistent else "nonblocking" if nonblocking else "blocking"


def buffers(text: str) -> tuple[str, ...]:
    kinds = {"written": ("written",), "reused": ("reused",), "both": ("written", "reused"), "allocated": ("allocated",)}
    if text not in kinds:
        raise Problem(f"--buffers {text}: choose written, reused, both or allocated")
    return kinds[text]


def chosen_hosts(given: SimpleNamespace) -> list[Host]:
    """--mpirun takes the place of --hosts; --mpicc goes with it. By default those of a clone, or what is on PATH."""
    from espalier.bench import hosts, own_mpi

    mpirun = given.mpirun or (None if given.hosts else own_mpi.if_installed())
    if given.mpicc and not mpirun and "/" not in (given.hosts or ""):
        raise Problem("--mpicc goes with --mpirun: it is the compiler of that MPI")
    return [own_mpi.named(mpirun, given.mpicc)] if mpirun else hosts.find(given.hosts or ",".join(hosts.HOSTS), given.mpicc)


def with_quota(wanted: Optional[bool], quick: bool, hosts: Sequence[Host]) -> bool:
    """Ranks that daemons start are not in the control group of this command."""
    apart = next((host for host in hosts if host.batch), None)
    if wanted and apart:
        raise Problem(f"--quota: the ranks of {apart.mpirun} are not started by this command, and no quota of its holds for them")
    return wanted if wanted is not None else not quick and not apart


def settings(given: SimpleNamespace) -> Settings:
    """The options of the command, by their names."""
    from espalier.bench import jobs

    quick = given.quick
    few = given.sizes or (QUICK_SIZES if quick else SIZES)
    many = given.oversubscribed_sizes or given.sizes or (QUICK_OVERSUBSCRIBED if quick else OVERSUBSCRIBED_SIZES)
    return jobs.Settings(
        ranks=numbers(given.ranks or ("2,4" if quick else "2,4,8,16"), "numbers of ranks", 1, 256),
        sizes=sizes(few),
        oversubscribed_sizes=sizes(many),
        collectives=chosen_collectives(given),
        buffers=buffers(given.buffers),
        mode=mode(given.persistent, given.nonblocking),
        compute_us=computing(given.computing, given.persistent or given.nonblocking),
        rounds=given.rounds or (4 if quick else 12),
        passes=given.passes or (1 if quick else 3),
        seconds=given.seconds or (3 if quick else 8),
        pin=one_of(given.pin, "--pin", ("auto", "yes", "no")),
        cpus=cpus(given.cpus),
        sessions=one_of(given.sessions, "--sessions", ("launcher", "own")),
        late_us=late(given.late),
        neighbour=given.neighbour,
        limits=given.limits,
        memory=parse_bytes(given.memory),
        host_only=given.host_only,
        hosts=tuple(chosen_hosts(given)),  # last: it may start a job to see which MPI that is
    )
