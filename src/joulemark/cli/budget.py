"""`joulemark budget`: what a device does all day, and how long its battery lasts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from joulemark.cli import app
from joulemark.cli._options import DEFAULT_STORE, SourceOption, StoreOption

if TYPE_CHECKING:
    from joulemark.analysis.budget import Budget, Variant
    from joulemark.analysis.scenario import Scenario


@app.command()
def budget(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="What it does.")],
    source: SourceOption = None,
    store: StoreOption = DEFAULT_STORE,
    out: Annotated[
        Path | None, typer.Option("--out", help="The HTML page; beside the store if not given.")
    ] = None,
) -> None:
    """Where a device's current goes, how long its battery lasts, and what changes that."""
    from joulemark.analysis.budget import Costs, variants
    from joulemark.analysis.budget import budget as compute
    from joulemark.analysis.scenario import read
    from joulemark.records.record import of_primitives
    from joulemark.records.store import Store
    from joulemark.report.budget import write_page

    asked = read(scenario)
    needs_store = any(
        step.primitive is not None
        for steps in (
            *(m.protection for m in asked.message),
            asked.handshake.processing if asked.handshake else [],
        )
        for step in steps
    )
    if needs_store and "://" not in store and not Path(store).exists():
        costs = Costs([], store)
    elif needs_store:
        with Store(store, "read") as opened:
            costs = Costs(of_primitives(opened.records()), opened.name)
    else:
        costs = Costs([], store)
    costs.require(asked)
    base = compute(asked, costs)
    others = variants(asked, costs, base)
    _show(asked, base, others)
    beside = Path(store).parent if "://" not in store else Path(DEFAULT_STORE).parent
    page = out or beside / f"budget-{scenario.stem}.html"
    write_page(asked, base, others, page)
    typer.echo(f"page: {page}")


def _show(scenario: "Scenario", base: "Budget", others: "list[Variant]") -> None:
    from rich.console import Console
    from rich.table import Table

    from joulemark.analysis.budget import security_of, warnings

    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    battery = scenario.battery
    typer.echo(f"{scenario.title} ({scenario.board})")
    typer.echo(
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
    typer.echo(f"\nlifetime: {base.lifetime_text}\n")
    for message in base.messages:
        if message.security_bytes or message.processing_s:
            typer.echo(f"{security_of(message)}\n")
    if others:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("what if", no_wrap=True)
        for name in ("µA", "days", "change"):
            table.add_column(name, justify="right", no_wrap=True)
        for other in others:
            table.add_row(
                other.label,
                f"{other.budget.current_a.value * 1e6:.4g}",
                f"{other.budget.lifetime_days.value:.4g}",
                f"{other.lifetime_change:+.2%}",
            )
        console.print(table)
        typer.echo("")
    for warning in warnings(base, others):
        typer.echo(f"{warning}\n")
    _show_sources(scenario, base, others)


def _show_sources(scenario: "Scenario", base: "Budget", others: "list[Variant]") -> None:
    for source in base.sources:
        typer.echo(f"  {source}")
    for other in others:
        for source in other.budget.sources:
            if source not in base.sources:
                typer.echo(f"  {other.label}: {source}")
    typer.echo(
        f"  where no uncertainty is stated: ± {scenario.tolerance:.0%} is taken (the scenario's)"
    )
