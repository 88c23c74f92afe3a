"""torch's own tests of a backend, which know the name gloo, served by Espalier: those of the collectives that have forms of
their own here (docs/pytorch.md says which are left out)."""

import subprocess

import pytest

WORDS = "all_gather_coalesced all_reduce_sum all_reduce_coalesced reduce_min broadcast all_to_all scatter".split()


def test_torchs_own_tests_pass(start, torch_python):
    if subprocess.run([torch_python, "-c", "import expecttest, hypothesis"], capture_output=True).returncode != 0:
        pytest.skip(f"torch.testing needs expecttest and hypothesis: {torch_python} -m pip install expecttest hypothesis")
    program = start(1, "torchs_own.py", *WORDS, WORLD_SIZE="2", ESPALIER_TORCH="gloo", ESPALIER_TORCH_NATIVE="off")
    (output,) = program.expect_success(400)
    outcomes = [line.split()[1:] for line in output.splitlines() if line.startswith("test ")]
    failed = [name for name, outcome in outcomes if outcome == "failed"]
    passed = [name for name, outcome in outcomes if outcome == "ok"]
    assert not failed, f"{failed}\n{output[-5000:]}"
    assert "test_who_serves" in passed and len(passed) > 20, passed
