"""Nothing of the preloaded library is destroyed when the process ends: destructors of the program's static objects may call MPI
after that. So no object file of it registers a destructor."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "src"
# What is in the preloaded library and the C API (src/CMakeLists.txt).
PRELOADED = ["base", "topology", "memory", "reduce", "tree", "network", "machine", "plan", "collective", "runtime", "capi",
             "preload_mpich", "preload_ompi", "preload_abi"]
REGISTERS = ["__cxa_atexit", "__cxa_thread_atexit", "atexit"]


def object_files(name):
    return sorted(BUILD.rglob(f"espalier_{name}.dir/**/*.o"))


def undefined_symbols(file):
    listed = subprocess.run(["nm", "--undefined-only", str(file)], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in listed.splitlines()}


@pytest.mark.skipif(not shutil.which("nm"), reason="nm (binutils) is not installed")
@pytest.mark.parametrize("name", PRELOADED)
def test_no_destructor_runs_at_exit(name):
    files = object_files(name)
    if not files:
        pytest.skip(f"espalier_{name} is not built")
    found = [f"{file.relative_to(BUILD)}: {symbol}" for file in files for symbol in REGISTERS if symbol in undefined_symbols(file)]
    assert not found, f"make these static objects with `*new`, as Config::instance() does: {found}"
