"""
The phases without any network
==============================

The field theory replaces the two networks by two functions and their weights by slopes. It is solved to machine
precision in seconds, and has the same phases: they belong to the problem, not to the architecture.
"""

import matplotlib.pyplot as plt

from heteroscope import field, field_diagram
from heteroscope.datasets.simulated import field_draws
from heteroscope.plots import phase_maps, schematic

x, y, y_test = field_draws("sine", n_points=512)
diagram = field_diagram(x, y, y_test=y_test)
figure = schematic(diagram, "Field theory of the sine set")

# %%
# One point of the diagram: the mean and the std that minimise the free energy.

found = field.solve(x, y, rho=0.999, gamma=0.9)
print(found.status, f"relative residual {found.residual:.0e}")
std = found.precision**-0.5
figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax.plot(x, y, ".", color="0.6", markersize=3)
ax.plot(x, found.mean, color="#0072b2")
ax.fill_between(x, found.mean - 2 * std, found.mean + 2 * std, color="#0072b2", alpha=0.2)
ax.set(xlabel="$x$", ylabel="$y$")
plt.show()

# %%
# Two sets side by side.

x_curve, y_curve, test_curve = field_draws("curve", n_points=512)
figure = phase_maps({"sine": diagram, "curve": field_diagram(x_curve, y_curve, y_test=test_curve)})
