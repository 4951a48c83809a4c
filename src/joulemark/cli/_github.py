"""What GitHub shows at source lines, where a command runs in a workflow of it."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import typer

from joulemark.project import ROOT

if TYPE_CHECKING:
    from joulemark.measure.following import Place


class Finding(Protocol):
    """Something at a place in the code; as text, all that is known of it."""

    @property
    def place(self) -> "Place":
        """Where it is."""

    @property
    def title(self) -> str:
        """What it is, in a few words."""


def annotate(findings: Iterable[Finding]) -> None:
    """Let GitHub show findings at their source lines, if this runs there.

    See "Workflow commands for GitHub Actions", "Setting an error message".
    """
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return
    workspace = Path(os.environ.get("GITHUB_WORKSPACE", "."))
    lines: dict[tuple[Path | None, int, str], Finding] = {}
    for finding in findings:
        place = finding.place
        file = None if place.file is None else ROOT / place.file
        # A library's sources are seldom here, and without debug information no line is known.
        is_here = file is not None and file.is_file()
        where = (file, place.line or 0) if is_here else (None, place.address)
        # Of what is found alike in a line, the first says enough.
        lines.setdefault((*where, finding.title), finding)
    for (path, line, _), finding in lines.items():
        at = ""
        if path is not None:
            is_within = path.is_relative_to(workspace.resolve())
            name = str(path.relative_to(workspace.resolve()) if is_within else path)
            at = f"file={_escaped(name).replace(':', '%3A').replace(',', '%2C')},line={line},"
        typer.echo(f"::error {at}title={finding.title}::{_escaped(str(finding))}")


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
