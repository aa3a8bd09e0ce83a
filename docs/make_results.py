"""Put the output of `heteroscope reproduce` into docs/results.md: `python docs/make_results.py reproduce/full`.

The block between `<!-- begin NAME -->` and `<!-- end NAME -->` is replaced by the figure, table and verdict of the
exhibit NAME if it is in the folder; an exhibit that was never made gets a line that says so. The rest of the page stays
as it is. Image and record of each exhibit are copied to docs/images/results.
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
    """Fill every block whose exhibit is in the folder."""
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
    """Copy image and record of an exhibit to the documentation; return the record, with the image's digest added."""
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
    """Save a picture with 256 colours, a quarter of its size.

    Octree quantisation keeps the pale shades of neighbouring phases apart, which median cut would merge.
    """
    picture = Image.open(figure).convert("RGB")
    picture.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(image, optimize=True)


def block(record: dict[str, Any], table: Path) -> str:
    """Return the Markdown of an exhibit: its figure, table and verdict, where it has them, and its caption."""
    pieces = [f"![{record['title']}](images/results/{record['recipe']}.png)"] if "image_sha256" in record else []
    if table.is_file():
        pieces.append(table.read_text(encoding="utf-8").strip())
    if record["verdict"]:
        pieces.append(record["verdict"])
    return "\n\n".join([*pieces, caption(record)])


def caption(record: dict[str, Any]) -> str:
    """Return the line that says how the exhibit was made."""
    made = f"heteroscope {record['heteroscope']}, {record['date']}, {record['seconds']:.0f} s"
    return f"*Scale **{record['scale']}**: `{record['command']}`, {made}.*"


def missing(name: str) -> str:
    """Return the line that stands for an exhibit that was never made."""
    return f"*Not made yet: `heteroscope reproduce {name}` makes it.*"


def filled(page: str, name: str, text: str) -> str:
    """Return the page with `text` in the block of that name."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    before, rest = page.split(begin)
    return f"{before}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
