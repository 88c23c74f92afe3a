"""Made-up results: times are chosen, so that what must come out can be worked out by hand."""


def make_round(collective, size, host_us, espalier_us, f_ns=60.0, number=0):
    found = {"collective": collective, "bytes": size, "round": number, "host_us": host_us, "f_ns": f_ns}
    return found | ({"espalier_us": espalier_us} if espalier_us else {})


def make_job(host, ranks, rounds, variant="best", buffers="written"):
    return {
        "host": host,
        "variant": variant,
        "ranks": ranks,
        "buffers": buffers,
        "pass": 0,
        "command": f"mpirun -n {ranks} compare",
        "seconds": 1.0,
        "run": {"host_version": host, "mpi_library": "a", "host_library": "b"},
        "rounds": rounds,
        "limits": [],
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
