"""
A phase diagram of your data
============================

A model at every point of a grid of (rho, gamma), scored and labelled: where is the good region S, and how narrow is it?
The grid and the networks are smaller than the paper's, so that this page takes seconds.
"""

from heteroscope import datasets, phase_diagram
from heteroscope.plots import diagram_array, phase_maps

split = datasets.load("sine")
grid = [1e-3, 0.1, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999]
diagram = phase_diagram(
    split.x_train,
    split.y_train,
    X_test=split.x_test,
    y_test=split.y_test,
    rhos=grid,
    gammas=grid,
    hidden=(32, 32, 32),
    max_steps=1500,
    name="sine",
)
print(diagram["phase"].isel(seed=0).to_pandas())

# %%
# The phase of each cell. The good region is a narrow seam. A notebook shows the figure, `figure.savefig` writes it.

figure = phase_maps(diagram)

# %%
# What the phases do to the scores on new rows.

figure = diagram_array(diagram, metrics=["mean_mse", "nll"])
