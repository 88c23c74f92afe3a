"""torch's own tests of a backend, which know the name gloo: what passes with gloo passes with Espalier, name by name. What is left
out, and why, docs/pytorch.md says."""

import subprocess

import pytest

LIMIT = 1500  # seconds


def outcomes_of(program):
    (output,) = program.expect_success(LIMIT)
    assert "all done" in output, output[-5000:]
    return dict(line.split()[1:3] for line in output.splitlines() if line.startswith("test ")), output


@pytest.fixture(scope="module")
def of_gloo():
    """Outcomes by name, once found."""
    return {}


def test_torchs_own_tests_have_the_outcomes_that_they_have_with_gloo(start, form, torch_python, of_gloo):
    if subprocess.run([torch_python, "-c", "import expecttest, hypothesis"], capture_output=True).returncode != 0:
        pytest.skip(f"torch.testing needs expecttest and hypothesis: {torch_python} -m pip install expecttest hypothesis")
    shared = {"WORLD_SIZE": "2", "DISTRIBUTED_TESTS_DEFAULT_TIMEOUT": "120"}
    if not of_gloo:
        of_gloo.update(outcomes_of(start(1, "torchs_own.py", **shared))[0])
    ours, output = outcomes_of(start(1, "torchs_own.py", ESPALIER_TORCH="gloo", **shared))
    assert ours.keys() == of_gloo.keys()
    worse = {name: outcome for name, outcome in ours.items() if outcome != "ok" and outcome != of_gloo[name]}
    assert not worse, f"{worse}\n{output[-5000:]}"
    passed = [name for name, outcome in ours.items() if outcome == "ok"]
    assert "test_who_serves" in passed and len(passed) > 80, passed
