"""The linker's list of all that a preloaded Espalier shows to the program."""

from __future__ import annotations

import textwrap

from forms import exported_forms, nonblocking_name
from table import Function

# No MPI_Get_version, no MPI_Abi_get_version, no C++ library. Fortran's other spellings begin with mpi_.
COMMENT = "/* MPI's names, those of espalier.h, and the two that its launcher is asked by (launcher_session.cpp). */"
OTHERS = ["mpi_*", "espalier_*", "ESPALIER_IN_PLACE", "setsid", "execvp"]


def upper_case(functions: list[Function]) -> list[str]:
    names = []
    for function in functions:
        if "fortran" in function.options:
            names.append(function.name.upper())
        if {"fortran", "nonblocking"} <= function.options:
            names.append(nonblocking_name(function.name).upper())
        if "cptr" in function.options:
            names.append(f"{function.name.upper()}_CPTR")
    return names


def emit(functions: list[Function]) -> str:
    names = [form.name for form in exported_forms(functions)] + upper_case(functions) + OTHERS
    lines = textwrap.wrap("; ".join(names) + ";", 106, break_long_words=False)
    shown = "\n".join(f"    {line}" for line in lines)
    return f"{COMMENT}\n{{\n  global:\n{shown}\n  local:\n    *;\n}};\n"
