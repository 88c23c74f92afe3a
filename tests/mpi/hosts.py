"""The host MPIs that the tests run under: where they are, how their programs are built and launched."""

import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import algorithms  # noqa: E402
import stacks  # noqa: E402
from system_mpi import link_options_of_fortran  # noqa: E402
from launcher import LAUNCHER_FAILED  # noqa: E402
from espalier.bench.hosts import mpirun  # noqa: E402

REPOSITORY = HERE.parent.parent
SOURCES = HERE / "src"
VENVS = Path(os.environ.get("ESPALIER_VENVS", REPOSITORY / ".venv"))
LIBRARIES = Path(os.environ.get("ESPALIER_LIB", REPOSITORY / "build" / "lib"))
# The interposers may be another build than the command's library, which no sanitizer's runtime precedes.
INTERPOSERS = Path(os.environ.get("ESPALIER_TEST_INTERPOSERS", LIBRARIES))
BUILT = Path(os.environ.get("ESPALIER_TEST_BUILD", REPOSITORY / "build" / "tests" / "mpi"))
BARE = os.environ.get("ESPALIER_TEST_BARE") == "1"  # without Espalier: do the programs hold on the host alone?
CORES = len(os.sched_getaffinity(0))
# A sanitizer's runtime has to be loaded before all else: ESPALIER_TEST_PRELOAD_FIRST=/…/libasan.so
PRELOAD_FIRST = os.environ.get("ESPALIER_TEST_PRELOAD_FIRST", "")
UNDEFINED = re.compile(r"^.*:\d+:\d+: runtime error: ", re.M)  # UBSan's words
SLOWER = float(os.environ.get("ESPALIER_TEST_SLOWER", "1"))  # sanitizer builds stretch every time limit


@dataclass
class Host:
    name: str
    build: str                     # which of the three libraries serves it
    venv: Path | None = None
    flags: list[str] = field(default_factory=list)
    libraries: list[str] = field(default_factory=list)
    fortran: str | None = None
    c: str = "gcc"
    cxx: str = "g++"
    mpirun: str = "mpirun"
    kind: str = "hydra"            # whose launcher: hydra, intel or openmpi

    @property
    def library(self) -> Path:
        return INTERPOSERS / f"libespalier-{self.build}.so"

    @property
    def folder(self) -> Path:
        """Of its programs. What the standard ABI is for: those built for it run under every host that has it."""
        return BUILT / ("abi" if self.build == "abi" else self.name)

    @property
    def python(self) -> str:
        return str(self.venv / "bin" / "python")


def _of_venv(name, build, kind, library="mpi"):
    venv = VENVS / name.removesuffix("-abi")
    return Host(name, build, venv, [f"-I{venv}/include"], [f"-L{venv}/lib", f"-l{library}"],
                mpirun=mpirun(venv.name, venv), kind=kind)


def _of_debian(name, build, kind):
    flavour = name.removeprefix("debian-")
    return Host(name, build, fortran=f"mpif90.{flavour}", c=f"mpicc.{flavour}", cxx=f"mpicxx.{flavour}",
                mpirun=f"mpirun.{flavour}", kind=kind)


HOSTS = {
    host.name: host
    for host in (
        _of_venv("mpich", "mpich", "hydra"),
        _of_venv("openmpi", "ompi", "openmpi"),
        _of_venv("impi", "mpich", "intel"),
        _of_venv("mpich-abi", "abi", "hydra", "mpi_abi"),
        _of_venv("impi-abi", "abi", "intel", "mpi_abi"),
        _of_debian("debian-mpich", "mpich", "hydra"),
        _of_debian("debian-openmpi", "ompi", "openmpi"),
    )
}
THREE = ["mpich", "openmpi", "impi"]

FOUR = ["allreduce", "barrier", "bcast", "reduce"]
COLLECTIVES = algorithms.COLLECTIVES
SPANNING = algorithms.SPANNING


# --- building -------------------------------------------------------------------------------------------------------

def _newer(target: Path, sources) -> bool:
    return target.exists() and all(target.stat().st_mtime >= source.stat().st_mtime for source in sources)


