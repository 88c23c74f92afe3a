"""What the tests of installations share: the build folder, and commands as a user types them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
PYTHON = ROOT / ".venv/command/bin/python"  # has what the command needs
BUILDS = ("mpich", "ompi", "abi")


def run(*words, cwd=None, check=True, **more):
    """The finished process. No setting of the user's is in its environment, and nothing of a clone."""
    dropped = ("ESPALIER", "PYTHON", "LD_", "CMAKE", "PKG_CONFIG", "DESTDIR", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    done = subprocess.run(
        list(map(str, words)), env={**environment, **more}, cwd=cwd, capture_output=True, text=True, timeout=600, check=False
    )
    assert not check or done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="session")
def build():
    """The release build, whose own records of installations come to no harm."""
    if not (BUILD / "cmake_install.cmake").exists():
        pytest.skip("build/ is not configured")
    records = [*BUILD.glob("install_manifest*.txt"), *BUILD.glob("install_folders.txt")]
    kept = {path: path.read_bytes() for path in records}
    for path in kept:
        path.unlink()
    yield BUILD
    for path in [*BUILD.glob("install_manifest*.txt"), *BUILD.glob("install_folders.txt")]:
        path.unlink()
    for path, text in kept.items():
        path.write_bytes(text)


@pytest.fixture(scope="session")
def examples(tmp_path_factory):
    """The consumer project where a user would have it: outside of the clone, with a space in its path."""
    folder = tmp_path_factory.mktemp("my projects") / "with space"
    shutil.copytree(ROOT / "examples", folder)
    return folder


@pytest.fixture(scope="session")
def prebuilt(build, tmp_path_factory):
    """The wheel of what is built here, without compiling anything."""
    pytest.importorskip("scikit_build_core", reason="not in this environment: make setup")
    out = tmp_path_factory.mktemp("wheel")
    settings = [f"cmake.source-dir={ROOT}/packaging/wheel/prebuilt", f"cmake.define.BUILD={build}"]
    run(PYTHON, "-m", "pip", "wheel", "--no-index", "--no-deps", "--no-build-isolation", "--wheel-dir", out,
        *(f"--config-settings={one}" for one in settings), ROOT)  # fmt: skip
    return next(out.glob("*.whl"))
