"""Every default value, and the numbers behind each "auto"; `auto_rules.py` says what "auto" does with them.

Other modules read a value as `defaults.NAME` at the time of the call, so that a test can replace it by a smaller one.
"""

# Defaults of the estimators, of diagrams and of the command line. "PAPER_" marks the paper's values, used by diagrams.
HIDDEN, PAPER_HIDDEN = (64, 64, 64), (128, 128, 128)  # width of each hidden layer
ACTIVATION, PAPER_ACTIVATION = "silu", "leaky_relu"
PENALTY = "weights"  # what is penalised: squared weights, or squared gradients of the outputs
SELECTION = "nll"  # the held-out score by which a search chooses its point
FOLDS = "auto"
COARSE_POINTS = 8  # first points of a search, evenly spaced along the diagonal
FINE_POINTS = 6  # further points: half where underfitting turns into overfitting, half beside the best score
OFF_DIAGONAL_POINTS = 4  # off-diagonal points: the same mean penalty, weaker precision penalties
FINALISTS = 3  # best points of the first fold, which are evaluated on the other folds
POINT_MEMBERS, SEARCH_MEMBERS = 1, 5  # networks in the ensemble of a fit at one point, and of a search
POINT_STEPS = 4000  # training steps of a fit at one point
SEARCH_STEPS = "auto"  # training steps of each model of a search or of a baseline
DIAGRAM_STEPS = "auto"  # training steps of each model of a diagram

# Numbers behind "auto". docs/research/defaults.md has the measurements they were chosen by.
FEW_ROWS = 2000  # up to this many rows: cross-validation in folds, and small batches
FOLDS_OF_FEW_ROWS = 5  # folds up to FEW_ROWS rows
HELD_OUT_OF_MANY_ROWS = 0.2  # share of the rows held out once, beyond FEW_ROWS rows
MOST_HELD_OUT = 10_000  # rows held out once at most: more would not rank the points better
HALVING_FROM = 100_000  # rows from which a search with one held-out share halves its points round by round
BATCH_OF_FEW_ROWS, BATCH_OF_MANY_ROWS = 128, 256  # largest batch up to FEW_ROWS rows, and beyond
NO_BATCHES_UP_TO = 32  # up to this many rows every step uses all rows
FEWEST_STEPS, MOST_STEPS = 1000, 20_000  # limits of a search's steps; between them, one step per row
EXACT_UP_TO = 512  # up to this many rows every step of a diagram uses all rows
LONG_UP_TO = 128  # up to this many rows the models of a diagram train for LONG_STEPS
LONG_STEPS, EXACT_STEPS, BATCH_STEPS = 8000, 5000, 4000  # steps in a diagram: few rows; all rows per step; batches
