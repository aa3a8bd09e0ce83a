"""Make exhibits: compute the missing parts, then write figure, table and a record of how they were made."""

import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeAlias, cast

from heteroscope.core import (
    DamageError,
    Progress,
    atomic_write,
    identity_key,
    make_folder,
    parse_object,
    warn_of_damage,
)
from heteroscope.paper.diagram_parts import HysteresisSweep, Theory
from heteroscope.paper.exhibits import Exhibit, exhibit_settings
from heteroscope.paper.formatting import markdown
from heteroscope.paper.part_records import load_part, save_part
from heteroscope.paper.parts import Divided, Part, Result, ResultT, part_name, part_settings
from heteroscope.paper.scales import Scale
from heteroscope.plots import save_figure

PARTS_FOLDER = "parts"  # holds a folder per part, beside the exhibits
#: A function that opens a progress bar with the given title.
OpenBar: TypeAlias = Callable[[str], AbstractContextManager[Progress | None]]


class Workspace(NamedTuple):
    """Where exhibits are written, at which scale, with how many processes and which progress bar."""

    out: Path
    scale: Scale
    n_jobs: int
    bar: OpenBar
    records: Path | None = None  # a folder of saved parts: read instead of computing, and added to

    @property
    def folder(self) -> Path:
        """The folder of the exhibits at this scale."""
        return self.out / self.scale.name


def run_exhibit(name: str, exhibit: Exhibit[ResultT], workspace: Workspace) -> dict[str, Any]:
    """Compute the missing parts, write figure and table, then write and return the record."""
    parts = exhibit.parts(workspace.scale)
    finished = {label: _finish_part(part, workspace) for label, part in parts.items()}
    output = exhibit.show({label: part.result for label, part in finished.items()})
    folder = workspace.folder
    make_folder(folder)
    if output.figure is not None:
        save_figure(output.figure, folder / f"{name}.png")
    if output.table is not None:
        with atomic_write(folder / f"{name}.csv") as partial:
            output.table.to_csv(partial, index=False)
        with atomic_write(folder / f"{name}.md") as partial:
            partial.write_text(markdown(output.table), encoding="utf-8")
    settings = exhibit_settings(exhibit, workspace.scale)
    record = {
        "recipe": name,  # the exhibit; published records have it under this key
        "source": exhibit.source,
        "title": exhibit.title,
        "scale": workspace.scale.name,
        "seeds": workspace.scale.seeds,
        "command": _command(name, workspace.scale),
        "heteroscope": version("heteroscope"),
        "date": _today(),
        "seconds": round(sum(part.seconds for part in finished.values()), 1),
        "verdict": output.verdict,
        "settings_hash": identity_key(settings),
        "parts": {label: [f"{PARTS_FOLDER}/{one}" for one in part.names] for label, part in finished.items()},
        "settings": settings,
    }
    _write_json(folder / f"{name}.json", record)
    return record


def _command(name: str, scale: Scale) -> str:
    """Return the command that makes this exhibit."""
    seeds = f" --seeds {scale.seeds}" if scale.seeds else ""
    return f"heteroscope reproduce {name} --scale {scale.name}{seeds}"


def read_record(name: str, workspace: Workspace) -> dict[str, Any] | None:
    """Return the record of an exhibit that was made in this workspace before, or None."""
    return _read_json(workspace.folder / f"{name}.json")


@dataclass(frozen=True)
class FinishedPart(Generic[ResultT]):
    """The result of a part, the names of its folders, and the seconds that computing it took."""

    names: list[str]
    result: ResultT
    seconds: float


def _finish_part(part: Part[ResultT] | Divided[ResultT], workspace: Workspace) -> FinishedPart[ResultT]:
    """Read the part from the saved parts or from its folder, or compute it."""
    if isinstance(part, Divided):
        pieces = [_finish_part(piece, workspace) for piece in part.pieces()]
        names = [name for piece in pieces for name in piece.names]
        return FinishedPart(names, part.join([one.result for one in pieces]), sum(one.seconds for one in pieces))
    name = part_name(part)
    if workspace.records and (saved := load_part(workspace.records, name)):
        return FinishedPart([name], cast(ResultT, saved.result), saved.seconds)
    folder = workspace.folder / PARTS_FOLDER / name
    result = _compute_part(part, folder, workspace)
    # The theory is quick, and its figures draw single solutions, which saved parts do not have.
    if workspace.records and not isinstance(part, Theory | HysteresisSweep):
        save_part(workspace.records, name, result, _read_timing(folder))
    return FinishedPart([name], result, _seconds(folder))


def _compute_part(part: Part[ResultT], folder: Path, workspace: Workspace) -> ResultT:
    """Compute or read the part in its folder; write the seconds it took, added up over interrupted runs."""
    started, before, finished = time.perf_counter(), _seconds(folder), False
    try:
        with workspace.bar(_title(part)) as progress:
            result = part.make(folder, workspace.n_jobs, progress)
        finished = True
    finally:
        if not _read_timing(folder).get("finished") and folder.is_dir():
            taken = before + time.perf_counter() - started
            timing = {"seconds": taken, "finished": finished, "date": _today(), "settings": part_settings(part)}
            _write_json(_timing_file(folder), timing)
    return result


def _title(part: Part[Result]) -> str:
    """Return the title of the part's progress bar."""
    return f"{getattr(part, 'title', part.kind)} of {part.data}"


def _today() -> str:
    """Return the date in UTC as YYYY-MM-DD."""
    return datetime.now(UTC).date().isoformat()


def _seconds(folder: Path) -> float:
    """Return the seconds that a part has taken so far."""
    return float(_read_timing(folder).get("seconds", 0.0))


def _read_timing(folder: Path) -> dict[str, Any]:
    """Return the timing of the part in this folder, or {} if it was never begun."""
    return _read_json(_timing_file(folder)) or {}


def _timing_file(folder: Path) -> Path:
    """Return the file of a part's timing, beside its folder: a comparison refuses foreign files in its own."""
    return folder.with_name(f"{folder.name}.json")


def _read_json(path: Path) -> dict[str, Any] | None:
    """Return the JSON object in a file; None if there is no file, or it is damaged, which is said in a warning."""
    if not path.is_file():
        return None
    try:
        return parse_object(path.read_bytes())
    except DamageError as error:
        warn_of_damage(path, error, "it is written again")
        return None


def _write_json(path: Path, content: dict[str, Any]) -> None:
    """Write indented JSON; an interrupted write leaves the old file."""
    with atomic_write(path) as partial:
        partial.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
