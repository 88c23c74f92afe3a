"""What is generated: short texts in full, and of the whole table what must hold everywhere."""

import subprocess
import sys

import emit_c
import emit_collectives
import emit_exports
import emit_fortran
import emit_next
import layout
import pytest
import table
from conftest import BINDINGS

SCATTERV = """
MPI_Scatterv(const choice send, counts send_counts[peers_of_root], displacements send_places[peers_of_root],
             datatype send_type, choice receive, count receive_count, datatype receive_type, int root, comm comm)
  : collective large init fortran
"""
EXSCAN = "MPI_Exscan(const choice send, choice receive, count count, datatype type, op op, comm comm) : collective large"


def test_the_entry_point_of_a_collective(parse):
    text = emit_c.emit_collectives([parse(EXSCAN)])
    assert """
int export_Exscan(const void* send, void* receive, int count, Handle type, Handle op, Handle comm) {
  const Call call{.send = send, .receive = receive, .count = count, .type = type, .op = op, .comm = comm};
  return exscan(call, __builtin_return_address(0));
}
""" in text


def test_the_large_form_says_so_to_what_serves_it(parse):
    text = emit_c.emit_collectives([parse(SCATTERV)])
    large = text[text.index("#if ESPALIER_HAS_LARGE_COUNT") : text.index("#endif")]
    assert "const MPI_Count* send_counts, const MPI_Aint* send_places" in large
    assert ".send = unequal_blocks(send, Numbers::wide(send_counts), Numbers::wide(send_places), send_type)," in large
    assert ".large = true," in large


def test_the_entry_point_of_a_persistent_collective(parse):
    text = emit_c.emit_persistent([parse("MPI_Barrier(comm comm) : collective init")])
    assert """
int export_Barrier_init(Handle comm, Handle info, void* request) {
  const Call call{.comm = comm};
  const auto hand_on = [&] {
    if (!host.next.Barrier_init) return no_such_function("MPI_Barrier_init");
    return host.next.Barrier_init(comm, info, request);
  };
  return persistent::init(persistent::make_barrier, Collective::barrier, call, request,
                          __builtin_return_address(0), hand_on);
}
""" in text


def test_the_entry_points_of_a_nonblocking_collective(parse):
    function = parse("MPI_Barrier(comm comm) : collective init nonblocking fortran")
    assert """
int export_Ibarrier(Handle comm, void* request) {
  const Call call{.comm = comm};
  const auto hand_on = [&] {
    if (!host.next.Ibarrier) return no_such_function("MPI_Ibarrier");
    return host.next.Ibarrier(comm, request);
  };
  const nonblocking::Ways<Call> ways{Collective::barrier, persistent::make_barrier, barrier};
  return nonblocking::begin(ways, call, request, __builtin_return_address(0), hand_on);
}
""" in emit_c.emit_nonblocking([function])
    assert "Ibarrier" not in emit_c.emit_collectives([function]) + emit_c.emit_persistent([function])
    fortran = emit_fortran.emit_collectives([function])
    assert "ESPALIER_FORTRAN(mpi_ibarrier, MPI_IBARRIER," in fortran
    assert "nonblocking::Ways<Call> ways{Collective::barrier, persistent::make_barrier, barrier};" in fortran
    assert "begin(ways, call, request, error, caller, hand_on);" in fortran
    assert {"MPI_Ibarrier;", "MPI_IBARRIER;"} <= set(emit_exports.emit([function]).split())


def test_handing_on_narrows_the_numbers_of_a_large_call(parse):
    text = emit_collectives.forward(parse(SCATTERV))
    assert text == """\
int forward_scatterv(const Transfer& call) {
  const Next& next = host.next;
  if (call.large && next.Scatterv_c)
    return next.Scatterv_c(call.send.buffer, call.send.counts.data(), call.send.displacements.data(),
                           call.send.type, call.receive.buffer, call.receive.count, call.receive.type,
                           call.root, call.comm);
  if (!next.Scatterv) return no_such_function("MPI_Scatterv");
  const int send_entries = call.large ? peers_of_root(call.comm, call.root) : 0;
  const Narrow send_counts(call.send.counts, send_entries);
  const Narrow send_places(call.send.displacements, send_entries);
  if (!fits_int(call.receive.count) || !send_counts.fits() || !send_places.fits()) return too_large();
  return next.Scatterv(call.send.buffer, send_counts.data(), send_places.data(), call.send.type,
                       call.receive.buffer, static_cast<int>(call.receive.count), call.receive.type,
                       call.root, call.comm);
}"""


