"""The functions of the next in line: the members of Next, and their resolution by name."""

from __future__ import annotations

from forms import Form, all_forms
from kinds import handed_on_type
from layout import fill, header
from table import Function

ASKING = ("tests", "probe")  # of these the host's own are needed, too


def member(form: Form) -> str:
    types = [handed_on_type(parameter, form.large) for parameter in form.parameters]
    return fill(f"  int (*{form.member})(", types, ");")


def struct(name: str, comment: str, forms: list[Form]) -> str:
    members = "\n".join(member(form) for form in forms)
    return f"/// {comment}\nstruct {name} {{\n{members}\n}};"


def resolution(function: str, struct_name: str, forms: list[Form], prefix: str) -> str:
    lines = [f'  find(table.{form.member}, "{prefix}{form.name}");' for form in forms]
    return "\n".join(
        [
            "/// Calls find(member, name) for each of them.",
            "template <class Find>",
            f"void {function}({struct_name}& table, Find find) {{",
            *lines,
            "}",
        ]
    )


def emit(functions: list[Function]) -> str:
    forms = all_forms(functions)
    asking = [form for form in forms if form.function.family in ASKING]
    others = [form for form in forms if form.function.family not in ASKING]
    body = "\n\n".join(
        [
            struct("Asks", "What asks whether something has come. Requests and statuses are handed on untouched.", asking),
            struct(
                "Next : Asks",
                "What the program called, as the next in line provides it: another preloaded tool's MPI_X or the host's.",
                others,
            ),
            resolution("for_each_next", "Next", forms, ""),
            resolution("for_each_asked", "Asks", asking, "P"),
        ]
    )
    return header("The functions of the next in line.", ["mpi/abi/abi.hpp"], body)
