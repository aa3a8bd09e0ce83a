"""The path of a search over the (rho, gamma) plane, from `cv_results_`."""

from collections.abc import Mapping

import numpy as np
import xarray as xr

COLUMNS = ("rho", "gamma", "logit_rho", "logit_gamma", "phase", "max_steps", "n_folds", "std_scale", "held_out_loss")


def search_path(cv_results: Mapping[str, np.ndarray], chosen: int, selection: str) -> xr.Dataset:
    """Return the points of a search.

    Parameters
    ----------
    cv_results : mapping of str to ndarray
        `cv_results_` of a fitted search.
    chosen : int
        `best_index_`.
    selection : {"nll", "crps", "paper"}
        The rule of choice: it names the loss.

    Returns
    -------
    xarray.Dataset
        Along `point`: `rho`, `gamma`, their logits, `phase` of the networks, `max_steps`, `n_folds`, `std_scale` and
        `held_out_loss`. Attributes: `chosen`, the index of the chosen point, and `loss`, the name of the loss.
    """
    columns = {name: ("point", np.asarray(cv_results[name])) for name in COLUMNS}
    loss = "CRPS" if selection == "crps" else "NLL"
    return xr.Dataset(columns, attrs={"chosen": int(chosen), "loss": loss})
