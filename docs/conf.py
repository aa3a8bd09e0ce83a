"""Settings of the documentation site, which `make docs` builds into site/. It opens from disk, without the web.

The pages are written to be read in the repository, where links go to files. `adapt_links` lets the pages of the
repository's root stand beside those of docs/ on the site, and formulas become MathML, which browsers show themselves.
"""

import re
from importlib import resources
from pathlib import Path, PurePosixPath

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator
from sphinx_gallery.scrapers import figure_rst

import heteroscope

ROOT = Path(__file__).parents[1]
ROOT_PAGES = {name: f"project/{name.lower()}" for name in ("BENCHMARKS.md", "CHANGELOG.md", "CONTRIBUTING.md")}
ROOT_PAGES |= {"CODE_OF_CONDUCT.md": "project/code-of-conduct.md", "README.md": "index.md"}
SITE_PAGES = ROOT_PAGES | {"examples": "gallery/index.rst"}
LINK = re.compile(r"\]\(([^)#:\s]+)(#[^)\s]*)?\)")

project = "heteroscope"
copyright = "the heteroscope developers"
release = heteroscope.__version__
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx_copybutton", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["gallery/*.zip", "gallery/sg_execution_times.rst", "sg_execution_times.rst"]
default_role = "code"

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["config.cache"]  # sphinx-gallery keeps functions in its settings

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings name the types
numpydoc_show_class_members = False

html_theme = "furo"
html_title = "heteroscope"
html_copy_source = False
html_math_renderer = "mathml"
html_static_path = ["site.css", str(resources.files("ziamath") / "fonts" / "STIXTwoMath-Regular.ttf")]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}


def own_figures(_: object, block_vars: dict, settings: dict) -> str:
    """Show the figure that a block of an example has made without pyplot; sphinx-gallery finds only pyplot's."""
    shown = getattr(block_vars["example_globals"].pop("figure", None), "_repr_png_", None)
    if shown is None:
        return ""
    path = next(block_vars["image_path_iterator"])
    Path(path).write_bytes(shown())
    return str(figure_rst([path], settings["src_dir"]))


sphinx_gallery_conf = {
    "image_scrapers": ("matplotlib", own_figures),
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "reset_modules_order": "both",
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}


def adapt_links(_: Sphinx, name: str, source: list[str]) -> None:
    """Let links between pages lead to where these stand on the site."""
    origin = {site.removesuffix(".md"): page for page, site in ROOT_PAGES.items()}.get(name)
    if origin is not None and name != "index":
        source[0] = (ROOT / origin).read_text(encoding="utf-8")
    here = PurePosixPath(origin) if origin and name != "index" else PurePosixPath("docs", f"{name}.md")
    up = "../" * name.count("/")

    def on_site(link: re.Match[str]) -> str:
        target, anchor = link.group(1), link.group(2) or ""
        parts: list[str] = []
        for part in (here.parent / target).parts:
            parts = parts[:-1] if part == ".." else [*parts, part]
        path = "/".join(parts)
        found = SITE_PAGES.get(path, path.removeprefix("docs/") if path.startswith("docs/") else None)
        return link.group(0) if found is None else f"]({up}{found}{anchor})"

    source[0] = LINK.sub(on_site, source[0])


def inline_formula(writer: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a line as MathML."""
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def displayed_formula(writer: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula that stands by itself as MathML."""
    writer.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def escape_bars(_: Sphinx, kind: str, name: str, what: object, options: object, lines: list[str]) -> None:
    """Let |x| in a docstring be an absolute value: in reStructuredText it would be a substitution."""
    lines[:] = [line if line.lstrip().startswith(">>>") else line.replace("|", r"\|") for line in lines]


def skip_routing(_: Sphinx, kind: str, name: str, *__: object) -> bool | None:
    """Leave out the methods of scikit-learn's metadata routing, which every estimator inherits."""
    return True if name == "get_metadata_routing" or re.fullmatch(r"set_\w+_request", name) else None


def setup(app: Sphinx) -> None:
    """Register the parts above; Sphinx calls this."""
    app.add_html_math_renderer("mathml", (inline_formula, None), (displayed_formula, None))
    app.connect("source-read", adapt_links)
    app.connect("autodoc-process-docstring", escape_bars)
    app.connect("autodoc-skip-member", skip_routing)
