"""`joulemark energy`: joules per operation, from traces or from an instrument."""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from joulemark.cli import app
from joulemark.errors import InputError

if TYPE_CHECKING:
    from joulemark.analysis.energy_of_samples import Counted, Estimate, Run, Samples
    from joulemark.meters import Options


@app.command()
def energy(
    traces: Annotated[
        list[Path] | None, typer.Argument(metavar="TRACE...", help="Files, one a run.")
    ] = None,
    repetitions: Annotated[
        int, typer.Option("--repetitions", min=1, help="Executions in each run's window.")
    ] = 1,
    meter: Annotated[
        str | None, typer.Option("--meter", help="Record with this instrument; or manual.")
    ] = None,
    resource: Annotated[
        str | None, typer.Option("--resource", help="VISA resource, serial port or folder.")
    ] = None,
    seconds: Annotated[float, typer.Option("--seconds", help="To record in each run.")] = 10.0,
    runs: Annotated[int, typer.Option("--runs", min=2, help="To record.")] = 5,
    supply_v: Annotated[float | None, typer.Option("--supply-v", help="At the board.")] = None,
    accuracy: Annotated[
        float | None, typer.Option("--accuracy", help="Bound on the error, per reading.")
    ] = None,
    time_column: Annotated[str | None, typer.Option("--time-column")] = None,
    current_column: Annotated[str | None, typer.Option("--current-column")] = None,
    time_unit: Annotated[str | None, typer.Option("--time-unit")] = None,
    current_unit: Annotated[str | None, typer.Option("--current-unit")] = None,
    current_range: Annotated[
        float | None, typer.Option("--range", metavar="A", help="The instrument's current range.")
    ] = None,
    unit: Annotated[
        str, typer.Option("--meter-unit", help="Of what a person reads: Wh, mWh, J, Ah, mAh.")
    ] = "Wh",
    resolution: Annotated[
        float | None, typer.Option("--resolution", help="Smallest step of what a person reads.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write a page with the traces and the runs.")
    ] = None,
) -> None:
    """Energy of an operation from recorded currents, with its uncertainty.

    In each run the board is idle, repeats the operation, and is idle again.
    """
    from joulemark.analysis.energy_of_samples import (
        Accuracy,
        Counted,
        estimates,
        evaluate,
        evaluate_counted,
    )
    from joulemark.meters import Options, trace

    if (meter is None) == (not traces):
        raise InputError("give trace files, or --meter", "joulemark energy")
    bound = None if accuracy is None else Accuracy(accuracy, 0.0)
    choice = trace.Choice(time_column, current_column, time_unit, current_unit, supply_v, bound)
    if traces:
        recorded: Iterable[Samples | Counted] = (trace.read(path, choice) for path in traces)
    else:
        if supply_v is None and not (meter == "manual" and not unit.endswith("Ah")):
            raise InputError("the supply voltage is not known", "--meter", "give --supply-v")
        options = Options(
            resource, supply_v or 0.0, accuracy, current_range, unit, resolution=resolution
        )
        recorded = _record(meter or "", options, seconds, runs)
    results: list[Run] = []
    kept: list[Samples | Counted] = []
    relative = 0.0
    for got in recorded:
        if isinstance(got, Counted):
            results.append(evaluate_counted(got, seconds, repetitions))
            relative = got.of_reading
        else:
            results.append(evaluate(got, repetitions))
            relative = got.accuracy.of_reading
        _show_run(len(results), results[-1], got)
        if out is not None:
            kept.append(got)
    both = estimates(results, relative) if len(results) > 1 else None
    _show_estimates(both)
    if out is not None:
        from joulemark.report.energy import Recorded, write_page

        write_page([Recorded(*r) for r in zip(kept, results, strict=True)], repetitions, both, out)
        typer.echo(f"page: {out}")


def _show_estimates(both: "tuple[Estimate, Estimate | None] | None") -> None:
    if both is None:
        typer.echo("one run: no interval; give more for one")
        return
    for name, estimate in zip(("gross", "net"), both, strict=True):
        if estimate is None:
            continue
        outliers = ", ".join(str(i + 1) for i in estimate.outliers)
        typer.echo(
            f"{name}: {estimate.mean * 1e6:.6g} uJ +- {estimate.half_width_95 * 1e6:.2g} (95%), "
            f"deviation {estimate.deviation * 1e6:.2g}, {estimate.runs} runs"
            + (f"; far from the others, and counted: {outliers}" if outliers else "")
        )


def _record(
    name: str, options: "Options", seconds: float, runs: int
) -> "Iterator[Samples | Counted]":
    from joulemark.meters import open_meter

    with open_meter(name, options) as opened:
        for run in range(runs):
            opened.start(seconds)
            if not opened.specification.attended:
                typer.echo(f"run {run + 1}: start the operation now; recording for {seconds:g} s")
            if opened.specification.rate_hz is None and not opened.specification.attended:
                time.sleep(seconds)
            yield opened.finish()


def _show_run(number: int, run: "Run", got: "Samples | Counted") -> None:
    from joulemark.analysis.energy_of_samples import Samples

    if not isinstance(got, Samples):
        typer.echo(f"run {number}: {run.gross_j * 1e6:.6g} uJ gross")
        return
    window = "edges" if got.edges_s else "threshold"
    typer.echo(
        f"run {number}: {run.time_s * 1e6:.6g} us, {run.gross_j * 1e6:.6g} uJ gross, "
        f"{run.net_j * 1e6:.6g} uJ net, idle {run.idle_a * 1e6:.4g} uA (window by {window})"
    )
