"""Parts of exhibits: a part is its settings, and equal settings are one part, computed once and shared.

The parts themselves are in `diagram_parts` and `comparison_parts`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

import pandas as pd
import xarray as xr

from heteroscope import datasets
from heteroscope.core import REVISIONS, Identity, Progress, as_json, identity_key

#: The result of a part: a diagram, or the scores of a comparison.
Result: TypeAlias = xr.Dataset | pd.DataFrame
ResultT = TypeVar("ResultT", bound=Result)
ResultT_co = TypeVar("ResultT_co", bound=Result, covariant=True)


@runtime_checkable
class Part(Protocol[ResultT_co]):
    """A NamedTuple of settings with a method that computes what they describe.

    Its kind and its settings identify it: declared words and numbers only. Anything derived from them is computed when
    the part is made.
    """

    @property
    def kind(self) -> str:
        """The declared word for this kind of part."""

    @property
    def data(self) -> str:
        """The name of the data set."""

    def make(self, folder: Path, n_jobs: int, progress: Progress | None) -> ResultT_co:
        """Return the result; keep finished work in `folder`, so that the same call resumes an interrupted one."""

    def _asdict(self) -> dict[str, Any]: ...


@runtime_checkable
class Divided(Protocol[ResultT]):
    """Settings of several parts that are computed and kept separately, so that more can be added later."""

    @property
    def kind(self) -> str:
        """The declared word for this kind of part."""

    @property
    def data(self) -> str:
        """The name of the data set."""

    def pieces(self) -> Sequence[Part[ResultT]]:
        """Return the parts."""

    def join(self, results: list[ResultT]) -> ResultT:
        """Return the results of the parts as one."""

    def _asdict(self) -> dict[str, Any]: ...


#: The parts of an exhibit by their labels in its figure or table.
Parts: TypeAlias = Mapping[str, Part[ResultT] | Divided[ResultT]]

#: Which entry of `core.REVISIONS` each kind of part depends on.
REVISION_OF = {
    **dict.fromkeys(("networks", "seed", "line"), "diagrams"),
    **dict.fromkeys(("theory", "table-theory", "hysteresis"), "field theory"),
    **dict.fromkeys(("comparison", "searches", "searches-run", "streamed"), "paper's comparisons"),
}


def part_settings(part: Part[Result] | Divided[Any]) -> Identity:
    """Return the identity of a part: its kind, its settings, and the revisions of its computation and of its rows."""
    revisions = {"revision": REVISIONS[REVISION_OF[part.kind]]}
    if part.data in datasets.names():
        revisions["data_revision"] = datasets.identify(part.data)["revision"]
    return dict(as_json({"part": part.kind, **revisions, **part._asdict()}))


def part_name(part: Part[Result] | Divided[Any]) -> str:
    """Return the name of a part's folder and records: KIND-DATA-KEY, where KEY is the key of its identity."""
    return f"{part.kind}-{part.data}-{identity_key(part_settings(part))}"
