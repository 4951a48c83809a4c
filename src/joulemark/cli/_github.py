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
    lines: dict[tuple[str, int], Finding] = {}
    for finding in findings:
        place = finding.place
        if place.file is not None and place.line is not None:
            lines.setdefault((place.file, place.line), finding)
    for (file, line), finding in lines.items():
        path = ROOT / file
        if path.is_relative_to(workspace.resolve()):
            path = path.relative_to(workspace.resolve())
        named = _escaped(str(path)).replace(":", "%3A").replace(",", "%2C")
        typer.echo(
            f"::error file={named},line={line},title={finding.title}::{_escaped(str(finding))}"
        )


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
