"""What the stand-ins for launchers of batch systems have in common: they read their own options strictly, make the environment
of the ranks as the launcher they stand for does, and start them by an MPI that is installed here (ESPALIER_TEST_MPIRUN_PMI,
ESPALIER_TEST_MPIRUN_PMIX), as the batch system's daemon would: without what is preloaded here.

    rank.py FILE PROGRAM...    a rank: FILE has its environment, to which only what its process manager says is added
"""

import getopt
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path



def options(name, words, short, long):
    """(options, program). An option that the launcher does not know ends it, as it would."""
    try:
        return getopt.getopt(words, short, long)
    except getopt.GetoptError as error:
        sys.exit(f"{name}: {error}")


def start(manager, ranks, program, environment, of_rank):
    """`manager`: "PMI" or "PMIX"; `of_rank`: variables whose values say {rank} and {ranks}."""
    if not program:
        sys.exit("there is no program to start")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"environment": environment, "of_rank": of_rank, "ranks": ranks}, file)
        file.flush()
        daemons = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD" and not key.startswith("ESPALIER_STATS")}
        more = ["--oversubscribe"] if manager == "PMIX" else []
        mpirun = os.environ[f"ESPALIER_TEST_MPIRUN_{manager}"]
        rank = str(Path(__file__).with_name("rank.py"))
        words = [mpirun, *more, "-n", str(ranks), sys.executable, "-I", "-S", rank, file.name, *program]
        sys.exit(subprocess.run(words, env=daemons).returncode)


def start_alone(ranks, program, environment, of_rank):
    """Without a process manager: each a job of its own."""
    codes = []
    for rank in range(ranks):
        own = {key: value.format(rank=rank, ranks=ranks) for key, value in of_rank.items()}
        codes.append(subprocess.run(program, env={**environment, **own}).returncode)
    sys.exit(max(codes))
