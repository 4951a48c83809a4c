"""Common to all pages: templates, the plotting library, files written whole or not at all."""

import base64
import gzip
import os
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import escape

from joulemark.project import BUILD
from joulemark.wholefile import write_whole
from joulemark.words import counted

_EMBED = "window.vegaEmbed = vegaEmbed;"
"""The only part of the plotting library that a page needs."""


def significant(value: float) -> str:
    """Format with at least three significant digits, and large values without an exponent."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def escaped(text: str) -> str:
    """Return text as HTML that shows it."""
    return str(escape(text))


def asset(name: str) -> str:
    """Return the text of a file of this package."""
    return (resources.files(__package__) / name).read_text("utf-8")


def render(template: str, **values: Any) -> str:
    """Render a page as self-contained HTML.

    Args:
        template: the template's file name, in this package.
        values: what it shows, besides `style`; a page that draws plots includes
            `plots.html.jinja`.
    """
    style = asset("report.css")
    return _environment().get_template(template).render(style=style, **values)


@cache
def _environment() -> jinja2.Environment:
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
    return environment


def _plotting_library() -> str:
    """Return Vega-Embed with its dependencies; cached, because bundling takes seconds."""
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
    """Compress text for a page's script to unpack: gzip in Base64, equal for equal texts."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def write(html: str, path: Path) -> None:
    """Write a page, whole or not at all.

    Raises:
        InputError: it cannot be written.
    """
    write_whole(path, html.encode(), "the page")
