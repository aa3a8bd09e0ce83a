"""Defaults that the estimators and the command line share; nothing is imported here, so that help comes at once."""

HIDDEN = (128, 128, 128)
ACTIVATION, PAPER_ACTIVATION = "silu", "leaky_relu"  # of estimators, for smooth curves; and of phase diagrams
SELECTION = "nll"
FOLDS = "auto"
FEW_ROWS, FOLDS_OF_FEW_ROWS, HELD_OUT_OF_MANY_ROWS = 2000, 5, 0.2  # what "auto" means
COARSE_POINTS, FINE_POINTS, FINALISTS = 8, 6, 3
POINT_STEPS, SEARCH_STEPS = 4000, "auto"  # of a fit at one point, and of each model of a search or a baseline
STEPS_A_ROW, FEWEST_STEPS, MOST_STEPS = 0.7, 2000, 20_000  # what "auto" means
POINT_MEMBERS, SEARCH_MEMBERS = 1, 5
