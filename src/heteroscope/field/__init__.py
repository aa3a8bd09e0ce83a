"""The paper's nonparametric field theory, solved to machine precision: see docs/field.md."""

from heteroscope.field.chain import Chain, chain
from heteroscope.field.functional import (
    Equations,
    Fields,
    Problem,
    energy,
    equations,
    gradient,
    hessian_product,
    runaway_bound,
)
from heteroscope.field.line import solve
from heteroscope.field.problem import state
from heteroscope.field.solver import Solution, Status, minimise

__all__ = [
    "Chain",
    "Equations",
    "Fields",
    "Problem",
    "Solution",
    "Status",
    "chain",
    "energy",
    "equations",
    "gradient",
    "hessian_product",
    "minimise",
    "runaway_bound",
    "solve",
    "state",
]
