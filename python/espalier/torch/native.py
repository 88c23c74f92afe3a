"""The backend in C++ (native/), whose works need no lock of the interpreter: built for the torch that is installed, at first use,
where there is a compiler. What is built lies in the user's cache, by version and sources."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import logging
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Optional

import torch

from espalier import install

_log = logging.getLogger("espalier.torch")
_NAME = "espalier_torch_native"
_SOURCES = Path(__file__).parent / "native"
_UNITS = ("backend.cpp", "reductions.cpp", "moves.cpp", "operators.cpp")


def wanted() -> bool:
    return os.environ.get("ESPALIER_TORCH_NATIVE", "auto").lower() not in ("off", "0", "no", "false")


@cache
def module(may_build: bool) -> Optional[ModuleType]:
    """None where it is not wanted, or not built and not to be had. Never an error: the form in Python serves as well."""
    if not wanted():
        return None
    try:
        built = _file()
        if not built.exists():
            if not may_build or _compiler() is None or _header() is None:
                return None
            _build(built)
        return _load(built)
    except Exception as problem:
        _log.warning("espalier: no backend in C++, the one in Python serves: %s", problem)
        return None


def _header() -> Optional[Path]:
    place = install.include() / "espalier"
    return place if (place / "espalier.h").exists() else None


def _compiler() -> Optional[str]:
    return shutil.which(os.environ.get("CXX", "g++")) or shutil.which("c++")


def _file() -> Path:
    cache_folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    key = hashlib.sha256(f"{torch.__version__} {sys.version} {sysconfig.get_platform()}".encode())
    header = _header()
    for source in [Path(__file__), *sorted(_SOURCES.glob("*.?pp")), *([header / "espalier.h"] if header else [])]:
        key.update(source.read_bytes())
    return cache_folder / "espalier" / f"{_NAME}-{key.hexdigest()[:16]}.so"


def _build(target: Path) -> None:
    """One rank builds, the others of this machine wait for it. A killed one leaves no lock behind."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with open(target.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            print("espalier: building the backend in C++ for this torch (once, up to two minutes)", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory(dir=target.parent) as folder:
                made = Path(folder) / "made.so"
                _compile(made)
                made.rename(target)


def _compile(target: Path) -> None:
    from torch.utils import cpp_extension

    header = _header()
    folders = [*cpp_extension.include_paths(), sysconfig.get_paths()["include"], str(_SOURCES), str(header)]
    libraries = [str(Path(torch.__file__).parent / "lib")]
    command = [
        _compiler() or "c++",
        *["-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-x", "c++", "-", "-o", str(target)],
        *[f"-DTORCH_EXTENSION_NAME={_NAME}", f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}"],
        *_pybind_abi(),
        *[part for folder in folders for part in ("-isystem", folder)],
        *[f"-L{folder}" for folder in libraries],
        *["-lc10", "-ltorch_cpu", "-ltorch_python", "-ldl", "-pthread"],
    ]
    units = "".join(f'#include "{unit}"\n' for unit in _UNITS)
    done = subprocess.run(command, input=units, text=True, capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed: {done.stderr.strip()[-2000:]}")


def _pybind_abi() -> list[str]:
    """Modules of pybind11 share types only where these are equal: as torch names them (2.8 and before)."""
    values = {name: getattr(torch._C, f"_PYBIND11_{name}", None) for name in ("COMPILER_TYPE", "STDLIB", "BUILD_ABI")}
    return [f'-DPYBIND11_{name}="{value}"' for name, value in values.items() if value is not None]


@cache  # a second one would register its classes again
def _load(built: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(_NAME, built)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded

