"""`joulemark method-check`: how wrong ways to measure are, against exact energies."""

from pathlib import Path
from typing import Annotated

import typer

from joulemark.cli import app

_OPERATIONS = (
    ("block-cipher", "aes-128", "msp430", "encrypt", 16),
    ("hash", "sha-256", "ref", "hash", 256),
)
"""A short operation and a long one."""


@app.command("method-check")
def method_check(
    repetitions: Annotated[
        int, typer.Option("--repetitions", min=2, help="Specimens of each instrument.")
    ] = 20,
    out: Annotated[Path | None, typer.Option("--out", help="Write the page here too.")] = None,
) -> None:
    """Measure operations whose energy is known with each method: bias, spread, interval."""
    from joulemark import boards
    from joulemark.build import build_image
    from joulemark.case import Build, Case
    from joulemark.errors import VerificationError
    from joulemark.measure import Job, Point, measure
    from joulemark.meters.model import ModelMeter
    from joulemark.method import Known, check, page
    from joulemark.primitives import Library

    library = Library.load()
    board = boards.load_board("telosb")
    hz = board.clock_profile(None).hz
    meter = ModelMeter(board)
    known = []
    for kind, primitive, implementation, operation, size in _OPERATIONS:
        build = Build(
            board=board.name,
            clock=board.default_clock,
            kind=kind,
            primitive=primitive,
            implementation=implementation,
            compiler="clang",
            optimisation="O3",
        )
        image = build_image(
            library.implementation(library[primitive], implementation),
            board,
            clock=build.clock,
            compiler=build.compiler,
            optimisation=build.optimisation,
        )
        case = Case(build=build, operation=operation, message_bytes=size)
        point = Point(case=case, trials=1, key="")
        job = Job(build=build, image=image, points=(point,), seed=1, project_commit=None)
        (record,) = measure(job)
        if record.status != "ok" or record.time_ps is None:
            raise VerificationError(record.failure or "not measured", str(case))
        known.append(
            Known(
                f"{primitive} {operation}, {size} bytes, {record.time_ps / 1e6:.6g} µs",
                record.time_ps * 1e-12,
                board.supply_v.value,
                meter.current("active", hz).ampere,
                meter.current("lpm0", hz).ampere,
            )
        )
    text = page(check(known, repetitions))
    typer.echo(text)
    if out is not None:
        out.write_text(text, encoding="utf-8")
