"""`espalier bench --torch`: it measures both backends and the operator, checks their sums, and compares what the models did."""

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_both_backends_are_measured(tmp_path, native, torch_python):
    result = tmp_path / "torch.json"
    command = [".venv/command/bin/python", "-m", "espalier", "bench", "--torch", "--ranks", "2", "--sizes", "8,100K"]
    done = subprocess.run(
        [*command, "--rounds", "2", "--when-busy", "go", "--json", str(result)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": "python", "ESPALIER_TORCH_PYTHON": torch_python},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (job,) = json.loads(result.read_text())["jobs"]
    points = {(point["type"], point["bytes"], point["backend"]): point["us"] for point in job["points"]}
    assert len(points) == 12 and all(len(us) == 2 and min(us) > 0 for us in points.values())
    assert job["form"] == ("C++" if native else "Python")
    for model, ways in (("train", 2), ("generate", 3)):
        outcomes = [one["outcome"] for one in job["models"] if one["model"] == model]
        assert len(outcomes) == ways and outcomes[0] and all(outcome == outcomes[0] for outcome in outcomes)
