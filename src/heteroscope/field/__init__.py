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
from heteroscope.field.branches import Branch, branch
from heteroscope.field.descent import Solution, minimise
from heteroscope.field.field_observables import FieldObservables, NoiseAverage, noise_average, observables
from heteroscope.field.folding import Bifurcation, fold, fold_curve
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
    "hysteresis_on",
    "last_finite",
    "last_finite_curve",
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
    "stiffened",
    "table",
]
