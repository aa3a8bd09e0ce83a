"""Documentation cannot drift: every Python block runs, every link leads somewhere, every public name is explained."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import heteroscope

ROOT = Path(__file__).parents[1]
SHORT = "from heteroscope import defaults; defaults.FEWEST_STEPS = 200"  # where a block leaves the steps to us
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def scripts():
    """The Python blocks of each page as one script: a reader goes from top to bottom."""
    for page in PAGES:
        if found := re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL):
            yield pytest.param("\n".join(found), id=page.name)


@pytest.mark.parametrize("script", list(scripts()))
def test_python_blocks_run(script, tmp_path):
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{SHORT}\n{script}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_images_exist(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), f"{page.name} points to {target}, which does not exist"


def test_every_public_name_is_in_the_documentation():
    text = "\n".join(page.read_text() for page in PAGES)
    missing = [name for name in heteroscope.__all__ if name not in text and not name.startswith("__")]
    assert missing == []
