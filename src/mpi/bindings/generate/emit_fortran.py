"""The entry points of Fortran. Whole for collectives; elsewhere written by hand in bindings/fortran are their bodies."""

from __future__ import annotations

from call import call_type, initialisers, ways_of
from forms import Form, all_forms
from kinds import fortran_type
from layout import COLUMNS, braces, fill, grouped, header, source, statement
from table import Function, Parameter

NAMES = "const Names& names"
ENDING = ["Int* error", "void* caller"]
PAST_C = "ESPALIER_FORTRAN_CALLS_PMPI"


def parameters_of(form: Form) -> list[Parameter]:
    return [parameter for parameter in form.parameters if fortran_type(parameter)]


def declared(form: Form) -> list[str]:
    return [f"{fortran_type(parameter)} {parameter.name}" for parameter in parameters_of(form)]


def names(form: Form) -> list[str]:
    return [parameter.name for parameter in parameters_of(form)]


def fortran_forms(functions: list[Function]) -> list[Form]:
    """Those that are exported. Of the other forms it is those without a buffer that no C entry point sees."""
    forms = [form for form in all_forms(functions) if "fortran" in form.function.options]
    return [form for form in forms if not form.suffix or not form.has_buffer]


def condition(form: Form) -> str:
    if form.init:
        return f"!{PAST_C}"
    if form.large:
        return "ESPALIER_HAS_LARGE_COUNT"
    return PAST_C if form.has_buffer else ""


def exported(form: Form, body: str, suffix: str = "") -> str:
    lower = f"{form.name.lower()}{suffix}"
    opening, spellings = ("ESPALIER_F08(", [lower]) if form.suffix else ("ESPALIER_FORTRAN(", [lower, lower.upper()])
    indent = " " * len(opening)
    parameters = fill(f"{indent}(", [*declared(form), "Int* error"], "),")
    arguments = fill(indent, [body, *names(form), "error"], ")")
    return "\n".join([f"{opening}{', '.join(spellings)},", parameters, arguments])


def the_call(form: Form) -> str:
    return braces(f"  const {call_type(form.function)} call{{", initialisers(form, fortran=True), "};")


def collective(form: Form) -> str:
    opening = fill(f"void fortran_{form.member.lower()}(", [NAMES, *declared(form), *ENDING], ") {")
    forward = statement("!take(caller)", "return forward(", ["names", "error", *names(form)], ");")
    serve = with_request(form) if form.variant else f"  set(error, {form.function.lower}(call, caller));"
    return "\n".join([opening, forward, the_call(form), serve, "}"])


def with_request(form: Form) -> str:
    arguments = ["names", *names(form)]
    hand_on = f"  const auto hand_on = [&] {{ return ask({', '.join(arguments)}); }};"
    if len(hand_on) > COLUMNS:
        hand_on = "\n".join(["  const auto hand_on = [&] {", fill("    return ask(", arguments, ");"), "  };"])
    ways, first = ways_of(form)
    serve = fill(
        "  prepare(" if form.init else "  begin(",
        [*first, "call", "request", "error", "caller", "hand_on"],
        ");",
    )
    return "\n".join([hand_on, *ways, serve])


def emit_collectives(functions: list[Function]) -> str:
    forms = [form for form in fortran_forms(functions) if form.function.family == "collective"]
    bodies = grouped((condition(form), collective(form)) for form in forms)
    entries = grouped((condition(form), exported(form, f"fortran_{form.member.lower()}")) for form in forms)
    includes = [
        "generated/mpi/collectives/collectives.hpp",
        "generated/mpi/requests/prepare/make.hpp",
        "mpi/bindings/fortran/prepare.hpp",
    ]
    return source(
        "The Fortran entry points of the collectives.",
        includes,
        f"namespace {{\n\n{bodies}\n\n}}  // namespace\n\n{entries}",
        "espalier::mpi::fortran",
    )


def creates(form: Form) -> str:
    opening = fill(f"void fortran_{form.member.lower()}(", [NAMES, *declared(form), *ENDING], ") {")
    by_group = "group" in names(form) and "tag" in names(form)
    kind, tag = ("by_group", "tag") if by_group else ("of_all", "nullptr")
    made = "nullptr" if "request" in names(form) else "new_comm"
    arguments = ["names", "error", "caller", f"Creation::{kind}", "comm", tag, made, *names(form)]
    return "\n".join([opening, fill("  make_communicator(", arguments, ");"), "}"])


def emit_communicators(functions: list[Function]) -> str:
    forms = [form for form in fortran_forms(functions) if form.function.family == "creates"]
    bodies = grouped((condition(form), creates(form)) for form in forms)
    entries = grouped((condition(form), exported(form, f"fortran_{form.member.lower()}")) for form in forms)
    return source(
        "The Fortran entry points that make communicators.",
        ["mpi/bindings/fortran/communicators.hpp"],
        f"namespace {{\n\n{bodies}\n\n}}  // namespace\n\n{entries}",
        "espalier::mpi::fortran",
    )


def by_hand(functions: list[Function]) -> list[Form]:
    return [form for form in fortran_forms(functions) if form.function.family not in ("collective", "creates")]


def emit_bodies(functions: list[Function]) -> str:
    """All forms of a function have one body: they differ in what pointers point to."""
    declarations = grouped(
        (
            (condition(form), fill(f"void {form.function.lower}(", [NAMES, *declared(form), *ENDING], ");"))
            for form in by_hand(functions)
            if not form.suffix
        ),
        "\n",
    )
    return header(
        "The bodies of the Fortran entry points that are written by hand.",
        ["mpi/bindings/fortran/fortran.hpp"],
        declarations,
        "espalier::mpi::fortran",
    )


def emit_others(functions: list[Function]) -> str:
    entries = []
    for form in by_hand(functions):
        entries.append((condition(form), exported(form, form.function.lower)))
        if "cptr" in form.function.options and not form.suffix:
            entries.append((PAST_C, exported(form, form.function.lower, "_cptr")))
    return source(
        "The Fortran entry points whose bodies are written by hand.",
        ["generated/mpi/bindings/fortran/bodies.hpp"],
        grouped(entries),
        "espalier::mpi::fortran",
    )
