"""`joulemark handshake`: price a handshake for each side, message by message.

joulemark handshake --primitive edhoc-3-2-aes-128 --board nrf52840-dk
joulemark handshake --protocol edhoc-3-2 --board telosb --network pair
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from joulemark.battery import DEFAULT_MAH
from joulemark.cli import app
from joulemark.cli._options import OptimisationOption, SourceOption, lost_part
from joulemark.cli._output import say
from joulemark.cli._protocols import aligned
from joulemark.errors import InputError

if TYPE_CHECKING:
    from joulemark.catalogue.primitives import Algorithm
    from joulemark.records.record import PrimitiveRecord
    from joulemark.records.store import Store
    from joulemark.subjects.handshake.ledger import Side
    from joulemark.subjects.handshake.measure import Sides
    from joulemark.subjects.handshake.options import HandshakeOptions

PAIR = "pair"
"""The network of two boards that --protocol runs in."""
_PARTS_SHOWN = 6
_DAYS = 365.25
_SECONDS_PER_HOUR = 3600


@dataclass(frozen=True)
class _Priced:
    """A handshake's ledger, in each form in which it is shown or kept."""

    lines: Sequence[str]
    ledger: Mapping[str, Any]
    energies: Sequence[tuple[str, float, float]]
    """Side, its energy in joules and its supply voltage."""
    errors: Sequence[str]
    """How far times and energies may be off."""


