"""`joulemark bench`: run an emulated board in real time, with simulated instruments.

joulemark bench --primitive aes-128 --implementation ref --board telosb
"""

import math
import time
from typing import Annotated

import typer

from joulemark.cli import app
from joulemark.cli._options import OptimisationOption
from joulemark.errors import InputError


@app.command()
def bench(
    primitive: Annotated[str, typer.Option("--primitive", help="Primitive in the image.")],
    implementation: Annotated[
        str, typer.Option("--implementation", help="Implementation of the primitive.")
    ],
    board: Annotated[str, typer.Option("--board", help="Board to emulate.")] = "telosb",
    clock: Annotated[str | None, typer.Option("--clock", help="Its clock profile.")] = None,
    compiler: Annotated[str, typer.Option("--compiler")] = "clang",
    opt: OptimisationOption = "O3",
    speed: Annotated[float, typer.Option("--speed", help="Emulated seconds per second.")] = 1.0,
    seed: Annotated[int, typer.Option("--seed", help="Seed for the instruments' errors.")] = 1,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", help="Stop after so many seconds; otherwise at Ctrl-C."),
    ] = None,
) -> None:
    """Run a board's image in real time, with simulated instruments on its supply.

    Its serial line, the profiler and the USB meter are pseudo-terminals, multimeters and supply
    TCP ports. The board runs as if the supply were on.
    """
    from joulemark._engine import Image
    from joulemark.catalogue import boards
    from joulemark.catalogue.primitives import Library
    from joulemark.images import build_image
    from joulemark.simulated.emulated import EmulatedSupplyLine
    from joulemark.simulated.instruments import plug_in_all

    if seconds is not None and not 0 <= seconds < math.inf:
        raise InputError(f"{seconds:g} s is no time", "--seconds", "such as 60")
    if seed < 0:
        raise InputError(f"{seed} is no seed", "--seed", "such as 1")
    if not 0.01 <= speed < math.inf:
        raise InputError(f"{speed:g} is no speed", "--speed", "from 0.01 up")
    library = Library.load()
    chosen = boards.load_board(board)
    built = build_image(
        library.implementation(library[primitive], implementation),
        chosen,
        clock=clock or chosen.default_clock,
        compiler=compiler,
        optimisation=opt,
    )
    line = EmulatedSupplyLine(chosen, Image.load(built.path), speed)
    try:
        instruments = plug_in_all(line, seed)
    except BaseException:
        line.close()
        raise
    try:
        rows = [(f"{one.role}:", one.resource, one.usage) for one in instruments]
        width = max(len(role) for role, *_ in [*rows, ("serial:",)])
        typer.echo(f"{'image:':{width}} {primitive}/{implementation}, build {built.build_id}")
        typer.echo(f"{'serial:':{width}} {line.port}")
        for role, resource, usage in rows:
            typer.echo(f"{role:{width}} {resource}  {usage}")
        if seconds is not None:
            time.sleep(seconds)
        while seconds is None:
            time.sleep(3600)
    finally:
        for one in instruments:
            one.close()
        line.close()
