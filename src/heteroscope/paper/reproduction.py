"""Run recipes: parts are computed once and shared, and every result lies beside a record of how it was made."""

import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from heteroscope.core import Progress, atomic_write, identity_key
from heteroscope.paper.diagram_parts import Divided, HysteresisSweep, Part, Theory
from heteroscope.paper.exhibits import Exhibit, part_name, part_settings, recipe_settings
from heteroscope.paper.formatting import markdown
from heteroscope.paper.part_records import keep, recall
from heteroscope.paper.scales import Scale
from heteroscope.plots import save_figure

PARTS = "parts"
Bar = Callable[[str], AbstractContextManager[Progress | None]]  # a progress bar for the part of that name


class Workspace(NamedTuple):
    """Where results go, how many processes compute them, who is told how far they are, and where parts are kept."""

    out: Path
    scale: Scale
    n_jobs: int
    bar: Bar
    records: Path | None = None

    @property
    def folder(self) -> Path:
        """The results of this scale."""
        return self.out / self.scale.name


def run_recipe(name: str, recipe: Exhibit, kitchen: Workspace) -> dict[str, Any]:
    """Make the parts that are missing, then figure, table and the record, which is written last and returned."""
    parts = recipe.parts(kitchen.scale)
    made = {label: _make(part, kitchen) for label, part in parts.items()}
    output = recipe.show({label: one.found for label, one in made.items()})
    folder = kitchen.folder
    folder.mkdir(parents=True, exist_ok=True)
    if output.figure is not None:
        save_figure(output.figure, folder / f"{name}.png")
    if output.table is not None:
        output.table.to_csv(folder / f"{name}.csv", index=False)
        (folder / f"{name}.md").write_text(markdown(output.table), encoding="utf-8")
    settings = recipe_settings(recipe, kitchen.scale)
    record = {
        "recipe": name,
        "source": recipe.source,
        "title": recipe.title,
        "scale": kitchen.scale.name,
        "seeds": kitchen.scale.seeds,
        "command": _command(name, kitchen.scale),
        "heteroscope": version("heteroscope"),
        "date": _today(),
        "seconds": round(sum(one.seconds for one in made.values()), 1),
        "verdict": output.verdict,
        "settings_hash": identity_key(settings),
        "parts": {label: [f"{PARTS}/{name}" for name in one.names] for label, one in made.items()},
        "settings": settings,
    }
    _write_json(folder / f"{name}.json", record)
    return record


def _command(name: str, scale: Scale) -> str:
    seeds = f" --seeds {scale.seeds}" if scale.seeds else ""
    return f"heteroscope reproduce {name} --scale {scale.name}{seeds}"


def read_record(name: str, kitchen: Workspace) -> dict[str, Any] | None:
    """The record of a recipe that was run before in this folder, if there is one."""
    path = kitchen.folder / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


class Made(NamedTuple):
    """A part that is there: what its folders are called, what was found, and how long that took."""

    names: list[str]
    found: Any
    seconds: float


def _make(part: Part | Divided, kitchen: Workspace) -> Made:
    """The part from the records or from its own folder, and the time it took, added up over interrupted runs."""
    if isinstance(part, Divided):
        pieces = [_make(one, kitchen) for one in part.pieces()]
        names = [name for one in pieces for name in one.names]
        return Made(names, part.join([one.found for one in pieces]), sum(one.seconds for one in pieces))
    name = part_name(part)
    if kitchen.records and (kept := recall(kitchen.records, name)):
        return Made([name], *kept)
    folder = kitchen.folder / PARTS / name
    started, before, finished = time.perf_counter(), _seconds(folder), False
    try:
        with kitchen.bar(_title(part)) as progress:
            found = part.make(folder, kitchen.n_jobs, progress)
        finished = True
    finally:
        if not _clock(folder).get("finished") and folder.is_dir():
            taken = before + time.perf_counter() - started
            clock = {"seconds": taken, "finished": finished, "date": _today(), "settings": part_settings(part)}
            _write_json(_clock_file(folder), clock)
    if kitchen.records and not isinstance(
        part, Theory | HysteresisSweep
    ):  # quick, and figures draw single solutions of it
        keep(kitchen.records, name, found, _clock(folder))
    return Made([name], found, _seconds(folder))


def _title(part: Part) -> str:
    """What the progress bar says."""
    return f"{getattr(part, 'title', part.kind)} of {part.data}"


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _seconds(folder: Path) -> float:
    return float(_clock(folder).get("seconds", 0.0))


def _clock(folder: Path) -> dict[str, Any]:
    path = _clock_file(folder)
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _clock_file(folder: Path) -> Path:
    """Beside the folder and not in it: a comparison's folder holds its own files alone."""
    return folder.with_name(f"{folder.name}.json")


def _write_json(path: Path, content: dict[str, Any]) -> None:
    with atomic_write(path) as partial:
        partial.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
