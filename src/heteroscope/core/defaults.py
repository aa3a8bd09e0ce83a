"""Defaults that the estimators and the command line share; nothing is imported here, so that help comes at once."""

HIDDEN, PAPER_HIDDEN = (64, 64, 64), (128, 128, 128)  # of estimators, and of phase diagrams
ACTIVATION, PAPER_ACTIVATION = "silu", "leaky_relu"  # the same
SELECTION = "nll"
FOLDS = "auto"
FEW_ROWS, FOLDS_OF_FEW_ROWS, HELD_OUT_OF_MANY_ROWS = 2000, 5, 0.2  # what "auto" means
BATCH_OF_FEW_ROWS, BATCH_OF_MANY_ROWS, NO_BATCHES_UP_TO = 128, 256, 32  # the same
COARSE_POINTS, FINE_POINTS, ASIDE_POINTS, FINALISTS = 8, 6, 4, 3
POINT_STEPS, SEARCH_STEPS = 4000, "auto"  # of a fit at one point, and of each model of a search or a baseline
DIAGRAM_STEPS = "auto"  # of a model of a diagram
LONG_STEPS, LONG_UP_TO = 8000, 128  # what "auto" means where steps see all rows and these are few
EXACT_STEPS, BATCH_STEPS = 5000, 4000  # the same where they see all of more rows, and where they draw batches
FEWEST_STEPS, MOST_STEPS = 1000, 20_000  # what "auto" means, with a step a row between them
POINT_MEMBERS, SEARCH_MEMBERS = 1, 5
