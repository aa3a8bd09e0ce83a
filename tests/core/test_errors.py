"""Errors as text for Python and for the command line, also after they have been sent between processes."""

import pickle

import pytest

from heteroscope.core import InputError, Parameter, check_positive_integer


def test_parameters_are_written_as_in_python():
    error = InputError("gaps: set ", Parameter("missing", "impute"), " or ", Parameter("max_steps"))
    assert str(error) == "gaps: set missing='impute' or max_steps"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_parameters_can_be_written_otherwise():
    error = InputError(Parameter("cv", 1), " is too few, says max_steps")
    assert error.message(lambda parameter: f"--{parameter.name}") == "--cv is too few, says max_steps"


def test_a_positive_integer_is_returned_and_others_name_the_parameter():
    assert check_positive_integer("n", 3) == 3
    assert check_positive_integer("n", 0, least=0) == 0
    for value in (0, True, 1.5, "3"):
        with pytest.raises(InputError, match=r"^n must be a positive integer, got"):
            check_positive_integer("n", value)