ALLTOALLW = """
MPI_Alltoallw(const choice send, counts send_counts[peers_unless_in_place],
              displacements send_places[peers_unless_in_place], const datatype send_types[peers_unless_in_place],
              choice receive, counts receive_counts[peers], displacements receive_places[peers],
              const datatype receive_types[peers], comm comm)
  : collective large fortran
"""


def test_handing_on_makes_datatypes_of_fortran_those_of_c(parse):
    text = emit_collectives.forward(parse(ALLTOALLW))
    assert "call.send.types.data(), call.receive.buffer" in text  # of the _c form: untouched
    assert """
  const bool is_copied = call.large || call.receive.types.is_fortran();
  const int send_entries = is_copied && call.send.buffer != MPI_IN_PLACE ? peers(call.comm) : 0;
  const int receive_entries = is_copied ? peers(call.comm) : 0;
""" in text
    assert "  const PlainTypes send_types(call.send.types, send_entries);" in text
    assert "send_counts.data(), send_places.data(), send_types.data()," in text


def test_entry_points_pass_on_arrays_of_datatypes(parse):
    function = parse(ALLTOALLW)
    text = emit_c.emit_collectives([function])
    assert "int export_Alltoallw(const void* send, const int* send_counts, const int* send_places, const void* send_types," in text
    assert ".send = mixed_blocks(send, Numbers(send_counts), Numbers(send_places), Types(send_types))," in text
    assert "Types::of_fortran(receive_types)" in emit_fortran.emit_collectives([function])


def test_places_in_bytes_are_handed_on_as_they_are(parse):
    text = "MPI_X(const choice send, counts send_counts[destinations], places send_places[destinations], "
    text += "const datatype send_types[destinations], choice receive, counts receive_counts[sources], "
    text += "places receive_places[sources], const datatype receive_types[sources], comm comm) : collective large"
    function = parse(text)
    forward = emit_collectives.forward(function)
    assert "neighbours(call.comm).destinations" in forward and "neighbours(call.comm).sources" in forward
    assert "send_counts.data(), call.send.displacements.data(), send_types.data()" in forward
    assert "Numbers(send_counts), Numbers::wide(send_places), Types(send_types)" in emit_c.emit_collectives([function])
    assert "const MPI_Aint* send_places" in emit_c.emit_collectives([function])


def test_arrays_need_the_number_of_their_entries(parse):
    with pytest.raises(table.TableError, match="the number of entries of counts is missing"):
        emit_collectives.forward(parse("MPI_X(choice receive, counts counts[], comm comm) : collective"))


def test_a_parameter_that_no_call_has_is_named(parse):
    with pytest.raises(table.TableError, match='MPI_X: a Call has no member for "colour"'):
        emit_c.emit_collectives([parse("MPI_X(int colour, comm comm) : collective")])


def test_a_test_is_served_where_the_host_lacks_it(parse):
    text = emit_c.emit_requests([parse("MPI_Testall(int count, inout request requests[], out int flag) : tests emulated")])
    assert "if (!asks.Testall) return serve();" in text
    assert "return test_requests(__builtin_return_address(0), count, requests, serve, is_found, hand_on);" in text


@pytest.mark.parametrize(
    "text, completed",
    [
        ("MPI_Wait(inout request request) : completes", "1, request"),
        ("MPI_Waitall(int count, inout request requests[]) : completes", "count, requests"),
        ("MPI_Startall(int count, inout request requests[]) : starts", "0, nullptr"),
    ],
)
def test_which_requests_a_call_completes(parse, text, completed):
    found = emit_c.emit_requests([parse(text)])
    assert f"return use_requests(__builtin_return_address(0), {completed}, serve, hand_on);" in found


