"""Statistics and flight records of a run that never was: ranks come one after the other, the last one late."""

from espalier.who.seen import Call, Comm, Seen

MODEL = {
    "name": "a made-up machine of 8 cores",
    "simulate": {
        "levels": [{"name": "l3", "cores": 4, "line_ns": 50, "copy_ns_per_byte": 0.05},
                   {"name": "machine", "cores": 8, "line_ns": 100, "copy_ns_per_byte": 0.1}],
        "controller_ns_per_byte": 0.02, "wake_ns": 2000},
}


def row(collective="allreduce", size=64, calls=100, mean=1e-3, waited=6e-4, spread=None, last=((3, 80), (0, 20)), **more):
    counts = [0] * 31
    for width, count in (spread or {12: 70, 13: 20, 20: 10}).items():
        counts[width] = count
    return {
        "communicator": 0, "collective": collective, "bytes_from": size, "bytes_to": 2 * size - 1 if size else 0, "calls": calls,
        "seconds": mean, "mean_seconds": mean, "slowest_seconds": mean, "waited_seconds": waited,
        "mostly_last": {"rank": last[0][0], "calls": last[0][1]}, "came_last": [{"rank": rank, "calls": n} for rank, n in last],
        "arrival_spread": counts, "mean_bytes": size, "algorithm": "exchange", "transport": "shared memory",
        "wait": {"spin": 0, "progress": 0, "yield": 0, "sleep": 0}, "fallback": None, "passed_over": None, **more}


def report(*rows, ranks=4):
    return {"schema": 1, "ranks": ranks, "host": "MPICH Version: 5.0.2", "build": "mpich", "run_seconds": 2.0,
            "communicators": [{"id": 0, "size": ranks, "name": f"{ranks} ranks", "transport": "shared memory"}],
            "allocated": {"blocks": 0, "reads": 0}, "rows": list(rows), "sites": []}


WORLD = "0" * 32
AT = 10**12  # the clock when the ranks wrote


def flight(ranks=4, calls=((10.0, 14.0), (20.0, 24.0)), late=3, step=0.5, lateness=2.0, collective="allreduce", root=None, boots=("a",)):
    """`calls`: microseconds from the first rank's arrival to the end. Rank r comes `step` r later, `late` another `lateness`."""
    found = []
    for rank in range(ranks):
        made = []
        for number, (begin, end) in enumerate(calls, 1):
            came = begin + step * rank + (lateness if rank == late else 0.0)
            made.append(Call(WORLD, collective, number, False, 64, root, (1000 - came) * 1e-6, (1000 - end) * 1e-6))
        comm = Comm(WORLD, "MPI_COMM_WORLD", ranks, rank, 0, 1)
        boot = boots[rank * len(boots) // ranks]
        found.append(Seen("1", rank, ranks, "a", "n", 1, "", calls=made, communicators=[comm], host="MPICH", build="mpich",
                          at_ns=AT * (1 + boots.index(boot)), boot=boot))
    return found
