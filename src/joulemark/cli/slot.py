"""`joulemark slot`: find and prove the shortest slot for a secured frame."""

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from joulemark.cli import app
from joulemark.cli._options import (
    DEFAULT_STORE,
    OptimisationOption,
    StoreOption,
    complete_board,
    not_nan,
    to_write,
)
from joulemark.cli._output import Form, FormOption, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from joulemark.catalogue.boards import Board
    from joulemark.subjects.slot.case import SlotCase
    from joulemark.subjects.slot.record import SlotRecord


class Strategy(StrEnum):
    """What performs CCM* and its AES."""

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
        """The number in frames."""
        return list(Level).index(self)


class Ahead(StrEnum):
    """Work done before it is needed."""

    NOTHING = ""
    KEYSTREAM = "keystream"
    FRAME = "frame"


class Compiler(StrEnum):
    """Families of compilers."""

    CLANG = "clang"
    GCC = "gcc"


@app.command()
def slot(
    board: Annotated[
        list[str],
        typer.Option(
            "--board", help="Board of both motes; repeatable.", autocompletion=complete_board
        ),
    ],
    strategy: Annotated[
        list[Strategy] | None,
        typer.Option("--strategy", help="Where CCM* and its AES run; all strategies if not given."),
    ] = None,
    level: Annotated[
        list[Level] | None, typer.Option("--level", help="Security level; all if none is given.")
    ] = None,
    key_id_mode: Annotated[
        int, typer.Option("--key-id-mode", min=0, max=3, help="Key identifier mode.")
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
        typer.Option(
            "--keys-stay", help="Keep key schedules (or keys in the radio) between frames."
        ),
    ] = False,
    streamed: Annotated[
        bool, typer.Option("--streamed", help="Decrypt frames while they are being received.")
    ] = False,
    ahead: Annotated[
        Ahead,
        typer.Option(
            "--ahead", help="What is prepared in idle slots: key streams or whole frames."
        ),
    ] = Ahead.NOTHING,
    brief: Annotated[
        bool, typer.Option("--brief", help="Send acknowledgements without addresses.")
    ] = False,
    dma: Annotated[
        bool, typer.Option("--dma", help="Move bytes to and from the radio by DMA.")
    ] = False,
    guard: Annotated[
        int, typer.Option("--guard", min=1, help="Guard time for a frame, in ticks.")
    ] = 36,
    ack_guard: Annotated[
        int,
        typer.Option("--ack-guard", min=1, help="Guard time for the acknowledgement, in ticks."),
    ] = 13,
    motes: Annotated[
        list[int] | None,
        typer.Option(
            "--motes",
            min=2,
            max=200,
            help="Run a network of so many motes with the slot; repeatable.",
        ),
    ] = None,
    compiler: Annotated[Compiler, typer.Option("--compiler", help="Compiler.")] = Compiler.CLANG,
    opt: OptimisationOption = "O3",
    slots: Annotated[
        int,
        typer.Option(
            "--slots", min=30, max=1_000_000, help="Slots to run without a missed deadline."
        ),
    ] = 10_000,
    at_most: Annotated[
        float | None,
        typer.Option(
            "--at-most",
            min=0.1,
            callback=not_nan,
            help="Milliseconds; exit code 13 where a slot has to be longer.",
        ),
    ] = None,
    what_if: Annotated[
        bool,
        typer.Option(
            "--what-if",
            help="Find each slot with one thing changed too: bus, key, AES, ...",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", callback=to_write, help="Write a page with each slot's waterfall."),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            "--certificate",
            callback=to_write,
            help="Write what was proved, for slot-check to prove again.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Cases at a time; one per core if not given."),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    form: FormOption = Form.TEXT,
) -> None:
    """Derive the shortest slot, run it, and show that a tick less is too short.

    A root and a leaf exchange frames of 127 bytes in every slot. Each mote counts the moments that
    it is not ready for. The slot found misses none; with any part of it a tick shorter, one is
    missed, and is named. What is in the store and has not changed is not measured again.
    """
    from joulemark.errors import JoulemarkError
    from joulemark.records.store import Store
    from joulemark.subjects.slot.measure import measured
    from joulemark.subjects.slot.page import WhatIf, row, text
    from joulemark.subjects.slot.what_if import what_ifs

    cases = list(
        _cases(
            board,
            strategy or list(Strategy),
            level or list(Level),
            clock=clock,
            compiler=compiler.value,
            opt=opt,
            how={
                "key_id_mode": key_id_mode,
                "counter_carried": counter_carried,
                "keys_stay": keys_stay,
                "streamed": streamed,
                "ahead": ahead.value,
                "brief": brief,
                "dma": dma,
            },
            guards={"guard_ticks": guard, "ack_guard_ticks": ack_guard},
            cipher=cipher,
            motes=motes or [0],
        )
    )
    changed = {case.case.digest: list(what_ifs(case)) if what_if else [] for case in cases}
    every = {
        case.case.digest: case for case in (*cases, *(c for of in changed.values() for _, c in of))
    }
    found = {}
    failed: JoulemarkError | None = None
    with Store(store) as kept:
        for case, result in measured(
            list(every.values()), kept, proof_slots=slots, jobs=jobs or len(os.sched_getaffinity(0))
        ):
            if isinstance(result, JoulemarkError):
                failed = failed or result
                typer.echo(f"{case.case}: {result}", err=True)
                continue
            found[case.case.digest] = result
            if form is Form.TEXT and case.case.digest in changed:
                typer.echo(text(result))
    done = [found[digest] for digest in changed if digest in found]
    compared = [
        WhatIf(
            slot=found[digest],
            others=[(n, found[c.case.digest]) for n, c in others if c.case.digest in found],
        )
        for digest, others in changed.items()
        if others and digest in found
    ]
    if not compared and (form is not Form.TEXT or len(done) > 1):
        typer.echo(table([row(one) for one in done], form))
    for one in compared:
        of = {} if form is Form.TEXT and len(compared) == 1 else {"slot": str(one.slot.subject)}
        typer.echo(table([of | of_one for of_one in one.rows()], form))
    if out is not None:
        from joulemark.subjects.slot.page import write_page

        write_page(done, out, compared)
        typer.echo(f"page: {out}", err=True)
    if failed is not None:
        raise failed
    if certificate is not None:
        from joulemark.subjects.slot import certificate as certificates

        certificates.write(certificates.certificate(done), certificate)
        typer.echo(f"certificate: {certificate}", err=True)
    if at_most is not None:
        _judge(done, at_most)


def _judge(done: "list[SlotRecord]", at_most_ms: float) -> None:
    """Fail where the shortest slot is longer than the limit."""
    from joulemark.errors import UnsatisfiedError
    from joulemark.subjects.slot.page import certificate, milliseconds

    for one in done:
        if milliseconds(one, "slot") > at_most_ms:
            what = f"more than {at_most_ms:g} ms: {certificate(one)}"
            raise UnsatisfiedError(what, str(one.case))


def _check_cipher(name: str, board: "Board") -> None:
    from joulemark.catalogue.near import near
    from joulemark.catalogue.primitives import library
    from joulemark.errors import InputError

    ways = library().implementations(library()["aes-128"])
    able = [way.name for way in ways if way.runs_on(board.instruction_set)]
    if name not in able:
        what = f"no implementation {name!r} of AES in software for {board.name}"
        raise InputError(what, "--cipher", near(name, able))


def _cases(
    boards_named: list[str],
    strategies: list[Strategy],
    levels: list[Level],
    *,
    clock: str | None,
    compiler: str,
    opt: str,
    how: dict[str, Any],
    guards: dict[str, Any],
    cipher: str,
    motes: list[int],
) -> "Iterator[SlotCase]":
    """Yield the cases; without security, all strategies are the same case.

    Raises:
        InputError: a board cannot be found, or has no such clock or cipher.
    """
    from joulemark.campaign.case import Build
    from joulemark.catalogue import boards
    from joulemark.errors import InputError
    from joulemark.subjects.slot import SlotSubject
    from joulemark.subjects.slot.case import SlotCase

    for board in boards_named:
        description = boards.load_board(board)
        if description.radio is None or description.radio.driver is None:
            able = (b for b in map(boards.load_board, boards.names()) if b.radio and b.radio.driver)
            mend = f"there are drivers for {', '.join(b.name for b in able)}"
            raise InputError("its radio has no driver here, or it has none", board, mend)
        profile = clock or description.default_clock
        description.clock_profile(profile)
        if Strategy.SOFTWARE in strategies:
            _check_cipher(cipher, description)
        for level in levels:
            secured = level is not Level.NONE
            for strategy in strategies if secured else strategies[:1]:
                in_software = secured and strategy is Strategy.SOFTWARE
                for size in motes:
                    subject = SlotSubject(
                        strategy=strategy.value if secured else "",
                        level=level.number,
                        cipher=cipher if in_software else "",
                        motes=size,
                        **(how if secured else {}),
                        **guards,
                    )
                    yield SlotCase(
                        board=description,
                        clock=profile,
                        subject=subject,
                        build=Build(compiler=compiler, optimisation=opt),
                    )
