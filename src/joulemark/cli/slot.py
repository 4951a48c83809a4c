"""`joulemark slot`: the shortest time slot for a secured frame and its acknowledgement, proved."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from joulemark.cli import app
from joulemark.cli._options import DEFAULT_STORE, StoreOption
from joulemark.cli._output import Form, FormOption, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from joulemark.analysis.slot import Template
    from joulemark.measure.slot import Proof, SlotCase, Tuned


class Strategy(StrEnum):
    """Who does CCM*, and its AES."""

    SOFTWARE = "software"
    HYBRID = "hybrid"
    HARDWARE = "hardware"


class Level(StrEnum):
    """Security levels of IEEE 802.15.4, in the order of their numbers."""

    NONE = "none"
    MIC_32 = "mic-32"
    MIC_64 = "mic-64"
    MIC_128 = "mic-128"
    ENC = "enc"
    ENC_MIC_32 = "enc-mic-32"
    ENC_MIC_64 = "enc-mic-64"
    ENC_MIC_128 = "enc-mic-128"

    @property
    def number(self) -> int:
        """As frames have it."""
        return list(Level).index(self)


class Compiler(StrEnum):
    """Compilers' families."""

    CLANG = "clang"
    GCC = "gcc"


@app.command()
def slot(
    board: Annotated[str, typer.Option("--board", help="Board of both motes.")],
    strategy: Annotated[
        list[Strategy] | None,
        typer.Option("--strategy", help="Who does CCM* and its AES; all if none is given."),
    ] = None,
    level: Annotated[
        list[Level] | None, typer.Option("--level", help="Security level; all if none is given.")
    ] = None,
    key_id_mode: Annotated[
        int, typer.Option("--key-id-mode", min=0, max=3, help="How frames name their key.")
    ] = 1,
    counter_carried: Annotated[
        bool,
        typer.Option("--counter-carried", help="Frames carry a frame counter, which TSCH elides."),
    ] = False,
    clock: Annotated[
        str | None, typer.Option("--clock", help="Clock profile; the board's own if none is given.")
    ] = None,
    cipher: Annotated[
        str, typer.Option("--cipher", help="Implementation of AES, where software does it.")
    ] = "ref",
    keys_stay: Annotated[
        bool,
        typer.Option("--keys-stay", help="What if keys stayed expanded, or in the radio?"),
    ] = False,
    compiler: Annotated[
        Compiler, typer.Option("--compiler", help="What firmware is compiled with.")
    ] = Compiler.CLANG,
    opt: Annotated[str, typer.Option("--opt", help="Optimisation: O3, O2 or Os.")] = "O3",
    slots: Annotated[
        int,
        typer.Option("--slots", min=30, max=1_000_000, help="To run without a missed moment."),
    ] = 300,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write a page with each slot's waterfall.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    form: FormOption = Form.TEXT,
) -> None:
    """Derive the shortest slot, run it, and show that a tick less is too short.

    A root and a leaf exchange frames of 127 bytes in every slot. A moment that a mote is not ready
    for is counted by the mote; the slot found misses none, and each part of it, a tick shorter,
    misses one that is named.
    """
    from joulemark.measure.slot import record, tune
    from joulemark.records.store import Store

    rows = []
    done = []
    with Store(store) as kept:
        for case in _cases(
            board,
            strategy or list(Strategy),
            level or list(Level),
            clock=clock,
            key_id_mode=key_id_mode,
            counter_carried=counter_carried,
            cipher=cipher,
            keys_stay=keys_stay,
            compiler=compiler.value,
            opt=opt,
        ):
            tuned = tune(case, proof_slots=slots)
            kept.append(record(tuned))
            rows.append(_row(tuned))
            done.append(tuned)
            if form is Form.TEXT:
                typer.echo(_text(tuned))
    if form is not Form.TEXT or len(rows) > 1:
        typer.echo(table(rows, form))
    if out is not None:
        from joulemark.report.slot import write_page

        write_page(done, out)
        typer.echo(f"page: {out}", err=True)


