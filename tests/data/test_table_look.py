"""What is said of a table before a fit: each finding where it is, and nothing of a plain table."""

import numpy as np
import pandas as pd
import pytest

from heteroscope.data.table_encoder import TableEncoder
from heteroscope.data.table_look import look_at_table

N = 200


def plain(**columns):
    random = np.random.default_rng(0)
    a, b = random.standard_normal((2, N))
    own = {"a": a, "b": b, "town": random.choice(["x", "y"], N), "y": a + random.standard_normal(N)}
    return pd.DataFrame(own | columns)


def look(frame):
    return look_at_table(frame, TableEncoder.fit(frame, "y", missing="impute", dates="days"))


def test_a_plain_table_needs_no_words():
    assert look(plain()) == ()


RANDOM = np.random.default_rng(1)
FINDINGS = {
    "long upper tail": (plain(y=np.exp(RANDOM.standard_normal(N))), "upper tail .* its logarithm is more even"),
    "wild target": (plain(y=[*RANDOM.standard_normal(N - 1), 1e6]), r"1 of 200 targets .* 1e\+06 in row 200"),
    "no target": (plain(y=[None, *RANDOM.standard_normal(N - 1)]), "1 of 200 rows has no target and is left out"),
    "total": (plain(town=[*["x", "y"] * (N // 2 - 1), "x", "Total"]), "the last row may sum up the others .'Total' in"),
    "grades": (plain(y=np.arange(N) % 5.0), "only 5 different values"),
    "outlier": (plain(b=[-999.0, *RANDOM.standard_normal(N - 1)]), r"'b' \(-999 in row 1\)"),
    "row numbers": (plain(line=np.arange(1, N + 1)), "column 'line' may only number the rows"),
    "ids": (plain(customerId=RANDOM.permutation(10**6)[:N]), "column 'customerId' may only number the rows"),
    "dates": (plain(day=RANDOM.choice([20240101, 20240229, 20231231], N)), "column 'day' may hold dates .* 2024-05-31"),
    "copy": (plain(same=3 * plain()["y"] + 1), "column 'same' repeats the target 'y'"),
    "copied rows": (pd.concat([plain(), plain()[:30]]), "30 of 230 rows are copies"),
    "repeated inputs": (plain(a=1.5, b=np.arange(N) // 20 * 1.5), "200 rows have only 20 different inputs"),
    "wide": (plain(**{f"c{k}": RANDOM.standard_normal(N) for k in range(N)})[:50], "50 rows have 204 features"),
}


@pytest.mark.parametrize("name", FINDINGS)
def test_each_finding_is_named_alone(name):
    frame, message = FINDINGS[name]
    found = look(frame.reset_index(drop=True))
    assert len(found) == 1, found
    assert pd.Series(found).str.contains(message).all(), found


def test_integers_that_are_not_ids_pass():
    assert look(plain(rooms=np.arange(N) % 7, year=1900 + np.arange(N) % 100, area=RANDOM.permutation(10**5)[:N])) == ()
    assert look(plain(y=RANDOM.poisson(30, N) * 1.0)) == ()
