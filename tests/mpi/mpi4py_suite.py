"""Runs mpi4py's own tests of collectives (test_cco_*, from its source distribution) under a host MPI.

    python mpi4py_suite.py mpich|openmpi|impi RANKS [--bare]

Upstream's runner is test/main.py; `-i cco` takes the modules whose name holds "cco".
"""

import re
import subprocess
import sys
import tarfile
from pathlib import Path

import hosts

VERSION = "4.1.2"
CACHE = hosts.REPOSITORY / ".cache" / "mpi4py"


def source() -> Path:
    """The unpacked source distribution, fetched once."""
    folder = CACHE / f"mpi4py-{VERSION}"
    if (folder / "test" / "main.py").exists():
        return folder
    CACHE.mkdir(parents=True, exist_ok=True)
    archive = CACHE / f"mpi4py-{VERSION}.tar.gz"
    if not archive.exists():
        print(f"fetching mpi4py {VERSION}'s source distribution ...", flush=True)
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-binary", "mpi4py", "--no-deps",
                        "--no-build-isolation", "--dest", str(CACHE), f"mpi4py=={VERSION}"], check=True)
    with tarfile.open(archive) as packed:
        packed.extractall(CACHE, filter="data")
    return folder


def run(host, ranks, espalier=True, env=None, timeout=400, options=()):
    """Without a verbose list: rank 0's summary counts, and the exit status of all."""
    # The tree's own mpi4py/ is not built; the environment's must be imported, so the tests run from elsewhere.
    main = source() / "test" / "main.py"
    return hosts.launch(host, ranks, host.python, main, "--no-builddir", "-q", "-i", "cco", *options, env=env, timeout=timeout,
                        espalier=espalier, cwd=main.parent)


def summary(outcome):
    """(tests that ran, whether all are well)"""
    ran = re.findall(r"^Ran (\d+) tests? in", outcome.out + outcome.err, re.M)
    return (int(ran[0]) if ran else 0), outcome.status == 0 and bool(ran)


if __name__ == "__main__":
    name, ranks = sys.argv[1], int(sys.argv[2])
    outcome = run(hosts.HOSTS[name], ranks, espalier="--bare" not in sys.argv, env={"ESPALIER_FALLBACK": "error"})
    print(outcome)
    count, well = summary(outcome)
    print(f"{name}, {ranks} ranks: {count} tests, {'all passed' if well else 'FAILED'}, {outcome.seconds:.0f} s")
    sys.exit(0 if well else 1)
