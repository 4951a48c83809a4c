"""Pinned verdicts: a change that moves one fails until the study explains it."""

import tomllib
from pathlib import Path

from joulemark.errors import JoulemarkError
from joulemark.studies.conduct import Conducted, Result
from joulemark.studies.study import Study
from joulemark.studies.verdict import Cause, Verdict
from joulemark.words import counted


class MovedVerdictError(JoulemarkError):
    """A study's verdict is not the pinned one."""

    exit_code = 15


def path(study: Study) -> Path:
    """Return the path of a study's verdicts."""
    return study.path.with_name("verdicts.toml")


def read(file: Path) -> dict[str, str]:
    """Return verdicts by item; empty if nothing is pinned."""
    if not file.exists():
        return {}
    return {str(k): str(v) for k, v in tomllib.loads(file.read_text(encoding="utf-8")).items()}


def write(conducted: Conducted) -> None:
    """Pin the verdicts of these results; leave those of other items as they are."""
    known = read(path(conducted.study))
    # Keep what has not moved: a part of a study does not know the cause.
    known |= {r.item.id: r.outcome for r in conducted.results if _moved(r, known.get(r.item.id))}
    lines = ["# Written by `joulemark study NAME --pin`: the verdict that each item must get."]
    for item in conducted.study.items:
        if item.id in known:
            lines.append(f'{item.id} = "{known[item.id]}"')
    path(conducted.study).write_text("\n".join(lines) + "\n", encoding="utf-8")


def verdict(pinned: str) -> Verdict:
    """Return a pinned outcome's verdict, without how far a difference is explained."""
    return Verdict(pinned.partition(",")[0])


def _moved(result: Result, pinned: str | None) -> bool:
    tried = result.cause not in (None, Cause.UNTRIED)
    if result.verdict is Verdict.DIFFERS and not tried and pinned not in (None, Verdict.DIFFERS):
        # A part of a study looks for no cause, and other runs may be unable to try every change.
        return verdict(pinned) is not result.verdict
    return pinned != result.outcome


def compare(conducted: Conducted) -> None:
    """Compare with the pinned verdicts.

    Raises:
        MovedVerdictError: a verdict moved; the message names each such item.
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
