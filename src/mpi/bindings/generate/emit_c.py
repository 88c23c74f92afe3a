"""The entry points of C: for each family what its functions have in common stands in a header of bindings/c."""

from __future__ import annotations

from typing import Callable

from call import call_type, initialisers, ways_of
from forms import Form, exported_forms, forms_of
from kinds import NUMBERS, c_type
from layout import COLUMNS, braces, fill, grouped, header, source
from table import Function, Parameter

CALLER = "__builtin_return_address(0)"


def names(form: Form) -> list[str]:
    return [parameter.name for parameter in form.parameters]


def declared(parameter: Parameter, large: bool) -> str:
    return f"{c_type(parameter, large)} {parameter.name}"


def signature(form: Form, closing: str) -> str:
    parameters = [declared(parameter, form.large) for parameter in form.parameters]
    return fill(f"int export_{form.member}(", parameters, closing)


def hand_on(form: Form, table: str, otherwise: str = "") -> list[str]:
    """Statements of a function object that ask the next in line."""
    otherwise = otherwise or f'no_such_function("{form.name}")'
    return [
        f"    if (!{table}.{form.member}) return {otherwise};",
        fill(f"    return {table}.{form.member}(", names(form), ");"),
    ]


def lambda_of(name: str, parameters: str, statements: list[str]) -> str:
    return "\n".join([f"  const auto {name} = [&]{parameters} {{", *statements, "  };"])


def answer_of(name: str, expression: str) -> str:
    """A function object of one expression."""
    line = f"  const auto {name} = [&] {{ return {expression}; }};"
    return line if len(line) <= COLUMNS else lambda_of(name, "", [f"    return {expression};"])


def handing_on(form: Form, struct: str = "Next", otherwise: str = "") -> str:
    table = struct.lower()
    return lambda_of("hand_on", f"(const {struct}& {table})", hand_on(form, table, otherwise))


def body(form: Form, lines: list[str]) -> str:
    return "\n".join([signature(form, ") {"), *lines, "}"])


# The families. Each makes one entry point.


def the_call(form: Form) -> str:
    return braces(f"  const {call_type(form.function)} call{{", initialisers(form), "};")


def collective(form: Form) -> str:
    return body(form, [the_call(form), f"  return {form.function.lower}(call, {CALLER});"])


def with_request(form: Form) -> str:
    """A persistent or nonblocking collective."""
    handed_on = lambda_of("hand_on", "", hand_on(form, "host.next"))
    ways, first = ways_of(form)
    served = fill(
        "  return persistent::init(" if form.init else "  return nonblocking::begin(",
        [*first, "call", "request", CALLER, "hand_on"],
        ");",
    )
    return body(form, [the_call(form), handed_on, *ways, served])


def completed(form: Form) -> list[str]:
    """How many requests a call may complete, and where they are."""
    for parameter in form.parameters:
        if parameter.kind == "request" and parameter.direction == "inout" and form.function.family != "starts":
            return ["count" if parameter.is_array else "1", parameter.name]
    return ["0", "nullptr"]


def serving(form: Form) -> str:
    return answer_of("serve", f"serve_{form.function.lower}({', '.join(names(form))})")


def requests(form: Form) -> str:
    answer = fill("  return use_requests(", [CALLER, *completed(form), "serve", "hand_on"], ");")
    return body(form, [serving(form), handing_on(form), answer])


def found(form: Form) -> str:
    """Whether a test or probe has found something."""
    condition = "*flag != 0" if "flag" in names(form) else "*outcount != 0"
    return answer_of("is_found", condition)


def test(form: Form) -> str:
    otherwise = "serve()" if "emulated" in form.function.options else ""
    answer = fill("  return test_requests(", [CALLER, *completed(form), "serve", "is_found", "hand_on"], ");")
    return body(form, [serving(form), found(form), handing_on(form, "Asks", otherwise), answer])


def probe(form: Form) -> str:
    answer = fill("  return probe(", [CALLER, "is_found", "hand_on"], ");")
    return body(form, [found(form), handing_on(form, "Asks"), answer])


def message(form: Form) -> str:
    peer = "peer" if "peer" in names(form) else "MPI_ANY_SOURCE"
    answer = fill("  return begin_message(", [CALLER, "count", "type", peer, "request", "hand_on"], ");")
    return body(form, [handing_on(form), answer])


def window(form: Form) -> str:
    handed_on = narrowing(form) if form.large else handing_on(form)
    return body(form, [handed_on, fill("  return make_window(", [CALLER, "hand_on"], ");")])


def creates(form: Form) -> str:
    """A communicator; where the handle comes later, by a request, it is only counted."""
    kind = "by_group" if "group" in names(form) and "tag" in names(form) else "of_all"
    tag = "tag" if kind == "by_group" else "0"
    made = "nullptr" if "request" in names(form) else "new_comm"
    answer = fill("  return make_communicator(", [CALLER, f"Creation::{kind}", "comm", tag, made, "hand_on"], ");")
    return body(form, [handing_on(form), answer])


