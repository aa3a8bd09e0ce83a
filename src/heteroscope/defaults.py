"""Defaults that the estimators and the command line share; nothing is imported here, so that help comes at once."""

HIDDEN = (128, 128, 128)
ACTIVATION = "leaky_relu"
SELECTION = "nll"
FOLDS = 5
POINT_STEPS, SEARCH_STEPS = 4000, 2000  # of a fit at one point, and of each model of a search
POINT_MEMBERS, SEARCH_MEMBERS = 1, 5
