"""Tools that people use beside an MPI: preloaded before Espalier and behind it, around each rank and around the launcher. A test
shows that its tool did its work, and that Espalier served meanwhile (docs/coexistence.md). Where a tool is missing its tests are
skipped; `make test-coexistence` installs all of them."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import hosts
import pytest

pytestmark = [pytest.mark.needs_espalier, pytest.mark.unsanitized]

ALL_INSTALLED = os.environ.get("ESPALIER_TEST_COEXISTENCE") == "1"
MPICH = hosts.HOSTS["mpich"]
STRICT = {"ESPALIER_FALLBACK": "error"}


def installed(tool, found):
    if not found:
        (pytest.fail if ALL_INSTALLED else pytest.skip)(f"{tool} is not installed (make test-coexistence installs it)")
    return str(found)


def command(name):
    return Path(installed(name, shutil.which(name)))


def shared_library(name):
    """Where the loader finds it."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    found = re.search(rf"^\s*{re.escape(name)}[\w.]* \(.*=> (.*)$", listed, re.M)
    return installed(name, found and found[1])


def served(run, statistics, ranks=2):
    assert run.status == 0 and run.out.count("profiled: 0 wrong") == ranks, str(run)
    calls = {row["collective"]: row["calls"] for row in statistics.read()["rows"] if row["transport"] == "shared memory"}
    assert (calls["allreduce"], calls["bcast"]) == (5, 5), calls
    statistics.path.unlink()


# Name of the library, what makes it say at the end that it was there, and what it says then.
ALLOCATORS = {"jemalloc": ("libjemalloc.so", {"MALLOC_CONF": "stats_print:true"}, "Begin jemalloc statistics"),
              "mimalloc": ("libmimalloc.so", {"MIMALLOC_SHOW_STATS": "1"}, "heap stats"),
              "tcmalloc": ("libtcmalloc.so", {"MALLOCSTATS": "1"}, "MALLOC:")}


@pytest.mark.every_host
@pytest.mark.full
@pytest.mark.parametrize("allocator", ALLOCATORS)
@pytest.mark.parametrize("place", ["before", "behind"])
def test_an_allocator(host, allocator, place, statistics):
    name, settings, words = ALLOCATORS[allocator]
    parts = [shared_library(name), str(host.library)]
    preload = ":".join(parts if place == "before" else reversed(parts))
    run = hosts.launch(host, 2, "profiled", library=preload, env={**STRICT, **settings, **statistics.env})
    served(run, statistics)
    assert words in run.out + run.err, str(run)
    run = hosts.launch(host, 2, "allocated", "wrong", library=preload, env=STRICT)
    assert run.status == 0 and " 0 failed" in run.out + run.err, str(run)


@pytest.mark.full
@pytest.mark.parametrize("place", ["before", "behind"])
def test_the_cpu_profiler_of_gperftools(place, statistics, tmp_path):
    """A signal every millisecond, in waits and copies as elsewhere."""
    parts = [shared_library("libprofiler.so"), str(MPICH.library)]
    preload = ":".join(parts if place == "before" else reversed(parts))
    # The name makes each rank write a file of its own.
    env = {"CPUPROFILE": str(tmp_path / "profile"), "CPUPROFILE_FREQUENCY": "1000", "CPUPROFILE_REALTIME": "1", "MPI_LOCALRANKID": ""}
    run = hosts.launch(MPICH, 2, "checked", "--only", "roots", library=preload, env={**STRICT, **env})
    assert run.status == 0 and " 0 failed" in run.out, str(run)
    assert [file for file in tmp_path.glob("profile*") if file.stat().st_size], f"no profile\n{run}"


@pytest.mark.every_host
@pytest.mark.full
@pytest.mark.parametrize("place", ["before", "behind"])
def test_faketime(host, place, statistics):
    """Clocks that run thirty days ahead, of the program and of Espalier's waits."""
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
    parts = [installed("libfaketime", found and found[0]), str(host.library)]
    preload = ":".join(parts if place == "before" else reversed(parts))
    served(hosts.launch(host, 2, "profiled", library=preload, env={**STRICT, "FAKETIME": "+30d", **statistics.env}), statistics)


# --- tools that start the program, around each rank or around the launcher ---

def around_each_rank(host, tool, program, *arguments, env, timeout=120):
    path = hosts.program(host, program)
    return hosts.launch(host, 2, Path(tool[0]), *tool[1:], path, *arguments, env={**STRICT, **env}, timeout=timeout)


def around_the_launcher(host, tool, program, *arguments, env, timeout=120):
    return hosts.launch(host, 2, program, *arguments, env={**STRICT, **env}, wrap=tool, timeout=timeout)


WAYS = pytest.mark.parametrize("way", [around_each_rank, around_the_launcher], ids=lambda way: way.__name__)


@WAYS
def test_strace(way, statistics, tmp_path):
    tool = [command("strace"), "-ff", "-o", str(tmp_path / "trace")]
    served(way(MPICH, tool, "profiled", env=statistics.env), statistics)
    traces = [path.read_text() for path in tmp_path.glob("trace*")]
    assert sum("memfd_create" in trace or "SCM_RIGHTS" in trace for trace in traces) >= 2, "ranks were not traced"


@pytest.mark.every_host
@pytest.mark.full
def test_ltrace_around_each_rank(host, statistics, tmp_path):
    """Breakpoints in the program's own calls."""
    file = tmp_path / "trace"
    served(around_each_rank(host, [command("ltrace"), "-e", "MPI_*", "-o", str(file)], "profiled", env=statistics.env), statistics)
    assert "MPI_Allreduce" in file.read_text()


@pytest.mark.every_host
@pytest.mark.full
@WAYS
def test_perf(host, way, statistics, tmp_path):
    """By a timer: virtual machines have no counters of cycles."""
    file = tmp_path / "perf.data"
    run = way(host, [command("perf"), "record", "-q", "-e", "cpu-clock", "-o", str(file)], "profiled", env=statistics.env)
    if "perf_event_paranoid" in run.err:
        pytest.skip("this machine does not let this user sample")
    served(run, statistics)
    assert file.stat().st_size > 0


@pytest.mark.every_host
@pytest.mark.full
def test_gdb_around_each_rank(host, statistics, tmp_path):
    """With a stop inside of a collective: the other rank waits for one that runs, so it is no error."""
    gdb = [str(command("gdb")), "-batch", "-iex", "set debuginfod enabled off", "-ex", "set breakpoint pending on", "-ex",
           "break MPI_Allreduce", "-ex", "run", "-ex", "bt 3", "-ex", "shell sleep 2", "-ex", "delete", "-ex", "continue", "--args"]
    apart = ["/bin/sh", "-c", f'exec "$@" > {tmp_path}/$$.txt', "sh"]
    run = around_each_rank(host, [*apart, *gdb], "profiled", env=statistics.env)
    said = [file.read_text() for file in tmp_path.glob("*.txt")]
    run.out += "".join(said)
    served(run, statistics)
    stopped = [re.search(r"^#0 .*MPI_Allreduce.*(entry_points\.cpp|libespalier)", each, re.M) for each in said]
    assert len(stopped) == 2 and all(stopped), str(run)


@pytest.mark.every_host
@pytest.mark.full
def test_heaptrack_around_each_rank(host, statistics, tmp_path):
    """It puts its library before those that are preloaded."""
    tool = [command("heaptrack"), "-o", str(tmp_path / "heap")]
    run = around_each_rank(host, tool, "profiled", env=statistics.env)
    served(run, statistics)
    assert run.out.count("Heaptrack finished") == 2, str(run)


@pytest.mark.every_host
@pytest.mark.full
def test_likwid_pin_around_each_rank(host, statistics):
    """It puts a library of its own before those that are preloaded."""
    served(around_each_rank(host, [command("likwid-pin"), "-q", "-c", "N:0"], "profiled", env=statistics.env), statistics)


@pytest.mark.full
def test_rr_around_each_rank(statistics, tmp_path):
    run = around_each_rank(MPICH, [command("rr"), "record", "-n"], "profiled", env={**statistics.env, "_RR_TRACE_DIR": str(tmp_path)})
    if re.search(r"perf_event|PMU|performance counters|compute_cpu_microarch", run.err):
        pytest.skip("this machine has no counter of branches, which rr needs, or a processor that it does not know")
    served(run, statistics)


VALGRINDS_OWN = re.compile(r"/(vgpreload_\w+|ld-linux|libc|libpthread)[^/]*\.so")


class Valgrind:
    """The hosts' own libraries do things that valgrind reports, with and without Espalier: errors count whose code is the
    innermost that belongs neither to valgrind nor to the C library."""

    def __init__(self, folder):
        self.folder = folder
        self.tool = [command("valgrind"), "--quiet", "--leak-check=summary", "--xml=yes", f"--xml-file={folder}/%p.xml"]

    def errors(self, host, program):
        """Of Espalier and of the program, with their stacks."""
        reports = list(self.folder.glob("*.xml"))
        assert len(reports) == 2, "ranks did not run under valgrind"
        ours = []
        for error in (error for report in reports for error in ElementTree.parse(report).iter("error")):
            if error.findtext("kind").startswith("Leak"):
                continue  # what lives until the process ends
            frames = [frame for frame in error.find("stack") if not VALGRINDS_OWN.search(frame.findtext("obj", ""))]
            if frames and Path(frames[0].findtext("obj", "")).name in (host.library.name, program):
                where = [f"{frame.findtext('fn')} ({frame.findtext('file')}:{frame.findtext('line')})" for frame in frames]
                ours.append("\n  ".join([error.findtext("what") or error.findtext("xwhat/text"), *where]))
        return "\n".join(ours)


@pytest.fixture
def valgrind(tmp_path):
    return Valgrind(tmp_path)


@pytest.mark.every_host
@pytest.mark.full
@pytest.mark.slow
def test_valgrind_around_each_rank(host, valgrind, statistics):
    """At the end it looks for leaks in all memory: the machine must not give pages to what is not in use."""
    served(around_each_rank(host, valgrind.tool, "profiled", env=statistics.env, timeout=300), statistics)
    assert valgrind.errors(host, "profiled") == ""


@pytest.mark.every_host
@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("subject", ["roots", "blocks", "operators"])
def test_valgrind_and_the_checked_program(host, valgrind, subject):
    """No byte outside of what was allocated is read or written by any copy and fold. What another rank writes into shared memory
    valgrind does not see: where this rank had put padding before, it takes it for padding."""
    run = around_each_rank(host, [*valgrind.tool, "--undef-value-errors=no"], "checked", "--only", subject, env={}, timeout=500)
    assert run.status == 0 and " 0 failed" in run.out, str(run)
    assert valgrind.errors(host, "checked") == ""


@pytest.mark.full
def test_eztrace_around_each_rank(tmp_path):
    """It wraps Debian's MPI by PMPI, and comes before Espalier, to which go the calls that it does not wrap."""
    host = hosts.HOSTS["debian-mpich"]
    if reason := hosts.missing(host):
        pytest.skip(reason)
    tool = [command("eztrace"), "-t", "mpich", "-o", str(tmp_path / "trace")]
    run = around_each_rank(host, tool, "profiled", env={})
    assert run.status == 0 and run.out.count("profiled: 0 wrong") == 2, str(run)
    assert list((tmp_path / "trace").glob("*_trace")), str(run)


# Under which host a program runs with the runtime alone: UCX and Open MPI of PyPI end in faults with TSan's.
SANITIZERS = {"address": ("libasan.so", "mpich"), "thread": ("libtsan.so", "impi")}


@pytest.mark.parametrize("kind", SANITIZERS)
def test_a_sanitized_program(kind, statistics, tmp_path):
    """Its runtime comes first. TSan knows nothing of memory that processes share, and looks at the program's own accesses alone."""
    runtime, host = SANITIZERS[kind][0], hosts.HOSTS[SANITIZERS[kind][1]]
    program = tmp_path / f"profiled-{kind}"
    hosts._compile(["gcc", f"-fsanitize={kind}", "-g1", *host.flags, str(hosts.SOURCES / "profiled.c"), *host.libraries], program)
    first = subprocess.run(["gcc", f"-print-file-name={runtime}"], capture_output=True, text=True).stdout.strip()
    env = {"ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "ignore_noninstrumented_modules=1:exitcode=66"}
    # gcc 12's TSan does not run where the kernel scatters addresses over 32 bits.
    wrapper = ["setarch", "-R"] if kind == "thread" else ["env"]
    run = hosts.launch(host, 2, Path(shutil.which(wrapper[0])), *wrapper[1:], program, library=f"{first}:{host.library}",
                       env={**STRICT, **env, **statistics.env})
    served(run, statistics)
    assert "WARNING: ThreadSanitizer" not in run.err and "ERROR: AddressSanitizer" not in run.err, str(run)
