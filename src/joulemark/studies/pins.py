"""Verdicts that are pinned: a change that moves one fails until the study explains it."""

import tomllib
from pathlib import Path

from joulemark.errors import JoulemarkError
from joulemark.studies.conduct import Conducted, Result
from joulemark.studies.study import Study
from joulemark.studies.verdict import UNKNOWN, Cause, Verdict
from joulemark.words import counted


class MovedVerdictError(JoulemarkError):
    """A verdict of a study is not the one that is pinned."""

    exit_code = 15


def path(study: Study) -> Path:
    """The file of a study's verdicts."""
    return study.path.with_name("verdicts.toml")


def read(file: Path) -> dict[str, str]:
    """Verdicts by item; none where nothing is pinned."""
    if not file.exists():
        return {}
    return {str(k): str(v) for k, v in tomllib.loads(file.read_text(encoding="utf-8")).items()}


def write(conducted: Conducted) -> None:
    """Pin the verdicts of these results; those of other items stay."""
    known = read(path(conducted.study))
    # What has not moved stays as it is: the short form knows of no cause.
    known |= {r.item.id: r.outcome for r in conducted.results if _moved(r, known.get(r.item.id))}
    lines = ["# Written by `joulemark study NAME --pin`: the verdict that each item must get."]
    for item in conducted.study.items:
        if item.id in known:
            lines.append(f'{item.id} = "{known[item.id]}"')
    path(conducted.study).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _moved(result: Result, pinned: str | None) -> bool:
    tried = result.cause not in (None, Cause.UNTRIED)
    if result.verdict is Verdict.DIFFERS and not tried and pinned is not None:
        # The short form looks for no cause, and others could not try all that may be one.
        return pinned.removesuffix(UNKNOWN) != str(result.verdict)
    return pinned != result.outcome


def compare(conducted: Conducted) -> None:
    """Compare with what is pinned.

    Raises:
        MovedVerdictError: names each item whose verdict is another.
    """
    pinned = read(path(conducted.study))
    if not pinned:
        return
    moved = [
        f"  {r.item.id}: was {pinned.get(r.item.id, 'not pinned')}, is {r.outcome} ({r.reason})"
        for r in conducted.results
        if _moved(r, pinned.get(r.item.id))
    ]
    if moved:
        raise MovedVerdictError(
            f"{counted(len(moved), 'verdict')} moved:\n" + "\n".join(moved),
            str(path(conducted.study)),
            "explain it in study.toml, then give --pin",
        )
