"""`joulemark audit`: check what the digits of a published table can support.

joulemark audit table.toml
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from joulemark.cli import app
from joulemark.cli._output import Form, FormOption, table

if TYPE_CHECKING:
    from joulemark.analysis.audit import Audit, Finding


@app.command()
def audit(
    path: Annotated[
        Path,
        typer.Argument(metavar="TABLE.toml", help="The table and how it was made."),
    ],
    form: FormOption = Form.TEXT,
) -> None:
    """Check what the digits of a published table of rates and energies can support.

    Shows the steps of the meter, the length of the window, and for each row the counts, the
    unrounded rate, the power that it implies, how far rounding alone can move that power, and what
    is impossible.
    """
    from joulemark.analysis.audit import audit as find
    from joulemark.analysis.audit import read

    made = find(*read(path))
    rows = [_row(finding) for finding in made.findings]
    if form in (Form.JSON, Form.CSV):
        typer.echo(table(rows, form))
        return
    for line in _said(made):
        typer.echo(line)
    typer.echo("")
    typer.echo(table(rows, form))


def _said(made: "Audit") -> list[str]:
    """Return the findings in sentences."""
    from joulemark.analysis.audit import power

    lines = []
    if made.window_s is None:
        lines.append(f"no window's length makes whole counts of {made.step} of all energies")
    else:
        lines.append(
            f"{made.whole} of {made.tried} energies of operations are whole counts of {made.step} "
            f"in {made.window_s} s; by chance with a probability of 1e{made.by_chance:.0f}"
        )
        doubled = [f for f in made.findings if f.cell.work.work == "doubles"]
        if doubled:
            known = sum(len(f.counts) == 1 for f in doubled)
            lines.append(
                f"{sum(bool(f.counts) for f in doubled)} of {len(doubled)} rounded rates have an "
                f"unrounded one that makes whole counts; of {known} it is known which"
            )
    for name, device in dict.fromkeys((f.cell.table, f.cell.device.name) for f in made.findings):
        group = made.of(name, device)
        watt, deviation = power(group)
        text = f"{name}, {device}: implies {watt:.2f} W, deviation {deviation:.2f} W"
        counts = [c.counts for f in group for c in f.counts[:1]]
        if counts:
            text += f"; readings of {min(counts)} to {max(counts)} counts, so that one count is "
            text += f"{1 / max(counts):.1%} to {1 / min(counts):.1%}"
        worst = max(group, key=lambda f: f.rounding)
        text += f"; rates are rounded by up to {worst.rounding:.1%} ({worst.cell.what})"
        lines.append(text)
    for finding in made.findings:
        named = f"{finding.cell.what}, {finding.cell.device.name}"
        lines += [f"impossible: {named}: {why}" for why in finding.impossible]
        if finding.outlier:
            lines.append(f"outlier: {named}: {finding.cell.watt:.2f} W")
    return lines


def _row(finding: "Finding") -> dict[str, object]:
    cell = finding.cell
    first = finding.counts[0] if finding.counts else None
    others = " or ".join(f"{count.rate:.4g}" for count in finding.counts)
    return {
        "row": cell.what,
        "device": cell.device.name,
        "rate": float(cell.rate),
        "rounding": f"{finding.rounding:.1%}",
        "unrounded": others if cell.work.work == "doubles" else "",
        "ms": finding.milliseconds,
        "counts": None if first is None else first.counts,
        "one count": "" if first is None else f"{first.part:.1%}",
        "W": round(cell.watt, 2),
        "cycles": round(cell.cycles, 1),
    }
