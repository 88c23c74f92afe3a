"""Holds the layers of src/: a file includes only from its own folder or from layers below, and nothing goes in circles."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
BESIDE = ["sharp", "simulation"]  # layers that are no part of what is preloaded stand beside src/

LAYERS = {
    "base": 1,
    "memory": 2,
    "reduce": 2,
    "topology": 2,
    "network": 3,
    "tree": 3,
    "machine": 4,
    "plan": 4,
    "collective": 5,
    "runtime": 6,
    "simulation": 6,
    "sharp": 6,
    "mpi": 7,
    "capi": 7,
}

PUBLIC = "espalier"  # include/espalier: below everything
GENERATED = "generated/"  # in the build folder: as if it stood in src/
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".inc"}


def sources(source):
    """name, as an include writes it -> path: of the files of `source` and, if it is this project's, of the layers beside it."""
    tops = [(source, source)] + ([(ROOT, ROOT / name) for name in BESIDE] if source == SOURCE else [])
    found = [(path.relative_to(top).as_posix(), path) for top, folder in tops for path in folder.rglob("*")]
    return {name: path for name, path in sorted(found) if path.suffix in SUFFIXES}


def includes(source):
    """file -> the names it includes in quotes, both as an include writes them. What the build generates counts to the folder that
    it is generated for."""
    return {name: [found.removeprefix(GENERATED) for found in INCLUDE.findall(path.read_text(encoding="utf-8"))]
            for name, path in sources(source).items()}


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    """The includes of the source and of what the build generates from it."""
    folder = tmp_path_factory.mktemp("generated")
    bindings = SOURCE / "mpi/bindings"
    subprocess.run([sys.executable, "-B", bindings / "generate", bindings / "functions.def", folder / "mpi"], check=True)
    made, written = includes(folder), includes(SOURCE)
    assert made and not set(made) & set(written)
    return {**written, **made}


def folder_of(name):
    return name.split("/", 1)[0] if "/" in name else ""


def broken_layers(graph):
    """One line for every include that points up, sideways, or to no layer at all."""
    found = []
    for file, names in graph.items():
        own = folder_of(file)
        if own not in LAYERS:
            found.append(f"{file}: its folder is no layer")
            continue
        for name in names:
            other = folder_of(name)
            if other in (own, PUBLIC):
                continue
            if other not in LAYERS:
                found.append(f'{file}: "{name}" is not written from src/ as "layer/file"')
            elif LAYERS[other] >= LAYERS[own]:
                found.append(f'{file} (layer {LAYERS[own]}) includes "{name}" (layer {LAYERS[other]})')
    return found


def missing_files(graph):
    """Includes of a layer that name no file."""
    return [
        f'{file}: "{name}" does not exist'
        for file, names in graph.items()
        for name in names
        if folder_of(name) in LAYERS and name not in graph
    ]


def circle(graph):
    """The files of one include circle, first and last the same; empty when there is none."""
    done, path = set(), []

    def visit(file):
        if file in path:
            return path[path.index(file) :] + [file]
        if file in done or file not in graph:
            return []
        path.append(file)
        for name in graph[file]:
            found = visit(name)
            if found:
                return found
        path.pop()
        done.add(file)
        return []

    for file in graph:
        found = visit(file)
        if found:
            return found
    return []


def test_includes_never_point_up(graph):
    assert broken_layers(graph) == []


def test_includes_name_files_that_exist(graph):
    assert missing_files(graph) == []


def test_no_circles(graph):
    assert circle(graph) == []


def folders(graph):
    """folder -> the folders that its files include from"""
    found = {}
    for file, names in graph.items():
        own = file.rpartition("/")[0]
        found.setdefault(own, set()).update(name.rpartition("/")[0] for name in names if name in graph)
        found[own].discard(own)
    return found


def reachable(start, found):
    seen, left = set(), [start]
    while left:
        for folder in found.get(left.pop(), ()):
            if folder not in seen:
                seen.add(folder)
                left.append(folder)
    return seen


def test_no_circles_of_folders(graph):
    found = folders(graph)
    reach = {folder: reachable(folder, found) for folder in found}
    circles = {frozenset(other for other in reach[folder] if folder in reach[other]) for folder in found if folder in reach[folder]}
    assert circles == set()


MOST_FILES = 24


