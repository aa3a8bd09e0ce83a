"""The written file: one, self-contained, small, and safe whatever the names in the data are."""

import json
import re
from base64 import b64encode
from hashlib import sha256

import pytest

from heteroscope.core.errors import InputError
from heteroscope.report import write_report
from tests.report.made_up import EVIL, large_diagram


def test_nothing_is_loaded_from_elsewhere(pages):
    for path in pages.values():
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r"https?://[^\s\"'<]*", text)) == {"http://www.w3.org/2000/svg"}
        assert not re.search(r"<(?:script|img|link|iframe)[^>]*(?:src|href)=(?!\"data:,\")", text)


def test_only_our_script_may_run(pages):
    text = pages["evil"].read_text(encoding="utf-8")
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)[1]
    assert f"script-src 'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" in text
    assert EVIL not in text
    assert text.count("</script>") == 2
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert data["diagrams"][0]["columns"][0] == EVIL
    assert data["diagrams"][0]["rows"]["target"] == EVIL


def test_the_papers_size_fits_six_megabytes(tmp_path):
    big = large_diagram()
    assert dict(big.sizes) | {"rho": 22, "gamma": 22, "seed": 6, "row": 512} == dict(big.sizes)
    path = write_report(big, tmp_path / "big.html", theory=big.isel(seed=[0]))
    assert 3e6 < path.stat().st_size < 6e6


def test_path_and_title(diagrams, tmp_path):
    path = write_report(diagrams["theory"], tmp_path / "new" / "page.html", title="A & B")
    assert path.exists()
    assert "<h1>A &amp; B</h1>" in path.read_text(encoding="utf-8")
    untitled = write_report(diagrams["theory"], str(tmp_path / "other.html"))
    assert "<h1>Phase diagram</h1>" in untitled.read_text(encoding="utf-8")
    with pytest.raises(InputError, match="is a folder"):
        write_report(diagrams["theory"], tmp_path)
