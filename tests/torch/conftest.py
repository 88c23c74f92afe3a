"""Ranks of torch programs. Which Python has torch: ESPALIER_TORCH_PYTHON, else that of `make test-torch`, else the one that runs
the tests."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
OWN = ROOT / ".venv/torch/bin/python"
PYTHON = os.environ.get("ESPALIER_TORCH_PYTHON") or (str(OWN) if OWN.exists() else sys.executable)


def _has_torch():
    code = "import torch.distributed as d; raise SystemExit(not (d.is_available() and d.is_gloo_available()))"
    return subprocess.run([PYTHON, "-c", code], capture_output=True).returncode == 0


@pytest.fixture(scope="session", autouse=True)
def torch_there():
    if not _has_torch():
        pytest.skip(f"{PYTHON} has no torch with gloo: make test-torch sets one up (docs/pytorch.md)")


@pytest.fixture(scope="session")
def torch_python():
    return PYTHON


@pytest.fixture(scope="session")
def native(torch_there):
    """Whether the backend in C++ could be built."""
    said = subprocess.run(
        [PYTHON, "-m", "espalier.torch"], env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, capture_output=True, text=True
    )
    assert said.returncode == 0, said.stderr
    return "in C++" in said.stdout


@pytest.fixture(params=["Python", "C++"])
def form(request, native, monkeypatch):
    """Both forms of the backend, one after the other."""
    if request.param == "C++" and not native:
        pytest.skip("there is no compiler, or it could not build the backend in C++")
    monkeypatch.setenv("ESPALIER_TORCH_NATIVE", "off" if request.param == "Python" else "auto")
    return request.param


class Ranks:
    """Started at once; ended with the test."""

    def __init__(self, size, program, arguments, environment, store):
        self.began = time.monotonic()
        self.processes = [
            subprocess.Popen(
                [PYTHON, str(PROGRAMS / program), *arguments],
                env={
                    **os.environ,
                    "PYTHONPATH": f"{ROOT / 'python'}:{PROGRAMS}",
                    "RANK": str(rank),
                    "WORLD_SIZE": str(size),
                    "ESPALIER_TEST_STORE": store,
                    **environment,
                },
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for rank in range(size)
        ]

    def outputs(self, seconds=120):
        return [process.communicate(timeout=max(1, self.began + seconds - time.monotonic()))[0] for process in self.processes]

    def expect_success(self, seconds=120):
        outputs = self.outputs(seconds)
        for rank, (process, output) in enumerate(zip(self.processes, outputs)):
            assert process.returncode == 0, f"rank {rank}:\n{output}"
        return outputs

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            if not process.stdout.closed:
                process.communicate()


@pytest.fixture
def start():
    started = []
    with tempfile.TemporaryDirectory() as folder:

        def begin(size, program, *arguments, **environment):
            store = str(Path(folder) / f"store-{len(started)}")
            started.append(Ranks(size, program, arguments, environment, store))
            return started[-1]

        yield begin
        for ranks in started:
            ranks.end()
