"""The fold's figure: everything that is said to be drawn is there."""

import numpy as np

from heteroscope.plots.fold import fold_figure


def test_fold_figure_has_a_line_a_target_and_the_guide(tmp_path):
    figure = fold_figure([256, 512, 1024], {"white noise": [1.0, 2.4, 3.8], "no noise": [5.0, 5.0, 5.0]})
    lines = {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}
    np.testing.assert_allclose(lines["white noise"], [1.0, 2.4, 3.8])
    np.testing.assert_allclose(np.diff(lines["slope of $n^2$"]), np.log(4))
    figure.savefig(tmp_path / "fold.png")
