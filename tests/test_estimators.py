"""The estimators keep scikit-learn's contract, and their numbers agree with answers known without them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from heteroscope import HeteroskedasticRegressor, HeteroskedasticRegressorCV

SMALL = {"hidden": (16,), "max_steps": 300, "random_state": 0}
SMALL_CV = SMALL | {"n_coarse": 3, "n_fine": 2, "cv": 3, "n_members": 2, "max_steps": 200}


@parametrize_with_checks([HeteroskedasticRegressor(**SMALL), HeteroskedasticRegressorCV(**SMALL_CV)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