def narrowing(form: Form) -> str:
    """A host that is too old for the _c form gets the plain call, if the numbers fit."""
    plain = Form(form.function, variant=form.variant)
    numbers = [parameter.name for parameter in form.parameters if parameter.kind in NUMBERS]
    arguments = [f"static_cast<int>({name})" if name in numbers else name for name in names(form)]
    fits = " && ".join(f"fits_int({name})" for name in numbers)
    statements = [
        f"    if (!next.{form.member} && {fits}) {{",
        f'      if (!next.{plain.member}) return no_such_function("{plain.name}");',
        fill(f"      return next.{plain.member}(", arguments, ");"),
        "    }",
        *hand_on(form, "next"),
    ]
    return lambda_of("hand_on", "(const Next& next)", statements)


Family = Callable[[Form], str]
FAMILIES: dict[str, Family] = {
    "collective": collective,
    "starts": requests,
    "completes": requests,
    "tests": test,
    "probe": probe,
    "message": message,
    "window": window,
    "creates": creates,
}


def maker(form: Form) -> Family:
    return with_request if form.variant else FAMILIES[form.function.family]


def entry_points(functions: list[Function], families: tuple[str, ...], variant: str = "") -> str:
    chosen = [form for function in functions if function.family in families for form in forms_of(function)]
    return grouped((form.condition, maker(form)(form)) for form in chosen if form.variant == variant)


def emit_collectives(functions: list[Function]) -> str:
    includes = ["generated/mpi/collectives/collectives.hpp", "generated/mpi/bindings/c/entry_points.hpp"]
    return source("The C entry points of the collectives.", includes, entry_points(functions, ("collective",)))


def emit_persistent(functions: list[Function]) -> str:
    includes = ["generated/mpi/bindings/c/entry_points.hpp", "generated/mpi/requests/prepare/make.hpp"]
    return source(
        "The C entry points of the persistent collectives.", includes, entry_points(functions, ("collective",), "init")
    )


def emit_nonblocking(functions: list[Function]) -> str:
    includes = ["generated/mpi/bindings/c/entry_points.hpp", "generated/mpi/requests/prepare/make.hpp"]
    includes += ["generated/mpi/collectives/collectives.hpp", "mpi/requests/nonblocking.hpp"]
    body_text = entry_points(functions, ("collective",), "nonblocking")
    return source("The C entry points of the nonblocking collectives.", includes, body_text)


def emit_requests(functions: list[Function]) -> str:
    includes = ["generated/mpi/bindings/c/entry_points.hpp", "generated/mpi/requests/serve.hpp", "mpi/bindings/c/requests.hpp"]
    families = ("starts", "completes", "tests", "probe")
    return source("The C entry points for requests and probes.", includes, entry_points(functions, families))


def emit_messages(functions: list[Function]) -> str:
    includes = ["generated/mpi/bindings/c/entry_points.hpp", "mpi/bindings/c/messages.hpp", "mpi/bindings/c/windows.hpp"]
    includes.append("mpi/host/narrow_counts.hpp")
    body_text = entry_points(functions, ("message", "window"))
    return source("The C entry points that begin messages and make windows.", includes, body_text)


def emit_communicators(functions: list[Function]) -> str:
    includes = ["generated/mpi/bindings/c/entry_points.hpp", "mpi/bindings/c/communicators.hpp"]
    return source("The C entry points that make communicators.", includes, entry_points(functions, ("creates",)))


def declaration(form: Form) -> str:
    parameters = signature(form, ")")
    name = f"ESPALIER_EXPORT({form.name});"
    fits = len(parameters.split("\n")[-1]) + 1 + len(name) <= COLUMNS
    return f"{parameters} {name}" if fits else f"{parameters}\n    {name}"


def emit_declarations(functions: list[Function]) -> str:
    declarations = ((form.condition, declaration(form)) for form in exported_forms(functions))
    body_text = 'extern "C" {\n\n' + grouped(declarations, "\n") + '\n\n}  // extern "C"'
    return header("All C entry points.", ["mpi/abi/abi.hpp", "mpi/bindings/c/export.hpp"], body_text)


def emit_requests_header(functions: list[Function]) -> str:
    """What serves those calls where some requests may be Espalier's."""
    lines = [
        fill(f"int serve_{form.function.lower}(", [declared(parameter, False) for parameter in form.parameters], ");")
        for function in functions
        if function.family in ("starts", "completes", "tests")
        for form in forms_of(function)
    ]
    return header("What serves calls with requests where some may be Espalier's.", ["mpi/abi/abi.hpp"], "\n".join(lines))