@app.command()
def handshake(
    ctx: typer.Context,
    primitive: Annotated[
        str, typer.Option("--primitive", metavar="NAME", help="Handshake to price.")
    ] = "edhoc-3-2-aes-128",
    board: Annotated[
        str, typer.Option("--board", metavar="NAME", help="Board of both sides.")
    ] = "telosb",
    source: SourceOption = None,
    implementation: Annotated[
        str,
        typer.Option(
            "--implementation",
            metavar="NAME",
            help="Implementation; the board's first if not given.",
        ),
    ] = "",
    opt: OptimisationOption = "Os",
    message_4: Annotated[
        bool, typer.Option("--message-4", help="With the flights that may be left out.")
    ] = False,
    ad_size: Annotated[
        int,
        typer.Option(
            "--ad-size",
            min=0,
            metavar="BYTES",
            help="External authorization data that each message carries; not with --network.",
        ),
    ] = 0,
    network: Annotated[
        Path | None,
        typer.Option(
            "--network",
            metavar="NETWORK",
            help="Run it over the air: a file, or the name of a shipped network (edhoc-telosb);"
            " pair: with --protocol, two of --board.",
        ),
    ] = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option(
            "--protocol",
            metavar="NAME",
            help="Secure protocol over UDP and 6LoWPAN, handshake and records; repeatable; all.",
        ),
    ] = None,
    image: Annotated[
        list[Path] | None,
        typer.Option(
            "--image",
            metavar="FILE",
            help="ELF file for --board that speaks UDP over 6LoWPAN: the client's, then the"
            " server's; beside --protocol, or alone.",
        ),
    ] = None,
    for_: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="TIME",
            help="How long images run, unless the client prints the line `done` before.",
        ),
    ] = "10s",
    port: Annotated[
        int,
        typer.Option(
            "--port",
            min=0,
            max=65535,
            help="UDP port of images' server; 0: of the ports that most bytes go between.",
        ),
    ] = 0,
    records: Annotated[
        int,
        typer.Option("--records", min=0, max=1000, help="Exchanges after the first, --protocol."),
    ] = 1,
    request_size: Annotated[
        int,
        typer.Option("--request-size", min=0, max=64, metavar="BYTES", help="Data of a request."),
    ] = 16,
    response_size: Annotated[
        int,
        typer.Option("--response-size", min=0, max=64, metavar="BYTES", help="Data of a response."),
    ] = 16,
    loss: Annotated[
        float,
        typer.Option(
            "--loss",
            parser=lost_part,
            metavar="PART",
            help="Part of the frames lost, such as 0.1 or 10%; 0.9 at most.",
        ),
    ] = 0.0,
    runs: Annotated[
        int,
        typer.Option(
            "--runs", min=0, max=1000, help="Runs with other losses; 5 with --loss if not given."
        ),
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the losses.")] = 0,
    pcap: Annotated[
        Path | None,
        typer.Option(
            "--pcap",
            help="Write a protocol's capture for Wireshark (pcapng), with its keys beside it.",
        ),
    ] = None,
    per_day: Annotated[float, typer.Option("--per-day", min=0, help="Handshakes a day.")] = 1.0,
    battery_mah: Annotated[
        float,
        typer.Option("--battery-mah", min=1, help="Capacity of each side's battery."),
    ] = DEFAULT_MAH,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    store: Annotated[
        str | None, typer.Option("--store", metavar="URL", help="Keep the ledger as records.")
    ] = None,
) -> None:
    """Show what each message of a handshake costs, and what that takes of a battery.

    Both sides are emulated, their outputs verified. Without a network, energy is the core's while
    it computes. Over the air it is the core's and the radio's, from a side's first step to its
    last, including sending, waiting and listening.
    """
    from joulemark.campaign.options import checked
    from joulemark.records import bounds
    from joulemark.records.store import Store
    from joulemark.subjects.handshake.options import HandshakeOptions

    of_protocol = bool(protocol or image)
    _refuse_of_others(ctx, of_protocol=of_protocol, on_air=network is not None)
    if protocol or image:
        if network is not None and str(network) != PAIR:
            raise InputError("a protocol runs between a pair", "--network", "give --network pair")
        from joulemark.catalogue.networks import seconds
        from joulemark.cli import _protocols
        from joulemark.subjects.protocol.options import ProtocolOptions

        if image and pcap is not None:
            raise InputError("is of one protocol", "--pcap", "joulemark network has it of images")
        asked = {
            "protocol": protocol or [],
            "image": image or [],
            "for_ms": round(1e3 * seconds(for_, "--for")),
            "port": port,
            "board": board,
            "opt": opt,
            "records": records,
            "request_size": request_size,
            "response_size": response_size,
            "loss": loss,
            "runs": runs,
            "seed": seed,
        }
        options = checked(ProtocolOptions, asked)
        if pcap is not None:
            _protocols.refuse_several(options)
        with Store(store or ":memory:") as kept:
            _protocols.show(options, kept, as_json=as_json)
        if pcap is not None:
            _protocols.capture(options, pcap)
        return
    if network is not None and str(network) == PAIR:
        raise InputError("which protocol?", "--network pair", "say it with --protocol")
    with Store(store or ":memory:") as kept:
        if network is None:
            asked = {
                "primitive": primitive,
                "board": board,
                "implementation": implementation,
                "opt": opt,
                "optional": message_4,
                "ad_size": ad_size,
            }
            priced = _on_bench(checked(HandshakeOptions, asked), kept)
        else:
            priced = _on_air(network, kept)
    lines, batteries = list(priced.lines), {}
    for side, joules, volts in priced.energies:
        capacity_j = battery_mah / 1000 * _SECONDS_PER_HOUR * volts
        year = joules * per_day * _DAYS
        share = 100 * year / capacity_j
        batteries[side] = {"per_day": per_day, "year_j": year, "percent_of_a_battery_a_year": share}
        lines.append(
            f"{side}: {per_day:g} a day: {year:.3g} J a year, {share:.2g}% of a "
            f"battery of {battery_mah:g} mAh at {volts:g} V"
        )
    lines += bounds.lines(priced.errors)
    if as_json:
        told = {**priced.ledger, "battery": batteries, "errors": list(dict.fromkeys(priced.errors))}
        typer.echo(json.dumps(told, ensure_ascii=False))
    else:
        say("\n".join(lines))


_OF_PROTOCOLS = {
    *("--records", "--request-size", "--response-size", "--loss", "--runs", "--seed"),
    *("--pcap", "--for", "--port"),
}
_OF_BENCH = {"--primitive", "--board", "--implementation", "--opt", "--message-4", "--ad-size"}
_NOT_OF_PROTOCOLS = (_OF_BENCH - {"--board", "--opt"}) | {"--per-day", "--battery-mah"}