def test_no_folder_is_too_full():
    folders = [path for top in (SOURCE, *(ROOT / name for name in BESIDE)) for path in [top, *top.rglob("*")] if path.is_dir()]
    sizes = {path.relative_to(ROOT).as_posix(): sum(file.is_file() for file in path.iterdir()) for path in folders}
    assert {folder: size for folder, size in sizes.items() if size > MOST_FILES} == {}


def test_asio_is_included_in_one_place():
    """What it is made of depends on what a file includes before it: sharp/asio.hpp sees to that."""
    pattern = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<asio", re.MULTILINE)
    found = [name for name, path in sources(SOURCE).items() if pattern.search(path.read_text(encoding="utf-8"))]
    assert found == ["sharp/asio.hpp"]


# What opens a descriptor; `open`, `socket` and `accept` are also names of functions of ours.
OPENS = re.compile(r"(own_descriptor\(\s*)?\b(std::[io]?fstream\b|(?:memfd_create|shm_open|accept4|socketpair|pipe2?|eventfd|epoll_create1?|timerfd_create|signalfd"
                   r"|inotify_init1?|pidfd_open|perf_event_open|openat|creat|dup3?|fopen|fdopen|popen|opendir|mkstemp"
                   r"|open(?=\([^;]*\bO_)|socket(?=\((?:AF_|PF_|\w+->)))\()")


def opened_elsewhere(source):
    """Whatever opens a descriptor past base/descriptor.hpp, which keeps them off the standard ones and closes them on exec."""
    found = []
    for name, path in sources(source).items():
        if name != "base/descriptor.cpp":
            found += [f"{name}: {hit[2]}" for hit in OPENS.finditer(path.read_text(encoding="utf-8")) if not hit[1]]
    return found


def test_descriptors_are_opened_in_one_place():
    assert opened_elsewhere(SOURCE) == []


@pytest.mark.parametrize("line", ['int f = memfd_create("x", 0);', 'const int f = ::open(path, O_RDONLY | O_CLOEXEC);', "std::ifstream(path) >> x;", "std::ofstream file{path};", "std::ifstream file(path);",
                                  "int s = socket(AF_UNIX, SOCK_STREAM, 0);", "accept4(listener, 0, 0, 0)"])
def test_a_descriptor_of_another_place_is_caught(tmp_path, line):
    tree(tmp_path, {"base/low.cpp": line + "\n", "base/own.cpp": 'own_descriptor(\n    memfd_create("x", 0));\nopen(send, comm);\n'})
    assert len(opened_elsewhere(tmp_path)) == 1


# Handles that are addresses of a host's symbols: under Open MPI each use of such a name looks the symbol up (mpi/abi/open_mpi.hpp).
HANDLES = re.compile(r"\bMPI_(COMM_WORLD|COMM_SELF|(?!PROC_)[A-Z]+_NULL|ERRORS_\w+|BYTE|CHAR|INT|LONG|FLOAT|DOUBLE|PACKED|AINT|COUNT|OFFSET|U?INT\d+_T"
                     r"|SUM|PROD|MAX|MIN|L?B?(?:OR|AND|XOR)|REPLACE|NO_OP)\b")
TEXT = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"')


def handles_looked_up_elsewhere(source):
    """The names of predefined handles past mpi/host, which looks each of them up once."""
    found = []
    for name, path in sources(source).items():
        if name.startswith("mpi/") and not name.startswith(("mpi/host/", "mpi/abi/")):
            found += [f"{name}: {hit[0]}" for hit in HANDLES.finditer(TEXT.sub("", path.read_text(encoding="utf-8")))]
    return found


def test_predefined_handles_are_looked_up_in_one_place():
    assert handles_looked_up_elsewhere(SOURCE) == []


@pytest.mark.parametrize("line", ["*request = MPI_REQUEST_NULL;", "f(MPI_COMM_WORLD);", "if (type == MPI_UINT64_T) {}", "use(MPI_BOR, MPI_PROC_NULL);"])
def test_a_handle_of_another_place_is_caught(tmp_path, line):
    tree(tmp_path, {"mpi/requests/one.cpp": line + "\n", "mpi/host/two.cpp": "x = MPI_SUM;\n", "mpi/three.cpp": '// MPI_SUM\nf("MPI_SUM");\n'})
    assert len(handles_looked_up_elsewhere(tmp_path)) == 1



