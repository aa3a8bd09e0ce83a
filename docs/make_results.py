"""Put what `heteroscope reproduce` made into docs/results.md: `python docs/make_results.py reproduce/small`.

Every block between `<!-- begin NAME -->` and `<!-- end NAME -->` is replaced by the figure, table and verdict of that
result, if the folder has it, or says that it was never made; all other words of the page stay. The record of each
result is kept beside its image.
"""

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

from PIL import Image

DOCS = Path(__file__).parent
PAGE = DOCS / "results.md"
IMAGES = DOCS / "images" / "results"


def main(folder: Path) -> None:
    """Fill every block whose result is in the folder."""
    page = PAGE.read_text(encoding="utf-8")
    for name in re.findall(r"<!-- begin (\S+) -->", page):
        path = folder / f"{name}.json"
        if path.is_file():
            record = publish(json.loads(path.read_text(encoding="utf-8")), folder)
            page = filled(page, name, block(record, folder / f"{name}.md"))
        elif (IMAGES / f"{name}.json").is_file():
            print(f"{name} is not in {folder}: its block stays as it is")
        else:
            page = filled(page, name, missing(name))
    PAGE.write_text(page, encoding="utf-8")


def publish(record: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Image, in few colours, and record into the documentation; the record names the image by its digest."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    name, kept = record["recipe"], {key: value for key, value in record.items() if key not in ("parts", "settings")}
    figure = folder / f"{name}.png"
    if figure.is_file():
        image = IMAGES / figure.name
        save_in_few_colours(figure, image)
        kept["image_sha256"] = hashlib.sha256(image.read_bytes()).hexdigest()
    (IMAGES / f"{name}.json").write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return kept


def save_in_few_colours(figure: Path, image: Path) -> None:
    """A picture of a quarter of the size; median cut would merge the pale shades of neighbouring phases."""
    picture = Image.open(figure).convert("RGB")
    picture.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(image, optimize=True)


def block(record: dict[str, Any], table: Path) -> str:
    """Figure, table, verdict and caption, as far as they are there."""
    pieces = [f"![{record['title']}](images/results/{record['recipe']}.png)"] if "image_sha256" in record else []
    if table.is_file():
        pieces.append(table.read_text(encoding="utf-8").strip())
    if record["verdict"]:
        pieces.append(record["verdict"])
    return "\n\n".join([*pieces, caption(record)])


def caption(record: dict[str, Any]) -> str:
    """How the result was made."""
    made = f"heteroscope {record['heteroscope']}, {record['date']}, {record['seconds']:.0f} s"
    return f"*Scale **{record['scale']}**: `{record['command']}`, {made}.*"


def missing(name: str) -> str:
    """What stands where a result was never made."""
    return f"*Not made yet: `heteroscope reproduce {name}` makes it.*"


def filled(page: str, name: str, text: str) -> str:
    """The page with another block of that name."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    before, rest = page.split(begin)
    return f"{before}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
