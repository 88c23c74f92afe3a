"""torch's flight recorder: which groups it hears of."""

import pytest


def outputs_of(start, tmp_path, **environment):
    outputs = start(2, "recorder.py", TORCH_FR_DUMP_TEMP_FILE=str(tmp_path / "trace-"), **environment).expect_success()
    if any("no hooks of groups" in output for output in outputs):
        pytest.skip("torch has no hooks of groups before version 2.15")
    return outputs


@pytest.mark.parametrize("backend", ["espalier", "cpu:espalier_native"])
def test_the_flight_recorder_has_what_is_over_and_what_has_failed(start, native, tmp_path, backend):
    if not native:
        pytest.skip("there is no compiler, or it could not build the backend in C++")
    asked = {"TORCH_FR_BUFFER_SIZE": "100"} if backend == "espalier" else {}
    outputs = outputs_of(start, tmp_path, ESPALIER_TEST_BACKEND=backend, **asked)
    for output in outputs:
        names = ("all_reduce", "broadcast", "barrier")
        assert f"recorded {[(name, 'completed') for name in names]}" in output, output
        assert "written scheduled" in output, output


def test_without_its_variable_the_flight_recorder_costs_nothing(start, native, tmp_path):
    outputs = outputs_of(start, tmp_path, ESPALIER_TEST_BACKEND="espalier")
    for output in outputs:
        assert f"kind {'NativeGroup' if native else 'Group'}" in output and "recorded []" in output, output
        assert "written no file" in output, output
