"""`joulemark bench`: an emulated board in real time, with simulated instruments on its supply."""

import time
from typing import Annotated

import typer

from joulemark.cli import app


@app.command()
def bench(
    primitive: Annotated[str, typer.Option("--primitive", help="What the image holds.")],
    implementation: Annotated[str, typer.Option("--implementation", help="Of the primitive.")],
    board: Annotated[str, typer.Option("--board", help="Board to emulate.")] = "telosb",
    clock: Annotated[str | None, typer.Option("--clock", help="Its clock profile.")] = None,
    compiler: Annotated[str, typer.Option("--compiler")] = "clang",
    opt: Annotated[str, typer.Option("--opt", help="Optimisation.")] = "O3",
    speed: Annotated[
        float, typer.Option("--speed", min=0.01, help="The board's seconds in a second.")
    ] = 1.0,
    seed: Annotated[int, typer.Option("--seed", help="Of the instruments' errors.")] = 1,
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="End after these; else with Ctrl-C.")
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
    from joulemark.simulated.agilent_34401a import Agilent34401A
    from joulemark.simulated.agilent_e3631a import AgilentE3631A
    from joulemark.simulated.emulated import EmulatedSupplyLine
    from joulemark.simulated.keysight_34465a import Keysight34465A
    from joulemark.simulated.nordic_ppk2 import NordicPpk2
    from joulemark.simulated.rdtech_um25c import RdtechUm25c
    from joulemark.simulated.scpi import ScpiServer

    library = Library.load()
    chosen = boards.load_board(board)
    built = build_image(
        library.implementation(library[primitive], implementation),
        chosen,
        clock=clock or chosen.default_clock,
        compiler=compiler,
        optimisation=opt.removeprefix("-"),
    )
    line = EmulatedSupplyLine(chosen, Image.load(built.path), speed)
    servers = [
        ScpiServer(Agilent34401A(line, seed)),
        ScpiServer(AgilentE3631A(line, seed + 1)),
        ScpiServer(Keysight34465A(line, seed + 3)),
    ]
    profiler = NordicPpk2(line, seed + 2)
    usb_meter = RdtechUm25c(line, seed + 4)
    try:
        typer.echo(f"image:      {primitive}/{implementation}, build {built.build_id}")
        typer.echo(f"serial:     {line.port}")
        typer.echo(f"multimeter: {servers[0].resource}  34401A, --meter scpi")
        typer.echo(f"multimeter: {servers[2].resource}  34465A, --meter scpi")
        typer.echo(f"supply:     {servers[1].resource}  E3631A, --supply")
        typer.echo(f"profiler:   {profiler.port}  PPK2, --meter ppk2")
        typer.echo(f"USB meter:  {usb_meter.port}  UM25C, --meter um25c")
        if seconds is not None:
            time.sleep(seconds)
        while seconds is None:
            time.sleep(3600)
    finally:
        profiler.close()
        usb_meter.close()
        for server in servers:
            server.close()
        line.close()
