"""A rank that overwrites the memory of its node: no other writes outside of its own buffers."""

import os
import re

import hosts
import pytest
from test_killed import kill_all

pytestmark = pytest.mark.needs_espalier

# The number of damaged words follows from the seed: of three, each number has one.
SEEDS = range(int(os.environ.get("ESPALIER_TEST_DAMAGES", "6" if os.environ.get("ESPALIER_TEST_FULL") == "1" else "3")))
SAYS = re.compile(r"^rank (\d+): (told|waits|crashed|overrun) (.*)$", re.M)


def test_other_ranks_write_nowhere_else():
    """Of few words and of many. What a rank reads may be nonsense, and its result with it."""
    mark, wrong, said = f"damaged-{os.getpid()}", [], 0
    for seed in SEEDS:
        env = {"ESPALIER_FALLBACK": "silent", "ESPALIER_TEST_MARK": mark}
        try:
            run = hosts.launch(hosts.HOSTS["mpich"], 4, "damaged", seed, [1, 10, 100][seed % 3], env=env,
                               placement=["-disable-auto-cleanup"], timeout=90)
        finally:
            kill_all(mark)
        for rank, what, how in SAYS.findall(run.out):
            if what == "overrun" or (what == "crashed" and how.startswith("writing")):
                wrong.append(f"seed {seed}: rank {rank} {what} {how}\n{run}")
            said += 1
    assert not wrong, "\n".join(wrong)
    assert said > 0, "no rank has said what became of it"
