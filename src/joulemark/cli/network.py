"""`joulemark network`: run a network of emulated motes: frames, captures, energy.

joulemark network edhoc-telosb --for 2s --page network.html
"""

import contextlib
import json
import os
import re
import tty
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from joulemark.cli import app
from joulemark.cli._options import SourceOption, to_write
from joulemark.cli._output import Form, figures
from joulemark.errors import AirError, InputError
from joulemark.words import counted

if TYPE_CHECKING:
    from joulemark._engine import Stop, Transmission
    from joulemark.analysis.auditor import Auditor, Flaw
    from joulemark.analysis.oscore_auditor import OscoreAuditor
    from joulemark.catalogue.networks import Network
    from joulemark.report.capture import Capture
    from joulemark.runners.network import Line, RunningNetwork, Slice
    from joulemark.subjects.network.measure import Counts

    _Auditors = tuple[Auditor, OscoreAuditor]

_PRINTABLE = re.compile(r"[^\x20-\x7e]")


@dataclass
class _Totals:
    """Counters."""

    frames: "Counts"
    flaws: "list[Flaw]" = field(default_factory=list)


def _truth(t: "Transmission", names: Sequence[str]) -> str:
    """Describe the fate of a frame at each mote."""
    by: dict[str, list[str]] = {}
    for hearing in t.hearings:
        by.setdefault(hearing.outcome or "unknown", []).append(names[hearing.mote])
    heard = [f"received by {', '.join(by.pop('received'))}"] if "received" in by else []
    others = [f"{outcome} at {_few(motes)}" for outcome, motes in sorted(by.items())]
    return "; ".join([*heard, *others]) or "nobody is near"


def _few(motes: Sequence[str]) -> str:
    return ", ".join(motes) if len(motes) <= 4 else f"{len(motes)} motes"


def _comment(t: "Transmission", names: Sequence[str], flaws: "Sequence[Flaw]") -> str:
    powers = [
        f"{names[h.mote]}: {h.outcome or 'unknown'}, {h.power_dbm:.1f} dBm" for h in t.hearings
    ]
    lines = [f"sent by {names[t.mote]} at {t.power_dbm:g} dBm", *powers]
    lines += ["stopped before its end"] if t.is_cut else []
    return "\n".join([*lines, *(f"{flaw.rule}: {flaw.text}" for flaw in flaws)])


class _Uarts:
    """Where motes' serial output goes besides the terminal."""

    def __init__(self, where: str, names: Sequence[str]) -> None:
        self._folder: Path | None = None
        self.ptys: dict[int, int] = {}
        self.is_on_terminal = where == "terminal"
        if where == "pty":
            for number, name in enumerate(names):
                master, slave = os.openpty()
                tty.setraw(slave)
                os.set_blocking(master, False)
                self.ptys[number] = master
                typer.echo(f"{name}: {os.ttyname(slave)}", err=True)
        elif where not in ("terminal", "none"):
            self._folder = Path(where)
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                for name in names:
                    for old in self._folder.glob(f"{name}.*.txt"):
                        old.unlink()
            except OSError as error:
                raise InputError(f"cannot be made: {error.strerror}", where) from error

    def write(self, line: "Line", name: str) -> None:
        """Pass on what a mote wrote."""
        if self._folder is not None:
            path = self._folder / f"{name}.{line.port.lower()}.txt"
            try:
                with path.open("ab") as file:
                    file.write(line.data)
            except OSError as error:
                raise InputError(f"cannot be written: {error.strerror}", str(path)) from error
        if line.mote in self.ptys:
            with contextlib.suppress(BlockingIOError):
                os.write(self.ptys[line.mote], line.data)

    def typed(self) -> Iterator[tuple[int, bytes]]:
        """Yield input typed for motes."""
        for number, master in self.ptys.items():
            with contextlib.suppress(BlockingIOError, OSError):
                if data := os.read(master, 4096):
                    yield number, data


