"""LightGBM over Espalier (examples/lightgbm) trains what it trains over its own sockets, to the bit.
Which Python has lightgbm: ESPALIER_LIGHTGBM_PYTHON, else the one that runs the tests."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = os.environ.get("ESPALIER_LIGHTGBM_PYTHON", sys.executable)


@pytest.fixture(scope="module", autouse=True)
def lightgbm_there():
    if subprocess.run([PYTHON, "-c", "import lightgbm"], capture_output=True).returncode != 0:
        pytest.skip(f"{PYTHON} has no lightgbm: pip install lightgbm there, or set ESPALIER_LIGHTGBM_PYTHON")


def trained(ranks, network, learner="data"):
    """The error and the fingerprint of the trees."""
    words = [PYTHON, "examples/lightgbm/train.py", "--rows", "5000", "--trees", "10", "--learner", learner]
    done = subprocess.run(
        [*words, "--ranks", str(ranks), "--network", network],
        cwd=ROOT,
        env={**os.environ, "LD_LIBRARY_PATH": str(ROOT / "build/lib")},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(rf"{ranks} ranks, \w+: .* s, error (\S+), trees (\w+)$", done.stdout, re.M)
    assert found, done.stdout + done.stderr
    return float(found[1]), found[2]


@pytest.mark.parametrize("ranks, learner", [(2, "data"), (4, "data"), (4, "voting")])
def test_trees_are_those_of_the_sockets(ranks, learner):
    assert trained(ranks, "espalier", learner) == trained(ranks, "sockets", learner)


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_error_is_that_of_one_process(ranks):
    assert trained(ranks, "espalier")[0] == pytest.approx(trained(1, "espalier")[0], rel=1e-4)