def _compile(command, target):
    # Test workers may build at the same time: each into its own file, then one rename.
    spare = target.with_name(f"{target.name}.{os.getpid()}")
    done = subprocess.run([*command, "-o", str(spare)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"cannot build {target.name}:\n{' '.join(command)}\n{done.stderr[-3000:]}")
    os.replace(spare, target)


def _abi_header(host: Host) -> list[str]:
    """Programs include <mpi.h>; for the standard ABI that name leads to mpi_abi.h."""
    if host.build != "abi":
        return []
    folder = host.folder / "include"
    folder.mkdir(parents=True, exist_ok=True)
    header = folder / "mpi.h"
    if not header.exists():
        header.write_text("#include <mpi_abi.h>\n")
    return [f"-I{folder}"]


def _short_calibration(host: Host) -> list[Path]:
    """What programs for Intel MPI are linked with so that MPI_Init does not take most of a short job's time."""
    return [SOURCES / "short_calibration.c"] if host.kind == "intel" or host.build == "abi" else []


def program(host: Host, name: str, sources: Path = SOURCES) -> Path:
    """Builds <sources>/<name>.c, <sources>/<name>/*.cpp or <sources>/<name>.f90, unless it is built already."""
    host.folder.mkdir(parents=True, exist_ok=True)
    with open(host.folder / "building.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of several test workers one builds, and the others have it
        return _program(host, name, sources)


def build_for_all(name: str) -> None:
    """For all hosts of PyPI side by side: what most tests run. Tests that build it as they need it wait for each other."""
    with ThreadPoolExecutor(CORES) as pool:
        list(pool.map(lambda host: program(HOSTS[host], name), [*THREE, "mpich-abi"]))


def _program(host: Host, name: str, sources: Path) -> Path:
    target = host.folder / name
    flags = [*_abi_header(host), *host.flags, "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
    if (sources / f"{name}.f90").exists():
        source = sources / f"{name}.f90"
        if not _newer(target, [source, *sources.glob("*.inc")]):
            modules = host.folder / f"modules-{name}"
            modules.mkdir(exist_ok=True)
            options = link_options_of_fortran(host.name.removeprefix("debian-"))
            _compile([host.fortran, f"-J{modules}", "-O1", str(source), *options], target)
        return target
    if (sources / f"{name}.c").exists():
        all_sources = [sources / f"{name}.c", *_short_calibration(host)]
        if not _newer(target, [*all_sources, *sources.glob("*.h"), *(sources / name).glob("*.h")]):
            _compile([host.c, "-std=gnu11", "-O2", "-g1", "-Wall", "-Wextra", "-Wno-unused-parameter", *flags,
                      *map(str, all_sources), *host.libraries, "-pthread"], target)
        return target
    pieces = [*sorted((sources / name).glob("*.cpp")), *_short_calibration(host)]
    if not _newer(target, [*pieces, *(sources / name).glob("*.hpp")]):
        # All at once: most of the time goes into the headers that each includes.
        together = host.folder / f"{name}-together.cpp"
        together.write_text("".join(f'#include "{piece}"\n' for piece in pieces))
        _compile([host.cxx, "-std=gnu++20", "-O1", "-g1", "-Wall", "-Wextra", *flags, str(together), *host.libraries], target)
    return target


def plain_program(name: str) -> Path:
    """A program without MPI."""
    BUILT.mkdir(parents=True, exist_ok=True)
    target = BUILT / name
    if not _newer(target, [SOURCES / f"{name}.c"]):
        _compile(["gcc", "-std=gnu11", "-O1", str(SOURCES / f"{name}.c")], target)
    return target


def preloadable(host: Host, name: str) -> Path:
    """A library that a test preloads, from src/NAME.c."""
    source, target = SOURCES / f"{name}.c", host.folder / f"lib{name}.so"
    host.folder.mkdir(parents=True, exist_ok=True)
    if not _newer(target, [source]):
        _compile(["gcc", "-std=gnu11", "-O1", "-shared", "-fPIC", *_abi_header(host), *host.flags, str(source)], target)
    return target


# --- launching ------------------------------------------------------------------------------------------------------

@dataclass
class Outcome:
    command: list[str]
    status: int
    out: str
    err: str
    seconds: float

    def __str__(self):
        return (f"{' '.join(self.command)}\nexit status {self.status} after {self.seconds:.1f} s\n"
                f"--- standard output\n{self.out[-4000:]}\n--- standard error\n{self.err[-6000:]}")


def environment(host: Host, ranks: int) -> dict[str, str]:
    """What this host needs to run at all, and to yield when there are more ranks than cores."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("ESPALIER")}
    env.pop("LD_PRELOAD", None)
    if host.venv:
        env["LD_LIBRARY_PATH"] = str(host.venv / "lib")
    if host.kind == "openmpi":
        env["OMPI_ALLOW_RUN_AS_ROOT"] = env["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    elif host.kind == "intel":
        env["I_MPI_ROOT"] = str(host.venv)
        env["FI_PROVIDER_PATH"] = str(host.venv / "lib")
        env["FI_PROVIDER"] = "tcp"
        if ranks > CORES:
            env["I_MPI_THREAD_YIELD"] = "3"
    elif ranks > CORES:
        env["MPIR_CVAR_DEFAULT_THREAD_LEVEL"] = "MPI_THREAD_MULTIPLE"
    return env


def preload_of(host: Host, library: Path | None) -> str:
    return ":".join(part for part in (PRELOAD_FIRST, str(library) if library else "") if part)


def command_for(host: Host, ranks: int, arguments, preload: str, settings: dict[str, str], placement=()) -> list[str]:
    """mpirun with the settings for the ranks only: the launcher and its helpers stay as they are. `placement`: options
    that say on which nodes the ranks go."""
    settings = dict(settings)
    if preload:
        settings["LD_PRELOAD"] = preload
    command = [host.mpirun, *placement]
    if host.kind == "openmpi":
        if ranks > CORES and not placement:
            command.append("--oversubscribe")
        for key, value in settings.items():
            command += ["-x", f"{key}={value}"]
    else:
        for key, value in settings.items():
            command += ["-genv", key, value]
    return [*command, "-n", str(ranks), *map(str, arguments)]


class Undefined(AssertionError):
    """A finding of UBSan: beside AddressSanitizer's runtime its own writes to standard error alone, and the program goes on."""


class TimedOut(AssertionError):
    """A run that did not end in its time, with what each of its processes was doing."""


def stop(process):
    """The launcher and its whole session: ranks that hang do not answer a polite signal."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, how)
        except ProcessLookupError:
            return
        try:
            process.wait(3)
        except subprocess.TimeoutExpired:
            pass


def run(command, env, timeout, cwd) -> Outcome:
    begun = time.monotonic()
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               stdin=subprocess.DEVNULL, text=True, errors="replace", start_new_session=True, cwd=cwd)
    try:
        out, err = process.communicate(timeout=timeout * SLOWER)
    except subprocess.TimeoutExpired:
        doing = stacks.below(process.pid)
        stop(process)
        out, err = process.communicate()
        late = Outcome(command, -1, out, err, time.monotonic() - begun)
        raise TimedOut(f"TIMEOUT: still running after {timeout * SLOWER:.0f} s (a hang, or a machine far too busy)\n"
                             f"{late}\n{doing}")
    finally:
        stop(process)
    outcome = Outcome(command, process.returncode, out, err, time.monotonic() - begun)
    if PRELOAD_FIRST and UNDEFINED.search(out + err):
        raise Undefined(str(outcome))
    return outcome


def launch(host: Host, ranks: int, name, *arguments, env=None, wrap=(), placement=(), timeout=120, espalier=True,
           library=None, cwd=None) -> Outcome:
    """Runs a program (a name to build, or a path) under the host MPI, with Espalier preloaded unless told otherwise.

    `wrap` is put before mpirun, `placement` behind it; `env` holds settings for the ranks. A run that passes `timeout`
    fails with what it printed.
    """
    path = name if isinstance(name, Path) or os.sep in str(name) else program(host, str(name))
    if espalier and not BARE and library is None:
        library = host.library
        if not library.exists():
            raise AssertionError(f"{library} does not exist: run `make build` first (or set ESPALIER_LIB)")
    settings = {key: value for key, value in (env or {}).items() if not (BARE and key.startswith("ESPALIER"))}
    command = [*wrap, *command_for(host, ranks, [path, *arguments], preload_of(host, library), settings, placement)]
    for _ in range(3):
        outcome = run(command, environment(host, ranks), timeout, cwd)
        if LAUNCHER_FAILED not in outcome.err:
            break
    return outcome


def missing(host: Host) -> str | None:
    """Why this host cannot be used here; the three of PyPI are never missing, Debian's need their packages."""
    if host.fortran and not shutil.which(host.fortran):
        return f"{host.fortran} is not installed (apt-get install libopenmpi-dev libmpich-dev gfortran)"
    return None


if __name__ == "__main__":
    build_for_all("checked")
