import pytest

from espalier.digits import three_digits


@pytest.mark.parametrize("value, text", [(0.08512, "0.0851"), (12.44, "12.4"), (999.4, "999"), (999.6, "1,000"), (2.94e6, "2,940,000"), (0, "0")])
def test_a_number_has_no_exponent(value, text):
    assert three_digits(value) == text
