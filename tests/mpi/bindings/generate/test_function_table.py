"""Reading the table of MPI functions: what it says, and how mistakes in it are named."""

import forms
import kinds
import pytest
import table


def test_a_function_is_read(parse):
    function = parse("MPI_Bcast(choice buffer, count count, int root, comm comm) : collective large fortran  # a comment")
    assert (function.name, function.member, function.lower) == ("MPI_Bcast", "Bcast", "bcast")
    assert [parameter.name for parameter in function.parameters] == ["buffer", "count", "root", "comm"]
    assert function.family == "collective"
    assert function.options == {"large", "fortran"}


def test_functions_may_take_several_lines():
    text = "# first\nMPI_Start(inout request request) : starts\n\nMPI_Wait(inout request request,\n  out status status)\n  : completes\n"
    assert [function.name for function in table.parse(text)] == ["MPI_Start", "MPI_Wait"]


def test_a_function_without_parameters(parse):
    assert parse("MPI_Finalize() : own").parameters == ()


def test_a_name_of_an_extension_loses_its_own_prefix(parse):
    assert parse("MPIX_Comm_revoke(comm comm) : own").member == "Comm_revoke"


def test_directions_and_arrays(parse):
    function = parse("MPI_X(const choice send, counts counts[peers], out int indices[], inout request request) : own")
    send, counts, indices, request = function.parameters
    assert send == table.Parameter("choice", "send", "const")
    assert counts == table.Parameter("counts", "counts", "", True, "peers")
    assert indices == table.Parameter("int", "indices", "out", True)
    assert request == table.Parameter("request", "request", "inout")


@pytest.mark.parametrize(
    "text, named",
    [
        ("MPI_X(comm comm) : nothing", '"nothing" is no family'),
        ("MPI_X(comm comm) : own quick", '"quick" is no option'),
        ("MPI_X(comm) : own", '"comm" is no parameter'),
        ("MPI_X(into comm comm) : own", '"into" is none of const, out, inout'),
        ("MPI_X(counts counts[many]) : own", '"many" is none of ranks'),
        ("MPI_X(comm comm)", "no function: MPI_X(comm comm)"),
        ("MPI_X() : own\nMPI_Y(comm comm : own", "no function: MPI_Y(comm comm : own"),
        ("MPI_X() : own\nMPI_X() : own", "MPI_X stands there twice"),
    ],
)
def test_a_mistake_is_named(text, named):
    with pytest.raises(table.TableError, match=named.replace("(", r"\(").replace(")", r"\)")):
        table.parse(text)


def test_an_unknown_kind_is_named(parse):
    with pytest.raises(table.TableError, match='"comn" of "comm" is no kind'):
        kinds.c_type(parse("MPI_X(comn comm) : own").parameters[0], False)


@pytest.mark.parametrize(
    "parameter, plain, large, handed_on, fortran",
    [
        ("const choice send", "const void*", "const void*", "const void*", "void*"),
        ("choice receive", "void*", "void*", "void*", "void*"),
        ("count count", "int", "MPI_Count", "MPI_Count", "Int*"),
        ("unit unit", "int", "MPI_Aint", "MPI_Aint", "Int*"),
        ("counts counts[ranks]", "const int*", "const MPI_Count*", "const void*", "Int*"),
        ("displacements places[ranks]", "const int*", "const MPI_Aint*", "const void*", "Int*"),
        ("comm comm", "Handle", "Handle", "Handle", "Int*"),
        ("out request request", "void*", "void*", "void*", "Int*"),
        ("const request requests[]", "const void*", "const void*", "const void*", "Int*"),
        ("out int flag", "int*", "int*", "int*", "Int*"),
        ("out status status", "void*", "void*", "void*", "void*"),
        ("aint bytes", "MPI_Aint", "MPI_Aint", "MPI_Aint", "void*"),
        ("inout argv argv", "char***", "char***", "char***", None),
    ],
)
def test_types(parse, parameter, plain, large, handed_on, fortran):
    (found,) = parse(f"MPI_X({parameter}) : own").parameters
    assert kinds.c_type(found, False) == plain
    assert kinds.c_type(found, True) == large
    assert kinds.handed_on_type(found, True) == handed_on
    assert kinds.fortran_type(found) == fortran


def test_forms(parse):
    function = parse("MPI_Bcast(choice buffer, count count, comm comm) : collective large init")
    found = forms.forms_of(function)
    assert [form.name for form in found] == ["MPI_Bcast", "MPI_Bcast_c", "MPI_Bcast_init", "MPI_Bcast_init_c"]
    assert [parameter.name for parameter in found[-1].parameters] == ["buffer", "count", "comm", "info", "request"]
    assert [form.condition for form in found] == ["", "ESPALIER_HAS_LARGE_COUNT"] * 2


def test_forms_without_options(parse):
    assert [form.name for form in forms.forms_of(parse("MPI_Isend(comm comm) : message"))] == ["MPI_Isend"]


def test_what_espalier_calls_is_not_exported(functions):
    exported = {form.name for form in forms.exported_forms(functions)}
    called = {function.name for function in functions if function.family == "called"}
    assert called and not exported & called