def _cases(
    board: str,
    strategies: list[Strategy],
    levels: list[Level],
    *,
    clock: str | None,
    key_id_mode: int,
    counter_carried: bool,
    cipher: str,
    keys_stay: bool,
    compiler: str,
    opt: str,
) -> "Iterator[SlotCase]":
    """Without security, all strategies are one."""
    from joulemark.campaign.case import Build
    from joulemark.campaign.subjects.slot import SlotSubject
    from joulemark.catalogue import boards
    from joulemark.measure.slot import SlotCase

    description = boards.load_board(board)
    profile = clock or description.default_clock
    description.clock_profile(profile)
    for level in levels:
        for strategy in strategies if level is not Level.NONE else strategies[:1]:
            secured = level is not Level.NONE
            in_software = secured and strategy is Strategy.SOFTWARE
            yield SlotCase(
                board=description,
                clock=profile,
                subject=SlotSubject(
                    strategy=strategy.value if secured else "",
                    level=level.number,
                    key_id_mode=key_id_mode if secured else 1,
                    counter_carried=counter_carried and secured,
                    cipher=cipher if in_software else "",
                    keys_stay=keys_stay and secured,
                ),
                build=Build(compiler=compiler, optimisation=opt),
            )


def _ms(ps: int) -> float:
    return ps / 1e9


def _row(tuned: "Tuned") -> dict[str, Any]:
    from joulemark.analysis.slot import ps_of
    from joulemark.campaign.subjects.slot import LEVELS

    subject, template = tuned.case.subject, tuned.proof.template
    return {
        "board": tuned.case.board.name,
        "clock": tuned.case.clock,
        "strategy": subject.strategy or "-",
        "level": LEVELS[subject.level],
        "tx-offset ms": _ms(ps_of(template.tx_offset)),
        "tx-ack-delay ms": _ms(ps_of(template.tx_ack_delay)),
        "slot ms": _ms(tuned.minima.real_ps),
        "by Eq. (1) ms": _ms(tuned.minima.by_equation_ps),
        "without grid ms": _ms(tuned.minima.continuous_ps),
        "send uJ": tuned.energy["send"].gross_nj / 1e3 if tuned.energy else None,
        "receive uJ": tuned.energy["receive"].gross_nj / 1e3 if tuned.energy else None,
        "flash B": tuned.flash_bytes,
        "RAM B": tuned.ram_bytes,
    }


def _text(tuned: "Tuned") -> str:
    """For people: the answer, what it consists of, and the proof."""
    template, minima = tuned.proof.template, tuned.minima
    lines = [
        f"{tuned.case.case}",
        f"  shortest slot {_ms(minima.real_ps):.3f} ms: {template.slot} ticks, tx-offset "
        f"{template.tx_offset}, tx-ack-delay {template.tx_ack_delay}",
        f"  by Eq. (1), with TsMaxAck: {_ms(minima.by_equation_ps):.3f} ms; "
        f"without the crystal's grid: {_ms(minima.continuous_ps):.3f} ms",
        f"  frame {tuned.frame_bytes} bytes, acknowledgement {tuned.acknowledgement_bytes}; "
        + "; ".join(f"{step} {_ms(ps):.3f} ms" for step, ps in tuned.steps_ps.items()),
        f"  security takes {tuned.flash_bytes:,} bytes of flash and {tuned.ram_bytes:,} of RAM",
    ]
    if tuned.energy:
        send, receive = tuned.energy["send"], tuned.energy["receive"]
        lines.append(
            f"  a slot takes {send.gross_nj / 1e3:,.1f} uJ to send and "
            f"{receive.gross_nj / 1e3:,.1f} uJ to receive ({send.grade})"
        )
    hz = tuned.case.board.clock_profile(tuned.case.clock).hz
    for step, parts in tuned.waterfall.items():
        whole = sum(parts.values())
        lines.append(f"  {step}: {whole:,.0f} cycles, {whole / hz * 1e6:,.0f} us")
        lines += [
            f"    {work:24} {cycles:>12,.0f} {100 * cycles / whole:5.1f}%"
            for work, cycles in parts.items()
        ]
    proof = tuned.proof
    lines.append(f"  {proof.slots:,} slots of {template.slot} ticks: no moment missed")
    lines += [f"  {_failure(failure, template)}" for failure in tuned.failures]
    return "\n".join(lines)


def _failure(failure: "Proof", template: "Template") -> str:
    missed = ", ".join(f"{name} {count} times" for name, count in failure.late.items())
    if failure.template.tx_offset < template.tx_offset:
        part = "tx-offset"
    elif failure.template.tx_ack_delay < template.tx_ack_delay:
        part = "tx-ack-delay"
    else:
        part = "the slot's end"
    return f"a tick less of {part}: {failure.slots} slots miss {missed}"