ABI_CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:el)?if.*(?:MPICH|OMPI|OPEN_MPI|I_MPI|ESPALIER_ABI)\w*", re.MULTILINE)
ABI_FOLDER = "mpi/abi/"


def conditions_on_an_abi(source):
    """Preprocessor conditions on an ABI's or a host's name outside the folder that states what each ABI can do."""
    return [f"{name}: {hit[0].strip()}" for path in sorted(source.rglob("*")) if path.suffix in SUFFIXES
            for name in [path.relative_to(source).as_posix()] if not name.startswith(ABI_FOLDER)
            for hit in ABI_CONDITION.finditer(path.read_text(encoding="utf-8"))]


def test_no_file_asks_for_an_abi_by_its_name():
    assert conditions_on_an_abi(SOURCE) == []


@pytest.mark.parametrize("line", ["#ifdef OPEN_MPI", "#if defined(MPICH_VERSION)", "  #  ifndef ESPALIER_ABI_OMPI", "#elif I_MPI_VERSION"])
def test_a_condition_on_an_abi_is_caught(tmp_path, line):
    tree(tmp_path, {"mpi/host/host.cpp": f"{line}\n#if ESPALIER_HAS_LARGE_COUNT\n", "mpi/abi/abi.hpp": f"{line}\n"})
    assert len(conditions_on_an_abi(tmp_path)) == 1


def test_the_source_was_found():
    assert len(includes(SOURCE)) > 20


# The test itself, on made-up trees: each of these must be caught.


def tree(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return includes(folder)


GOOD = {
    "base/error.hpp": "#include <string>\n",
    "tree/shape.hpp": '#include "base/error.hpp"\n#include "espalier/espalier.h"\n',
    "tree/shape.cpp": '#include "tree/shape.hpp"\n',
    "capi/binding.cpp": '#include "tree/shape.hpp"\n#include "capi/binding.hpp"\n',
    "capi/binding.hpp": "",
}


def test_good_tree_passes(tmp_path):
    graph = tree(tmp_path, GOOD)
    assert (broken_layers(graph), missing_files(graph), circle(graph)) == ([], [], [])


@pytest.mark.parametrize(
    "line",
    [
        '#include "tree/shape.hpp"',
        '  #  include   "tree/shape.hpp"',
        '#ifdef NEVER\n#include "tree/shape.hpp"\n#endif',
    ],
)
def test_include_that_points_up_is_caught(tmp_path, line):
    graph = tree(tmp_path, {**GOOD, "base/low.cpp": line + "\n"})
    assert broken_layers(graph) == ['base/low.cpp (layer 1) includes "tree/shape.hpp" (layer 3)']


def test_sideways_include_is_caught(tmp_path):
    graph = tree(tmp_path, {**GOOD, "network/side.cpp": '#include "tree/shape.hpp"\n'})
    assert broken_layers(graph) == ['network/side.cpp (layer 3) includes "tree/shape.hpp" (layer 3)']


def test_relative_include_is_caught(tmp_path):
    graph = tree(tmp_path, {**GOOD, "tree/near.cpp": '#include "shape.hpp"\n#include "../runtime/up.hpp"\n'})
    assert len(broken_layers(graph)) == 2


def test_unknown_folder_is_caught(tmp_path):
    graph = tree(tmp_path, {**GOOD, "cellar/wine.cpp": ""})
    assert broken_layers(graph) == ["cellar/wine.cpp: its folder is no layer"]


def test_circle_within_a_layer_is_caught(tmp_path):
    graph = tree(
        tmp_path,
        {
            "tree/a.hpp": '#include "tree/b.hpp"\n',
            "tree/b.hpp": '#include "tree/c.hpp"\n',
            "tree/c.hpp": '#include "tree/a.hpp"\n',
        },
    )
    assert circle(graph) == ["tree/a.hpp", "tree/b.hpp", "tree/c.hpp", "tree/a.hpp"]


def test_missing_file_is_caught(tmp_path):
    graph = tree(tmp_path, {**GOOD, "tree/lost.cpp": '#include "base/gone.hpp"\n'})
    assert missing_files(graph) == ['tree/lost.cpp: "base/gone.hpp" does not exist']
