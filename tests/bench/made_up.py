"""Made-up results: times are chosen, so that what must come out can be worked out by hand."""


def make_round(collective, size, host_us, espalier_us, f_ns=60.0, number=0):
    found = {"collective": collective, "bytes": size, "round": number, "host_us": host_us, "f_ns": f_ns}
    return found | ({"espalier_us": espalier_us} if espalier_us else {})


def make_job(host, ranks, rounds, variant="best", buffers="written", place="", mode="blocking", **more):
    run = {"host_version": host, "mpi_library": "a", "host_library": "b"}
    run |= {"shared_session": False, "own_sessions": True, "autogroup": True, "left_out": []}
    return {
        "host": host,
        "variant": variant,
        "ranks": ranks,
        "buffers": buffers,
        "mode": mode,
        "pass": 0,
        "command": f"mpirun -n {ranks} compare",
        "seconds": 1.0,
        "kind": "points",
        "place": place,
        "run": run,
        "rounds": rounds,
        "limits": [],
        "switches": [],
        "each": [],
        "served": {},
        **more,
    }


def make_document(*jobs, near_below_ns=120.0):
    return {
        "schema": "espalier-bench/1",
        "date": "2025-01-01T00:00:00+00:00",
        "espalier": "0.1.0",
        "machine": {"processor": "Test", "cores": 2, "kernel": "Linux"},
        "near_below_ns": near_below_ns,
        "settings": {},
        "jobs": list(jobs),
        "failures": [],
    }


def steady(collective, size, host_us, espalier_us, f_ns=60.0, rounds=5):
    return [make_round(collective, size, host_us, espalier_us, f_ns, i) for i in range(rounds)]


def make_each(side, p95, median=1.0):
    """The quantiles of single 8 B allreduces."""
    found = {"collective": "allreduce", "bytes": 8, "side": side, "calls": 100}
    return found | {"least": 0.5, "low": 0.8, "median": median, "high": 1.2, "p95": p95, "p99": 2 * p95, "most": 10 * p95}


def make_limit(size, number, pipe_us, f_ns=60.0):
    cut = {"pipe_chunk": 16384, "pipe_slots": 4}
    return {"bytes": size, "round": number, "memcpy_us": pipe_us / 2, "pipe_us": pipe_us, "f_ns": f_ns, **cut}


def both_modes():
    """Every host time twice: of the blocking call and, half as long, of the persistent one; by whom served."""
    by = lambda who: {"bcast": {"by": who, "calls": 1, "espalier": 1}}
    rounds = lambda us: steady("bcast", 8, us, us / 2)
    jobs = [
        make_job(host, 2, rounds(us), mode=mode, served=by(who))
        for mode, us, who in (("blocking", 2.0, "espalier"), ("persistent", 1.0, "host"))
        for host in ("mpich", "impi")
    ]
    return make_document(*jobs)
