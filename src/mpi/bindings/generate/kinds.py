"""The kinds of parameters: what each is in C, in the form for large counts, and in Fortran."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from table import Parameter, TableError


@dataclass(frozen=True)
class Kind:
    plain: str  # in C, by value
    large: str = ""  # in the _c form, where that differs
    fortran: Optional[str] = "Int*"  # None: Fortran has no such parameter


HANDLE = Kind("Handle")
KINDS = {
    "argc": Kind("int", fortran=None),
    "argv": Kind("char**", fortran=None),
    "choice": Kind("void*", fortran="void*"),  # a buffer
    "int": Kind("int"),
    "count": Kind("int", "MPI_Count"),
    "unit": Kind("int", "MPI_Aint"),
    "counts": Kind("const int*", "const MPI_Count*"),  # an array, never written
    "displacements": Kind("const int*", "const MPI_Aint*"),
    "places": Kind("const MPI_Aint*", fortran="void*"),  # displacements in bytes, alike in both forms
    "aint": Kind("MPI_Aint", fortran="void*"),
    "address": Kind("void*", fortran="void*"),
    "status": Kind("MPI_Status", fortran="void*"),
    **dict.fromkeys(("comm", "datatype", "errhandler", "group", "info", "message", "op"), HANDLE),
    **dict.fromkeys(("request", "session", "window"), HANDLE),
}

ARRAYS = ("counts", "displacements")  # whose length is known and which are narrowed
WIDE_ARRAYS = ("places",)  # which are handed on untouched
NUMBERS = ("count", "unit")  # which are narrowed


def kind_of(parameter: Parameter) -> Kind:
    try:
        return KINDS[parameter.kind]
    except KeyError:
        raise TableError(f'"{parameter.kind}" of "{parameter.name}" is no kind: {", ".join(KINDS)}') from None


def c_type(parameter: Parameter, large: bool) -> str:
    """The type of an entry point's parameter. Handles and what they point to may be another ABI's: void*."""
    kind = kind_of(parameter)
    value = kind.large if large and kind.large else kind.plain
    if parameter.kind == "choice":
        return "const void*" if parameter.direction == "const" else "void*"
    if not parameter.direction:
        return value
    if value in ("int", "char**"):
        return ("const " if parameter.direction == "const" else "") + value + "*"
    return "const void*" if parameter.direction == "const" else "void*"


def handed_on_type(parameter: Parameter, large: bool) -> str:
    """The same for the next in line: arrays for large counts are handed on untouched."""
    untouched = parameter.kind in WIDE_ARRAYS or (large and parameter.kind in ARRAYS)
    return "const void*" if untouched else c_type(parameter, large)


def fortran_type(parameter: Parameter) -> Optional[str]:
    return kind_of(parameter).fortran


def is_buffer(parameter: Parameter) -> bool:
    return parameter.kind == "choice"


def is_array_of_types(parameter: Parameter) -> bool:
    return parameter.kind == "datatype" and parameter.is_array
