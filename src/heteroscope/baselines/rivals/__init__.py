"""Models of other libraries as regressors with `pred_dist(X)`; one library per module, each behind an extra."""

from heteroscope.baselines.rivals.bart import BARTPeer
from heteroscope.baselines.rivals.bde_ensemble import BDEPeer
from heteroscope.baselines.rivals.catboost_gaussian import CatBoostPeer
from heteroscope.baselines.rivals.conformal_catboost import ConformalCatBoostPeer
from heteroscope.baselines.rivals.foundation_models import TabICLPeer, TabPFNPeer
from heteroscope.baselines.rivals.gaussian_process import GaussianProcessPeer
from heteroscope.baselines.rivals.ngboost_gaussian import NGBoostPeer
from heteroscope.baselines.rivals.peers import INSTALL, require
from heteroscope.baselines.rivals.pytabkit_networks import RealMLPPeer, TabMPeer
from heteroscope.baselines.rivals.quantile_boosting import QuantileBoostingPeer
from heteroscope.baselines.rivals.quantile_forest import QuantileForestPeer
from heteroscope.baselines.rivals.treeffuser_samples import TreeffuserPeer
from heteroscope.baselines.rivals.xgboost_gaussian import XGBDistributionPeer

__all__ = [
    "INSTALL",
    "BARTPeer",
    "BDEPeer",
    "CatBoostPeer",
    "ConformalCatBoostPeer",
    "GaussianProcessPeer",
    "NGBoostPeer",
    "QuantileBoostingPeer",
    "QuantileForestPeer",
    "RealMLPPeer",
    "TabICLPeer",
    "TabMPeer",
    "TabPFNPeer",
    "TreeffuserPeer",
    "XGBDistributionPeer",
    "require",
]
