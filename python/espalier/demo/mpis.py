"""The MPI of the demo: the one that `make build` sets up, or one of the user's, and which of the demo's programs run on it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

from espalier.bench import own_mpi
from espalier.bench.hosts import HOSTS, Host, cores, find, job
from espalier.elf import file, loader
from espalier.launch import intel
from espalier.mpi import kinds, python_probe
from espalier.problem import Problem

_IMB = "IMB-MPI1"


@dataclass(frozen=True)
class Mpi:
    """`imb`, `python`: of programs that load this MPI, None where there is none; `settings`: what makes them load it."""

    host: Host
    imb: Optional[Path]
    python: Optional[Path]
    settings: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return self.host.title

    def job(self, ranks: int, program: list[str], settings: dict[str, str]) -> tuple[list[str], dict[str, str]]:
        """The command and its environment."""
        pins = []
        if ranks <= len(cores()) and self.host.kind == "mpich" and not self.host.batch:
            pins = ["-bind-to", "user:" + ",".join(map(str, cores()[:ranks]))]
        return job(self.host, ranks, pins + program, self.surroundings(ranks) | settings)

    def surroundings(self, ranks: int) -> dict[str, str]:
        """For the launcher. Intel MPI takes processors from a variable, and as a wheel it lacks what its own script would set."""
        if self.host.kind != "impi":
            return {}
        pins = {"I_MPI_PIN_PROCESSOR_LIST": ",".join(map(str, cores()[:ranks]))} if ranks <= len(cores()) else {}
        return intel.settings(Path(self.host.mpirun), os.environ) | pins


def of_this_project() -> Mpi:
    host = find("mpich")[0]
    imb = HOSTS["impi"].folder / "bin" / _IMB
    if not imb.exists():
        raise Problem(
            f"{imb} is not there (it comes with the package impi-devel); run `make build`, or name your MPI: --mpirun mpirun"
        )
    return Mpi(host, imb, host.folder / "bin" / "python", {"LD_LIBRARY_PATH": str(host.library_folder)})


def of_user(mpirun: str, mpicc: Optional[Path], folder: Path) -> Mpi:
    """`folder`: stays as long as the demo; of links by which programs find the MPI under the name that they want."""
    host = own_mpi.named(mpirun, mpicc)
    library = _library(host)
    settings = _settings(library, folder)
    imb, python = _imb(library, settings), _python(library, settings)
    notes = []
    if imb is None:
        notes.append(f"no {_IMB} runs on {library}: put one that was built with {host.title} on PATH; mpi4py alone is measured")
    if python is None:
        notes.append(f"no Python was found whose mpi4py loads {library}; {_IMB} alone is measured")
    if imb is None and python is None:
        raise Problem(f"nothing that the demo could run loads {library}: neither an {_IMB} nor a Python with mpi4py was found")
    return Mpi(host, imb, python, settings, tuple(notes))


def _library(host: Host) -> Path:
    """The libmpi that its compiler links."""
    with tempfile.TemporaryDirectory(prefix="espalier-demo-") as scratch:
        source, program = Path(scratch) / "a.c", Path(scratch) / "a"
        source.write_text("#include <mpi.h>\nint main(void) { return MPI_Init(0, 0); }\n")
        assert host.own_compiler is not None
        surroundings = {**os.environ, **intel.settings(host.own_compiler, os.environ)}
        words = [str(host.own_compiler), str(source), "-o", str(program)]
        done = subprocess.run(words, env=surroundings, capture_output=True, text=True)
        elf = file.read(program) if done.returncode == 0 else None
        if elf is None:
            first = (done.stderr.strip().splitlines() or ["it says nothing"])[0]
            raise Problem(f"{host.own_compiler} cannot build a program: {first}")
        found = next((part.path for part in loader.libraries(elf, surroundings) if kinds.is_mpi(part.name)), None)
    if found is None:
        raise Problem(f"a program of {host.own_compiler} links no MPI")
    return found.resolve()


def _settings(library: Path, folder: Path) -> dict[str, str]:
    """Debian's MPICH calls its library libmpich.so.12, and programs of other MPICHs want libmpi.so.12: of the same ABI."""
    kind = kinds.of_library(library)
    for name in {"mpich": ("libmpi.so.12",), "ompi": ("libmpi.so.40",)}.get(kind.name if kind else "", ()):
        (folder / name).symlink_to(library)
    path = os.pathsep.join(filter(None, [str(folder), str(library.parent), os.environ.get("LD_LIBRARY_PATH")]))
    return {"LD_LIBRARY_PATH": path, "MPI4PY_LIBMPI": str(library)}


def _imb(library: Path, settings: Mapping[str, str]) -> Optional[Path]:
    for path in _existing(shutil.which(_IMB), HOSTS["impi"].folder / "bin" / _IMB):
        elf = file.read(path)
        parts = loader.libraries(elf, {**os.environ, **settings}) if elf else iter(())
        found = next((part.path for part in parts if kinds.is_mpi(part.name)), None)
        if found is not None and found.resolve() == library:
            return path
    return None


def _python(library: Path, settings: Mapping[str, str]) -> Optional[Path]:
    for path in _existing(shutil.which("python3"), sys.executable, *(host.folder / "bin" / "python" for host in HOSTS.values())):
        answer = python_probe.ask(path, {**os.environ, **settings})
        if answer.library is not None and answer.library.resolve() == library and _has_numpy(path):
            return path
    return None


def _has_numpy(python: Path) -> bool:
    return subprocess.run([str(python), "-c", "import numpy"], capture_output=True).returncode == 0


def _existing(*paths: object) -> Iterator[Path]:
    yield from (Path(str(path)) for path in dict.fromkeys(filter(None, paths)) if Path(str(path)).exists())
