"""espalier.exact: sums of numpy arrays, against rational arithmetic."""

import math
from fractions import Fraction

import numpy
import pytest
from espalier import exact


def numbers(count=3000, dtype="float64"):
    random = numpy.random.default_rng(7)
    reach = 250 if dtype == "float64" else 60
    return numpy.ldexp(random.uniform(-1, 1, count), random.integers(-reach, reach, count)).astype(dtype)


def right(values):
    return float(sum(Fraction(float(value)) for value in values.ravel()))


def test_a_sum_is_rounded_once():
    values = numbers()
    assert exact.sum(values) == right(values) == exact.sum(values[::-1])
    assert isinstance(exact.sum(values), numpy.float64)


@pytest.mark.parametrize("shape", [(3000,), (30, 100), (5, 6, 100)])
def test_shapes_and_strides_do_not_matter(shape):
    values = numbers().reshape(shape)
    wider = numpy.zeros((*shape[:-1], 2 * shape[-1]))
    wider[..., ::2] = values
    for view in (values, values.T, wider[..., ::2], wider[..., -2::-2], numpy.asfortranarray(values), values.astype(">f8")):
        assert exact.Sum().add(view).value == right(values), view.strides


def test_types():
    single = numbers(dtype="float32")
    assert exact.sum(single) == numpy.float32(right(single)) and exact.sum(single).dtype == numpy.float32
    half = numbers(2000, "float32").astype("float64")
    pairs = half[::2] + 1j * half[1::2]
    assert exact.sum(pairs) == complex(right(pairs.real), right(pairs.imag))
    assert exact.sum(pairs.astype("complex64")).dtype == numpy.complex64
    assert exact.sum(numpy.arange(10)) == 45.0
    with pytest.raises(TypeError, match="not of int64"):
        exact.Sum("int64")
    with pytest.raises(TypeError, match="complex128 does not fit"):
        exact.Sum().add(pairs)


def test_special_values():
    most = numpy.finfo("float64").max
    assert exact.sum([most, most, -most]) == most
    assert exact.sum([most, most]) == math.inf
    assert math.isnan(exact.sum([math.inf, 1, -math.inf]))
    assert math.copysign(1, exact.sum([-0.0, -0.0])) == -1
    assert math.copysign(1, exact.sum([])) == 1
    assert exact.sum([1, 2.0 ** -53, 5e-324]) == 1 + 2.0 ** -52


def test_parts_add_up_in_any_grouping():
    values = numbers()
    parts = [exact.Sum().add(part) for part in numpy.array_split(values, 7)]
    total = exact.Sum()
    for part in reversed(parts):
        total.merge(part)
    assert total.value == right(values)