def test_a_window_of_a_host_without_large_units(parse):
    text = emit_c.emit_messages([parse("MPI_Win_x(unit unit, out window window) : window large")])
    assert """
    if (!next.Win_x_c && fits_int(unit)) {
      if (!next.Win_x) return no_such_function("MPI_Win_x");
      return next.Win_x(static_cast<int>(unit), window);
    }
    if (!next.Win_x_c) return no_such_function("MPI_Win_x_c");
    return next.Win_x_c(unit, window);
""" in text


def test_messages_have_entry_points_where_they_are_noted(parse):
    text = emit_c.emit_messages([parse("MPI_Irecv(count count, datatype type, out request request) : message large")])
    assert "#if ESPALIER_NOTES_LONG_MESSAGES\n" in text
    assert "#if ESPALIER_NOTES_LONG_MESSAGES && ESPALIER_HAS_LARGE_COUNT\n" in text


def test_fortran_converts_what_it_passes(parse):
    text = emit_fortran.emit_collectives([parse(SCATTERV)])
    assert "const Names& names, void* send, Int* send_counts, Int* send_places, Int* send_type," in text
    assert ".receive = equal_blocks(c_address(receive), *receive_count, type_handle(receive_type))," in text
    assert "ESPALIER_FORTRAN(mpi_scatterv, MPI_SCATTERV," in text
    assert "mpi_scatterv_init" not in text  # it has buffers: C's entry point, or none


def test_fortran_forms_without_a_buffer(parse):
    text = emit_fortran.emit_collectives([parse("MPI_Barrier(comm comm) : collective init fortran")])
    init = text[text.index("ESPALIER_F08(") :]
    assert init.startswith("ESPALIER_F08(mpi_barrier_init,\n")
    assert "#if !ESPALIER_FORTRAN_CALLS_PMPI\nESPALIER_F08(" in text


def test_fortran_has_a_second_form_for_c_pointers(parse):
    text = emit_fortran.emit_others([parse("MPI_Win_x(out address base, out window window) : window fortran cptr")])
    assert "#if ESPALIER_FORTRAN_CALLS_PMPI\nESPALIER_FORTRAN(mpi_win_x_cptr, MPI_WIN_X_CPTR," in text


def test_members_and_their_resolution(parse):
    text = emit_next.emit([parse(EXSCAN), parse("MPI_Iprobe(int source, out int flag) : probe")])
    assert "  int (*Exscan_c)(const void*, void*, MPI_Count, Handle, Handle, Handle);\n" in text
    assert '  find(table.Exscan_c, "MPI_Exscan_c");\n' in text
    assert '  find(table.Iprobe, "PMPI_Iprobe");\n' in text


def test_exported_names(functions):
    text = emit_exports.emit(functions)
    names = set(text[text.index("{") :].replace(";", " ").split())
    assert {"MPI_Allreduce_init_c", "MPIX_Comm_revoke", "MPI_BCAST", "MPI_FREE_MEM", "MPI_WIN_ALLOCATE_CPTR", "espalier_*"} <= names
    assert not {"MPI_Comm_size", "MPI_ISEND"} & names


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-B", BINDINGS / "generate", *map(str, arguments)], capture_output=True, text=True, check=False
    )


def test_the_whole_table_gives_the_files_that_are_listed(tmp_path):
    assert run(BINDINGS / "functions.def", tmp_path).returncode == 0
    made = {path.relative_to(tmp_path).as_posix(): path for path in tmp_path.rglob("*") if path.is_file()}
    assert set(made) == set(run("--outputs").stdout.split(";"))
    for name, path in made.items():
        wide = [line for line in path.read_text().splitlines() if len(line) > layout.COLUMNS]
        assert (name, wide) == (name, [])
    times = {path: path.stat().st_mtime_ns for path in made.values()}
    assert run(BINDINGS / "functions.def", tmp_path).returncode == 0
    assert times == {path: path.stat().st_mtime_ns for path in times}, "what stays as it is is not written again"


def test_a_mistake_in_the_table_ends_the_build(tmp_path):
    wrong = tmp_path / "functions.def"
    wrong.write_text("MPI_X(comm comm) : nothing\n")
    result = run(wrong, tmp_path / "made")
    assert result.returncode == 1
    assert 'functions.def: MPI_X: "nothing" is no family' in result.stderr
    assert not (tmp_path / "made").exists()
