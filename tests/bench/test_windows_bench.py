"""bench/windows: a short run gives a table and a file."""

import json
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def test_a_short_run(tmp_path):
    out = tmp_path / "windows.json"
    words = [sys.executable, REPOSITORY / "bench" / "windows", "--rounds", 3, "--hosts", "mpich", "--out", out]
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(out.read_text())
    assert document["schema"] == "espalier-windows-bench/1"
    assert [(job["host"], job["transport"]) for job in document["jobs"]] == [("mpich", "message"), ("mpich", "rma")]
    for job in document["jobs"]:
        found = {(row["what"], row["bytes"]) for row in job["rows"]}
        assert {("put_notify", 0), ("send", 1 << 20), ("busy, answered", 65536)} <= found
        assert all(0 < row["low_us"] <= row["median_us"] <= row["high_us"] for row in job["rows"])
    assert "| put_notify | 8 |" in done.stdout