def _refuse_of_others(context: typer.Context, *, of_protocol: bool, on_air: bool) -> None:
    """Refuse options that what is asked for does not look at.

    Raises:
        InputError: one was given.
    """
    if of_protocol:
        others, mend = _NOT_OF_PROTOCOLS, "leave it, or --protocol, out"
    elif on_air:
        others, mend = _OF_BENCH | _OF_PROTOCOLS, "leave it out: the network's file says it"
    else:
        others, mend = _OF_PROTOCOLS, "give --protocol with it"
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        said = source is not None and source.name == "COMMANDLINE"
        if said and parameter.opts[0] in others:
            raise InputError("says nothing here", parameter.opts[0], mend)


def _on_bench(asked: "HandshakeOptions", store: "Store") -> _Priced:
    """Return the ledger of operations."""
    from joulemark.catalogue import boards
    from joulemark.catalogue.primitives import library
    from joulemark.conduct import Means, conduct, plan
    from joulemark.measure.pool import Processes
    from joulemark.records import bounds
    from joulemark.records.record import of_primitives
    from joulemark.subjects.handshake.measure import sides as sides_of

    primitive, (board,) = asked.primitive, asked.board
    description, sides = boards.load_board(board), sides_of(asked)
    work = plan(asked, Means(workers=Processes(1)))
    records = {r.subject.operation: r for r in of_primitives(conduct(work, store).records(store))}
    for record in records.values():
        if record.status != "ok":
            raise InputError(f"{record.subject}: {record.failure}", f"--board {board}")
    lengths = _lengths(library()[primitive], asked.ad_size)
    volts = description.supply_v.value
    return _Priced(
        _bench_lines(records, lengths, sides),
        _bench_ledger(primitive, records, lengths, sides),
        [
            (side, sum(_of(records[name], "energy_gross_nj") for name in operations) * 1e-9, volts)
            for side, operations in sides.items()
        ],
        list(map(bounds.of_record, records.values())),
    )


def _bench_ledger(
    primitive: str,
    records: "Mapping[str, PrimitiveRecord]",
    lengths: Mapping[str, int],
    sides: "Sides",
) -> dict[str, Any]:
    """Return the ledger as names and numbers."""
    first = next(iter(records.values()))
    return {
        "primitive": primitive,
        "board": first.conditions.board,
        "implementation": first.subject.implementation,
        "build": str(first.build),
        "clock_hz": first.provenance.clock_hz,
        "flash_bytes": first.flash_bytes,
        "ram_bytes": first.ram_bytes,
        "sides": {
            side: [
                {
                    "does": name,
                    "sends_bytes": lengths[message] if message else 0,
                    "cycles": records[name].cycles,
                    "time_ps": records[name].time_ps,
                    "core_uj": _of(records[name], "energy_gross_nj") / 1e3,
                    "stack_bytes": records[name].stack_bytes,
                }
                for name, message in messages.items()
            ]
            for side, messages in sides.items()
        },
    }


def _on_air(file: Path, store: "Store") -> _Priced:
    """Return the ledger of a network."""
    from joulemark.catalogue.networks import read_network
    from joulemark.records import bounds
    from joulemark.runners.network import RunningNetwork, refuse_unused_wiring
    from joulemark.subjects.handshake.ledger import ledger, records
    from joulemark.subjects.network.measure import shipped_or_given

    network = read_network(shipped_or_given(file))
    running = RunningNetwork(network, observe=True)
    refuse_unused_wiring(network)
    priced = ledger(running)
    kept = list(records(running, priced))
    store.append_new(*kept)
    sizes = ", ".join(f"{name} {size} B" for name, size in priced.messages.items())
    lines = [f"{priced.primitive}: {sizes}; all are the oracle's, and both keys"]
    if priced.sessions > 1:
        lines.append(f"the last of {priced.sessions} sessions; the others came to nothing")
    for side in priced.sides:
        lines += ["", *_air_lines(side, priced.implementations[side.side])]
    return _Priced(
        [*lines, ""],
        asdict(priced),
        [(side.side, side.uj * 1e-6, side.supply_v) for side in priced.sides],
        list(map(bounds.of_record, kept)),
    )


