"""What serves collectives, hands them on and prepares persistent ones: declarations, and handing on."""

from __future__ import annotations

from call import call_type, member_of
from forms import Form
from kinds import ARRAYS, NUMBERS, WIDE_ARRAYS, is_array_of_types
from layout import fill, header, source, statement
from table import Function, Parameter, TableError


def collectives(functions: list[Function]) -> list[Function]:
    return [function for function in functions if function.family == "collective"]


def emit_served(functions: list[Function]) -> str:
    lines = [f"int {function.lower}(const {call_type(function)}& call, void* caller);" for function in collectives(functions)]
    comment = (
        "/// Each serves the call or hands it to the host, and returns what the program gets. `caller` as in resolve().\n"
        "/// What leaves them is what the program's own functions threw: its error handlers, its operators.\n"
    )
    return header("The collectives that Espalier takes over.", ["mpi/call.hpp"], comment + "\n".join(lines))


def emit_makers(functions: list[Function]) -> str:
    lines = [
        f"void make_{function.lower}(const {call_type(function)}& call, Entry& entry, Draft& draft);"
        for function in collectives(functions)
        if "init" in function.options
    ]
    comment = "/// Each fills in `draft`: what the rank will do, or why it cannot.\n"
    includes = ["mpi/call.hpp", "mpi/requests/persistent.hpp"]
    return header("What init calls make of their arguments.", includes, comment + "\n".join(lines), "espalier::mpi::persistent")


def emit_forward_header(functions: list[Function]) -> str:
    lines = [f"int forward_{function.lower}(const {call_type(function)}& call);" for function in collectives(functions)]
    return header("Handing a call to the next in line, untouched.", ["mpi/call.hpp"], "\n".join(lines))


def emit_forward(functions: list[Function]) -> str:
    includes = ["generated/mpi/collectives/forward.hpp", "mpi/host/host.hpp", "mpi/host/narrow_counts.hpp"]
    body = "\n\n".join(forward(function) for function in collectives(functions))
    return source("Handing collectives to the next in line.", includes, body)


def forward(function: Function) -> str:
    lines = [f"int forward_{function.lower}(const {call_type(function)}& call) {{", "  const Next& next = host.next;"]
    if "large" in function.options:
        lines += large_call(function)
    lines.append(f'  if (!next.{function.member}) return no_such_function("{function.name}");')
    lines += narrowed(function)
    lines += [fill(f"  return next.{function.member}(", [plain(function, item) for item in function.parameters], ");"), "}"]
    return "\n".join(lines)


def large_call(function: Function) -> list[str]:
    form = Form(function, large=True)
    arguments = [untouched(function, parameter) for parameter in form.parameters]
    return [f"  if (call.large && next.{form.member})", fill(f"    return next.{form.member}(", arguments, ");")]


def value(function: Function, parameter: Parameter) -> str:
    return f"call.{member_of(function, parameter)}"


def untouched(function: Function, parameter: Parameter) -> str:
    data = ".data()" if parameter.kind in ARRAYS + WIDE_ARRAYS or is_array_of_types(parameter) else ""
    return value(function, parameter) + data


def plain(function: Function, parameter: Parameter) -> str:
    if parameter.kind in ARRAYS or is_array_of_types(parameter):
        return f"{parameter.name}.data()"
    if parameter.kind in WIDE_ARRAYS:
        return untouched(function, parameter)
    if parameter.kind in NUMBERS:
        return f"static_cast<int>({value(function, parameter)})"
    return value(function, parameter)


# How many entries arrays have; asked where they hold numbers of the _c form, or datatypes of Fortran.
ENTRIES = {
    "ranks": "local_ranks(call.comm)",
    "peers": "peers(call.comm)",
    "peers_of_root": "peers_of_root(call.comm, call.root)",
    "peers_unless_in_place": "peers(call.comm)",
    "sources": "neighbours(call.comm).sources",
    "destinations": "neighbours(call.comm).destinations",
}


def number_of_entries(entries: str, has_types: bool) -> str:
    needed = "is_copied" if has_types else "call.large"
    if entries == "peers_unless_in_place":
        needed += " && call.send.buffer != MPI_IN_PLACE"
    return f"{needed} ? {ENTRIES[entries]} : 0"


def entries_name(parameter: Parameter) -> str:
    side, _, rest = parameter.name.partition("_")
    return f"{side}_entries" if rest else "entries"


def narrowed(function: Function) -> list[str]:
    """The numbers of a _c call as int."""
    lines = []
    tests = [f"!fits_int({value(function, parameter)})" for parameter in function.parameters if parameter.kind in NUMBERS]
    arrays = [parameter for parameter in function.parameters if parameter.kind in ARRAYS]
    for parameter in arrays:
        if not parameter.entries:
            raise TableError(f"{function.name}: the number of entries of {parameter.name} is missing")
    types = [parameter for parameter in function.parameters if is_array_of_types(parameter)]
    if types:
        lines.append("  const bool is_copied = call.large || call.receive.types.is_fortran();")
    for name, entries in dict.fromkeys((entries_name(parameter), parameter.entries) for parameter in arrays):
        lines.append(f"  const int {name} = {number_of_entries(entries, bool(types))};")
    for parameter in arrays:
        lines.append(f"  const Narrow {parameter.name}({value(function, parameter)}, {entries_name(parameter)});")
        tests.append(f"!{parameter.name}.fits()")
    for parameter in types:
        lines.append(f"  const PlainTypes {parameter.name}({value(function, parameter)}, {entries_name(parameter)});")
    if tests:
        lines.append(statement(" || ".join(tests), "return too_large(", [], ");"))
    return lines
