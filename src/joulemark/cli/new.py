"""`joulemark new`: begin a primitive, kind, part, board, chip, scenario, study or campaign.

joulemark new primitive block-cipher/aes/mine --out joulemark
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from joulemark.cli import app
from joulemark.cli._options import SourceOption


class What(StrEnum):
    """Kinds of skeletons."""

    PRIMITIVE = "primitive"
    BOARD = "board"
    CHIP = "chip"
    INSTRUMENT = "instrument"
    CAMPAIGN = "campaign"
    STUDY = "study"
    SCENARIO = "scenario"
    PART = "part"
    POLICY = "policy"
    KIND = "kind"


_NEXT = {
    What.PRIMITIVE: "fill them in, then: joulemark run --source {folder} --board telosb",
    What.BOARD: "fill it in, then: joulemark run --source {folder} --board {name}",
    What.CHIP: "fill it in, then: joulemark exec IMAGE --source {folder} --chip {name}",
    What.INSTRUMENT: "fill it in, then: JOULEMARK_INSTRUMENTS={folder} joulemark list meters",
    What.STUDY: "fill it in, then: joulemark study {name} --source {folder}",
    What.SCENARIO: "fill it in, then: joulemark budget {name} --source {folder}",
    What.PART: "fill it in, then name it in a network: joulemark network FILE --source {folder}",
    What.POLICY: "fill it in, then: joulemark architecture plasa --source {folder}",
    What.KIND: "fill it in, then: joulemark new primitive {name}/NAME/IMPLEMENTATION"
    " --source {folder} --out {folder}",
    What.CAMPAIGN: "change it, then: joulemark run {folder}/{name}.toml",
}


@app.command()
def new(
    what: Annotated[
        What, typer.Argument(metavar="WHAT", help=f"What to create: {', '.join(What)}.")
    ],
    name: Annotated[
        str,
        typer.Argument(help="Its name; for a primitive, KIND/NAME/IMPLEMENTATION."),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder to write to.")] = Path(),
    like: Annotated[str | None, typer.Option("--like", help="Board or chip to start from.")] = None,
    source: SourceOption = None,
) -> None:
    """Write the skeleton of something new, in a folder of your own.

    Such a folder holds primitives (KIND/NAME), kinds, parts, boards, chips, networks, scenarios
    and studies; --source names it to `run`, `choose` and the others. Existing files are never
    overwritten.
    """
    from joulemark.catalogue import skeletons

    for path in skeletons.write(skeletons.MAKERS[what](name, like), out):
        typer.echo(f"wrote {path}")
    typer.echo(_NEXT[what].format(folder=out, name=name))