@app.command()
def network(
    file: Annotated[
        str,
        typer.Argument(
            metavar="NETWORK",
            help="Motes and links: a TOML file, or the name of a shipped one.",
        ),
    ],
    duration: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="TIME",
            help="Duration: 500ms, 60s, 5m, 1h; what the file says, or 10s, if not given.",
        ),
    ] = None,
    pcap: Annotated[
        Path | None,
        typer.Option(
            "--pcap", help="Write a capture for Wireshark (pcapng), with a file of keys beside it."
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            "--page", callback=to_write, help="Write a page with the timeline and energies."
        ),
    ] = None,
    uart: Annotated[
        str,
        typer.Option(
            "--uart",
            metavar="WHERE",
            help="Where serial lines go: terminal, pty, none, or a folder.",
        ),
    ] = "terminal",
    threads: Annotated[
        int | None,
        typer.Option("--threads", min=1, max=256, help="Threads; one per core if not given."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print the summary only.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    store: Annotated[
        str | None,
        typer.Option("--store", metavar="URL", help="Keep each mote's energy as records."),
    ] = None,
    source: SourceOption = None,
) -> None:
    """Run a network of emulated boards, and show who sends, who hears and what it costs.

    Times are the network's. A mote that faults stops, and the command exits with 7 when all is
    done; with 16 where a frame breaks the file's policy or its keys show a flaw. Ctrl-C ends the
    run: its results so far are shown and written, but no record is kept.
    """
    from joulemark.catalogue import files, networks
    from joulemark.catalogue.networks import picoseconds, read_network, seconds
    from joulemark.project import NETWORKS
    from joulemark.report import keys
    from joulemark.report.capture import Capture
    from joulemark.report.network import Timeline
    from joulemark.runners.network import RunningNetwork, refuse_unused_wiring
    from joulemark.subjects.network.measure import Counts

    description = read_network(files.given(file, NETWORKS, networks.names()))
    duration_s = description.duration_s if duration is None else seconds(duration, "--for")
    key_file = description.key_file
    _check(store, uart)
    running = RunningNetwork(description, threads=threads)
    refuse_unused_wiring(description)
    auditors = _auditors(description)
    uarts = _Uarts(uart, [seat.name for seat in running.seats])
    totals = _Totals(Counts())
    faults: list[tuple[int, Stop]] = []
    timeline = Timeline(running) if page is not None else None
    is_live = not (as_json or quiet)
    with contextlib.ExitStack() as stack:
        capture = stack.enter_context(Capture(pcap)) if pcap is not None else None
        for piece in _until_interrupted(running, duration_s):
            lines = _piece(running, piece, totals, auditors, capture, uarts)
            if is_live:
                for _, text in sorted(lines):
                    typer.echo(text)
                if is_second(piece.end_ps):
                    typer.echo(_so_far(running, piece.end_ps))
            if timeline is not None:
                timeline.add(piece)
            faults += piece.faults
    if pcap is not None and key_file is not None:
        keys.beside(pcap, keys.of_network(key_file, auditors[1]))
    is_whole = running.engine.time_ps >= picoseconds(duration_s)
    result = _result(
        running,
        duration_s if is_whole else running.time_s,
        totals,
        auditors,
    )
    if timeline is not None and page is not None:
        timeline.write(page, result)
    if as_json:
        typer.echo(json.dumps(result, ensure_ascii=False))
    else:
        _print(result)
    if not is_whole:
        typer.echo(f"joulemark: interrupted at {running.time_s:.1f} s", err=True)
        raise typer.Exit(130)
    if store is not None:
        _keep(store, running, duration_s, totals)
    _complain(running, faults, totals.flaws)


def _auditors(description: "Network") -> "_Auditors":
    """Return who audits frames, and who audits the messages under OSCORE in them."""
    from joulemark.analysis.auditor import Auditor
    from joulemark.analysis.oscore_auditor import OscoreAuditor
    from joulemark.catalogue.architectures import load_architecture

    listeners = [load_architecture(name).listener() for name in description.architectures()]
    heard = [listener for listener in listeners if listener is not None]
    keys = description.key_file
    auditor = Auditor(keys, description.policy, description.slots, heard)
    return auditor, OscoreAuditor(keys.oscore if keys is not None else ())


def _until_interrupted(running: "RunningNetwork", duration_s: float) -> "Iterator[Slice]":
    """Yield the slices of a run; after Ctrl-C, the current slice is the last."""
    from joulemark.interrupts import deferred

    with deferred() as strike, contextlib.suppress(KeyboardInterrupt):
        for piece in running.run(duration_s):
            yield piece
            strike()


def _complain(
    running: "RunningNetwork", faults: "Sequence[tuple[int, Stop]]", flaws: "Sequence[Flaw]"
) -> None:
    """Report what went wrong.

    Raises:
        FaultError: a mote faulted.
        AirError: a frame is flawed.
    """
    from joulemark.runners.network import fault_error

    if faults:
        number, stop = faults[0]
        raise fault_error(running.names[number], stop)
    if flaws:
        first = flaws[0]
        what = f"{len(flaws)} frames are flawed; the first, of"
        if len(flaws) == 1:
            what = "a frame is flawed: that of"
        raise AirError(
            f"{what} {first.sender} at {first.time_ps * 1e-12:.6f} s: {first.rule}: {first.text}"
        )


def is_second(time_ps: int) -> bool:
    """Return whether a time is a whole second."""
    return time_ps % 10**12 == 0


def _piece(
    running: "RunningNetwork",
    piece: "Slice",
    totals: _Totals,
    auditors: "_Auditors",
    capture: "Capture | None",
    uarts: _Uarts,
) -> list[tuple[int, str]]:
    """Process a slice; return lines of the timeline with their times."""
    from joulemark.analysis.auditor import Seen
    from joulemark.analysis.frames import BLUETOOTH, describe_sent

    names = running.names
    auditor, messages = auditors
    lines: list[tuple[int, str]] = []
    for t in piece.transmissions:
        totals.frames.note(t)
        is_bluetooth = t.phy.name == BLUETOOTH
        audited = t.frame and not is_bluetooth
        flaws = auditor.look(Seen(names[t.mote], t.phy, t.begin_ps, t.frame)) if audited else []
        flaws += messages.look(t, names[t.mote]) if audited else []
        totals.flaws += flaws
        channel = t.phy.channel(t.frequency_mhz)
        if capture is not None and t.frame and is_bluetooth:
            comment = _comment(t, names, flaws)
            capture.add_bluetooth(t.frame, begin_ps=t.begin_ps, sync=t.sync, comment=comment)
        elif capture is not None and t.frame:
            received = [h.power_dbm for h in t.hearings if h.outcome == "received"]
            asn = auditor.slots.at(t.begin_ps, names[t.mote])
            slots = running.network.slots
            capture.add(
                t.frame,
                begin_ps=t.begin_ps,
                delimiter_ps=t.delimiter_ps,
                end_ps=t.end_ps,
                channel=channel,
                rssi_dbm=max(received, default=None),
                asn=asn,
                slot_start_ps=auditor.slots.start_ps(t.begin_ps, names[t.mote]),
                slot_us=None if asn is None or slots is None else slots.length_us,
                comment=_comment(t, names, flaws),
            )
        what = describe_sent(t) + (f", {len(t.frame)} B" if t.frame else "")
        cut = ", stopped" if t.is_cut else ""
        where = (
            f"on {channel}"
            if channel is not None
            else f"at {t.frequency_mhz} MHz, which is no channel"
        )
        text = f"{names[t.mote]} sends {where}: {what}{cut}; {_truth(t, names)}"
        lines.append((t.begin_ps, _at(t.begin_ps, text)))
        lines += [(t.begin_ps, _at(t.begin_ps, f"! {f.rule}: {f.text}")) for f in flaws]
    for line in piece.lines:
        uarts.write(line, names[line.mote])
        if uarts.is_on_terminal:
            text = _PRINTABLE.sub(".", line.data.decode("latin-1").rstrip("\r\n"))
            lines.append((line.time_ps, _at(line.time_ps, f"{names[line.mote]}| {text}")))
    for number, data in uarts.typed():
        port = running.seats[number].board.serial.port
        running.engine.serial_write(number, port, data)
    for number, stop in piece.faults:
        message = stop.fault.message if stop.fault is not None else "stopped"
        lines.append((piece.end_ps, _at(piece.end_ps, f"! {names[number]}: {message}")))
    return lines


def _at(time_ps: int, text: str) -> str:
    return f"{time_ps * 1e-12:12.6f}  {text}"


def _so_far(running: "RunningNetwork", time_ps: int) -> str:
    drawn = [
        f"{seat.name} {running.energy(number).gross_nj * 1e-6:.3g} mJ"
        for number, seat in enumerate(running.seats[:8])
    ]
    more = [f"and {len(running.seats) - 8} more"] if len(running.seats) > 8 else []
    return _at(time_ps, f"-- so far: {', '.join([*drawn, *more])}")


def _result(
    running: "RunningNetwork", duration_s: float, totals: _Totals, auditors: "_Auditors"
) -> dict[str, Any]:
    from joulemark.records import bounds

    motes = []
    for number, seat in enumerate(running.seats):
        energy = running.energy(number)
        fates = totals.frames.fates.get(number, Counter())
        motes.append(
            {
                "mote": seat.name,
                "board": seat.board.name,
                "sent": totals.frames.sent[number],
                "received": fates["received"],
                "missed": {k: v for k, v in sorted(fates.items()) if k != "received"},
                "cycles": running.cycles(number),
                "resets": running.resets(number),
                "energy_mj": energy.gross_nj * 1e-6,
                "mean_current_ma": energy.gross_nj
                * 1e-6
                / seat.board.supply_v.value
                / max(duration_s - seat.mote.start_s, 1e-12),
                "grade": energy.grade,
                "errors": bounds.of_board(seat.board, seat.mote.clock, energy.grade)
                if seat.mote.image is None
                else bounds.of_program(seat.board, energy.grade),
                "parts_mj": running.parts_mj(number),
            }
        )
    return {
        "network": running.network.title,
        "duration_s": duration_s,
        "motes": motes,
        "frames": sum(totals.frames.sent.values()),
        "verified": sum(auditor.verified for auditor in auditors),
        "flaws": [
            {"rule": f.rule, "mote": f.sender, "time_s": f.time_ps * 1e-12, "text": f.text}
            for f in totals.flaws
        ],
        "late": running.engine.late,
        "digest": running.engine.digest,
    }


def _print(result: Mapping[str, Any]) -> None:
    rows = []
    for mote in result["motes"]:
        parts = mote["parts_mj"]
        missed = ", ".join(f"{count} {fate}" for fate, count in mote["missed"].items())
        rows.append(
            {
                "mote": mote["mote"],
                "sent": mote["sent"],
                "received": mote["received"],
                "not received": missed,
                "energy (mJ)": round(mote["energy_mj"], 6),
                "MCU": round(parts.get("mcu", 0.0), 6),
                "radio": round(parts.get("radio", 0.0), 6),
                "others": round(sum(v for k, v in parts.items() if k not in ("mcu", "radio")), 6),
                "mean (mA)": round(mote["mean_current_ma"], 6),
            }
        )
    typer.echo(figures(rows, [mote["errors"] for mote in result["motes"]], Form.TEXT))
    flaws, verified = len(result["flaws"]), result["verified"]
    frames = counted(result["frames"], "frame")
    typer.echo(f"{frames}, {verified:,} verified, {counted(flaws, 'flaw')}")
    for mote in result["motes"]:
        if mote["resets"]:
            times = "once" if mote["resets"] == 1 else f"{mote['resets']} times"
            typer.echo(f"{mote['mote']} was reset {times}, by its watchdog or its program")
    if result["late"]:
        typer.echo(
            f"{result['late']} arrivals were told too late: a core was held (flash erased?) "
            "for longer than radios take to turn around"
        )


def _check(store: str | None, uart: str) -> None:
    """Refuse a store that cannot be opened, and input that no record could tell of."""
    if store is not None:
        if uart == "pty":
            what = "a run that somebody types into cannot be repeated"
            raise InputError(what, "--store", "leave out --uart pty")
        from joulemark.records.store import Store

        Store(store).close()


def _keep(store: str, running: "RunningNetwork", duration_s: float, totals: _Totals) -> None:
    from joulemark.records.store import Store
    from joulemark.subjects.network.measure import records

    with Store(store) as kept:
        kept.append_new(*records(running, duration_s, totals.frames))
