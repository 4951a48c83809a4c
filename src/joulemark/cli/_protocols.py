"""Tables of secure protocols on the air: one in full, or several side by side."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from joulemark.analysis import lora
from joulemark.cli._output import say
from joulemark.errors import InputError
from joulemark.subjects.protocol.options import ALL

if TYPE_CHECKING:
    from pathlib import Path

    from joulemark.analysis.budget import Interval
    from joulemark.conduct import Work
    from joulemark.records.record import Record
    from joulemark.records.store import Store
    from joulemark.subjects import Subject
    from joulemark.subjects.handshake.flights import Party, Priced, Spent
    from joulemark.subjects.handshake.trials import Trials
    from joulemark.subjects.protocol.options import ProtocolOptions

Row = tuple[str, ...]


def aligned(rows: Sequence[Row], words: int) -> list[str]:
    """Return lines of columns, the first `words` of them words and the others numbers."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            c.ljust(w) if i < words else c.rjust(w)
            for i, (c, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _some(value: float) -> str:
    """Return a mean without digits that mean nothing, or nothing for 0."""
    if value == 0:
        return ""
    return f"{value:,.0f}" if abs(value - round(value)) < 0.05 else f"{value:,.1f}"


def one(priced: "Priced", runs: int = 1) -> Iterator[str]:
    """Yield the lines of a protocol's ledger, which is that of the first run if there are more."""
    what = priced.conditions
    yield f"{priced.protocol}: {priced.title}"
    yield f"{priced.verified}; {what.loss:.0%} of the frames lost"
    if runs > 1:
        yield f"the first of {runs} runs; the means of all are at the end"
    yield ""
    yield from aligned(_flight_rows(priced), 2)
    yield "bytes; proto: the protocol; 6Lo: IPv6 and UDP as 6LoWPAN; 15.4: preamble to"
    yield "check sequence, without acknowledgements (ack) and what was sent again"
    yield "(again); ms: on the air, with both"
    for party in priced.parties:
        yield ""
        yield from _party_lines(party)


def _flight_rows(priced: "Priced") -> list[Row]:
    rows: list[Row] = [
        ("flight", "", "proto", "CoAP", "data", "6Lo", "15.4", "frames", "ack", "again", "ms")
    ]
    for record in (False, True):
        some = [flight for flight in priced.flights if flight.record == record]
        if not some:
            continue
        for f in some:
            name = f"+ {f.name}" if record else f.name
            values = (f.protocol, f.coap, f.payload, f.lowpan, f.mac, f.frames, f.acks, f.again)
            arrow = {"client": ">", "server": "<"}.get(f.sender, "")
            rows.append((name, arrow, *map(_some, values), f"{f.air_ps / 1e9:.1f}"))
        sums = (
            sum(f.protocol for f in some),
            sum(f.coap for f in some),
            sum(f.payload for f in some),
            sum(f.lowpan for f in some),
            sum(f.mac for f in some),
            sum(f.frames for f in some),
            sum(f.acks for f in some),
            sum(f.again for f in some),
        )
        name = "each further record" if record else "handshake, exchange"
        rows.append((name, "", *map(_some, sums), f"{sum(f.air_ps for f in some) / 1e9:.1f}"))
    return rows


def _party_lines(party: "Party") -> Iterator[str]:
    yield (
        f"{party.side}: {party.board} at {party.clock_hz / 1e6:g} MHz, {party.build}; "
        f"{party.flash_bytes:,} B flash,"
    )
    yield f"{party.ram_bytes:,} B RAM and {party.stack_bytes:,} B of stack in all"
    rows: list[Row] = [("does", "ms", "cycles", "core µJ", "sends µJ", "listens µJ", "frames")]
    for record in (False, True):
        some = [each for each in party.computed if each.record == record]
        for each in some:
            name = f"+ {each.does}" if record else each.does
            rows.append(
                (
                    name,
                    f"{each.time_ps / 1e9:,.1f}",
                    f"{each.cycles:,.0f}",
                    f"{each.core_uj:,.0f}",
                    *("", "", ""),
                )
            )
        if not some:
            continue
        spent = party.record if record else party.first
        waits_ps = spent.time_ps - spent.computing_ps
        waits_uj = spent.core_uj - sum(each.core_uj for each in some)
        waits = "+ waits, radio" if record else "waits, radio"
        rows.append((waits, f"{waits_ps / 1e9:,.1f}", "", f"{waits_uj:,.0f}", *_radio(spent)))
        name = "each further record" if record else "handshake, exchange"
        rows.append(
            (
                name,
                f"{spent.time_ps / 1e9:,.1f}",
                f"{spent.cycles:,.0f}",
                f"{spent.core_uj:,.0f}",
                *_radio(spent),
            )
        )
    yield from aligned(rows, 1)


def _radio(spent: "Spent") -> tuple[str, str, str]:
    return f"{spent.sending_uj:,.0f}", f"{spent.listening_uj:,.0f}", _some(spent.frames)


def several(found: "Sequence[Trials]") -> Iterator[str]:
    """Yield lines that compare protocols."""
    from joulemark.subjects.handshake.flights import BY_ORACLE

    what = found[0].runs[0].conditions
    runs = len(found[0].runs)
    if what.loss:
        yield f"{what.loss:.0%} of the frames lost; means of {runs} runs, and their 95% interval"
        yield "(Student's t; ≤: from 0 on, below which no figure is, to this)"
    rows: list[Row] = [("protocol", "bytes", "on air", "frames", "ms", "client mJ", "server mJ")]
    for one in found:
        rows.append(
            (
                one.protocol,
                _some(one.mean(lambda p: p.bytes_of(record=False)[0]).value),
                _interval(one.mean(lambda p: p.bytes_of(record=False)[1]), 0),
                _interval(one.mean(lambda p: p.frames(record=False)), 0),
                _interval(one.mean(lambda p: p.party("client").first.time_ps / 1e9), 0),
                _interval(one.mean(lambda p: p.party("client").first.uj / 1e3), 2),
                _interval(one.mean(lambda p: p.party("server").first.uj / 1e3), 2),
            )
        )
    yield from aligned(rows, 1)
    yield "the handshake with its first request and response: bytes of the protocol, all"
    yield "bytes and frames on the air, energy of core and radio"
    if any(flight.record for one in found for flight in one.runs[0].flights):
        yield ""
        rows = [("each further exchange", "bytes", "on air", "ms", "client µJ", "server µJ")]
        for one in found:
            if not any(flight.record for flight in one.runs[0].flights):
                continue
            rows.append(
                (
                    one.protocol,
                    _some(one.mean(lambda p: p.bytes_of(record=True)[0]).value),
                    _interval(one.mean(lambda p: p.bytes_of(record=True)[1]), 0),
                    _interval(one.mean(lambda p: p.party("client").record.time_ps / 1e9), 1),
                    _interval(one.mean(lambda p: p.party("client").record.uj), 0),
                    _interval(one.mean(lambda p: p.party("server").record.uj), 0),
                )
            )
        yield from aligned(rows, 1)
    yield ""
    rows = [("image", "client flash", "RAM", "stack", "server flash", "RAM", "stack")]
    for one in found:
        client, server = (one.runs[0].party(side) for side in ("client", "server"))
        rows.append(
            (one.protocol, *(f"{v:,}" for v in _sizes(client)), *(f"{v:,}" for v in _sizes(server)))
        )
    yield from aligned(rows, 1)
    yield "bytes of the whole image, radio and drivers included"
    yield ""
    rows = [("LoRa, s on the air", *(f"SF{factor}" for factor in lora.FACTORS))]
    for one in found:
        sizes = [f.datagram for f in one.runs[0].flights if not f.record]
        rows.append((one.protocol, *(f"{lora.seconds(sizes, sf):.2f}" for sf in lora.FACTORS)))
    yield from aligned(rows, 1)
    yield from lora.NOTES
    for one in found:
        if one.runs[0].verified != BY_ORACLE:
            yield f"{one.protocol}: {one.runs[0].verified}"
    for one in found:
        if one.failed:
            yield f"{one.protocol}: the client gave up in {one.failed} further runs"


def _interval(mean: "Interval", places: int) -> str:
    """Return a mean with its interval; what is counted or spent is never less than nothing."""
    value, half = mean.value, mean.half_width_95
    if half == 0:
        return f"{value:,.{places}f}"
    if half > value:
        return f"{value:,.{places}f} (≤{value + half:,.{places}f})"
    return f"{value:,.{places}f}±{half:,.{places}f}"


def show(options: "ProtocolOptions", store: "Store", *, as_json: bool) -> None:
    """Run protocols and images, unless the store has their runs, and print what they take.

    Raises:
        JoulemarkError: a protocol cannot be priced; that its client gave up only if it did so in
            all runs.
    """
    from joulemark.conduct import Means, conduct, plan
    from joulemark.measure.pool import Processes
    from joulemark.records import bounds

    work = plan(options, Means(workers=Processes(1)))
    found = _trials(work, conduct(work, store).records(store))
    if as_json:
        typer.echo(json.dumps([asdict(one) for one in found], ensure_ascii=False))
        return
    runs = len(found[0].runs)
    lines = list(one(found[0].runs[0], runs)) if len(found) == 1 else []
    if len(found) > 1 or runs > 1:
        lines += ["", *several(found)] if lines else several(found)
    errors = (error for each in found for run in each.runs for error in run.errors)
    say("\n".join([*lines, "", *work.notices, *bounds.lines(errors)]))


def refuse_several(options: "ProtocolOptions") -> None:
    """Refuse a capture of several protocols.

    Raises:
        InputError: more than one is asked for.
    """
    if len(options.protocol) != 1 or ALL in options.protocol:
        raise InputError("is of one protocol", "--pcap", "give one --protocol")


def capture(options: "ProtocolOptions", path: "Path") -> None:
    """Run a protocol once more, and write its frames, and its keys beside them.

    Raises:
        InputError: a file cannot be written.
    """
    from joulemark.catalogue.protocols import Pair, protocol
    from joulemark.report import keys
    from joulemark.report.capture import Capture
    from joulemark.subjects.handshake import flights

    of, (board,) = protocol(options.protocol[0]), options.board
    conditions = Pair(
        records=options.records,
        request_bytes=options.request_size,
        response_bytes=options.response_size,
        loss=options.loss,
        seed=options.seed,
        compiler=options.compiler,
        optimisation=options.opt,
    )
    frames, lines = flights.heard(of, conditions, flights.start(of, board, conditions))
    with Capture(path) as to:
        for frame in frames:
            received = [h.power_dbm for h in frame.hearings if h.outcome == "received"]
            to.add(
                frame.frame,
                begin_ps=frame.begin_ps,
                delimiter_ps=frame.delimiter_ps,
                end_ps=frame.end_ps,
                channel=frame.phy.channel(frame.frequency_mhz),
                rssi_dbm=max(received, default=None),
                asn=None,
                slot_start_ps=None,
                slot_us=None,
                comment="",
            )
    beside = keys.beside(path, lines)
    told = f"capture: {path}" + (f", with {', '.join(map(str, beside))}" if beside else "")
    typer.echo(f"{told}; the run of --seed {options.seed}", err=True)


def _trials(work: "Work", records: "Sequence[Record[Subject]]") -> "list[Trials]":
    """Return the runs of each protocol."""
    from joulemark.subjects.handshake.flights import ProtocolFailedError
    from joulemark.subjects.handshake.trials import Trials
    from joulemark.subjects.protocol import ProtocolSubject
    from joulemark.subjects.protocol.measure import priced_of

    runs: dict[str, dict[int, list[Record[ProtocolSubject]]]] = {}
    for record in records:
        error = work.errors.get(record.key)
        if error is not None and not isinstance(error, ProtocolFailedError):
            raise error
        subject = record.subject
        assert isinstance(subject, ProtocolSubject)  # noqa: S101
        runs.setdefault(subject.protocol, {}).setdefault(subject.seed, []).append(record)  # type: ignore[arg-type]
    found = []
    for name, by_seed in runs.items():
        good = [run for run in by_seed.values() if all(side.status == "ok" for side in run)]
        if not good:
            failure = next(iter(by_seed.values()))[0].failure
            raise ProtocolFailedError(failure or "")
        trials = Trials(
            protocol=name, runs=[*map(priced_of, good)], failed=len(by_seed) - len(good)
        )
        found.append(trials)
    return found


def _sizes(party: "Party") -> tuple[int, int, int]:
    return party.flash_bytes, party.ram_bytes, party.stack_bytes
