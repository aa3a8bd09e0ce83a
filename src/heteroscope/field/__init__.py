"""Solve the paper's nonparametric field theory to machine precision: see docs/field.md."""

from heteroscope.core import Status
from heteroscope.field.bayesian import (
    Diagnostics,
    EvidenceSurface,
    LevelPrior,
    Posterior,
    Predictive,
    Samples,
    evidence_surface,
    posterior,
    posterior_graph,
    solve_posteriors,
)
from heteroscope.field.boundaries import (
    Modes,
    Onsets,
    chain_noise_share,
    flat_onsets,
    flat_stability,
    mean_onset,
    modes,
    precision_onset,
    residual_share,
    white_noise_fold,
    white_noise_share,
)
from heteroscope.field.branches import Branch, branch
from heteroscope.field.choosing import LeftOut, PenaltyChoice, choose_penalties, leave_one_out
from heteroscope.field.descent import Solution, minimise
from heteroscope.field.field_observables import FieldObservables, NoiseAverage, noise_average, observables
from heteroscope.field.folding import Bifurcation, fold, fold_curve, solve_with_folds
from heteroscope.field.graphs import Graph, Table, table
from heteroscope.field.grid import GridSolution, solve_cells, solve_grid
from heteroscope.field.lattices import Chain, Lattice, chain
from heteroscope.field.powers import DenseLattice, stiffened
from heteroscope.field.problem import (
    Equations,
    Fields,
    Problem,
    energy,
    equations,
    gradient,
    hessian_product,
    runaway_bound,
    state,
)
from heteroscope.field.solver import minima, solve, solve_graph
from heteroscope.field.sweeps import Hysteresis, hysteresis, hysteresis_on, last_finite, last_finite_curve

__all__ = [
    "Bifurcation",
    "Branch",
    "Chain",
    "DenseLattice",
    "Diagnostics",
    "Equations",
    "EvidenceSurface",
    "FieldObservables",
    "Fields",
    "Graph",
    "GridSolution",
    "Hysteresis",
    "Lattice",
    "LeftOut",
    "LevelPrior",
    "Modes",
    "NoiseAverage",
    "Onsets",
    "PenaltyChoice",
    "Posterior",
    "Predictive",
    "Problem",
    "Samples",
    "Solution",
    "Status",
    "Table",
    "branch",
    "chain",
    "chain_noise_share",
    "choose_penalties",
    "energy",
    "equations",
    "evidence_surface",
    "flat_onsets",
    "flat_stability",
    "fold",
    "fold_curve",
    "gradient",
    "hessian_product",
    "hysteresis",
    "hysteresis_on",
    "last_finite",
    "last_finite_curve",
    "leave_one_out",
    "mean_onset",
    "minima",
    "minimise",
    "modes",
    "noise_average",
    "observables",
    "posterior",
    "posterior_graph",
    "precision_onset",
    "residual_share",
    "runaway_bound",
    "solve",
    "solve_cells",
    "solve_graph",
    "solve_grid",
    "solve_posteriors",
    "solve_with_folds",
    "state",
    "stiffened",
    "table",
    "white_noise_fold",
    "white_noise_share",
]
