"""`joulemark slot-check`: prove the slots of a certificate again.

joulemark slot-check certificate.json
"""

from pathlib import Path
from typing import Annotated

import typer

from joulemark.cli import app


@app.command()
def slot_check(
    certificate: Annotated[
        Path,
        typer.Argument(help="File that slot --certificate wrote.", exists=True, dir_okay=False),
    ],
    slots: Annotated[
        int,
        typer.Option(
            "--slots", min=30, max=1_000_000, help="Slots to run without a missed deadline."
        ),
    ] = 300,
    board: Annotated[
        str | None, typer.Option("--board", help="Only this board's; all if none is given.")
    ] = None,
) -> None:
    """Prove the slots of a certificate again: each still holds, and a tick less still fails.

    The firmware is built as it is now and run on emulated boards with the certificate's templates.
    Exit code 13: one has become too short, or is no longer the shortest.
    """
    from joulemark.errors import InputError, JoulemarkError
    from joulemark.subjects.slot.certificate import check, read

    chosen = [one for one in read(certificate).proved if board in (None, one.board)]
    if not chosen:
        raise InputError("has no slots" + (f" of board {board}" if board else ""), str(certificate))
    failed: JoulemarkError | None = None
    for one in chosen:
        try:
            held = list(check(one, slots=slots))
        except JoulemarkError as error:
            failed = failed or error
            typer.echo(f"fails: {error}", err=True)
            continue
        typer.echo(f"{one.case.case}: {one.slot_ms:.3f} ms is the shortest; {'; '.join(held)}")
    if failed is not None:
        raise failed
