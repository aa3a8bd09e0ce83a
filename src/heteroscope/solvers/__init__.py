"""How one model's objective is minimised: one file a solver, each with `init` and `step` for one model."""
