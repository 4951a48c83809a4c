"""`joulemark budget`: work out where a device's energy goes and how long its battery lasts.

joulemark budget telosb-daidone-2014
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from joulemark.cli import app
from joulemark.cli._options import DEFAULT_STORE, SourceOption, StoreOption, to_write
from joulemark.cli._output import cell, say
from joulemark.errors import InputError
from joulemark.words import counted

if TYPE_CHECKING:
    from joulemark.analysis.budget import Budget, Costs, ProtocolCost, Variant
    from joulemark.analysis.scenario import Scenario
    from joulemark.subjects.handshake.trials import Trials


@app.command()
def budget(
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO", help="Scenario: a TOML file, or the name of a shipped one."
        ),
    ],
    stored: Annotated[
        bool, typer.Option("--stored", help="Use only what the store holds; measure nothing.")
    ] = False,
    source: SourceOption = None,
    store: StoreOption = DEFAULT_STORE,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", callback=to_write, help="The HTML page; beside the store if not given."
        ),
    ] = None,
) -> None:
    """Where a device's current goes, how long its battery lasts, and what changes that.

    What the scenario's security costs is measured now where the store does not have it.
    """
    from joulemark.analysis.budget import Costs, variants, warnings
    from joulemark.analysis.budget import budget as compute
    from joulemark.analysis.scenario import read
    from joulemark.catalogue import files
    from joulemark.project import SCENARIOS
    from joulemark.report.budget import write_page

    path = files.given(scenario, SCENARIOS, files.names(SCENARIOS))
    asked = read(path)
    costs = Costs([], store)
    if costs.missing(asked):  # Nothing from a store may be needed at all.
        costs = _from_store(store) if stored else _measured(asked, store)
        costs.require(asked)
    if asked.protocol is not None:
        if stored:
            mend = "leave out --stored"
            raise InputError("a protocol is run each time, and not kept", str(path), mend)
        costs.protocols = _protocols(asked)
    base = compute(asked, costs)
    others, left_out = variants(asked, costs, base)
    cautions = warnings(base, others, left_out)
    _show(asked, base, others, cautions)
    beside = Path(store).parent if "://" not in store else Path(DEFAULT_STORE).parent
    page = out or beside / f"budget-{path.stem}.html"
    write_page(asked, base, others, cautions, page)
    say(f"page: {page}")


def _from_store(store: str) -> "Costs":
    from joulemark.analysis.budget import Costs
    from joulemark.records.record import of_primitives
    from joulemark.records.store import Store

    if "://" not in store and not Path(store).exists():
        return Costs([], store)
    with Store(store, "read") as opened:
        return Costs(of_primitives(opened.records()), opened.name)


def _measured(scenario: "Scenario", store: str) -> "Costs":
    """Return the records that the scenario needs; measure those missing from the store first."""
    from joulemark.analysis.budget import campaign, steps_of
    from joulemark.campaign.options import checked
    from joulemark.cli._measuring import conducted, means
    from joulemark.conduct import plan
    from joulemark.measure.bench import Bench
    from joulemark.measure.pool import Processes
    from joulemark.records.store import Store
    from joulemark.subjects.primitive.options import PrimitiveOptions

    steps = steps_of(scenario)
    if not steps:
        return _from_store(store)
    workers = Processes(len(os.sched_getaffinity(0)))
    with Store(store) as opened:
        # Also of steps that something is known of: the best of all builds is the answer.
        for step in steps:
            asked = checked(PrimitiveOptions, campaign(step, scenario))
            with means(Bench(), workers) as used:
                work = plan(asked, used)
            new = conducted(opened, work).measured
            if new:
                what = f"{step.primitive} {step.operation}"
                typer.echo(f"measured {counted(len(new), 'case')} of {what}", err=True)
    return _from_store(store)


def _protocols(scenario: "Scenario") -> "dict[tuple[object, ...], ProtocolCost]":
    """Run the scenario's protocols between two boards of its kind."""
    from joulemark.analysis.budget import key_of
    from joulemark.catalogue.protocols import Pair, protocol
    from joulemark.subjects.handshake.trials import trials
    from joulemark.subjects.protocol.options import RUNS_WITH_LOSS

    found = {}
    for use in scenario.protocols():
        if key_of(use) in found:
            continue
        pair = Pair(
            records=4,
            request_bytes=use.request_bytes,
            response_bytes=use.response_bytes,
            loss=use.loss,
        )
        runs = RUNS_WITH_LOSS if use.loss else 1
        run = trials(protocol(use.name), scenario.board, pair, runs)
        found[key_of(use)] = _cost(run, use.side)
    return found


def _cost(run: "Trials", side: str) -> "ProtocolCost":
    """Return what a side took on the average."""
    from joulemark.analysis.budget import ProtocolCost

    return ProtocolCost(
        run.mean(lambda p: p.party(side).first.time_ps * 1e-12).value,
        run.mean(lambda p: p.party(side).first.uj * 1e-6),
        run.mean(lambda p: p.party(side).record.time_ps * 1e-12).value,
        run.mean(lambda p: p.party(side).record.uj * 1e-6),
    )


def _show(
    scenario: "Scenario", base: "Budget", others: "list[Variant]", cautions: "list[str]"
) -> None:
    from rich.console import Console
    from rich.table import Table

    from joulemark.analysis.budget import security_of

    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    battery = scenario.battery
    say(f"{scenario.title} ({scenario.board})")
    say(
        f"battery: {battery.usable_ah * 1e3:.4g} mAh down to {battery.cutoff_v:g} V, "
        f"± {battery.capacity_tolerance:.0%}, "
        f"self-discharge {battery.self_discharge_per_year * 100:.3g}% a year\n"
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("part", no_wrap=True)
    for name in ("µA", "±", "share"):
        table.add_column(name, justify="right", no_wrap=True)
    for part, ampere in base.parts_a.items():
        if ampere.value:
            table.add_row(part, *ampere.rounded(1e6), f"{base.share(part):.2%}")
    table.add_row("average", *base.current_a.rounded(1e6), "", style="bold")
    console.print(table)
    charge = " ± ".join(base.mah_a_year.rounded())
    say(f"\nlifetime: {base.lifetime_text}; {charge} mAh a year\n")
    for message in base.messages:
        if message.security_bytes or message.processing_s:
            say(f"{security_of(message)}\n")
    if others:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("what if")
        for name in ("µA", "mAh a year", "days", "change"):
            table.add_column(name, justify="right", no_wrap=True)
        for other in others:
            table.add_row(
                other.label,
                cell(other.budget.current_a.value * 1e6),
                cell(other.budget.mah_a_year.value),
                cell(other.budget.lifetime_days.value),
                f"{other.lifetime_change:+.2%}",
            )
        console.print(table)
        say("")
    for caution in cautions:
        say(f"{caution}\n")
    _show_sources(scenario, base, others)


def _show_sources(scenario: "Scenario", base: "Budget", others: "list[Variant]") -> None:
    for source in base.sources:
        say(f"  {source}")
    for other in others:
        for source in other.budget.sources:
            if source not in base.sources:
                say(f"  {other.label}: {source}")
    say(f"  where no uncertainty is stated: ± {scenario.tolerance:.0%} is taken (the scenario's)")
