"""`joulemark energy`: joules per operation, from traces or from an instrument."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from joulemark.cli import app
from joulemark.errors import InputError

if TYPE_CHECKING:
    from joulemark.analysis.energy_of_samples import Run, Samples


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
        str | None, typer.Option("--resource", help="VISA resource, or serial port.")
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
    unit: Annotated[str, typer.Option("--unit", help="Of a manual reading.")] = "Wh",
    resolution: Annotated[
        float, typer.Option("--resolution", help="Smallest step of a manual reading.")
    ] = 1e-5,
) -> None:
    """Energy of an operation from recorded currents, with its uncertainty.

    In each run the board is idle, repeats the operation, and is idle again.
    """
    from joulemark.analysis.energy_of_samples import Accuracy, combine, evaluate
    from joulemark.meters import trace

    if (meter is None) == (not traces):
        raise InputError("give trace files, or --meter with --resource", "joulemark energy")
    if meter == "manual":
        _manual(unit, supply_v, resolution, accuracy, runs, repetitions)
        return
    bound = None if accuracy is None else Accuracy(accuracy, 0.0)
    results: list[Run] = []
    used: Accuracy | None = None
    if traces:
        choice = trace.Choice(time_column, current_column, time_unit, current_unit, supply_v, bound)
        recorded = (trace.read(path, choice) for path in traces)
        for samples in recorded:
            results.append(evaluate(samples, repetitions))
            used = samples.accuracy
            _show_run(len(results), results[-1], samples)
    else:
        for samples in _record(meter or "", resource, supply_v, accuracy, seconds, runs):
            results.append(evaluate(samples, repetitions))
            used = samples.accuracy
            _show_run(len(results), results[-1], samples)
    if len(results) < 2 or used is None:
        typer.echo("one run: no interval; give more for one")
        return
    for name, values in (
        ("gross", [r.gross_j for r in results]),
        ("net", [r.net_j for r in results]),
    ):
        sampling = max(r.sampling_uncertainty_j for r in results)
        estimate = combine(values, sampling, used.of_reading)
        outliers = ", ".join(str(i + 1) for i in estimate.outliers)
        typer.echo(
            f"{name}: {estimate.mean * 1e6:.6g} uJ +- {estimate.half_width_95 * 1e6:.2g} (95%), "
            f"deviation {estimate.deviation * 1e6:.2g}, {estimate.runs} runs"
            + (f"; far from the others, and counted: {outliers}" if outliers else "")
        )


def _record(
    name: str,
    resource: str | None,
    supply_v: float | None,
    accuracy: float | None,
    seconds: float,
    runs: int,
) -> "list[Samples]":
    from joulemark.meters import find

    if resource is None or supply_v is None:
        raise InputError("an instrument needs --resource and --supply-v", f"--meter {name}")
    kind = find(name)
    options = {} if kind.specification.ranges else {"accuracy": accuracy}
    result = []
    with kind(resource, supply_v, **options) as opened:  # type: ignore[call-arg]
        for run in range(runs):
            opened.start(seconds)
            typer.echo(f"run {run + 1}: start the operation now; recording for {seconds:g} s")
            result.append(opened.finish())
    return result


def _manual(
    unit: str,
    supply_v: float | None,
    resolution: float,
    accuracy: float | None,
    runs: int,
    repetitions: int,
) -> None:
    from joulemark.analysis.energy_of_samples import combine
    from joulemark.meters.manual import ask

    if accuracy is None:
        mend = "give --accuracy, as a fraction of the reading"
        raise InputError("the accuracy of a manual meter has to be stated", "--meter manual", mend)
    if supply_v is None and unit.endswith("Ah"):
        raise InputError("ampere-hours need the voltage", "--meter manual", "give --supply-v")
    values, deviation = [], 0.0
    for run in range(runs):
        typer.echo(f"run {run + 1}")
        joule, deviation = ask(input, unit, supply_v or 0.0, resolution)
        values.append(joule / repetitions)
    estimate = combine(values, deviation / repetitions, accuracy)
    typer.echo(
        f"gross: {estimate.mean * 1e6:.6g} uJ +- {estimate.half_width_95 * 1e6:.2g} (95%), "
        f"{estimate.runs} runs"
    )


def _show_run(number: int, run: "Run", samples: "Samples") -> None:
    window = "edges" if samples.edges_s else "threshold"
    typer.echo(
        f"run {number}: {run.time_s * 1e6:.6g} us, {run.gross_j * 1e6:.6g} uJ gross, "
        f"{run.net_j * 1e6:.6g} uJ net, idle {run.idle_a * 1e6:.4g} uA (window by {window})"
    )
