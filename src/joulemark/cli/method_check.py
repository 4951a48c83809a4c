"""`joulemark method-check`: how wrong ways to measure are, against exact energies."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from joulemark.cli import app

if TYPE_CHECKING:
    from joulemark.measure.session import Job
    from joulemark.records.record import Record
    from joulemark.simulated.check import Known, Pair

_OPERATIONS = (
    ("block-cipher", "aes-128", "msp430", "encrypt", 16),
    ("hash", "sha-256", "ref", "hash", 256),
)
"""A short operation and a long one."""
_CASES = (
    ("block-cipher", "aes-128", "msp430", (("init", 0), ("encrypt", 16), ("decrypt", 64))),
    ("hash", "sha-256", "ref", (("hash", 64), ("hash", 256))),
)


@app.command("method-check")
def method_check(
    repetitions: Annotated[
        int, typer.Option("--repetitions", min=2, help="Specimens of each instrument.")
    ] = 100,
    out: Annotated[Path | None, typer.Option("--out", help="Write the page here too.")] = None,
) -> None:
    """Measure operations whose energy is known with each method: bias, spread, interval."""
    from joulemark.simulated.check import check, page

    text = page(check(_known(), repetitions), _compared())
    typer.echo(text)
    if out is not None:
        out.write_text(text, encoding="utf-8")


def _job(
    kind: str, primitive: str, implementation: str, operations: "Iterable[tuple[str, int]]"
) -> "Job":
    """Cases of one image of the TelosB, by operation and size."""
    from joulemark.campaign.case import Build, Case
    from joulemark.catalogue import boards
    from joulemark.catalogue.primitives import Library
    from joulemark.images import build_image
    from joulemark.measure.session import Job, Point

    library = Library.load()
    board = boards.load_board("telosb")
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
    points = tuple(
        Point(
            case=Case(build=build, operation=operation, message_bytes=size),
            trials=1,
            key=f"{operation} {size}",
        )
        for operation, size in operations
    )
    return Job(build=build, image=image, points=points, seed=1, project_commit=None)


def _measured(job: "Job") -> "list[Record]":
    """The model's records."""
    from joulemark.errors import VerificationError
    from joulemark.measure.session import measure

    made = list(measure(job))
    for record in made:
        if record.status != "ok":
            raise VerificationError(record.failure or "not measured", record.primitive)
    return made


def _known() -> "list[Known]":
    from joulemark.catalogue import boards
    from joulemark.meters.model import ModelMeter
    from joulemark.simulated.check import Known

    board = boards.load_board("telosb")
    hz = board.clock_profile(None).hz
    current = ModelMeter(board).current
    known = []
    for kind, primitive, implementation, operation, size in _OPERATIONS:
        (record,) = _measured(_job(kind, primitive, implementation, [(operation, size)]))
        time_ps = record.time_ps or 0
        known.append(
            Known(
                f"{primitive} {operation}, {size} bytes, {time_ps / 1e6:.6g} µs",
                time_ps * 1e-12,
                board.supply_v.value,
                busy_a=current("active", hz).ampere,
                idle_a=current(board.idle_state, hz).ampere,
                waiting_a=current("lpm0", hz).ampere,
            )
        )
    return known


def _compared() -> "list[Pair]":
    """Cases through the model, and through instruments on the emulated bench in real time."""
    from joulemark._engine import Image
    from joulemark.catalogue import boards
    from joulemark.errors import VerificationError
    from joulemark.images import BuiltImage
    from joulemark.measure.instrumented import Setup, measure_on_board
    from joulemark.meters import open_meter
    from joulemark.simulated.check import PPK2_BOUND, Pair, pairs
    from joulemark.simulated.emulated import EmulatedSupplyLine
    from joulemark.simulated.instruments.agilent_34401a import SimulatedAgilent34401A
    from joulemark.simulated.instruments.nordic_ppk2 import SimulatedPpk2
    from joulemark.simulated.instruments.scpi import ScpiServer

    board = boards.load_board("telosb")
    volt = board.supply_v.value
    result: list[Pair] = []
    for kind, primitive, implementation, operations in _CASES:
        job = _job(kind, primitive, implementation, operations)
        exact = _measured(job)
        assert isinstance(job.image, BuiltImage)  # noqa: S101
        line = EmulatedSupplyLine(board, Image.load(job.image.path))
        server = ScpiServer(SimulatedAgilent34401A(line, seed=1))
        device = SimulatedPpk2(line, seed=2)
        try:
            told: tuple[tuple[str, dict[str, object]], ...] = (
                ("agilent-34401a", {"resource": server.resource}),
                ("ppk2", {"resource": device.resource, "accuracy": PPK2_BOUND}),
            )
            for name, options in told:
                with open_meter(name, options, supply_v=volt) as meter:
                    made = list(measure_on_board(job, Setup(line.port, meter, name, "bench")))
                for model, record in zip(exact, made, strict=True):
                    if record.status != "ok":
                        raise VerificationError(record.failure or "not measured", primitive)
                    result += pairs(model, record)
        finally:
            device.close()
            server.close()
            line.close()
    return result
