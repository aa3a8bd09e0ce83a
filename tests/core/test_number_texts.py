import pytest

from heteroscope.core import number_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((0.0, "0"), (0.013512, "0.01351"), (12.3456, "12.35"), (70823.4, "70823"), (-214231.0, "-214231")),
        *((3.14e12, "3.14e+12"), (2.5e-9, "2.5e-09"), (float("nan"), "nan"), (float("inf"), "inf")),
    ],
)
def test_exponents_stand_only_in_very_large_and_very_small_numbers(value, text):
    assert number_text(value) == text


def test_digits_before_the_point_are_kept_when_few_are_asked_for():
    assert number_text(1234.0, 2) == "1234"
