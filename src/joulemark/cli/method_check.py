"""`joulemark method-check`: check measuring methods against exactly known energies.

joulemark method-check --repetitions 20
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from joulemark.cli import app
from joulemark.cli._options import to_write

if TYPE_CHECKING:
    from joulemark.campaign.job import Job, Setup
    from joulemark.records.record import PrimitiveRecord
    from joulemark.simulated.check import Known, Pair

_OPERATIONS = (
    ("aes-128", "msp430", "encrypt", 16),
    ("sha-256", "ref", "hash", 256),
)
"""A short operation and a long one."""
_CASES = (
    ("aes-128", "msp430", (("init", 0), ("encrypt", 16), ("decrypt", 64))),
    ("sha-256", "ref", (("hash", 64), ("hash", 256))),
)


@app.command("method-check")
def method_check(
    repetitions: Annotated[
        int, typer.Option("--repetitions", min=2, help="Specimens of each instrument.")
    ] = 100,
    out: Annotated[
        Path | None, typer.Option("--out", callback=to_write, help="Write the page here too.")
    ] = None,
) -> None:
    """Measure operations whose energy is known with each method: bias, spread, interval."""
    from joulemark.simulated.check import check, page
    from joulemark.wholefile import write_whole

    text = page(check(_known(), repetitions), _compared())
    typer.echo(text)
    if out is not None:
        write_whole(out, text.encode(), "the page")


def _job(primitive: str, implementation: str, operation: str, size: int, setup: "Setup") -> "Job":
    """Return the job of one case on the TelosB."""
    from joulemark.campaign.plan import plan
    from joulemark.subjects.primitive.options import PrimitiveOptions

    campaign = PrimitiveOptions(
        board=("telosb",),
        primitive=(primitive,),
        implementation=(implementation,),
        operation=(operation,),
        size=(size,),
        trials=1,
        seed=1,
    )
    (job,) = plan(campaign, setup).jobs
    return job


def _measured(jobs: "Iterable[Job]") -> "list[PrimitiveRecord]":
    """Return the model's records."""
    from joulemark.measure.emulated import emulate

    return [_good(record) for job in jobs for record in emulate(job)]


def _good(record: "PrimitiveRecord") -> "PrimitiveRecord":
    from joulemark.errors import VerificationError

    if record.status != "ok":
        raise VerificationError(record.failure or "not measured", str(record.subject))
    return record


def _known() -> "list[Known]":
    from joulemark.campaign.job import Setup
    from joulemark.catalogue import boards
    from joulemark.meters.model import ModelMeter
    from joulemark.simulated.check import Known

    board = boards.load_board("telosb")
    hz = board.clock_profile(None).hz
    current = ModelMeter(board).current
    known = []
    for primitive, implementation, operation, size in _OPERATIONS:
        (record,) = _measured([_job(primitive, implementation, operation, size, Setup())])
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
    """Return cases through the model and through instruments on the emulated bench in real time."""
    from joulemark._engine import Image
    from joulemark.campaign.job import RUNS, Setup
    from joulemark.catalogue import boards
    from joulemark.images import BuiltImage
    from joulemark.measure.instrumented import Instrumented
    from joulemark.measure.window import Instrument
    from joulemark.meters import open_meter
    from joulemark.simulated.check import PPK2_BOUND, Pair, pairs
    from joulemark.simulated.emulated import EmulatedSupplyLine
    from joulemark.simulated.instruments.agilent_34401a import SimulatedAgilent34401A
    from joulemark.simulated.instruments.nordic_ppk2 import SimulatedPpk2
    from joulemark.simulated.instruments.scpi import ScpiServer

    board = boards.load_board("telosb")
    volt = board.supply_v.value
    result: list[Pair] = []
    for primitive, implementation, operations in _CASES:

        def jobs(
            setup: Setup,
            what: tuple[str, str] = (primitive, implementation),
            operations: tuple[tuple[str, int], ...] = operations,
        ) -> list[Job]:
            return [_job(*what, operation, size, setup) for operation, size in operations]

        emulated = jobs(Setup())
        exact = _measured(emulated)
        image = emulated[0].image
        assert isinstance(image, BuiltImage)  # noqa: S101
        line = EmulatedSupplyLine(board, Image.load(image.path))
        server = ScpiServer(SimulatedAgilent34401A(line, seed=1))
        device = SimulatedPpk2(line, seed=2)
        try:
            told: tuple[tuple[str, dict[str, object]], ...] = (
                ("agilent-34401a", {"resource": server.resource}),
                ("ppk2", {"resource": device.resource, "accuracy": PPK2_BOUND}),
            )
            for name, options in told:
                setup = Setup(runner="serial", meter=name, unit="bench", runs=RUNS)
                with open_meter(name, options, supply_v=volt) as meter:
                    for model, job in zip(exact, jobs(setup), strict=True):
                        with Instrumented(job, Instrument(meter), line.port) as session:
                            for record in session.records():
                                result += pairs(model, _good(record))
        finally:
            device.close()
            server.close()
            line.close()
    return result
