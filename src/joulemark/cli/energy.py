"""`joulemark energy`: compute the energy of an operation from traces or an instrument.

joulemark energy run-1.csv run-2.csv --supply-v 3 --accuracy 0.001
"""

import math
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from joulemark.cli import app
from joulemark.cli._instruments import MeasuringCommand, given
from joulemark.cli._options import to_write
from joulemark.errors import InputError

if TYPE_CHECKING:
    from joulemark.analysis.energy_of_samples import Estimate, Run
    from joulemark.meters.options import Declared
    from joulemark.meters.samples import Counted, Samples


class EnergyCommand(MeasuringCommand):
    """A command that without --meter reads traces, which have options of their own."""

    def declared(self, meter: str | None) -> "list[Declared]":
        """Return the options of a meter, or of traces."""
        if meter is not None:
            return super().declared(meter)
        from joulemark.meters import trace
        from joulemark.meters.options import declared

        return declared(trace.Choice)


@app.command(cls=EnergyCommand)
def energy(
    ctx: typer.Context,
    traces: Annotated[
        list[Path] | None, typer.Argument(metavar="TRACE...", help="Files, one per run.")
    ] = None,
    repetitions: Annotated[
        int, typer.Option("--repetitions", min=1, help="Executions in each run's window.")
    ] = 1,
    meter: Annotated[
        str | None,
        typer.Option("--meter", help="Record with this instrument (see `joulemark list meters`)."),
    ] = None,
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="S", help="Length of each run's recording.")
    ] = 10.0,
    runs: Annotated[int, typer.Option("--runs", min=2, help="Runs to record.")] = 5,
    supply_v: Annotated[
        float | None,
        typer.Option("--supply-v", metavar="V", help="Supply voltage at the board."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", callback=to_write, help="Write a page with the traces and the runs."),
    ] = None,
) -> None:
    """Energy of an operation from recorded currents, with its uncertainty.

    In each run the board is idle, repeats the operation, and is idle again. The options below are
    those of trace files; with --meter NAME they are the meter's.
    """
    from joulemark.analysis.energy_of_samples import estimates, evaluate, evaluate_counted
    from joulemark.meters import trace
    from joulemark.meters.options import SUPPLY, take
    from joulemark.meters.samples import Counted

    if (meter is None) == (not traces):
        raise InputError("give trace files, or --meter", "joulemark energy")
    if supply_v is not None:
        SUPPLY.check(supply_v)
    if not 0 < seconds < math.inf:
        raise InputError(f"{seconds:g} s cannot be recorded", "--seconds", "such as 10")
    if traces:
        for path in traces:
            # Report a wrong name before missing options.
            if not path.exists():
                raise InputError("there is no such file", str(path))
        choice = trace.Choice(
            **take(trace.Choice, str(traces[0]), given(ctx), {"supply_v": supply_v})
        )
        recorded: Iterable[Samples | Counted] = (trace.read(path, choice) for path in traces)
    else:
        recorded = _record(meter or "", given(ctx), supply_v, seconds, runs)
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
    typer.echo(f"errors, of each reading: +- {100 * relative:.2g}%, as stated of the instrument")
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
    name: str, options: dict[str, object], supply_v: float | None, seconds: float, runs: int
) -> "Iterator[Samples | Counted]":
    from joulemark.meters import open_meter

    with open_meter(name, options, supply_v=supply_v, ask=_ask) as opened:
        for run in range(runs):
            opened.start(seconds)
            if not opened.specification.attended:
                typer.echo(f"run {run + 1}: start the operation now; recording for {seconds:g} s")
            if opened.specification.rate_hz is None and not opened.specification.attended:
                time.sleep(seconds)
            yield opened.finish()


def _show_run(number: int, run: "Run", got: "Samples | Counted") -> None:
    from joulemark.meters.samples import Samples

    if not isinstance(got, Samples):
        typer.echo(f"run {number}: {run.gross_j * 1e6:.6g} uJ gross")
        return
    window = "edges" if got.edges_s else "threshold"
    if got.marker and not got.edges_s:
        window += f"; {got.marker} saw no marker"
    typer.echo(
        f"run {number}: {run.time_s * 1e6:.6g} us, {run.gross_j * 1e6:.6g} uJ gross, "
        f"{run.net_j * 1e6:.6g} uJ net, idle {run.idle_a * 1e6:.4g} uA (window by {window})"
    )


def _ask(question: str) -> str:
    """Return a typed answer; Ctrl-D ends the command as Ctrl-C does."""
    try:
        return input(question)
    except EOFError:
        raise KeyboardInterrupt from None
