"""Common to all pages: templates, the plotting library, files that appear whole or not at all."""

import base64
import gzip
import os
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import jinja2

from joulemark.project import BUILD
from joulemark.wholefile import write_whole
from joulemark.words import counted

_EMBED = "window.vegaEmbed = vegaEmbed;"
"""All that a page needs of the plotting library."""


def significant(value: float) -> str:
    """Three significant digits at least, and never an exponent for what is large."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def asset(name: str) -> str:
    """A file of this package."""
    return (resources.files(__package__) / name).read_text("utf-8")


def render(template: str, **values: Any) -> str:
    """A page as HTML that needs nothing else.

    Args:
        template: its file's name, in this package.
        values: what it shows, besides `style`; a page that draws plots includes
            `plots.html.jinja`.
    """
    folder = resources.files(__package__)
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: (folder / name).read_text("utf-8")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["significant"] = significant
    environment.filters["counted"] = counted
    environment.globals["packed_vega"] = lambda: packed(_plotting_library())
    environment.globals["plots_script"] = lambda: asset("plots.js")
    style = (folder / "report.css").read_text("utf-8")
    return environment.get_template(template).render(style=style, **values)


def _plotting_library() -> str:
    """Vega-Embed and what it needs; bundling it takes seconds, so it is kept."""
    version = metadata.version("vl-convert-python")
    kept = BUILD / "report" / f"vega-embed-{version}.js"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        temporary = kept.with_suffix(f".{os.getpid()}")
        import vl_convert

        temporary.write_text(vl_convert.javascript_bundle(_EMBED), encoding="utf-8")
        temporary.replace(kept)
    return kept.read_text(encoding="utf-8")


def packed(text: str) -> str:
    """Compress text for a page's script to unpack: gzip in Base64, alike for alike texts."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def write(html: str, path: Path) -> None:
    """Write a page; it appears whole or not at all.

    Raises:
        InputError: it cannot be written.
    """
    write_whole(path, html.encode(), "the page")