def _air_lines(side: "Side", implementation: str) -> list[str]:
    """Return a side's table."""
    rows: list[tuple[str, ...]] = [
        ("does", "ms", "cycles", "core µJ", "radio µJ", "stack", "frames", "on air")
    ]
    for step in side.steps:
        rows.append(
            (
                step.does,
                f"{step.time_ps / 1e9:,.1f}",
                f"{step.cycles:,}" if step.cycles else "",
                f"{step.core_uj:,.0f}",
                f"{step.radio_uj:,.0f}",
                f"{step.stack_bytes:,}" if step.stack_bytes else "",
                f"{step.frames}" if step.frames else "",
                f"{step.air_bytes} B" if step.frames else "",
            )
        )
    total = side.steps
    rows.append(
        (
            "all",
            f"{sum(s.time_ps for s in total) / 1e9:,.1f}",
            f"{sum(s.cycles for s in total):,}",
            f"{sum(s.core_uj for s in total):,.0f}",
            f"{sum(s.radio_uj for s in total):,.0f}",
            f"{max(s.stack_bytes for s in total):,}",
            f"{sum(s.frames for s in total)}",
            f"{sum(s.air_bytes for s in total)} B",
        )
    )
    largest = sorted(side.parts.items(), key=lambda part: -part[1][0])[:_PARTS_SHOWN]
    parts = ", ".join(f"{name.removeprefix('primitives/')} {f:,}" for name, (f, _) in largest)
    who = side.side if side.name == side.side else f"{side.side} {side.name}"
    return [
        f"{who}: {implementation} on {side.board} at "
        f"{side.clock_hz / 1e6:g} MHz, {side.build}; "
        f"{side.flash_bytes:,} B flash, {side.ram_bytes:,} B RAM in all",
        *aligned(rows, 1),
        f"flash of each with what it needs: {parts}",
    ]


def _lengths(algorithm: "Algorithm", ad_size: int) -> dict[str, int]:
    """Return the size of each message."""
    from joulemark.oracle import Inputs

    source = random.Random(algorithm.name)
    sizes = {**algorithm.sizes, "ad": ad_size}
    drawn: dict[str, Any] = {
        name: source.randbytes(sizes[given.size])
        for name, given in algorithm.contract.file.input.items()
    }
    return {name: len(value) for name, value in algorithm.oracle(Inputs(**drawn)).items()}


def _of(record: "PrimitiveRecord", name: str) -> float:
    value = getattr(record, name)
    return float(value) if value is not None else 0.0


def _bench_lines(
    records: "Mapping[str, PrimitiveRecord]", lengths: Mapping[str, int], sides: "Sides"
) -> list[str]:
    """Return the table's lines."""
    first = next(iter(records.values()))
    rows: list[tuple[str, ...]] = [("side", "does", "sends", "cycles", "ms", "core µJ", "stack")]
    for side, messages in sides.items():
        total = [0.0, 0.0, 0.0, 0.0]
        for name, message in messages.items():
            record = records[name]
            sent = lengths[message] if message else 0
            values = (
                float(sent),
                _of(record, "cycles"),
                _of(record, "time_ps") / 1e9,
                _of(record, "energy_gross_nj") / 1e3,
            )
            total = [a + b for a, b in zip(total, values, strict=True)]
            rows.append((side, name, *_cells(values), f"{record.stack_bytes or 0:,}"))
        rows.append((side, "all", *_cells(total), ""))
    return [
        f"{first.subject.primitive}/{first.subject.implementation} on {first.conditions.board} at "
        f"{first.provenance.clock_hz / 1e6:g} MHz, {first.build}: "
        f"{first.flash_bytes:,} B flash, {first.ram_bytes:,} B RAM",
        *aligned(rows, 2),
    ]


def _cells(values: "tuple[float, ...] | list[float]") -> list[str]:
    sent, cycles, milliseconds, microjoules = values
    return [f"{sent:,.0f} B", f"{cycles:,.0f}", f"{milliseconds:,.1f}", f"{microjoules:,.0f}"]
