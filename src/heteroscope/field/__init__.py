"""The paper's nonparametric field theory, solved to machine precision: see docs/field.md."""

from heteroscope.core import Status
from heteroscope.field.averages import NoiseAverage, noise_average
from heteroscope.field.checking import state
from heteroscope.field.descent import Solution, minimise
from heteroscope.field.field_observables import FieldObservables, observables
from heteroscope.field.folding import Bifurcation, Branch, branch, fold, fold_curve
from heteroscope.field.graphs import Graph
from heteroscope.field.grid import GridSolution, solve_cells, solve_grid
from heteroscope.field.hysteresis import Hysteresis, hysteresis
from heteroscope.field.lattices import Chain, chain
from heteroscope.field.line import solve
from heteroscope.field.minima import minima
from heteroscope.field.problem import (
    Equations,
    Fields,
    Problem,
    energy,
    equations,
    gradient,
    hessian_product,
    runaway_bound,
)
from heteroscope.field.tables import Table, solve_graph, table

__all__ = [
    "Bifurcation",
    "Branch",
    "Chain",
    "Equations",
    "FieldObservables",
    "Fields",
    "Graph",
    "GridSolution",
    "Hysteresis",
    "NoiseAverage",
    "Problem",
    "Solution",
    "Status",
    "Table",
    "branch",
    "chain",
    "energy",
    "equations",
    "fold",
    "fold_curve",
    "gradient",
    "hessian_product",
    "hysteresis",
    "minima",
    "minimise",
    "noise_average",
    "observables",
    "runaway_bound",
    "solve",
    "solve_cells",
    "solve_graph",
    "solve_grid",
    "state",
    "table",
]
