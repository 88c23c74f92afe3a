"""tools/nightly runs parts one after the other, whatever becomes of them, and says how each ended."""

import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent


def nightly(*parts):
    return subprocess.run([REPOSITORY / "tools/nightly", *parts], capture_output=True, text=True, timeout=60, check=False)


def test_each_part_is_named_with_how_it_ended():
    run = nightly("no-such-part", "help")
    assert run.returncode == 1, run.stderr
    ends = run.stdout.splitlines()[-2:]
    assert ends[0].startswith("no-such-part: FAILED, see build/log/nightly/no-such-part.txt")
    assert ends[1].startswith("help: passed")
    assert "No rule to make target" in (REPOSITORY / "build/log/nightly/no-such-part.txt").read_text()


def test_all_well():
    assert nightly("help").returncode == 0
