"""Find posteriors of both fields: by Laplace, variationally, or by sampling. See docs/bayesian-field.md."""

from heteroscope.field.bayesian.diagnostics import Diagnostics
from heteroscope.field.bayesian.level_prior import LevelPrior
from heteroscope.field.bayesian.posterior import posterior, posterior_graph
from heteroscope.field.bayesian.results import Posterior, Predictive, Samples
from heteroscope.field.bayesian.surfaces import EvidenceSurface, evidence_surface, solve_posteriors

__all__ = [
    "Diagnostics",
    "EvidenceSurface",
    "LevelPrior",
    "Posterior",
    "Predictive",
    "Samples",
    "evidence_surface",
    "posterior",
    "posterior_graph",
    "solve_posteriors",
]
