"""A rank dies at a random moment of set-up, creation or use, with the launcher's clean-up off: every survivor that waits for
something of Espalier's is told which rank it was, and nothing remains."""

import os
import random
import re

import hosts
import pytest
from test_killed import check_nothing_left, kill_all, listing

pytestmark = pytest.mark.needs_espalier

TIMES = int(os.environ.get("ESPALIER_TEST_DEATHS", "3"))  # per host; ESPALIER_TEST_DEATHS=170 for the full measure
# That is of a machine of its own. Elsewhere survivors share busy cores, and a wait without the word would not end at all.
LONGEST_MS = (2000 if "ESPALIER_TEST_DEATHS" in os.environ else 30_000) * hosts.SLOWER
# MPICH's launcher ends the survivors of a rank that a signal kills, whatever it is told.
WAYS = {"mpich": "exits", "openmpi": "killed", "impi": "killed"}
LET_IT_GO = {"hydra": "-disable-auto-cleanup", "intel": "-disable-auto-cleanup", "openmpi": "--continuous"}
TOLD = re.compile(r"^rank (\d+): told (.+?) (\d+): (.*)$", re.M)
WAITS = re.compile(r"^rank (\d+): waits (.+)$", re.M)


def faults(run, victim, ranks):
    """What is wrong with the survivors of a run. A call of the host's own may wait for ever for the victim, and a rank that
    has left that call then waits in ours for one that is still in it, and runs."""
    told, waiting = TOLD.findall(run.out), WAITS.findall(run.out)
    in_host = [rank for rank, call in waiting if call.startswith("host:")]
    found = [f"rank {rank} waits in {call}" for rank, call in waiting if not in_host]
    for rank, call, milliseconds, text in told:
        if call.startswith("host:") or "Espalier" not in text and "espalier" not in text:
            continue
        if int(milliseconds) > LONGEST_MS:
            found.append(f"rank {rank} learned after {milliseconds} ms")
        if not re.search(r"rank \d+ has (ended|freed)", text):
            found.append(f"rank {rank} is not told which rank: {text}")
    if len(told) + len(waiting) < ranks - 1 and not run.status:
        found.append("a survivor said nothing")
    return found


def test_survivors_are_told(launch, host, tmp_path):
    before, mark = listing(), f"{os.getpid()}-{host.name}"
    wrong = []
    for number in range(TIMES):
        dice = random.Random(f"{host.name} {number}")
        ranks = dice.choice([2, 3, 4, 6])
        victim, moment = dice.randrange(ranks), int(10 ** dice.uniform(1.5, 4.7))
        env = {"ESPALIER_FALLBACK": "silent", "ESPALIER_TEST_MARK": mark}
        run = launch(host, ranks, "random_deaths", victim, moment, number, WAYS[host.name], env=env,
                     placement=[LET_IT_GO[host.kind]] + (["--oversubscribe"] if host.kind == "openmpi" else []), timeout=120)
        wrong += [f"run {number} ({ranks} ranks, rank {victim} dies after {moment} us): {fault}\n{run.out}"
                  for fault in faults(run, victim, ranks)]
        kill_all(mark)
    assert not wrong, "\n".join(wrong)
    check_nothing_left(before, mark, "these jobs")
