"""What a collective's parameters become in Call and Transfer (collectives/call.hpp)."""

from __future__ import annotations

from forms import Form
from kinds import ARRAYS, WIDE_ARRAYS, is_array_of_types, is_buffer
from layout import fill
from table import Function, Parameter, TableError

# In the order of the members.
CALL_MEMBERS = ("send", "receive", "count", "type", "op", "root", "comm", "counts")
PART_MEMBERS = {
    "": "buffer",
    "_count": "count",
    "_type": "type",
    "_counts": "counts",
    "_places": "displacements",
    "_types": "types",
}
SIDES = ("send", "receive")


def is_transfer(function: Function) -> bool:
    """Whether each side has a datatype of its own, or one for each block."""
    return any(parameter.name in ("send_type", "send_types") for parameter in function.parameters)


def call_type(function: Function) -> str:
    return "Transfer" if is_transfer(function) else "Call"


def ways_of(form: Form) -> tuple[list[str], list[str]]:
    """What serves a persistent or nonblocking collective: a statement before, if any, and the first arguments."""
    lower = form.function.lower
    make, collective = f"persistent::make_{lower}", f"Collective::{lower}"
    if form.init:
        return [], [make, collective]
    ways = fill(f"  const nonblocking::Ways<{call_type(form.function)}> ways{{", [collective, make, lower], "};")
    return [ways], ["ways"]


def member_of(function: Function, parameter: Parameter) -> str:
    """Where the call has a parameter, such as send.count."""
    if is_transfer(function):
        for side in SIDES:
            rest = parameter.name[len(side) :]
            if parameter.name.startswith(side) and rest in PART_MEMBERS:
                return f"{side}.{PART_MEMBERS[rest]}"
    name = "receive" if parameter.name == "buffer" else parameter.name
    known = ("root", "comm") if is_transfer(function) else CALL_MEMBERS
    if name not in known:
        raise TableError(f'{function.name}: a {call_type(function)} has no member for "{parameter.name}"')
    return name


def in_c(parameter: Parameter, large: bool) -> str:
    if is_array_of_types(parameter):
        return f"Types({parameter.name})"
    if parameter.kind in WIDE_ARRAYS:
        return f"Numbers::wide({parameter.name})"
    if parameter.kind in ARRAYS:
        return f"Numbers::wide({parameter.name})" if large else f"Numbers({parameter.name})"
    return parameter.name


FORTRAN = {"datatype": "type_handle", "op": "op_handle", "comm": "comm_handle"}


def in_fortran(parameter: Parameter, large: bool) -> str:
    if is_buffer(parameter):
        return f"c_address({parameter.name})"
    if is_array_of_types(parameter):
        return f"Types::of_fortran({parameter.name})"
    if parameter.kind in WIDE_ARRAYS:
        return f"Numbers::wide({parameter.name})"
    if parameter.kind in ARRAYS:
        return f"Numbers({parameter.name})"
    if parameter.kind in FORTRAN:
        return f"{FORTRAN[parameter.kind]}({parameter.name})"
    return f"*{parameter.name}"


def part(form: Form, side: str, values: dict[str, str]) -> str:
    counts = f"{side}_counts"
    if f"{side}_types" in values:
        arguments = [values[side], values[counts], values[f"{side}_places"], values[f"{side}_types"]]
        return f"mixed_blocks({', '.join(arguments)})"
    if counts in values:
        arguments = [values[side], values[counts], values[f"{side}_places"], values[f"{side}_type"]]
        return f"unequal_blocks({', '.join(arguments)})"
    return f"equal_blocks({values[side]}, {values[f'{side}_count']}, {values[f'{side}_type']})"


def initialisers(form: Form, fortran: bool = False) -> list[str]:
    """The members of the call, in order, each with its value."""
    convert = in_fortran if fortran else in_c
    function = form.function
    values = {parameter.name: convert(parameter, form.large) for parameter in function.parameters}
    if is_transfer(function):
        members = {side: part(form, side, values) for side in SIDES}
        members.update({name: values[name] for name in ("root", "comm") if name in values})
    else:
        by_member = {member_of(function, parameter): values[parameter.name] for parameter in function.parameters}
        members = {name: by_member[name] for name in CALL_MEMBERS if name in by_member}
    counts = members.pop("counts", None)
    if form.large:
        members["large"] = "true"
    if counts:
        members["counts"] = counts
    return [f".{name} = {value}" for name, value in members.items()]
