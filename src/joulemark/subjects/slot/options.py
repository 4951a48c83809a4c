"""Options of time slots: a case for each board, strategy, level and size of network."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from joulemark.campaign.case import Build
from joulemark.campaign.options import Names, Opt, Options, as_list
from joulemark.catalogue import boards
from joulemark.catalogue.boards import Board
from joulemark.catalogue.near import near
from joulemark.catalogue.primitives import library
from joulemark.errors import InputError
from joulemark.subjects.slot import LEVELS, STRATEGIES, Ahead, Level, SlotSubject, Strategy
from joulemark.subjects.slot.case import SlotCase


class SlotOptions(Options):
    """Slots to shorten."""

    board: Names = Field(description="Board of both motes; repeatable.")
    strategy: Annotated[tuple[Strategy, ...], BeforeValidator(as_list)] = Field(
        STRATEGIES, description="Where CCM* and its AES run; all strategies if not given."
    )
    level: Annotated[tuple[Level, ...], BeforeValidator(as_list)] = Field(
        LEVELS, description="Security level; all if none is given."
    )
    key_id_mode: int = Field(1, ge=0, le=3, description="Key identifier mode.")
    counter_carried: bool = Field(
        default=False, description="Frames carry a frame counter, which TSCH elides."
    )
    clock: str = Field("", description="Clock profile; the board's own if none is given.")
    cipher: str = Field("ref", description="Implementation of AES, where software does it.")
    keys_stay: bool = Field(
        default=False, description="Keep key schedules (or keys in the radio) between frames."
    )
    streamed: bool = Field(
        default=False, description="Decrypt frames while they are being received."
    )
    ahead: Ahead = Field(
        "", description="What is prepared in idle slots: key streams or whole frames."
    )
    brief: bool = Field(default=False, description="Send acknowledgements without addresses.")
    dma: bool = Field(default=False, description="Move bytes to and from the radio by DMA.")
    plain: bool = Field(default=False, description="A simple driver that waits for each byte.")
    guard: int = Field(36, ge=1, description="Guard time for a frame, in ticks.")
    ack_guard: int = Field(13, ge=1, description="Guard time for the acknowledgement, in ticks.")
    motes: Annotated[tuple[Annotated[int, Field(ge=2, le=200)], ...], BeforeValidator(as_list)] = (
        Field((), description="Run a network of so many motes with the slot; repeatable.")
    )
    compiler: Literal["clang", "gcc"] = Field("clang", description="Compiler.")
    opt: Opt = Field("O3", description="Optimisation: O3, O2, Os or O0.")
    slots: int = Field(
        10_000, ge=30, le=1_000_000, description="Slots to run without a missed deadline."
    )

    def cases(self) -> Iterator[SlotCase]:
        """Yield the cases; without security, all strategies are the same case.

        Raises:
            InputError: a board cannot be found, or has no such clock or cipher.
        """
        for name in self.board:
            board = boards.load_board(name)
            if not _has_slots(board):
                able = (b for b in map(boards.load_board, boards.names()) if _has_slots(b))
                mend = f"there are drivers for {', '.join(b.name for b in able)}"
                raise InputError("its radio has no driver for slots here", name, mend)
            board.clock_profile(self.clock or None)
            if "software" in self.strategy:
                _check_cipher(self.cipher, board)
            for level in self.level:
                for strategy in self.strategy if level != "none" else self.strategy[:1]:
                    for motes in self.motes or (0,):
                        yield self._case(board, level, strategy, motes)

    def _case(self, board: Board, level: Level, strategy: Strategy, motes: int) -> SlotCase:
        subject = SlotSubject(
            strategy="",
            level=0,
            motes=motes,
            guard_ticks=self.guard,
            ack_guard_ticks=self.ack_guard,
            plain=self.plain,
        )
        if level != "none":
            subject = replace(
                subject,
                strategy=strategy,
                level=LEVELS.index(level),
                key_id_mode=self.key_id_mode,
                counter_carried=self.counter_carried,
                cipher=self.cipher if strategy == "software" else "",
                keys_stay=self.keys_stay,
                streamed=self.streamed,
                ahead=self.ahead,
                brief=self.brief,
                dma=self.dma,
            )
        return SlotCase(
            board=board,
            clock=self.clock or board.default_clock,
            subject=subject,
            build=Build(compiler=self.compiler, optimisation=self.opt),
        )


def _check_cipher(name: str, board: Board) -> None:
    ways = library().implementations(library()["aes-128"])
    able = [way.name for way in ways if way.runs_on(board.instruction_set)]
    if name not in able:
        what = f"no implementation {name!r} of AES in software for {board.name}"
        raise InputError(what, "--cipher", near(name, able))


def _has_slots(board: Board) -> bool:
    return board.radio is not None and board.radio.driver is not None and board.radio.slots
