"""`heteroscope demo`: the path on the screen, the figure and the page on disk."""

from tests.cli.commands import TINY_DEMO, refused, run


def test_the_demo_prints_the_path_and_writes_the_figure(tmp_path, monkeypatch):
    for name, value in TINY_DEMO.items():
        monkeypatch.setattr(f"heteroscope.paper.demo.{name}", value)
    result = run("demo", "--out", tmp_path / "new", "--jobs", "1")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("->") == 1
    assert "Can these predictions be trusted" in result.stdout
    assert str(tmp_path / "new" / "diagonal.png") in result.stdout
    assert (tmp_path / "new" / "diagonal.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "new" / "page.html").read_text().startswith("<!doctype html>")


def test_unwritable_places_are_refused_before_the_work():
    refused("demo", "--out", "/proc/demo")
