"""`espalier bench --torch`: torch.distributed by gloo and by Espalier, in turns in one job for each number of ranks, and beside
them the operators of Espalier and, where that Python has it, of DeepSpeed."""

from __future__ import annotations

import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from espalier.problem import Problem
from espalier.sizes import parse_bytes

if TYPE_CHECKING:
    from rich.console import Console

SIZES = "8,512,4K,64K,1M,16M,64M"
QUICK_SIZES = "8,64K,1M"
RANKS = "2,4,8"


def python_with_torch() -> str:
    """ESPALIER_TORCH_PYTHON, else that of `make test-torch`, else this one."""
    own = Path(__file__).resolve().parents[3] / ".venv/torch/bin/python"  # of a clone
    python = os.environ.get("ESPALIER_TORCH_PYTHON") or (str(own) if own.exists() else sys.executable)
    if subprocess.run([python, "-c", "import torch.distributed"], capture_output=True).returncode != 0:
        raise Problem(f"{python} has no torch; set ESPALIER_TORCH_PYTHON to a Python that has it (docs/pytorch.md)")
    return python


def _job(python: str, ranks: int, sizes: str, rounds: int, seconds: float) -> dict:
    pin = "pin" if ranks <= len(os.sched_getaffinity(0)) else "free"
    package = str(Path(__file__).resolve().parents[2])
    with tempfile.TemporaryDirectory() as folder:
        shared = {"WORLD_SIZE": str(ranks), "ESPALIER_TORCH_STORE": f"{folder}/store", "OMP_NUM_THREADS": "1"}
        path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
        processes = [
            subprocess.Popen(
                [python, "-m", "espalier.torch.measure", sizes, str(rounds), pin],
                env={**os.environ, **shared, "PYTHONPATH": path, "RANK": str(rank)},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank in range(ranks)
        ]
        try:
            outputs = [process.communicate(timeout=seconds) for process in processes]
        except subprocess.TimeoutExpired:
            raise Problem(f"{ranks} ranks took longer than {seconds:.0f} s", code=1) from None
        finally:
            for process in processes:
                process.kill()
    for rank, (process, output) in enumerate(zip(processes, outputs)):
        if process.returncode != 0:
            raise Problem(f"rank {rank} of {ranks} failed: {output[1].strip()[-2000:]}", code=1)
    return {"pinned": pin == "pin", **json.loads(outputs[0][0].splitlines()[-1])}


def medians(job: dict) -> dict[tuple[str, int], dict[str, float]]:
    """Microseconds by type, bytes and backend."""
    found: dict[tuple[str, int], dict[str, float]] = {}
    for point in job["points"]:
        found.setdefault((point["type"], point["bytes"]), {})[point["backend"]] = statistics.median(point["us"])
    return found


NAMES = {
    "gloo": "gloo",
    "espalier": "Espalier",
    "espalier operator": "Espalier's operator",
    "deepspeed operator": "DeepSpeed's operator",
}


def show(document: dict, console: Console) -> None:
    from rich.table import Table

    for job in document["jobs"]:
        pinned = "pinned" if job["pinned"] else "not pinned"
        table = Table(title=f"{job['ranks']} ranks, {pinned}, torch {job['torch']}, backend in {job['form']}; medians in µs")
        points = medians(job)
        ways = [way for way in NAMES if any(way in us for us in points.values())]
        for title in ("type", "bytes", *(NAMES[way] for way in ways), "times as fast"):
            table.add_column(title, justify="right")
        for (name, size), us in points.items():
            table.add_row(name, f"{size:,}", *(f"{us[way]:.1f}" for way in ways), f"{us['gloo'] / us['espalier']:.1f}")
        console.print(table)
        for model, what in (("train", "a step of training by DDP"), ("generate", "a token by tensor parallelism, 48 sums")):
            found = [one for one in job["models"] if one["model"] == model]
            equal = "equal" if all(one["outcome"] == found[0]["outcome"] for one in found) else "DIFFERENT"
            times = ", ".join(f"{NAMES[one['backend']]} {one['ms']:.2f} ms" for one in found)
            console.print(f"  {what}: {times}; outcomes {equal}", highlight=False)


def _same(job: dict) -> bool:
    outcomes: dict[str, list] = {}
    for one in job["models"]:
        outcomes.setdefault(one["model"], []).append(one["outcome"])
    return all(each == of_model[0] for of_model in outcomes.values() for each in of_model)


def run(asked: SimpleNamespace, target: Path, console: Console) -> dict:
    from espalier.bench import machine as bench_machine

    python = python_with_torch()
    sizes = asked.sizes or (QUICK_SIZES if asked.quick else SIZES)
    in_bytes = ",".join(str(parse_bytes(size)) for size in sizes.split(","))
    rounds = asked.rounds or (3 if asked.quick else 9)
    machine = bench_machine.describe()
    jobs: list[dict] = []
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    document = {"schema": "espalier-torch-1", "date": date, "machine": machine, "rounds": rounds, "jobs": jobs}
    target.parent.mkdir(parents=True, exist_ok=True)
    for ranks in (asked.ranks or ("2" if asked.quick else RANKS)).split(","):
        jobs.append(_job(python, int(ranks), in_bytes, rounds, asked.seconds or 600))
        target.write_text(json.dumps(document, indent=1) + "\n")  # each job takes minutes: those before a failure stay
    show(document, console)
    if not all(_same(job) for job in jobs):
        raise Problem("the models' outcomes differ between the backends, see above", code=1)
    return document
