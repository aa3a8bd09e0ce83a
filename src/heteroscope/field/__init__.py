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
from heteroscope.field.branches import Branch, Hysteresis, branch, hysteresis
from heteroscope.field.descent import Solution, minimise
from heteroscope.field.field_observables import FieldObservables, NoiseAverage, noise_average, observables
from heteroscope.field.folding import Bifurcation, fold, fold_curve
from heteroscope.field.graphs import Graph, Table, table
from heteroscope.field.grid import GridSolution, solve_cells, solve_grid
from heteroscope.field.lattices import Chain, chain
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

__all__ = [
    "Bifurcation",
    "Branch",
    "Chain",
    "Diagnostics",
    "Equations",
    "EvidenceSurface",
    "FieldObservables",
    "Fields",
    "Graph",
    "GridSolution",
    "Hysteresis",
    "LevelPrior",
    "NoiseAverage",
    "Posterior",
    "Predictive",
    "Problem",
    "Samples",
    "Solution",
    "Status",
    "Table",
    "branch",
    "chain",
    "energy",
    "equations",
    "evidence_surface",
    "fold",
    "fold_curve",
    "gradient",
    "hessian_product",
    "hysteresis",
    "minima",
    "minimise",
    "noise_average",
    "observables",
    "posterior",
    "posterior_graph",
    "runaway_bound",
    "solve",
    "solve_cells",
    "solve_graph",
    "solve_grid",
    "solve_posteriors",
    "state",
    "table",
]
